"""Options and output that several subcommands share."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from newscrawl.body.parts import PARTS
from newscrawl.defaults import DEFAULTS
from newscrawl.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def check_method(method: str) -> None:
    """Raise ``click.UsageError`` for an unknown *method*."""
    if method == DEFAULTS["NEWSCRAWL_METHOD"]:
        return
    # slow to import
    from newscrawl.extraction.methods import UnknownMethodError, get_method  # noqa: PLC0415

    try:
        get_method(method)
    except UnknownMethodError as error:
        raise click.UsageError(str(error)) from error


def complete_method(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the methods that start with *incomplete*."""
    from newscrawl.extraction.methods import available_methods  # noqa: PLC0415  # slow to import

    return [name for name in available_methods() if name.startswith(incomplete)]


def complete_part(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the lists of parts that *incomplete* starts, without those that it has."""
    before, comma, last = incomplete.rpartition(",")
    free = [name for name in PARTS if name not in before.split(",")]
    return [f"{before}{comma}{name}" for name in free if name.startswith(last)]


COUNT = click.IntRange(min=0)
"""Type of options that count something."""


@contextmanager
def progress(label: str, total: int | None = None) -> Iterator[Callable[..., None]]:
    """Show a progress bar on a terminal; yield the function that advances it, by 1 by default.

    *total*: number of steps, None if it is unknown.
    """
    if not sys.stderr.isatty():
        yield lambda steps=1: None  # noqa: ARG005  # interface
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda steps=1: bar.advance(task, steps)


def report(line: str) -> None:
    """Write *line* to standard error, after the name of the command."""
    sys.stderr.write(f"{click.get_current_context().command_path}: {printable(line)}\n")


def suffix_of(path: str, suffixes: Iterable[str], otherwise: str = "") -> str:
    """Return the suffix of the output file *path* in lower case, "" if it has none.

    Raises ``click.UsageError`` if it is not one of *suffixes*; *otherwise* names an alternative.
    """
    suffix = Path(path).suffix.lower()
    if suffix and suffix not in suffixes:
        known = ", ".join(suffixes)
        raise click.UsageError(
            f"{path}: no format has the suffix {suffix!r}; use {known}{otherwise}"
        )
    return suffix
