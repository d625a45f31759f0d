"""Options and output that several subcommands share, and the settings that options make."""

from __future__ import annotations

import functools
import sys
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import click
from w3lib.encoding import resolve_encoding

from newscrawl.body.parts import PARTS
from newscrawl.defaults import DEFAULTS, NoSettings, setting, unknown_settings
from newscrawl.pipeline_options import validate_settings
from newscrawl.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy.settings import Settings

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound="Callable[..., Any]")


def with_options(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds options to a subcommand, in the order of its help."""

    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def check_method(method: str) -> str:
    """Return *method*; raise ``click.UsageError`` if it is unknown."""
    if method == DEFAULTS["NEWSCRAWL_METHOD"]:
        return method
    # slow to import
    from newscrawl.extraction.methods import UnknownMethodError, get_method  # noqa: PLC0415

    try:
        get_method(method)
    except UnknownMethodError as error:
        raise click.UsageError(str(error)) from error
    return method


def _complete_method(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
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


def _check_url(_: click.Context, __: click.Parameter, url: str | None) -> str | None:
    if url and not url.lower().startswith(("http://", "https://")):
        raise click.UsageError(f"--url: not an http(s) URL: {url!r}")
    return url


def _check_encoding(_: click.Context, __: click.Parameter, encoding: str | None) -> str | None:
    if encoding and not resolve_encoding(encoding):
        raise click.UsageError(f"unknown encoding {encoding!r}")
    return encoding


def _check_rules(_: click.Context, __: click.Parameter, folder: str | None) -> str:
    """Return *folder*; raise ``click.UsageError`` if it is none."""
    if folder and not Path(folder).is_dir():
        raise click.UsageError(f"--site-rules: {folder}: not a folder")
    return folder or ""


site_rules_option = click.option(
    "--site-rules",
    metavar="DIR",
    callback=_check_rules,
    help="correct sites by the files in DIR, in the FiveFilters format",
)

metadata_option = click.option(
    "--metadata-only",
    is_flag=True,
    default=None,
    help="leave out the bodies; no article is dropped as too short",
)

page_options = with_options(
    click.option(
        "--method",
        default=DEFAULTS["NEWSCRAWL_METHOD"],
        show_default=True,
        callback=lambda _, __, method: check_method(method),
        shell_complete=_complete_method,
        help="extraction method",
    ),
    click.option("--url", callback=_check_url, help="URL of the page, if it is one file"),
    click.option(
        "--encoding",
        callback=_check_encoding,
        help="charset of the pages (default: declared or detected)",
    ),
    site_rules_option,
)
"""Options that say how pages are read."""


def page_limits(settings: Settings | NoSettings) -> dict[str, Any]:
    """Return the limits of a page, as arguments of ``CopiedProcess``."""
    return {
        "deadline": setting(settings, "NEWSCRAWL_DEADLINE"),
        "memory_limit": setting(settings, "NEWSCRAWL_MEMORY_LIMIT"),
    }


def check_folder(_: click.Context, __: click.Parameter, folder: str | None) -> str | None:
    """Raise ``click.UsageError`` if *folder* is or looks like a file."""
    if folder and (folder.lower().endswith((".htm", ".html")) or Path(folder).is_file()):
        raise click.UsageError(f"{folder}: name a folder")
    return folder


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


SETTINGS_MODULE = "newscrawl.settings.base"
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


def with_settings(
    function: Callable[Concatenate[Any, P], R], *, lazily: bool = False
) -> Callable[..., R]:
    """Add the options to a subcommand, which gets the settings as its first argument.

    The settings are those of ``newscrawl.settings.base``, or the context's ``obj``; with *lazily*,
    :class:`~newscrawl.defaults.NoSettings` if nothing is set.
    """

    @click.option(
        "-s",
        "--set",
        "assignments",
        metavar="NAME=VALUE",
        multiple=True,
        shell_complete=_complete_setting,
        help="a setting",
    )
    @click.option(
        "-L", "--loglevel", type=click.Choice(_LEVELS, case_sensitive=False), help="log level"
    )
    @click.pass_obj
    def wrapper(
        obj: Settings | None,
        /,
        assignments: tuple[str, ...],
        loglevel: str | None,
        *args: P.args,
        **options: P.kwargs,
    ) -> R:
        if lazily and obj is None and not (assignments or loglevel):
            return function(NoSettings(), *args, **options)
        settings = default_settings() if obj is None else obj
        given = parse_pairs(assignments, "-s")
        if unknown := unknown_settings(given):
            raise click.UsageError("-s: " + ", ".join(unknown))
        settings.setdict(given, priority="cmdline")
        _check_values(settings, given)
        if loglevel:
            settings.set("LOG_LEVEL", loglevel, priority="cmdline")
        if loglevel or {"LOG_LEVEL", "LOG_FILE"} & given.keys():
            settings.set("LOG_ENABLED", value=True, priority="cmdline")
            from scrapy.utils.log import configure_logging  # noqa: PLC0415  # slow to import

            configure_logging(settings)
        try:
            warnings = validate_settings(settings)
        except ValueError as error:
            raise click.UsageError(str(error)) from error
        if obj is None:  # otherwise the add-on of the project warns
            for line in warnings:
                sys.stderr.write(f"{line}\n")
        return function(settings, *args, **options)

    return functools.update_wrapper(wrapper, function)


def _check_values(settings: Settings, names: Iterable[str]) -> None:
    """Raise ``click.UsageError`` for a number or a switch of Scrapy with another value."""
    from scrapy.settings import default_settings as defaults  # noqa: PLC0415  # slow to import

    for name in names:
        default = getattr(defaults, name, None)
        if isinstance(default, int | float):
            switch = isinstance(default, bool)
            try:
                settings.getbool(name) if switch else settings.getfloat(name)
            except ValueError as error:
                expected = "True or False" if switch else "a number"
                raise click.UsageError(f"{name}: {settings[name]!r} is not {expected}") from error
        elif name not in vars(defaults) and (
            nearest := get_close_matches(name, vars(defaults), 1, 0.9)
        ):
            # only a warning: other plugins have settings too
            path = click.get_current_context().command_path
            click.echo(f"{path}: unknown setting {name}; did you mean {nearest[0]}?", err=True)


def _complete_setting(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    return [f"{name}=" for name in DEFAULTS if name.startswith(incomplete)]


def default_settings() -> Settings:
    """Return the settings of the command line: those of ``newscrawl.settings.base``."""
    from scrapy.settings import Settings  # noqa: PLC0415  # slow to import

    settings = Settings()
    settings.setmodule(SETTINGS_MODULE, priority="project")
    settings.set("LOG_ENABLED", value=False, priority="command")
    return settings


def parse_pairs(pairs: Iterable[str], option: str) -> dict[str, Any]:
    """Return ``NAME=VALUE`` arguments of *option* as a dictionary. Raises ``click.UsageError``."""
    if wrong := [pair for pair in pairs if "=" not in pair]:
        raise click.UsageError(f"{option} {wrong[0]}: expected NAME=VALUE")
    return dict(pair.split("=", 1) for pair in pairs)
