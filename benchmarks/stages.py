"""Instructions of each stage of ``extract()``, as multiples of those of an ``lxml.html`` parse of the page.

Callgrind counts them on 50 fixed pages of news212, fundus and wcxb, or on sample pages if the corpora are
missing, after as many others: a crawl, too, sees each page for the first time. The counts of two runs differ
by some .2 %, whatever else the machine does. A stage's instructions are its own, without those of the stages
that it calls. The figures are printed next to those of ``docs/results/stages.json``, and
``--out docs/results/stages.md`` replaces both. Needs valgrind and a C compiler; takes one to two minutes.

    python -m benchmarks.stages [--corpora DIR] [--limit N] [--against FILE] [--out FILE]
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from functools import wraps
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import lxml.html

from benchmarks.dots import Dot, dot_chart
from benchmarks.extraction import CORPUS, SAMPLES, read_pages
from benchmarks.result_page import Figure, write_page
from newscrawl.extraction.extract import extract
from newscrawl.lab.corpora.tables import Table, print_tables
from newscrawl.workers.child import tune_garbage_collector

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: stage -> functions, where they are called
STAGES = {
    "document": ["extraction.extract.parse_document"],
    "hidden article": ["extraction.method.reveal_hidden_article"],
    "comments": ["extraction.method.comment_rows"],
    "metadata": ["extraction.extract.read_metadata"],
    "region by NCE": ["extraction.default_method.find_region"],
    "title": [
        "extraction.default_method.find_candidates",
        "extraction.default_method.find_headline",
    ],
    "candidates of blocks": ["extraction.default_method.body_candidates"],
    "choice of blocks": ["extraction.default_method.choose_blocks"],
    "embedded article": ["extraction.default_method.find_embedded_article"],
    "dates": ["extraction.extract.page_dates"],
    "body": ["extraction.extract._select_body"],
    "paywall": ["extraction.extract.find_paywall"],
    "kind": ["extraction.extract.kind_features", "extraction.extract._kind"],
    "description": ["extraction.extract._set_description"],
    "language": ["extraction.extract.detect_language"],
    "authors": ["extraction.extract._set_authors"],
    "further pages": ["extraction.extract.find_further_pages"],
}
PARSER, REST = "lxml.html", "rest"
#: corpus -> every which page is counted
STEPS = {"news212": 16, "fundus": 20, "wcxb": 60}
LAST = Path(__file__).resolve().parents[1] / "docs" / "results" / "stages.json"
URL = "https://www.site.example/2026/03/14/headline-of-the-story"
_SOURCE = """#include <valgrind/callgrind.h>
void start(void) { CALLGRIND_START_INSTRUMENTATION; }
void stop(void) { CALLGRIND_STOP_INSTRUMENTATION; }
void mark(const char *stage) { CALLGRIND_DUMP_STATS_AT(stage); }
"""
_COUNTED = re.compile(r"^desc: Trigger: Client Request: (.+)|^totals: (\d+)")


class _Counter:
    """Tells callgrind which stage the instructions until now belong to."""

    def __init__(self, library: Path) -> None:
        self.callgrind = ctypes.CDLL(str(library))
        self._stage = "none"

    def enter(self, stage: str) -> str:
        """Count the instructions until now for the stage before, and return it; *stage* goes on."""
        before, self._stage = self._stage, stage
        self.callgrind.mark(before.encode())
        return before

    def counted(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return *function* as a part of *stage*."""

        @wraps(function)
        def run(*arguments: Any, **options: Any) -> Any:
            before = self.enter(stage)
            try:
                return function(*arguments, **options)
            finally:
                self.enter(before)

        return run

    def watch(self) -> None:
        """Count the functions of all stages."""
        for stage, places in STAGES.items():
            for place in places:
                module, _, name = f"newscrawl.{place}".rpartition(".")
                caller = import_module(module)
                setattr(caller, name, self.counted(stage, getattr(caller, name)))


def count(library: Path, corpora: Path, limit: int | None) -> None:
    """Extract other pages to fill the caches, then the pages; print what :func:`measure` reads."""
    pages, others = (chosen[:limit] for chosen in fixed_pages(corpora))
    counter = _Counter(library)
    for html in others:
        extract(html, URL)
    tune_garbage_collector()
    gc.disable()
    counter.watch()
    counter.callgrind.start()
    for html in pages:
        counter.counted(PARSER, lxml.html.document_fromstring)(html)
        counter.counted(REST, extract)(html, URL)
    counter.callgrind.stop()
    sys.stdout.write(str(len(pages)))


