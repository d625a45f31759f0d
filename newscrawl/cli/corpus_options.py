"""Options and output that several subcommands share."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from newscrawl.defaults import DEFAULTS
from newscrawl.optional import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from newscrawl.corpora.corpus import Corpus


def load_corpora(folders: Iterable[str]) -> list[Corpus]:
    """Return the corpora in *folders*. Raises ``click.ClickException`` if one is invalid."""
    from newscrawl.corpora.corpus import CorpusError, load_corpus  # noqa: PLC0415

    try:
        corpora = [load_corpus(Path(folder)) for folder in folders]
    except (CorpusError, OSError, UnicodeDecodeError) as error:
        raise click.ClickException(str(error)) from error
    if len({corpus.name for corpus in corpora}) < len(corpora):
        raise click.UsageError("two corpora have the same name")
    return corpora


def check_method(method: str) -> None:
    """Raise ``click.UsageError`` for an unknown *method*."""
    if method == DEFAULTS["NEWSCRAWL_METHOD"]:
        return
    from newscrawl.extraction.methods import METHODS  # noqa: PLC0415  # slow to import

    if method not in METHODS:
        names = ", ".join(sorted(METHODS))
        raise click.UsageError(f"unknown method {method!r}; available: {names}")


def require_training(method: str) -> None:
    """Raise ``MissingPackageError`` if *method* must be trained and scikit-learn is missing."""
    from newscrawl.extraction.methods import TRAINED_METHODS  # noqa: PLC0415

    if method in TRAINED_METHODS:
        require("sklearn", "scikit-learn")


COUNT = click.IntRange(min=0)
"""Type of options that count something."""

workers_option = click.option(
    "--workers",
    type=COUNT,
    default=os.cpu_count() or 1,
    show_default=True,
    metavar="N",
    help="worker processes; 0: work in this process",
)


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[..., None]]:
    """Show a progress bar on a terminal; yield the function that advances it, by 1 by default."""
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(label, total=total)
        yield lambda steps=1: bar.advance(task, steps)


def report(line: str) -> None:
    """Write *line* to standard error, after the name of the command."""
    sys.stderr.write(f"{click.get_current_context().command_path}: {line}\n")


def save_text(path: Path, text: str) -> None:
    """Write *text* to *path*. Raises ``click.ClickException`` on failure."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error}") from error
