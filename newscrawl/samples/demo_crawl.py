"""Demo: crawls the sample sites with the command line and compares the result."""

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
_TIMEOUT = 300  # seconds; the crawl takes about ten


class CrawlFailedError(RuntimeError):
    """``scrapy crawl`` failed; its message is on standard error."""


def write_sites_file(path: Path, sites: SampleSites) -> None:
    """Write the URLs of the sites to *path*, for ``scrapy crawl sitelist -a sites=``."""
    path.write_text("".join(f"{url}\n" for url in sites.urls.values()), encoding="utf-8")


def crawl(sites: SampleSites, feed: Path) -> CrawlComparison:
    """Crawl *sites* with ``scrapy crawl sitelist`` into the JSON Lines file *feed*.

    Raises :class:`CrawlFailedError`.
    """
    feed = feed.absolute()
    with TemporaryDirectory() as folder:
        sites_file = Path(folder) / "sites.txt"
        write_sites_file(sites_file, sites)
        command = [sys.executable, "-m", "scrapy", "crawl", "sitelist"]
        command += ["-a", f"sites={sites_file}", "-O", f"{feed}:jsonlines"]
        environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": _SETTINGS}
        try:
            # The output is not captured, since the live line needs a terminal.
            subprocess.run(command, env=environment, check=True, timeout=_TIMEOUT)  # noqa: S603
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            raise CrawlFailedError(str(error)) from error
    return check_outcome(_read(feed), sites.urls)


def _read(feed: Path) -> list[Article]:
    if not feed.exists():
        raise CrawlFailedError(f"the crawl did not write {feed}")
    with feed.open(encoding="utf-8") as lines:
        return [Article.from_dict(json.loads(line)) for line in lines]
