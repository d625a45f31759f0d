"""Crawls of the same pages by newscrawl and by other tools, in turn.

Pages a second, CPU time, longest stall of the event loop, memory and quality of the bodies. Each
round runs all contestants, every second round in reverse order; printed are medians. A finished run
is kept in ``--runs``: an interrupted benchmark continues there.

    python -m benchmarks.speed.crawl [--pages 2000] [--rounds 3] [--only NAME ...] [--out PAGE]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmarks.speed.crawl_report import write_report
from benchmarks.speed.measured_process import FailedRunError, measure
from benchmarks.speed.page_web import served
from benchmarks.speed.pages import choose_pages, figures
from benchmarks.speed.run_log import CORPORA, RunLog, environment, pages_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.speed.page_web import Web
    from benchmarks.speed.pages import SitePage

#: names in the order of a round; the environment of each is OTHERS or that of this process
CONTESTANTS = (
    "newscrawl",
    "trafilatura-inline",
    "newscrawl-sites",
    "trafilatura-pool",
    "scrapy",
    "news-please",
    "fundus",
)
#: in an environment of their own: they need older versions of our dependencies
OTHERS = ("news-please", "fundus")
#: corpora that were made with the parsers of Fundus
FUNDUS = ("fundus", "fundus-history")


def run(
    name: str, *, pages: Sequence[SitePage], web: Web, others: Path, folder: Path
) -> dict[str, Any]:
    """Run a contestant once; return its figures."""
    python = others if name in OTHERS else Path(sys.executable)
    if name == "fundus":
        pages = [page for page in pages if page.labels.corpus in FUNDUS]
    urls, items, stall = folder / "urls.txt", folder / "items.jsonl", folder / "stall.json"
    log = folder / f"{name}.log"
    for path in (items, stall):
        path.unlink(missing_ok=True)
    lines = "\n".join(_line_of(page, web.port, publisher=name == "fundus") for page in pages)
    urls.write_text(lines, encoding="utf-8")
    web.reset()
    command = [
        str(python),
        "-m",
        "benchmarks.speed.contestants",
        name,
        *map(str, (urls, items, stall)),
    ]
    measured = measure(command, environment(), log, started=web.first_request)
    if measured.returncode or not items.exists():
        raise FailedRunError.of(name, log)
    return {**_stall(stall), **figures(pages, items, measured)}


def _stall(path: Path) -> dict[str, float | None]:
    """Return the longest stall, None without an event loop."""
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {"stall": None, "stall_cpu": None} | found


def _line_of(page: SitePage, port: int, *, publisher: bool) -> str:
    """Return the line of a page in the list of URLs."""
    if not publisher:
        return page.url(port)
    time = (page.labels.fetched_at or datetime.now(UTC)).replace(tzinfo=None)
    return f"{page.url(port)} {page.labels.site} {time.isoformat()}"


def available(names: Iterable[str], others: Path) -> list[str]:
    """Return the contestants whose environment exists; report the others."""
    found = []
    for name in names:
        if name in OTHERS and not others.exists():
            print(f"{name}: skipped, no {others} (make .venv-crawlers/installed)", file=sys.stderr)
        else:
            found.append(name)
    return found


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=CONTESTANTS, default=CONTESTANTS)
    parser.add_argument("--others", type=Path, default=Path(".venv-crawlers/bin/python"))
    parser.add_argument("--runs", type=Path, default=Path(".bench/crawl.jsonl"))
    parser.add_argument("--out", type=Path, help="page to write, with its plots next to it")
    options = parser.parse_args()
    pages = choose_pages(options.corpora, options.pages)
    log = RunLog(options.runs)
    names, key = available(options.only, options.others), pages_key(pages)
    with served(pages) as web, TemporaryDirectory() as folder:
        contest = partial(run, pages=pages, web=web, others=options.others, folder=Path(folder))
        log.run_rounds(key, names, options.rounds, contest)
    runs = {name: log.runs(key, name) for name in CONTESTANTS}
    corpora = Counter(page.labels.corpus for page in pages)
    hosts = len({page.host for page in pages})
    write_report(
        {name: found for name, found in runs.items() if found},
        pages=corpora,
        hosts=hosts,
        cores=len(os.sched_getaffinity(0)),
        out=options.out,
    )


if __name__ == "__main__":
    main()
