"""CPU time of extraction, relative to ``lxml.html`` parsing of the same bytes.

The time of a step is the minimum CPU time of three interleaved rounds. Printed are the median and
the 95th percentile over pages of the ratio to parsing, and the ratio of the sums, with compiled
modules (if built) and, in another process, without. The garbage collector is configured as in a worker
(:func:`newscrawl.workers.child.tune_garbage_collector`).

    python benchmarks/extraction.py [--corpus DIR] [--limit N] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import lxml.html

from newscrawl.body.nce import nce
from newscrawl.document.document import COMPILED, parse_document
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.lab.corpora.tables import Table, print_tables
from newscrawl.lab.evaluation.bootstrap import percentile
from newscrawl.workers.child import tune_garbage_collector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

REPOSITORY = Path(__file__).resolve().parents[1]
CORPUS = REPOSITORY.parent / "shared" / "corpora" / "news212"
SAMPLES = REPOSITORY / "newscrawl" / "samples"
ROUNDS = 3

BASELINE = "lxml.html"
FORMATS = frozenset(("markdown", "html"))
STEPS: dict[str, Callable[[bytes], object]] = {
    "parse_document": parse_document,
    "parse_document + NCE": lambda html: nce(parse_document(html)),
    "extract": extract,
    "extract, Markdown and HTML": partial(extract, options=ExtractOptions(formats=FORMATS)),
}
IN_PYTHON = ", in Python"
BUDGETS = {"parse_document + NCE": 0.7, "extract": 2.5, f"extract{IN_PYTHON}": 5.0}


def read_pages(corpus: Path | None) -> list[bytes]:
    """Return the pages of *corpus*, by default of news212, or of the samples if it is missing.

    Raises :exc:`~newscrawl.lab.corpora.corpus.CorpusError` if *corpus* is invalid.
    """
    if corpus is not None or CORPUS.is_dir():
        return [page.html() for page in load_corpus(corpus or CORPUS).pages]
    sys.stderr.write(f"{CORPUS} not found: timing the (few and small) sample pages\n")
    return [path.read_bytes() for path in sorted(SAMPLES.rglob("*.html"))]


def time_page(html: bytes) -> dict[str, float]:
    """Return the minimum CPU time of each step on a page, in seconds."""
    steps = {BASELINE: lxml.html.document_fromstring, **STEPS}
    minimum = dict.fromkeys(steps, float("inf"))
    for _ in range(ROUNDS):
        for name, step in steps.items():
            start = time.process_time()
            step(html)
            minimum[name] = min(minimum[name], time.process_time() - start)
    return minimum


def summarise(times: Sequence[Mapping[str, float]]) -> list[dict[str, Any]]:
    """Return the figures of each step; *times* has step -> seconds for each page."""
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


def summary_in_python() -> list[dict[str, Any]]:
    """Return the summary of another process with the same arguments, without compiled modules."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "summary.json")
        subprocess.run(
            [sys.executable, *sys.argv, "--json", file],
            env=os.environ | {"NEWSCRAWL_NO_EXTENSIONS": "1"},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        steps = json.loads(file.read_text())["steps"]
    names = [f"{row['step']}{IN_PYTHON}" for row in steps]
    rows = zip(steps, names, strict=True)
    return [
        row | {"step": name, "budget": BUDGETS.get(name)}
        for row, name in rows
        if row["step"] != BASELINE
    ]


def table_of(summary: Iterable[Mapping[str, Any]], pages: int) -> Table:
    """Return the table of *summary*."""
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
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--corpus", type=Path, help="folder of labelled pages (default: news212)")
    parser.add_argument("--limit", type=int, help="time only the first LIMIT pages")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    options = parser.parse_args()
    pages = read_pages(options.corpus)[: options.limit]
    for html in pages[:1]:
        extract(html)  # loads the models
    tune_garbage_collector()
    times = [time_page(html) for html in pages]
    summary = summarise(times)
    if COMPILED:
        summary += summary_in_python()
    print_tables([table_of(summary, len(times))], sys.stdout)
    if options.json:
        options.json.write_text(
            json.dumps({"pages": len(times), "steps": summary}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
