"""Time of extraction as a multiple of ``lxml.html`` parsing of the same bytes.

All steps run on a page before the next page is read, three rounds in turn, so that a busy machine
slows them alike; a step's time is its least process time of the three. Printed are the median and
the 95th percentile over pages of each step's ratio to plain parsing, and the ratio of the sums.
Where the compiled pass over the tree is built, the steps are timed with it and without, and so
with the other compiled loops. The garbage collector is set as in a worker of the
crawl (:func:`newscrawl.crawl.workers.child.settle`), for plain parsing, too.

    python benchmarks/extraction.py [--corpus DIR] [--limit N] [--json FILE]
"""

from __future__ import annotations

import argparse
import inspect
import json
import statistics
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import lxml.html

from newscrawl.body import block_features, coreex, econ
from newscrawl.body.nce import nce
from newscrawl.corpora.corpus import load_corpus
from newscrawl.corpora.tables import Table, print_tables
from newscrawl.crawl.workers.child import settle
from newscrawl.document import document, guard
from newscrawl.document.document import COMPILED, parse_document
from newscrawl.ensemble import ensemble
from newscrawl.evaluation.bootstrap import percentile
from newscrawl.extraction.extract import extract

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import ModuleType

REPOSITORY = Path(__file__).resolve().parents[1]
CORPUS = REPOSITORY.parent / "shared" / "corpora" / "news212"
SAMPLES = REPOSITORY / "newscrawl" / "samples"
ROUNDS = 3

BASELINE = "lxml.html"
STEPS: dict[str, Callable[[bytes], object]] = {
    "parse_document": parse_document,
    "parse_document + NCE": lambda html: nce(parse_document(html)),
    "extract": extract,
}
IN_PYTHON = ", in Python"
COMPILED_LOOPS: Sequence[tuple[ModuleType, str]] = (
    (guard, "is_harmless"),
    (document, "flatten"),
    (ensemble, "sum_leaves"),
    (coreex, "count_rows"),
    (coreex, "find_main_content_node"),
    (econ, "read_text"),
    (econ, "find_text_node_sets"),
    (block_features, "feature_table"),
)
BUDGETS = {"parse_document + NCE": 1.2, "extract": 3.0, f"extract{IN_PYTHON}": 5.0}


def in_python(step: Callable[[bytes], object]) -> Callable[[bytes], object]:
    """Return *step* with pages and trees walked in Python."""

    def walked_in_python(html: bytes) -> object:
        with ExitStack() as stack:
            for module, name in COMPILED_LOOPS:
                reference = inspect.unwrap(getattr(module, name))
                stack.enter_context(patch.object(module, name, reference))
            return step(html)

    return walked_in_python


def all_steps() -> dict[str, Callable[[bytes], object]]:
    """Return what is timed, by name."""
    walked = {f"{name}{IN_PYTHON}": in_python(step) for name, step in STEPS.items()}
    return {BASELINE: lxml.html.document_fromstring, **(STEPS if COMPILED else {}), **walked}


def read_pages(corpus: Path | None) -> list[bytes]:
    """Return the pages of *corpus*; without one, of news212, or of the samples where it is missing.

    Raises :exc:`~newscrawl.corpora.corpus.CorpusError` where *corpus* cannot be read.
    """
    if corpus is not None or CORPUS.is_dir():
        return [page.html() for page in load_corpus(corpus or CORPUS).pages]
    sys.stderr.write(f"There is no {CORPUS}: timing the sample pages, which are small and few.\n")
    return [path.read_bytes() for path in sorted(SAMPLES.rglob("*.html"))]


def least_times(html: bytes) -> dict[str, float]:
    """Return the least process time of each step on a page, in seconds."""
    steps = all_steps()
    least = dict.fromkeys(steps, float("inf"))
    for _ in range(ROUNDS):
        for name, step in steps.items():
            start = time.process_time()
            step(html)
            least[name] = min(least[name], time.process_time() - start)
    return least


def summarise(times: Sequence[Mapping[str, float]]) -> list[dict[str, Any]]:
    """Return one row a step; *times* holds the seconds of each step on each page."""
    summary = []
    for name in times[0]:
        ratios = sorted(page[name] / page[BASELINE] for page in times)
        seconds = sum(page[name] for page in times)
        summary.append(
            {
                "step": name,
                "median": statistics.median(ratios),
                "p95": percentile(ratios, 0.95),
                "total": seconds / sum(page[BASELINE] for page in times),
                "milliseconds": 1000 * statistics.median(page[name] for page in times),
                "budget": BUDGETS.get(name),
            }
        )
    return summary


def table_of(summary: Iterable[Mapping[str, Any]], pages: int) -> Table:
    """Return the table that shows *summary*."""
    cells = [
        [row["step"], *(f"{row[part]:.2f}" for part in ("median", "p95", "total", "milliseconds")),
         f"{row['budget']:.1f}" if row["budget"] else ""]
        for row in summary
    ]  # fmt: skip
    return Table(
        f"CPU time by {BASELINE} parsing of the same bytes, {pages} pages",
        ("step", "median", "p95", "of sums", "median ms", "budget of median"),
        cells,
    )


def main() -> None:
    """Time the steps and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--corpus", type=Path, help="folder of labelled pages (default: news212)")
    parser.add_argument("--limit", type=int, help="time the first LIMIT pages only")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    options = parser.parse_args()
    pages = read_pages(options.corpus)[: options.limit]
    for html in pages[:1]:
        extract(html)  # reads the models
    settle()
    times = [least_times(html) for html in pages]
    summary = summarise(times)
    print_tables([table_of(summary, len(times))], sys.stdout)
    if options.json:
        options.json.write_text(
            json.dumps({"pages": len(times), "steps": summary}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
