"""The demonstration: crawl the sample sites as a user crawls his own, and look at the outcome."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from newscrawl.items import Article
from newscrawl.samples.expected import CrawlComparison, check_outcome

if TYPE_CHECKING:
    from newscrawl.samples.server import SampleSites

_SETTINGS = "newscrawl.settings.demo"
_SECONDS = 300  # the crawl takes ten; a hung one must end, too


class CrawlFailedError(RuntimeError):
    """``scrapy crawl`` ended with an error; its message is on standard error."""


def write_sites_file(path: Path, sites: SampleSites) -> None:
    """Write the sites' front pages to *path*, as ``scrapy crawl sitelist -a sites=`` reads it."""
    path.write_text("".join(f"{url}\n" for url in sites.urls.values()), encoding="utf-8")


def crawl(sites: SampleSites, feed: Path) -> CrawlComparison:
    """Crawl *sites* with ``scrapy crawl sitelist`` into the JSON Lines file *feed*.

    Raises :class:`CrawlFailedError`.
    """
    feed = feed.absolute()
    with TemporaryDirectory() as folder:
        listed = Path(folder) / "sites.txt"
        write_sites_file(listed, sites)
        command = [sys.executable, "-m", "scrapy", "crawl", "sitelist"]
        command += ["-a", f"sites={listed}", "-O", f"{feed}:jsonlines"]
        environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": _SETTINGS}
        try:
            # Its output is the user's to see: the live line needs the terminal itself.
            subprocess.run(command, env=environment, check=True, timeout=_SECONDS)  # noqa: S603
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            raise CrawlFailedError(str(error)) from error
    return check_outcome(_read(feed), sites.urls)


def _read(feed: Path) -> list[Article]:
    if not feed.exists():
        raise CrawlFailedError(f"the crawl wrote no {feed}")
    with feed.open(encoding="utf-8") as lines:
        return [Article.from_dict(json.loads(line)) for line in lines]
