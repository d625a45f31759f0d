"""``scrapy evaluate``: precision, recall and F1 of a method on labelled pages.

What only a run needs is imported in it: ``scrapy`` loads every command before it runs one.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from newscrawl.commands.corpus_options import check_method, load_corpora, progress, save_text
from newscrawl.commands.evaluate_families import evaluate_families
from newscrawl.commands.evaluate_near_duplicates import evaluate_near_duplicates
from newscrawl.extraction.methods import DEFAULT_METHOD, METHODS, TRAINED_METHODS
from newscrawl.optional import require

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from newscrawl.corpora.corpus import Corpus, LabelledPage
    from newscrawl.corpora.map_pages import PageOutcome
    from newscrawl.evaluation.page_scores import PageScores

T = TypeVar("T")


class EvaluateCommand(ScrapyCommand):
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
            "print precision, recall and F1 of relevant content, body, title and date. With --task "
            "families CORPUS is the folder that holds all corpora."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options of the command."""
        super().add_options(parser)
        parser.add_argument(
            "--task",
            choices=("articles", "families", "near-duplicates"),
            default="articles",
            help="what to score: fields of articles; the same for each family of the corpora in one "
            "folder, next to trafilatura; or clusters of articles, found in whole pages, in the "
            "bodies extracted and in those labelled (default: %(default)s)",
        )
        parser.add_argument(
            "--method", default=DEFAULT_METHOD, help="method to score (default: %(default)s)"
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
        parser.add_argument(
            "--folds",
            choices=("extra-site", "intra-site"),
            default="extra-site",
            help="what learned methods are fitted to: the pages of other sites, or other pages of "
            "all sites; three folds (default: %(default)s)",
        )
        parser.add_argument(
            "--models",
            metavar="DIR",
            help="score the models in DIR, which must not have seen the sites, in place of folds",
        )
        parser.add_argument("--by-site", action="store_true", help="print one row a site, too")
        parser.add_argument("--by-language", action="store_true", help="and one row a language")
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
            "--page",
            metavar="FILE",
            help="write what the method's paper prints, and ours, to FILE: a page in Markdown",
        )
        parser.add_argument(
            "--baseline",
            metavar="FILE",
            help="families: compare with the run that wrote FILE by --json; the exit code is 1 if "
            "a family lost more than its noise",
        )
        parser.add_argument(
            "--cache",
            metavar="DIR",
            help="families: keep trafilatura's bodies in DIR, not in the user's cache folder",
        )
        parser.add_argument(
            "--json",
            metavar="FILE",
            help="write all figures to FILE; '-': to standard output, in place of the tables",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Score the corpora in *args* and print the report."""
        _check_options(args, opts)
        if opts.task == "near-duplicates":
            evaluate_near_duplicates(args, opts)
            return
        if opts.task == "families":
            self.exitcode = 0 if evaluate_families(args, opts) else 1
            return
        _check_methods(opts)
        corpora = load_corpora(args)
        pages = [page for corpus in corpora for page in _choose(corpus, opts)]
        if not pages:
            raise UsageError("no labelled page to score", print_help=False)
        report = _report(corpora, pages, opts)
        if opts.page:
            _write_page(report, args, opts)
        _write(report, opts)


def _check_options(args: Sequence[str], opts: argparse.Namespace) -> None:
    if unknown := [arg for arg in args if arg.startswith("-")]:
        raise UsageError(f"unknown option {unknown[0]}", print_help=False)
    for name in ("worst", "limit", "workers"):
        if (value := getattr(opts, name)) is not None and value < 0:
            raise UsageError(f"--{name} must not be negative", print_help=False)


def _check_methods(opts: argparse.Namespace) -> None:
    from newscrawl.evaluation.page_scores import CLEANED  # noqa: PLC0415
    from newscrawl.evaluation.papers import paper_of  # noqa: PLC0415

    known_methods = {*METHODS, *CLEANED}
    for method in filter(None, (opts.method, opts.against)):
        check_method(method, known_methods, fitted=bool(opts.models))
        if method in CLEANED:
            require("html5lib", "html5lib")
    if opts.page and not paper_of(opts.method):
        raise UsageError(f"no paper prints figures of method {opts.method}", print_help=False)


def _choose(corpus: Corpus, opts: argparse.Namespace) -> list[LabelledPage]:
    pages = [page for page in corpus.pages if opts.half in ("all", page.half)]
    return pages[: opts.limit]


def _report(
    corpora: Sequence[Corpus], pages: Sequence[LabelledPage], opts: argparse.Namespace
) -> dict[str, Any]:
    from newscrawl.evaluation.evaluation_report import build_report  # noqa: PLC0415
    from newscrawl.evaluation.papers import paper_of  # noqa: PLC0415

    paper = paper_of(opts.method)
    return build_report(
        opts.method,
        opts.half,
        corpora,
        _score(pages, opts.method, opts),
        others=_score(pages, opts.against, opts) if opts.against else (),
        against=opts.against,
        as_published=_watched(paper.measure, pages, "as in the paper", opts) if paper else (),
        worst=opts.worst,
    )


def _score(
    pages: Sequence[LabelledPage], method: str, opts: argparse.Namespace
) -> list[PageOutcome[PageScores]]:
    from newscrawl.evaluation.page_scores import evaluate  # noqa: PLC0415

    if method not in TRAINED_METHODS:
        return _watched(evaluate, pages, method, opts, method=method)
    if opts.models:
        folder = _unseeing(pages, method, Path(opts.models))
        return _watched(evaluate, pages, method, opts, method=method, models=folder)
    from newscrawl.evaluation.out_of_fold import evaluate_out_of_fold  # noqa: PLC0415
    from newscrawl.training.training_errors import TooFewPagesError  # noqa: PLC0415

    try:
        return _watched(
            evaluate_out_of_fold, pages, method, opts, steps=2, method=method, kind=opts.folds
        )
    except TooFewPagesError as error:
        raise UsageError(
            f"{error}: method {method} is scored on pages that its models have not seen; "
            "name --models, or another --method",
            print_help=False,
        ) from error


def _watched(
    function: Callable[..., list[T]],
    pages: Sequence[LabelledPage],
    label: str,
    opts: argparse.Namespace,
    *,
    steps: int = 1,
    **arguments: Any,
) -> list[T]:
    """Call *function*, which takes so many *steps* on each page, and show how far it is."""
    with progress(label, steps * len(pages)) as advance:
        return function(pages, workers=opts.workers, advance=advance, **arguments)


def _unseeing(pages: Sequence[LabelledPage], method: str, folder: Path) -> Path:
    """Return the *folder* of models, none of which has seen a site of *pages*."""
    from newscrawl.ensemble.ensemble import ModelError  # noqa: PLC0415
    from newscrawl.evaluation.out_of_fold import seen  # noqa: PLC0415

    try:
        known = seen(pages, TRAINED_METHODS[method](folder))
    except (ModelError, OSError) as error:
        raise UsageError(str(error), print_help=False) from error
    if known:
        raise UsageError(
            f"{folder} was trained on {len(known)} of the {len(pages)} pages' sites, {known[0].site} "
            "for one; without --models the method is scored out of fold",
            print_help=False,
        )
    return folder


def _write_page(report: dict[str, Any], corpora: Sequence[str], opts: argparse.Namespace) -> None:
    from newscrawl.evaluation.evaluation_report import paper_tables  # noqa: PLC0415
    from newscrawl.evaluation.papers import document, paper_of  # noqa: PLC0415

    command = f"scrapy evaluate {' '.join(corpora)} --method {opts.method} --page {opts.page}"
    if paper := paper_of(opts.method):
        save_text(Path(opts.page), document(paper, command, paper_tables(report)))


def _write(report: dict[str, Any], opts: argparse.Namespace) -> None:
    if opts.json:
        text = json.dumps(report, ensure_ascii=False, indent=1) + "\n"
        if opts.json == "-":
            sys.stdout.write(text)
            return
        save_text(Path(opts.json), text)
    from newscrawl.corpora.tables import print_tables  # noqa: PLC0415
    from newscrawl.evaluation.evaluation_report import tables_of  # noqa: PLC0415

    tables = tables_of(report, by_site=opts.by_site, by_language=opts.by_language)
    print_tables(tables, sys.stdout)
