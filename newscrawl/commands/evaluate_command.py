"""``scrapy evaluate``: precision, recall and F1 of a method on labelled pages.

Imports that only a run needs are inside functions, as ``scrapy`` loads all commands at start.
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
from newscrawl.extraction.methods import DEFAULT_METHOD, TRAINED_METHODS

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
        """Return a one-line description."""
        return "Score an extraction method on folders of labelled pages"

    def long_desc(self) -> str:
        """Return the description."""
        return (
            "Extract the labelled pages of each CORPUS, a folder with truth.jsonl and pages/, and "
            "print precision, recall and F1 of relevant content, body, title, date, authors and other "
            "metadata. With --task families, CORPUS is the folder that contains all corpora."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options of the command."""
        super().add_options(parser)
        parser.add_argument(
            "--task",
            choices=("articles", "families", "near-duplicates"),
            default="articles",
            help="articles: extracted fields; families: the same by family of corpora, compared "
            "with trafilatura; near-duplicates: clusters found in whole pages, extracted bodies "
            "and labelled bodies (default: %(default)s)",
        )
        parser.add_argument(
            "--method", default=DEFAULT_METHOD, help="method to score (default: %(default)s)"
        )
        parser.add_argument(
            "--against",
            metavar="METHOD",
            help="compare with METHOD by a paired bootstrap over sites",
        )
        parser.add_argument(
            "--half",
            choices=("tune", "test", "all"),
            default="all",
            help="sites to score: those that constants were tuned on, the others, or all "
            "(default: %(default)s)",
        )
        parser.add_argument(
            "--folds",
            choices=("extra-site", "intra-site"),
            default="extra-site",
            help="training pages of learned methods, in three folds: pages of other sites, or "
            "other pages of all sites (default: %(default)s)",
        )
        parser.add_argument(
            "--models",
            metavar="DIR",
            help="use the models in DIR, trained on other sites, instead of training in folds",
        )
        parser.add_argument("--by-site", action="store_true", help="also print a row per site")
        parser.add_argument(
            "--by-language", action="store_true", help="also print a row per language"
        )
        parser.add_argument(
            "--worst",
            type=int,
            default=10,
            metavar="N",
            help="number of worst pages to list (default: %(default)s)",
        )
        parser.add_argument(
            "--limit", type=int, metavar="N", help="score only the first N pages of each corpus"
        )
        parser.add_argument(
            "--workers",
            type=int,
            default=os.cpu_count() or 1,
            metavar="N",
            help="worker processes; 0: extract in this process (default: %(default)s)",
        )
        parser.add_argument(
            "--page",
            metavar="FILE",
            help="near-duplicates: also write the tables to FILE as Markdown",
        )
        parser.add_argument(
            "--baseline",
            metavar="FILE",
            help="families: compare with the report in FILE, written by --json; the exit code is 1 "
            "if a family got worse by more than its noise",
        )
        parser.add_argument(
            "--cache",
            metavar="DIR",
            help="families: folder for the output of trafilatura (default: the user's cache folder)",
        )
        parser.add_argument(
            "--json",
            metavar="FILE",
            help="write all figures to FILE; '-': print them instead of the tables",
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
        for method in filter(None, (opts.method, opts.against)):
            check_method(method, fitted=bool(opts.models))
        corpora = load_corpora(args)
        pages = [page for corpus in corpora for page in _choose(corpus, opts)]
        if not pages:
            raise UsageError("no labelled page to score", print_help=False)
        _write(_report(corpora, pages, opts), opts)


def _check_options(args: Sequence[str], opts: argparse.Namespace) -> None:
    if unknown := [arg for arg in args if arg.startswith("-")]:
        raise UsageError(f"unknown option {unknown[0]}", print_help=False)
    for name in ("worst", "limit", "workers"):
        if (value := getattr(opts, name)) is not None and value < 0:
            raise UsageError(f"--{name} must not be negative", print_help=False)
    if opts.page and opts.task != "near-duplicates":
        raise UsageError("--page requires --task near-duplicates", print_help=False)


def _choose(corpus: Corpus, opts: argparse.Namespace) -> list[LabelledPage]:
    pages = [page for page in corpus.pages if opts.half in ("all", page.half)]
    return pages[: opts.limit]


def _report(
    corpora: Sequence[Corpus], pages: Sequence[LabelledPage], opts: argparse.Namespace
) -> dict[str, Any]:
    from newscrawl.evaluation.evaluation_report import build_report  # noqa: PLC0415

    return build_report(
        opts.method,
        opts.half,
        corpora,
        _score(pages, opts.method, opts),
        others=_score(pages, opts.against, opts) if opts.against else (),
        against=opts.against,
        worst=opts.worst,
    )


def _score(
    pages: Sequence[LabelledPage], method: str, opts: argparse.Namespace
) -> list[PageOutcome[PageScores]]:
    from newscrawl.evaluation.page_scores import evaluate  # noqa: PLC0415

    if method not in TRAINED_METHODS:
        return _with_progress(evaluate, pages, method, opts, method=method)
    if opts.models:
        folder = Path(opts.models)
        _check_training_sites(pages, method, folder)
        return _with_progress(evaluate, pages, method, opts, method=method, models=folder)
    from newscrawl.evaluation.out_of_fold import evaluate_out_of_fold  # noqa: PLC0415
    from newscrawl.training.training_errors import TooFewPagesError  # noqa: PLC0415

    try:
        return _with_progress(
            evaluate_out_of_fold, pages, method, opts, steps=2, method=method, kind=opts.folds
        )
    except TooFewPagesError as error:
        raise UsageError(
            f"{error}: the models of method {method} are trained on other pages than those "
            "scored; use --models or another --method",
            print_help=False,
        ) from error


def _with_progress(
    function: Callable[..., list[T]],
    pages: Sequence[LabelledPage],
    label: str,
    opts: argparse.Namespace,
    *,
    steps: int = 1,
    **arguments: Any,
) -> list[T]:
    """Call *function* with a progress bar; it advances *steps* times for each page."""
    with progress(label, steps * len(pages)) as advance:
        return function(pages, workers=opts.workers, advance=advance, **arguments)


def _check_training_sites(pages: Sequence[LabelledPage], method: str, folder: Path) -> None:
    """Raise ``UsageError`` if the models in *folder* were trained on sites of *pages*."""
    from newscrawl.ensemble.ensemble import ModelError  # noqa: PLC0415
    from newscrawl.evaluation.out_of_fold import seen  # noqa: PLC0415

    try:
        trained_on = seen(pages, TRAINED_METHODS[method](folder))
    except (ModelError, OSError) as error:
        raise UsageError(str(error), print_help=False) from error
    if trained_on:
        raise UsageError(
            f"the models in {folder} were trained on the sites of {len(trained_on)} of the "
            f"{len(pages)} pages, such as {trained_on[0].site}; omit --models to train in folds",
            print_help=False,
        )


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
