"""Writes the tables of DocEng 2011 and of the thesis with published and today's figures.

python -m benchmarks.cardoso --out DIR [--page NAME ...] [--style SOURCE ...] [--limit N]

The pages are cardoso.md, thesis.md and styles.md. Needs scikit-learn (extra ``train``) and the
labelled corpora; ``--style chromium`` and the last rows of Table 3 need Chromium. Uses no network.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.cardoso import pages
from benchmarks.cardoso.ablation import ablation_parts
from benchmarks.cardoso.effect import effect_parts
from benchmarks.cardoso.looks import SOURCES
from benchmarks.cardoso.readings import labelled_pages, read_pages, spread
from benchmarks.cardoso.style_pool import GROUPS, Groups, read_pool
from benchmarks.cardoso.tables import quality_parts
from benchmarks.cardoso.times import style_costs, time_pages, time_tables
from benchmarks.result_page import write_page
from newscrawl.lab.corpora.chromium import missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchmarks.result_page import Part
    from newscrawl.lab.corpora.corpus import LabelledPage

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"
NAMES = ("news212", "fundus", "css-sites")
OTHERS = ("wcxb", "fundus-history", "postlight", "l3sgn1", "daniel", "dragnet")
"""Corpora that are only scored."""
CACHE = Path(tempfile.gettempdir()) / "newscrawl-chromium-styles"
PAGES = ("cardoso", "thesis", "styles")


def main() -> None:
    """Write the selected pages."""
    options = _options()
    labelled = _labelled(NAMES, options)
    others = _labelled(OTHERS, options)
    if not {"cardoso", "thesis"}.isdisjoint(options.page):
        readings = read_pages(labelled, options.workers)
        if "cardoso" in options.page:
            parts = quality_parts(readings, read_pages(others, options.workers))
            _write("cardoso", _start(pages.TABLES, labelled), parts, options)
        if "thesis" in options.page:
            examples = [reading.relevant for reading in readings]
            parts = ablation_parts([reading.page for reading in readings], examples)
            _write("thesis", _start(pages.THESIS, labelled), parts, options)
    if "styles" in options.page:
        _write_styles(labelled, others, options)


def _labelled(names: Iterable[str], options: argparse.Namespace) -> list[LabelledPage]:
    return labelled_pages([options.corpora / name for name in names], options.limit)


def _start(introduction: str, labelled: Sequence[LabelledPage]) -> str:
    counts = {name: sum(page.corpus == name for page in labelled) for name in NAMES}
    corpora = ", ".join(f"{name} ({count})" for name, count in counts.items())
    sites = len({page.site for page in labelled})
    return introduction.format(
        pages=len(labelled), sites=sites, corpora=corpora, command=pages.COMMAND
    )


def _write_styles(
    labelled: Sequence[LabelledPage], others: Sequence[LabelledPage], options: argparse.Namespace
) -> None:
    load = os.getloadavg()[0]
    parts = list(_style_parts(labelled, others, options))
    start = pages.STYLES.format(
        command=pages.COMMAND,
        sites=len({page.site for page in labelled if page.corpus == "css-sites"}),
        timed=options.timed_pages,
        browser=options.browser_pages,
        machine=pages.machine(load),
    )
    _write("styles", start, parts, options)


def _style_parts(
    labelled: Sequence[LabelledPage], others: Sequence[LabelledPage], options: argparse.Namespace
) -> Iterator[Part]:
    groups = Groups(options.corpora)
    yield groups.table([*labelled, *others])
    timed = [
        (page, group)
        for group in GROUPS
        for page in spread([it for it in labelled if groups(it) == group], options.timed_pages)
    ]
    subjects = time_pages(timed, 0 if missing() else options.browser_pages)
    scored = [*labelled, *(page for page in others if groups.complete(page))]
    pool = read_pool(scored, options.style, options.cache, options.workers, groups.complete)
    yield from effect_parts(pool, groups, style_costs(subjects), NAMES)
    yield from time_tables(subjects)


def _write(name: str, start: str, parts: Iterable[Part], options: argparse.Namespace) -> None:
    write_page(options.out / f"{name}.md", pages.COMMAND, start, parts, pages.NOTES)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cardoso")
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="DIR", help="folder to write the pages to")
    add("--page", nargs="+", choices=PAGES, default=PAGES, help="pages to write (default: all)")
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
