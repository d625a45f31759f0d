"""``scrapy extract``."""

from __future__ import annotations

from newscrawl.commands.subcommand import Subcommand


class ExtractCommand(Subcommand):
    """``newscrawl extract`` with the settings of the project."""

    name = "extract"
