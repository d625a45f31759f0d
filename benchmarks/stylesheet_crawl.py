"""Cost of style sheets in a crawl: total time and maximum delay of a page.

Sites on several hosts share a style sheet on another host. Crawls without sheets, with sheets that
load immediately and with one that never loads are interleaved.
``python -m benchmarks.stylesheet_crawl``
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakKeyDictionary

from scrapy import signals

from tests.helpers.crawls import Crawl, crawl_pages
from tests.servers.styled_web import HANG, Answer, StyledWeb, link, page

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

THEME = "http://cdn.example/theme.css"
METER = "benchmarks.stylesheet_crawl.DelayMeter"


class DelayMeter:
    """Extension that records the maximum time from a response to its item."""

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats
        self._arrived: WeakKeyDictionary[Response, float] = WeakKeyDictionary()
        crawler.signals.connect(self._arrive, signals.response_received)
        crawler.signals.connect(self._leave, signals.item_scraped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension."""
        return cls(crawler)

    def _arrive(self, response: Response) -> None:
        self._arrived[response] = time.monotonic()

    def _leave(self, item: Any, response: Response) -> None:  # noqa: ARG002  # as Scrapy names them
        self._stats.max_value("benchmark/delay", time.monotonic() - self._arrived[response])


def rules(kilobytes: int, seed: int) -> bytes:
    """Return a style sheet of the given size; a third of it affects text."""
    rule = ".block-%d .teaser-%d > a { margin: 0 4px; font-size: %dpx }\n.grid-%d { float: left }\n"
    lines, number = [], 0
    while sum(map(len, lines)) < kilobytes * 1024:
        lines += [rule % (seed, n, 10 + n % 9, n) for n in range(number, number + 50)]
        number += 50
    return "".join(lines).encode()


def heavy_page(number: int, kilobytes: int, *head: str) -> Answer:
    """Return an article page of the given size, mostly navigation."""
    answer = page(number, *head)
    entry = '<li class="item"><a href="/politik/{0}.html"><span>Meldung {0}</span></a></li>\n'
    entries = (entry.format(n) for n in range(kilobytes * 1024 // len(entry)))
    menu = f"<ul>{''.join(entries)}</ul></footer>".encode()
    return Answer(answer.body.replace(b"</footer>", menu, 1), headers=answer.headers)


def make_web(options: argparse.Namespace, theme: Answer) -> dict[str, Answer]:
    """Return sites whose pages link *theme* and two sheets of their own host."""
    answers = {THEME.removeprefix("http://"): theme}
    for host in range(options.hosts):
        name = f"paper{host}.example"
        for sheet in ("own", "fonts"):
            answers[f"{name}/{sheet}.css"] = Answer(rules(options.sheet_kilobytes, host))
        head = [link(THEME), link("/own.css"), link("/fonts.css")]
        for n in range(options.pages // options.hosts):
            answers[f"{name}/{n}.html"] = heavy_page(n, options.page_kilobytes, *head)
    return answers


def crawl(options: argparse.Namespace, answers: dict[str, Answer], *, enabled: bool) -> Crawl:
    """Crawl all pages once, with an empty store."""
    with StyledWeb(answers) as web, tempfile.TemporaryDirectory() as folder:
        done = crawl_pages(
            Path(folder),
            [f"http://{url}" for url in answers if url.endswith(".html")],
            web.proxy_environment(),
            EXTENSIONS=json.dumps({METER: 0}),
            CONCURRENT_REQUESTS_PER_DOMAIN=options.per_domain,
            NEWSCRAWL_CSS_ENABLED=enabled,
            NEWSCRAWL_CSS_TIMEOUT=options.timeout,
        )
        times = {url: n for url, n in web.request_counts().items() if url.endswith(".css")}
    if done.errors() or len(done.items) != options.pages // options.hosts * options.hosts:
        raise SystemExit(done.output)
    if any(n != 1 for n in times.values()) or len(times) != enabled * (1 + 2 * options.hosts):
        raise SystemExit(f"sheets not requested exactly once: {times}")
    return done


def main() -> None:
    """Print medians over the runs, and the ratios to the crawl without sheets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--pages", type=int, default=90)
    parser.add_argument("--hosts", type=int, default=6)
    parser.add_argument("--per-domain", type=int, default=8)
    parser.add_argument("--page-kilobytes", type=int, default=250)
    parser.add_argument("--sheet-kilobytes", type=int, default=60)
    parser.add_argument("--timeout", type=float, default=5)
    options = parser.parse_args()
    theme = Answer(rules(options.sheet_kilobytes, options.hosts))
    healthy, hanging = make_web(options, theme), make_web(options, HANG)
    kinds = {
        "without sheets": (healthy, False),
        "sheets": (healthy, True),
        "one sheet hangs": (hanging, True),
    }
    crawls: dict[str, list[Crawl]] = {name: [] for name in kinds}
    for _ in range(options.runs):
        for name, (answers, enabled) in kinds.items():
            crawls[name].append(crawl(options, answers, enabled=enabled))
    print(f"{'crawl':>16} {'seconds':>8} {'ratio':>6} {'maximum delay of a page (s)':>28}")
    first = 0.0
    for name, runs in crawls.items():
        seconds = median(run.stats["elapsed_time_seconds"] for run in runs)
        delay = median(run.stats["benchmark/delay"] for run in runs)
        first = first or seconds
        print(f"{name:>16} {seconds:>8.2f} {seconds / first:>6.2f} {delay:>28.2f}")


if __name__ == "__main__":
    main()
