"""Options ``-s``, ``-L`` and ``--logfile``, as in ``scrapy``, and the settings that they make."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import click

from newscrawl.defaults import DEFAULTS, NoSettings, unknown_settings
from newscrawl.pipeline_options import validate_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy.settings import Settings

P = ParamSpec("P")
R = TypeVar("R")

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
    @click.option("--logfile", metavar="FILE", help="write the log to FILE")
    @click.pass_obj
    def wrapper(
        obj: Settings | None,
        /,
        assignments: tuple[str, ...],
        loglevel: str | None,
        logfile: str | None,
        *args: P.args,
        **options: P.kwargs,
    ) -> R:
        if lazily and obj is None and not (assignments or loglevel or logfile):
            return function(NoSettings(), *args, **options)
        settings = default_settings() if obj is None else obj
        given = parse_pairs(assignments, "-s")
        if unknown := unknown_settings(given):
            raise click.UsageError("-s: " + ", ".join(unknown))
        settings.setdict(given, priority="cmdline")
        _check_values(settings, given)
        for name, value in (("LOG_LEVEL", loglevel), ("LOG_FILE", logfile)):
            if value:
                settings.set(name, value, priority="cmdline")
                settings.set("LOG_ENABLED", value=True, priority="cmdline")
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
