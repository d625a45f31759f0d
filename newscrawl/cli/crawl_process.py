"""Scrapy crawls of the command line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from scrapy import Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.exceptions import UsageError
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.conf import feed_process_params_from_cli

from newscrawl.cli.corpus_options import report
from newscrawl.cli.exit_codes import DONE, FAILED, INTERRUPTED, NO_ARTICLE
from newscrawl.crawl.article_filters import ArticleFilters
from newscrawl.crawl.network import RefusedError
from newscrawl.crawl.network.secrets import mask_secrets
from newscrawl.crawl.reporting.outcomes import site_counts
from newscrawl.optional import require

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import Settings
    from twisted.python.failure import Failure

DEFAULT_FEED: Final = "articles.jsonl"

_APPENDABLE: Final = frozenset({"csv", "jsonl", "jsonlines", "jl"})
_HISTORY: Final = re.compile(r"(known|unchanged|not_due|not_modified)\b")

F = TypeVar("F", bound="Callable[..., Any]")


def crawl_options(function: F) -> F:
    """Add the options of a crawl's feeds and filters to a subcommand."""
    for decorate in (
        click.option(
            "--keywords",
            metavar="LIST",
            help="keep articles with one of these words, separated by commas",
        ),
        click.option(
            "--languages", metavar="LIST", help="keep articles in these languages, such as en,de"
        ),
        click.option("--until", metavar="TIME", help="keep articles published until TIME"),
        click.option(
            "--since",
            metavar="TIME",
            help="keep articles published since TIME: a day, a time in ISO 8601, or an age such as "
            "24h or 7d",
        ),
        click.option(
            "-O",
            "--overwrite-output",
            metavar="FILE",
            multiple=True,
            help="write the articles to FILE, replacing its content",
        ),
        click.option(
            "-o",
            "--output",
            metavar="FILE",
            multiple=True,
            help="append the articles to FILE (.jsonl, .csv; with :FORMAT after the name, any "
            f"format); -: standard output, as -:jsonl (default: {DEFAULT_FEED})",
        ),
    ):
        function = decorate(function)
    return function


def crawl_to_feeds(
    settings: Settings,
    spider: type[Spider],
    arguments: Mapping[str, Any],
    *,
    output: Sequence[str],
    overwrite_output: Sequence[str],
    **filters: str | None,
) -> int:
    """Crawl with *spider*, write the feeds; return the exit code.

    *filters* are ``since``, ``until``, ``languages`` and ``keywords``.
    """
    _set_filters(settings, filters)
    _set_feeds(settings, list(output), list(overwrite_output))
    _set_log(settings)
    crawler = run_spider(settings, spider, **arguments)
    stats = crawler.stats.get_stats()
    reason = stats.get("finish_reason", "")
    if reason == "shutdown":
        return INTERRUPTED
    ended = reason == "finished" or reason.startswith("closespider_")
    if not ended or crawler.spider is None:  # as in Scrapy's commands
        return FAILED
    sites = site_counts(stats).values()
    written = stats.get("item_scraped_count", 0)
    feeds = ", ".join(settings.getdict("FEEDS")) or settings["NEWSCRAWL_SEGMENTS"]
    report(f"{written} articles written to {feeds}")
    known = any(_HISTORY.match(name) for counts in sites for name in counts)
    return DONE if written or known else NO_ARTICLE


def run_spider(settings: Settings, spider: type[Spider], **arguments: Any) -> Crawler:
    """Crawl with *spider* until it is done; return its crawler, with the stats.

    Raises the exception of a crawl that could not start; ``ValueError`` is one of a setting.
    """
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(spider)
    task = process.crawl(crawler, **arguments)
    process.start()
    try:
        task.result()
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return crawler


class RequestSpider(Spider):
    """Sends one request and appends the response, or the exception, to ``outcome``."""

    name = "request"
    # The feeds and pipelines of the project expect its own items.
    custom_settings: dict[str, Any] = {  # noqa: RUF012  # Scrapy declares it so
        "FEEDS": {},
        "ITEM_PIPELINES": {},
        "NEWSCRAWL_CSS_ENABLED": False,
        "NEWSCRAWL_PROGRESS_ENABLED": False,
        "NEWSCRAWL_SEGMENTS": "",
        "NEWSCRAWL_STATE": "",
        "NEWSCRAWL_WARC": "",
    }

    def __init__(self, request: Request, outcome: list[Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.request = request.replace(callback=self.parse, errback=self.fail, dont_filter=True)
        self.outcome = outcome

    async def start(self) -> AsyncIterator[Any]:
        """Yield the request."""
        yield self.request

    def parse(self, response: Response, **_: Any) -> None:
        """Store the response."""
        self.outcome.append(response)

    def fail(self, failure: Failure) -> None:
        """Store the exception."""
        self.outcome.append(failure.value)


def send(request: Request, settings: Settings, *, name: str | None = None) -> Response:
    """Send *request* under the rules of crawls and return the response.

    Raises ``click.ClickException``, which has the URL, or *name* instead. It can be called once in
    a process, because it runs Twisted's reactor.
    """
    outcome: list[Any] = []
    run_spider(settings, RequestSpider, request=request, outcome=outcome)
    result = outcome[0] if outcome else None
    if result is None or isinstance(result, BaseException):
        message = "no response" if result is None else failure_message(result)
        raise click.ClickException(f"{name or mask_secrets(request.url)}: {message}")
    response: Response = result
    return response


def failure_message(error: BaseException | None) -> str:
    """Return the reason why a download failed, for people."""
    if isinstance(error, HttpError):
        return f"HTTP status {error.response.status}"
    if isinstance(error, RefusedError) and error.reason == "address":
        return "not a public address; allow it with -s NEWSCRAWL_ALLOWED_ADDRESSES=HOST"
    message = str(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _set_feeds(settings: Settings, output: list[str], overwrite_output: list[str]) -> None:
    if not (output or overwrite_output or settings["FEEDS"] or settings["NEWSCRAWL_SEGMENTS"]):
        output = [DEFAULT_FEED]
    if not output and not overwrite_output:
        return
    try:
        feeds = feed_process_params_from_cli(settings, output, overwrite_output=overwrite_output)
    except UsageError as error:
        raise click.UsageError(str(error)) from error
    for uri, options in feeds.items():
        path = Path(uri)
        if options["format"] == "parquet":
            require("pyarrow", "pyarrow", "parquet")
        if (
            output
            and options["format"] not in _APPENDABLE
            and path.exists()
            and path.stat().st_size
        ):
            raise click.UsageError(
                f"{uri} exists, and {options['format']} cannot be appended to; use -O to replace it"
            )
    settings.set("FEEDS", feeds, priority="cmdline")


def _set_filters(settings: Settings, filters: Mapping[str, str | None]) -> None:
    for name, value in filters.items():
        if value is not None:
            settings.set(f"NEWSCRAWL_{name.upper()}", value, priority="cmdline")
    try:
        ArticleFilters.read(settings)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _set_log(settings: Settings) -> None:
    """Log warnings only, or everything to the log file; the table is printed by an extension."""
    cmdline = SETTINGS_PRIORITIES["cmdline"]
    settings.set("LOG_ENABLED", value=True, priority="command")
    if settings.getpriority("LOG_LEVEL") != cmdline and not settings["LOG_FILE"]:
        settings.set("LOG_LEVEL", "WARNING", priority="project")
