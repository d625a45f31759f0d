"""Corpora and options of ``newscrawl evaluate`` and ``newscrawl train``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from newscrawl.cli.shared_options import COUNT
from newscrawl.lab.corpora.corpus import CorpusError, load_corpus
from newscrawl.lab.paper_methods import TRAINED_METHODS
from newscrawl.optional import require

if TYPE_CHECKING:
    from collections.abc import Iterable

    from newscrawl.lab.corpora.corpus import Corpus

jobs_option = click.option(
    "--jobs",
    "workers",
    type=COUNT,
    default=os.cpu_count() or 1,
    show_default=True,
    metavar="N",
    help="worker processes; 0: work in this process",
)


def load_corpora(folders: Iterable[str]) -> list[Corpus]:
    """Return the corpora in *folders*. Raises ``click.ClickException`` if one is invalid."""
    try:
        corpora = [load_corpus(Path(folder)) for folder in folders]
    except (CorpusError, OSError, UnicodeDecodeError) as error:
        raise click.ClickException(str(error)) from error
    if len({corpus.name for corpus in corpora}) < len(corpora):
        raise click.UsageError("two corpora have the same name")
    return corpora


def require_training(method: str) -> None:
    """Raise ``MissingPackageError`` if *method* must be trained and scikit-learn is missing."""
    if method in TRAINED_METHODS:
        require("sklearn", "scikit-learn")


def save_text(path: Path, text: str) -> None:
    """Write *text* to *path*. Raises ``click.ClickException`` on failure."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error}") from error
