"""Writes the tables of DocEng 2011 with published and today's figures: cardoso.md and styles.md.

python -m benchmarks.cardoso --out DIR [--page NAME ...] [--style SOURCE ...] [--limit N]

Needs scikit-learn (extra ``train``) and the labelled corpora; ``--style chromium`` and the last rows
of Table 3 need Chromium. Uses no network.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.cardoso import pages
from benchmarks.cardoso.effect import GROUPS, Groups, effect_tables, read_pool
from benchmarks.cardoso.looks import SOURCES
from benchmarks.cardoso.readings import labelled_pages, read_pages, spread
from benchmarks.cardoso.tables import quality_tables
from benchmarks.cardoso.times import style_costs, time_pages, time_tables
from newscrawl.corpora.chromium import missing
from newscrawl.corpora.tables import Table, print_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.corpora.corpus import LabelledPage

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"
NAMES = ("news212", "fundus", "css-sites")
CACHE = Path(tempfile.gettempdir()) / "newscrawl-chromium-styles"
PAGES = ("cardoso", "styles")


def main() -> None:
    """Write the selected pages."""
    options = _options()
    labelled = labelled_pages([options.corpora / name for name in NAMES], options.limit)
    if "cardoso" in options.page:
        start = _start(labelled)
        _write(
            options.out / "cardoso.md", start, quality_tables(read_pages(labelled, options.workers))
        )
    if "styles" in options.page:
        load = os.getloadavg()[0]
        tables = list(_style_tables(labelled, options))
        sites = len({page.site for page in labelled if page.corpus == "css-sites"})
        start = pages.STYLES.format(
            command=pages.COMMAND,
            sites=sites,
            timed=options.timed_pages,
            browser=options.browser_pages,
            machine=pages.machine(load),
        )
        _write(options.out / "styles.md", start, tables)


def _start(labelled: Sequence[LabelledPage]) -> str:
    counts = {name: sum(page.corpus == name for page in labelled) for name in NAMES}
    corpora = ", ".join(f"{name} ({count})" for name, count in counts.items())
    sites = len({page.site for page in labelled})
    return pages.TABLES.format(
        pages=len(labelled), sites=sites, corpora=corpora, command=pages.COMMAND
    )


def _style_tables(labelled: Sequence[LabelledPage], options: argparse.Namespace) -> Iterator[Table]:
    groups = Groups(options.corpora)
    timed = [
        (page, group)
        for group in GROUPS
        for page in spread([it for it in labelled if groups(it) == group], options.timed_pages)
    ]
    subjects = time_pages(timed, 0 if missing() else options.browser_pages)
    pool = read_pool(labelled, options.style, options.cache, options.workers)
    yield from effect_tables(pool, groups, style_costs(subjects))
    yield from time_tables(subjects)


def _write(file: Path, start: str, tables: Iterable[Table]) -> None:
    """Print each table when it is ready, then write the page."""
    printed = []
    for table in tables:
        print_tables([table], sys.stdout)
        sys.stdout.flush()
        printed.append(table)
    file.write_text(pages.page(start, printed), encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cardoso")
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="DIR", help="folder to write the pages to")
    add("--page", nargs="+", choices=PAGES, default=PAGES, help="pages to write (default: both)")
    add("--style", nargs="+", choices=SOURCES, default=SOURCES,
        help="sources of style in the table of its effect (default: all)")  # fmt: skip
    add("--limit", type=int, metavar="N", help="pages per corpus, evenly spaced")
    add("--timed-pages", type=int, default=20, metavar="N",
        help="timed pages per group, evenly spaced (default: %(default)s)")  # fmt: skip
    add("--browser-pages", type=int, default=12, metavar="N",
        help="timed pages per group in Chromium (default: %(default)s)")  # fmt: skip
    add("--cache", type=Path, default=CACHE, metavar="DIR",
        help="cache folder of Chromium's styles (default: %(default)s)")  # fmt: skip
    add("--corpora", type=Path, default=CORPORA, metavar="DIR", help="folder of the corpora")
    add("--workers", type=int, default=os.cpu_count() or 1, metavar="N",
        help="worker processes (default: %(default)s)")  # fmt: skip
    options = parser.parse_args()
    if not options.out.is_dir():
        parser.error(f"no folder {options.out}")
    if not options.corpora.is_dir():
        parser.error(f"no corpora at {options.corpora}")
    if "chromium" in options.style and (reason := missing()):
        parser.error(f"{reason}; to run without Chromium: --style none tags ours")
    return options


if __name__ == "__main__":
    main()