def fixed_pages(corpora: Path) -> tuple[list[bytes], list[bytes]]:
    """Return pages of the corpora of :data:`STEPS`, or samples if one is missing; then others."""
    if not all((corpora / name).is_dir() for name in STEPS):
        samples = [path.read_bytes() for path in sorted(SAMPLES.rglob("*.html"))]
        return samples[::2], samples[1::2]
    pages: tuple[list[bytes], list[bytes]] = [], []
    for name, step in STEPS.items():
        found = read_pages(corpora / name)
        pages[0].extend(found[3::step])
        pages[1].extend(found[9::step])
    return pages


def measure(corpora: Path, limit: int | None) -> dict[str, float]:
    """Return millions of instructions a page: stage -> its own."""
    with TemporaryDirectory() as name:
        source, library, profile = (Path(name) / file for file in ("calls.c", "calls.so", "out"))
        source.write_text(_SOURCE)
        _run(
            "cc",
            "-shared",
            "-fPIC",
            "-g",
            "-O1",
            "-fno-optimize-sibling-calls",
            "-o",
            library,
            source,
        )
        options = (
            "--tool=callgrind", "--instr-atstart=no", "--dump-line=no", "--combine-dumps=yes",
            f"--callgrind-out-file={profile}",
        )  # fmt: skip
        arguments = ["--count", library, "--corpora", corpora]
        if limit is not None:
            arguments += ["--limit", limit]
        command = ("valgrind", *options, sys.executable, "-m", "benchmarks.stages", *arguments)
        pages = int(_run(*command))
        own: Counter[str] = Counter()
        stage = ""
        with profile.open() as lines:
            for match in filter(None, map(_COUNTED.match, lines)):
                stage = match[1] or stage
                own[stage] += int(match[2] or 0)
    return {stage: round(own[stage] / 1e6 / pages, 3) for stage in (PARSER, *STAGES, REST)}


def _run(*command: object) -> str:
    return subprocess.run(
        [str(part) for part in command], check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def table_of(own: Mapping[str, float], before: Mapping[str, float]) -> Table:
    """Return the table of millions of instructions a page; *before* has those of another run."""
    cells = [
        [stage, *(f"{value:.2f}" for value in (now, now / own[PARSER], before.get(stage, 0)))]
        for stage, now in own.items()
    ]
    return Table("By stage", ("stage", "million instructions", "parses", "before"), cells)


def chart_of(own: Mapping[str, float], before: Mapping[str, float]) -> Figure:
    """Return the chart of the same figures."""
    rows = {
        stage: {"before": Dot(before[stage]), "now": Dot(now)}
        for stage, now in own.items()
        if stage in STAGES and stage in before
    }
    title = "Instructions of the stages of extract()"
    return Figure("stages", title, dot_chart(title, "million instructions a page", rows))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--corpora", type=Path, default=CORPUS.parent, metavar="DIR")
    parser.add_argument("--limit", type=int, help="count only the first LIMIT pages")
    parser.add_argument("--against", type=Path, default=LAST, metavar="FILE", help="other figures")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write a page, a chart, figures")
    parser.add_argument("--count", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.count:
        count(options.count, options.corpora, options.limit)
        return
    for command in ("valgrind", "cc"):
        if shutil.which(command) is None:
            sys.exit(f"{command} is not installed: instructions are counted by valgrind")
    own = measure(options.corpora, options.limit)
    own["extract()"] = round(sum(own.values()) - own[PARSER], 3)
    before = json.loads(options.against.read_text()) if options.against.exists() else own
    table = table_of(own, before)
    if options.out is None:
        print_tables([table], sys.stdout)
        return
    start = (__doc__ or "").partition("    python")[0].replace("``", "`")
    write_page(
        options.out,
        "make bench ARGS='--out docs/results/stages.md'",
        f"# Stages\n\n{start}",
        [table, chart_of(own, before)],
        {},
    )
    options.out.with_suffix(".json").write_text(json.dumps(own, indent=1) + "\n")


if __name__ == "__main__":
    main()
