"""``scrapy evaluate``: precision, recall and F1 of a method on labelled pages.

What only a run needs is imported in it: ``scrapy`` loads every command before it runs one.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from newscrawl.extraction import METHODS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from newscrawl.evaluation.corpora import Corpus, LabelledPage

T = TypeVar("T")


class Command(ScrapyCommand):
    """Run a method over corpora and print its scores."""

    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        """Return the arguments of the command."""
        return "[options] CORPUS..."

    def short_desc(self) -> str:
        """Return what the command does, in a line."""
        return "Score an extraction method on folders of labelled pages"

    def long_desc(self) -> str:
        """Return what the command does."""
        return (
            "Extract the labelled pages of each CORPUS, a folder with truth.jsonl and pages/, and "
            "print precision, recall and F1 of relevant content, body, title and date."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options of the command."""
        super().add_options(parser)
        parser.add_argument(
            "--method", default="nce", help="method to score (default: %(default)s)"
        )
        parser.add_argument(
            "--against", metavar="METHOD", help="compare with METHOD: paired bootstrap over sites"
        )
        parser.add_argument(
            "--half",
            choices=("tune", "test", "all"),
            default="all",
            help="sites to score: those that constants were fitted on, the others, or all "
            "(default: %(default)s)",
        )
        parser.add_argument("--by-site", action="store_true", help="print one row a site, too")
        parser.add_argument(
            "--worst", type=int, default=10, metavar="N", help="worst pages to list (default: 10)"
        )
        parser.add_argument(
            "--limit", type=int, metavar="N", help="score the first N pages of each corpus only"
        )
        parser.add_argument(
            "--workers",
            type=int,
            default=os.cpu_count() or 1,
            metavar="N",
            help="processes to use, 0 for none but this (default: %(default)s)",
        )
        parser.add_argument(
            "--json",
            metavar="FILE",
            help="write all figures to FILE; '-': to standard output, in place of the tables",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Score the corpora in *args* and print the report."""
        _check(args, opts)
        corpora = _load(args)
        pages = [page for corpus in corpora for page in _choose(corpus, opts)]
        if not pages:
            raise UsageError("no labelled page to score", print_help=False)
        _write(_report(corpora, pages, opts), opts)


def _check(args: Sequence[str], opts: argparse.Namespace) -> None:
    if unknown := [arg for arg in args if arg.startswith("-")]:
        raise UsageError(f"unknown option {unknown[0]}", print_help=False)
    if not args:
        raise UsageError("name at least one corpus", print_help=False)
    for name in ("worst", "limit", "workers"):
        if (value := getattr(opts, name)) is not None and value < 0:
            raise UsageError(f"--{name} must not be negative", print_help=False)
    for method in filter(None, (opts.method, opts.against)):
        if method not in METHODS:
            known = ", ".join(sorted(METHODS))
            raise UsageError(f"unknown method {method!r}; there are: {known}", print_help=False)


def _load(folders: Iterable[str]) -> list[Corpus]:
    from newscrawl.evaluation.corpora import CorpusError, load_corpus  # noqa: PLC0415

    try:
        corpora = [load_corpus(Path(folder)) for folder in folders]
    except (CorpusError, OSError, UnicodeDecodeError) as error:
        raise UsageError(str(error), print_help=False) from error
    if len({corpus.name for corpus in corpora}) < len(corpora):
        raise UsageError("two corpora have the same name", print_help=False)
    return corpora


def _choose(corpus: Corpus, opts: argparse.Namespace) -> list[LabelledPage]:
    pages = [page for page in corpus.pages if opts.half in ("all", page.half)]
    return pages[: opts.limit]


def _report(
    corpora: Sequence[Corpus], pages: Sequence[LabelledPage], opts: argparse.Namespace
) -> dict[str, Any]:
    from newscrawl.evaluation.nce_paper import measure  # noqa: PLC0415
    from newscrawl.evaluation.report import build_report  # noqa: PLC0415
    from newscrawl.evaluation.run import evaluate  # noqa: PLC0415

    def watched(function: Callable[..., list[T]], label: str, *args: Any) -> list[T]:
        with _progress(label, len(pages)) as advance:
            return function(pages, *args, workers=opts.workers, advance=advance)

    return build_report(
        opts.method,
        opts.half,
        corpora,
        watched(evaluate, opts.method, opts.method),
        others=watched(evaluate, opts.against, opts.against) if opts.against else (),
        against=opts.against,
        nce=watched(measure, "as in the paper") if opts.method == "nce" else (),
        worst=opts.worst,
    )


@contextmanager
def _progress(label: str, total: int) -> Iterator[Callable[[], None]]:
    """Show a bar on a terminal; yield the function that moves it by one."""
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(label, total=total)
        yield lambda: progress.advance(task)


def _write(report: dict[str, Any], opts: argparse.Namespace) -> None:
    if opts.json:
        text = json.dumps(report, ensure_ascii=False, indent=1) + "\n"
        if opts.json == "-":
            sys.stdout.write(text)
            return
        _save(Path(opts.json), text)
    from newscrawl.evaluation.report import tables_of  # noqa: PLC0415
    from newscrawl.evaluation.tables import print_tables  # noqa: PLC0415

    print_tables(tables_of(report, by_site=opts.by_site), sys.stdout)


def _save(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error}", print_help=False) from error
