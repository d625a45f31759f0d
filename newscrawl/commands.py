"""Commands that newscrawl adds to ``scrapy``: its own with a project's settings, and ``list``.

``scrapy`` loads all commands at start, so the subcommand of ``newscrawl`` is imported when it is used.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, ClassVar

import click
from scrapy.addons import AddonManager
from scrapy.commands import ScrapyCommand
from scrapy.commands import list as scrapy_list

from newscrawl.cli.main import COMMANDS, cli, run

if TYPE_CHECKING:
    from collections.abc import Sequence


class Subcommand(ScrapyCommand):
    """Subcommand *name* of ``newscrawl``; its options are parsed by click."""

    name: ClassVar[str]
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    @property
    def _command(self) -> click.Command:
        command = cli.get_command(click.Context(cli), self.name)
        assert command is not None  # noqa: S101  # COMMANDS has the name
        return command

    def syntax(self) -> str:
        """Return the arguments of the command."""
        command = self._command
        return " ".join(command.collect_usage_pieces(click.Context(command)))

    def short_desc(self) -> str:
        """Return a one-line description."""
        return COMMANDS[self.name][1]

    def long_desc(self) -> str:
        """Return the description."""
        return self._command.help or ""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options of the subcommand that ``scrapy`` does not have."""
        super().add_options(parser)
        known = {name for action in parser._actions for name in action.option_strings}  # noqa: SLF001  # no public list
        for option in self._command.params:
            if isinstance(option, click.Option) and not known.intersection(option.opts):
                parser.add_argument(
                    *option.opts,
                    dest="tokens",
                    action=_Collect,
                    nargs=0 if option.is_flag else None,
                    metavar=option.make_metavar(click.Context(self._command)),
                    help=(option.help or "").replace("%", "%%"),
                )
        parser.set_defaults(tokens=[])

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the subcommand with the settings of the project."""
        arguments = [*opts.tokens, *args]
        self.exitcode = run(self._command, arguments, f"scrapy {self.name}", self.settings)


class ClusterCommand(Subcommand):
    """``newscrawl cluster``."""

    name = "cluster"


class EvaluateCommand(Subcommand):
    """``newscrawl evaluate``."""

    name = "evaluate"


class ExtractCommand(Subcommand):
    """``newscrawl extract``."""

    name = "extract"


class TrainCommand(Subcommand):
    """``newscrawl train``."""

    name = "train"


class ListCommand(scrapy_list.Command):
    """Scrapy's command, which reads ``SPIDER_MODULES`` before the add-ons extend it (2.19)."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the names of the spiders, those of add-ons included."""
        assert self.settings is not None  # noqa: S101  # set by Scrapy
        AddonManager.load_pre_crawler_settings(self.settings)
        super().run(args, opts)


class _Collect(argparse.Action):
    """Appends the option and its value to the list of tokens."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002  # interface
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        value = [values] if isinstance(values, str) else []
        namespace.tokens = [*namespace.tokens, option_string, *value]
