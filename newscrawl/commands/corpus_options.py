"""Options and output of the commands that read corpora."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from newscrawl.extraction.methods import METHODS, TRAINED_METHODS
from newscrawl.optional import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from newscrawl.corpora.corpus import Corpus


def load_corpora(folders: Iterable[str]) -> list[Corpus]:
    """Return the corpora in *folders*. Raises ``UsageError`` if one is invalid."""
    from newscrawl.corpora.corpus import CorpusError, load_corpus  # noqa: PLC0415

    try:
        corpora = [load_corpus(Path(folder)) for folder in folders]
    except (CorpusError, OSError, UnicodeDecodeError) as error:
        raise UsageError(str(error), print_help=False) from error
    if not corpora:
        raise UsageError("name at least one corpus", print_help=False)
    if len({corpus.name for corpus in corpora}) < len(corpora):
        raise UsageError("two corpora have the same name", print_help=False)
    return corpora


def check_method(method: str, *, fitted: bool = False) -> None:
    """Raise ``UsageError`` for an unknown *method*; without *fitted* models, require scikit-learn."""
    if method not in METHODS:
        names = ", ".join(sorted(METHODS))
        raise UsageError(f"unknown method {method!r}; available: {names}", print_help=False)
    if method in TRAINED_METHODS and not fitted:
        require("sklearn", "scikit-learn")


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[..., None]]:
    """Show a progress bar on a terminal; yield the function that advances it, by 1 by default."""
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(label, total=total)
        yield lambda steps=1: bar.advance(task, steps)


def save_text(path: Path, text: str) -> None:
    """Write *text* to *path*. Raises ``UsageError`` on failure."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error}", print_help=False) from error
