"""``scrapy train``: trains the classifiers of title, date, body and kind on labelled pages.

Imports that only a run needs are inside functions, as ``scrapy`` loads all commands at start.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from newscrawl.commands.corpus_options import load_corpora, progress, save_text
from newscrawl.optional import require

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from newscrawl.corpora.corpus import LabelledPage
    from newscrawl.corpora.tables import Table


class TrainCommand(ScrapyCommand):
    """Train models on corpora, cross-validate them and write them to files."""

    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        """Return the arguments of the command."""
        return "CORPUS... --out DIR"

    def short_desc(self) -> str:
        """Return a one-line description."""
        return "Train the classifiers of title, date, body and kind on folders of labelled pages"

    def long_desc(self) -> str:
        """Return the description."""
        return (
            "Train tree ensembles on the labelled title, date and body of the pages of each CORPUS, "
            "a folder with truth.jsonl and pages/, print their cross-validated scores and write "
            "them to DIR. Pages with a page_type, such as lists, are examples of pages that are "
            "not articles. Training is deterministic. Needs scikit-learn: "
            "pip install 'newscrawl[train]'"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options of the command."""
        super().add_options(parser)
        parser.add_argument("--out", metavar="DIR", help="folder to write the models to")
        parser.add_argument(
            "--card", metavar="FILE", help="also write the tables to FILE as Markdown"
        )
        parser.add_argument("--no-folds", action="store_true", help="skip cross-validation")
        parser.add_argument(
            "--workers",
            type=int,
            default=os.cpu_count() or 1,
            metavar="N",
            help="worker processes; 0: read pages in this process (default: %(default)s)",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Train models on the corpora in *args*."""
        _check(opts)
        corpora = load_corpora(args)
        pages = [page for corpus in corpora for page in corpus.pages]
        _train(pages, [page for corpus in corpora for page in corpus.typed], opts)


def _train(
    pages: Sequence[LabelledPage], typed: Sequence[LabelledPage], opts: argparse.Namespace
) -> None:
    from newscrawl.corpora.tables import print_tables  # noqa: PLC0415
    from newscrawl.training.examples import read_examples  # noqa: PLC0415
    from newscrawl.training.training_errors import TooFewPagesError  # noqa: PLC0415
    from newscrawl.training.training_report import card, train  # noqa: PLC0415

    with progress("reading pages", len(pages)) as advance:
        examples = read_examples(pages, workers=opts.workers, advance=advance)
    tables: list[Table] = []
    try:
        for table in train(
            examples,
            Path(opts.out),
            typed=typed,
            workers=opts.workers,
            validate=not opts.no_folds,
        ):
            print_tables([table], sys.stdout)
            tables.append(table)
    except TooFewPagesError as error:
        raise UsageError(str(error), print_help=False) from error
    if opts.card:
        save_text(Path(opts.card), card(tables))


def _check(opts: argparse.Namespace) -> None:
    if not opts.out:
        raise UsageError("name a folder for the models: --out DIR", print_help=False)
    if not Path(opts.out).is_dir():
        raise UsageError(f"no folder {opts.out}", print_help=False)
    if opts.workers < 0:
        raise UsageError("--workers must not be negative", print_help=False)
    require("sklearn", "scikit-learn")
