"""``scrapy evaluate``."""

from __future__ import annotations

from newscrawl.commands.subcommand import Subcommand


class EvaluateCommand(Subcommand):
    """``newscrawl evaluate`` with the settings of the project."""

    name = "evaluate"
