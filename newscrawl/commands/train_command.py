"""``scrapy train``."""

from __future__ import annotations

from newscrawl.commands.subcommand import Subcommand


class TrainCommand(Subcommand):
    """``newscrawl train`` with the settings of the project."""

    name = "train"
