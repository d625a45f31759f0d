"""Commands that newscrawl adds to ``scrapy``: its own with a project's settings, and ``list``.

``scrapy`` loads all commands at start; the subcommand of ``newscrawl`` is imported when used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import click
from scrapy.addons import AddonManager
from scrapy.commands import ScrapyCommand
from scrapy.commands import list as scrapy_list

from newscrawl.cli.main import COMMANDS, cli, run

if TYPE_CHECKING:
    import argparse


class Subcommand(ScrapyCommand):
    """Subcommand *name* of ``newscrawl``; click parses all options, Scrapy's included."""

    name: ClassVar[str]
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def short_desc(self) -> str:
        """Return a one-line description."""
        return COMMANDS[self.name][1]

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Leave all options to click."""
        parser.add_argument("-h", "--help", action="store_true")
        parser.set_defaults(profile=None)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do nothing: :meth:`run` passes the options to click."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the subcommand with the settings of the project."""
        command = cli.get_command(click.Context(cli), self.name)
        assert command is not None  # noqa: S101  # COMMANDS has the name
        arguments = ["--help"] if opts.help else args
        self.exitcode = run(command, arguments, f"scrapy {self.name}", self.settings)


def _named(name: str) -> type[Subcommand]:
    return type(f"{name.capitalize()}Command", (Subcommand,), {"name": name})


ClusterCommand = _named("cluster")
EvaluateCommand = _named("evaluate")
ExtractCommand = _named("extract")
TrainCommand = _named("train")


class ListCommand(scrapy_list.Command):
    """Scrapy's command, which reads ``SPIDER_MODULES`` before the add-ons extend it (2.19)."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the names of the spiders, those of add-ons included."""
        assert self.settings is not None  # noqa: S101  # set by Scrapy
        AddonManager.load_pre_crawler_settings(self.settings)
        super().run(args, opts)
