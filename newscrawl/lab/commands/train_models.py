"""Subcommand ``train``: trains the classifiers of title, date, body and kind."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from newscrawl.cli.shared_options import progress
from newscrawl.lab.commands.corpora_option import jobs_option, load_corpora
from newscrawl.optional import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from newscrawl.lab.corpora.corpus import LabelledPage


@click.command()
@click.argument("corpora", metavar="CORPUS...", nargs=-1, required=True)
@click.option(
    "-o", "--output", "out", metavar="DIR", required=True, help="existing folder for the models"
)
@jobs_option
def command(corpora: tuple[str, ...], **options: Any) -> None:
    """Train the classifiers of title, date, body and kind on folders of labelled pages.

    Trains tree ensembles on the labelled title, date and body of the pages of each CORPUS, a folder
    with truth.jsonl and pages/, and writes them to DIR; newscrawl evaluate scores them in folds.
    Pages with a page_type, such as lists, are examples of pages that are not articles. Training is
    deterministic. Needs scikit-learn: pip install 'newscrawl[train]'
    """
    opts = argparse.Namespace(**options)
    if not Path(opts.out).is_dir():
        raise click.ClickException(f"no folder {opts.out}")
    loaded = load_corpora(corpora)
    require("sklearn", "scikit-learn")
    pages = [page for corpus in loaded for page in corpus.pages]
    _train(pages, [page for corpus in loaded for page in corpus.typed], opts)


def _train(
    pages: Sequence[LabelledPage], typed: Sequence[LabelledPage], opts: argparse.Namespace
) -> None:
    from newscrawl.lab.corpora.tables import print_tables  # noqa: PLC0415
    from newscrawl.lab.training.examples import read_examples  # noqa: PLC0415
    from newscrawl.lab.training.training_errors import TooFewPagesError  # noqa: PLC0415
    from newscrawl.lab.training.training_report import train  # noqa: PLC0415

    with progress("reading pages", len(pages)) as advance:
        examples = read_examples(pages, workers=opts.workers, advance=advance)
    try:
        for table in train(examples, Path(opts.out), typed=typed, workers=opts.workers):
            print_tables([table], sys.stdout)
    except TooFewPagesError as error:
        raise click.ClickException(str(error)) from error
