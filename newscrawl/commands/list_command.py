"""``scrapy list``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.addons import AddonManager
from scrapy.commands import list as scrapy_list

if TYPE_CHECKING:
    import argparse


class ListCommand(scrapy_list.Command):
    """Scrapy's command, which reads ``SPIDER_MODULES`` before the add-ons extend it (2.19)."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the names of the spiders, those of add-ons included."""
        assert self.settings is not None  # noqa: S101  # set by Scrapy
        AddonManager.load_pre_crawler_settings(self.settings)
        super().run(args, opts)
