"""Command ``newscrawl``: its subcommands, errors and exit codes.

The module of a subcommand, a click command, is imported when it is used, so that
``newscrawl --help`` is quick. A subcommand raises ``click.UsageError`` for wrong usage and
``click.ClickException`` for other errors; :func:`run` prints them in one line.
"""

from __future__ import annotations

import gc
import sys
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click
from click.shell_completion import CompletionItem

from newscrawl.cli.exit_codes import DONE, FAILED, INTERRUPTED, USAGE, interruption
from newscrawl.optional import MissingPackageError
from newscrawl.sqlite import FileError
from newscrawl.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "crawl": ("newscrawl.cli.crawl_commands:crawl", "Crawl the newest articles of sites"),
    "discover": ("newscrawl.cli.crawl_commands:discover", "List the articles of sites, unfetched"),
    "urls": ("newscrawl.cli.crawl_commands:urls", "Fetch and extract a list of article URLs"),
    "extract": (
        "newscrawl.cli.extract_pages",
        "Extract the articles of files, folders, archives and URLs",
    ),
    "cluster": ("newscrawl.cli.cluster_feeds", "Find the near-duplicates among articles of feeds"),
    "deliver": (
        "newscrawl.cli.deliver_segments",
        "Deliver segments to S3, PostgreSQL or OpenSearch",
    ),
    "evaluate": (
        "newscrawl.lab.commands.evaluate_method",
        "Score an extraction method on folders of labelled pages",
    ),
    "train": (
        "newscrawl.lab.commands.train_models",
        "Train the classifiers on folders of labelled pages",
    ),
    "inspect": ("newscrawl.cli.inspect_command", "Show what extraction saw in a page"),
    "rules": ("newscrawl.cli.rules_command", "Check site rules: files that correct sites"),
    "report": ("newscrawl.cli.report_command", "Report on a crawl, with drift and alarms"),
}
"""Subcommand -> its module, with its name unless that is ``command``, and a line about it."""


class LazyGroup(click.Group):
    """Group that imports the module of a subcommand when the subcommand is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # interface
        """Return the names of the subcommands, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, __: click.Context, cmd_name: str) -> click.Command | None:
        """Return the subcommand *cmd_name*, or None if it is unknown."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        gc.disable()  # imports leave little garbage, and the search takes a tenth of their time
        command: click.Command = getattr(import_module(module), name or "command")
        gc.enable()
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the subcommand; name the nearest one if it is unknown."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            nearest = get_close_matches(name, COMMANDS, 1)
            known = f"did you mean {nearest[0]}?" if nearest else f"use {', '.join(COMMANDS)}"
            ctx.fail(f"no command {name!r}; {known}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the subcommands and options that start with *incomplete*; nothing is imported."""
        found = [
            CompletionItem(name, help=short)
            for name, (_, short) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of subcommands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, short) for name, (_, short) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no article found, 4 alarm.",
)
@click.version_option(package_name="newscrawl")
def cli() -> None:
    """Turn news sites into clean articles: title, date, body, authors."""


def main() -> None:
    """Run ``newscrawl`` with the arguments of the process."""
    sys.exit(run(cli, sys.argv[1:], "newscrawl"))


def run(command: click.Command, arguments: Sequence[str], name: str, obj: Any = None) -> int:
    """Run *command*, called *name* in messages; return its exit code.

    *obj* becomes the context's ``obj``. Errors are printed in one line on standard error.
    """
    if isinstance(command, LazyGroup) and arguments and arguments[0] in COMMANDS:
        path = f"{name} {arguments[0]}"
    else:
        path = name
    try:
        result = command.main(list(arguments), prog_name=name, standalone_mode=False, obj=obj)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return USAGE
    except (click.Abort, KeyboardInterrupt):
        sys.stderr.write(interruption(path))
        return INTERRUPTED
    except (click.ClickException, FileError, MissingPackageError, OSError) as error:
        return _fail(path, error)
    return result if isinstance(result, int) else DONE


def _fail(name: str, error: Exception) -> int:
    """Print *error* in one line; return its exit code."""
    message, code = str(error), FAILED
    if isinstance(error, click.ClickException):
        message, code = error.format_message(), error.exit_code
    elif isinstance(error, MissingPackageError):
        code = USAGE
    elif isinstance(error, OSError) and error.filename is not None and error.strerror:
        message = f"{error.filename}: {error.strerror}"
    sys.stderr.write(f"{name}: {printable(' '.join(message.split()))}\n")
    return code
