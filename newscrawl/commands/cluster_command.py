"""``scrapy cluster``."""

from __future__ import annotations

from newscrawl.commands.subcommand import Subcommand


class ClusterCommand(Subcommand):
    """``newscrawl cluster`` with the settings of the project."""

    name = "cluster"
