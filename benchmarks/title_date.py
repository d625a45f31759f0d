"""CPU time of the steps of title and date extraction, relative to ``lxml.html`` parsing.

Parsing and NCE are not included, style sheets are not read. The time of a step is the minimum CPU
time of three interleaved rounds. The garbage collector is configured as in a worker
(:func:`newscrawl.workers.child.tune_garbage_collector`).

    python benchmarks/title_date.py [--corpus DIR] [--limit N]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import lxml.html

from newscrawl import clock
from newscrawl.body.nce import nce
from newscrawl.document.document import parse_document
from newscrawl.fields.dates.decide import decide
from newscrawl.fields.dates.evidence import DateEvidence, gather
from newscrawl.fields.metadata.metadata import read_metadata
from newscrawl.fields.titles.title_features import find_candidates
from newscrawl.fields.titles.title_model import choose_span, find_headline, load_title_model
from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.lab.corpora.tables import Table, print_tables
from newscrawl.lab.evaluation.bootstrap import percentile
from newscrawl.workers.child import tune_garbage_collector

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from newscrawl.lab.corpora.corpus import LabelledPage

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "news212"
ROUNDS = 3
BASELINE = "lxml.html"
STEPS = ("metadata", "title: candidates", "title: ensemble", "date: evidence", "date: decision")
TOTAL = "title and date"
BUDGET = 0.8

T = TypeVar("T")


class Timer:
    """Minimum CPU time of each step, in seconds."""

    def __init__(self) -> None:
        self.minimum: dict[str, float] = {}

    def time(self, name: str, step: Callable[..., T], *arguments: Any, **options: Any) -> T:
        """Call *step*, record its time as *name* and return its result."""
        start = time.process_time()
        value = step(*arguments, **options)
        seconds = time.process_time() - start
        self.minimum[name] = min(seconds, self.minimum.get(name, seconds))
        return value


def time_page(page: LabelledPage) -> dict[str, float]:
    """Return the minimum CPU time of each step on a page, in seconds."""
    html, timer = page.html(), Timer()
    for _ in range(ROUNDS):
        timer.time(BASELINE, lxml.html.document_fromstring, html)
        _run(timer, html, page.url)
    return timer.minimum | {TOTAL: sum(timer.minimum[name] for name in STEPS)}


def _run(timer: Timer, html: bytes, url: str) -> None:
    now = clock.now()
    document = parse_document(html)
    metadata = timer.time("metadata", read_metadata, document, url, now)
    forest = nce(document).forest
    candidates = timer.time("title: candidates", find_candidates, document, metadata, url, forest)
    model = load_title_model()
    timer.time("title: ensemble", choose_span, candidates, model)
    title = find_headline(document, candidates, model)
    published = timer.time(
        "date: evidence", gather, document, metadata, forest, title.row if title else None,
        url=url, fetched_at=now,
    )  # fmt: skip
    modified = [DateEvidence(it.value, it.raw, it.source) for it in metadata.modified]
    timer.time("date: decision", decide, published, modified)


def table_of(times: Sequence[Mapping[str, float]]) -> Table:
    """Return the table of *times*: step -> seconds, for each page."""
    rows = []
    for name in (BASELINE, *STEPS, TOTAL):
        ratios = sorted(page[name] / page[BASELINE] for page in times)
        seconds = sum(page[name] for page in times) / sum(page[BASELINE] for page in times)
        milliseconds = 1000 * statistics.median(page[name] for page in times)
        figures = (statistics.median(ratios), percentile(ratios, 0.95), seconds, milliseconds)
        budget = f"{BUDGET:.1f}" if name == TOTAL else ""
        rows.append([name, *(f"{figure:.3f}" for figure in figures), budget])
    return Table(
        f"CPU time by {BASELINE} parsing of the same bytes, {len(times)} pages",
        ("step", "median", "p95", "of sums", "median ms", "budget of median"),
        rows,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="folder of labelled pages")
    parser.add_argument("--limit", type=int, help="time only the first LIMIT pages")
    options = parser.parse_args()
    pages = load_corpus(options.corpus).pages[: options.limit]
    load_title_model()
    tune_garbage_collector()
    print_tables([table_of([time_page(page) for page in pages])], sys.stdout)


if __name__ == "__main__":
    main()
