"""Scrapy crawls of the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from scrapy import Spider, signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.exceptions import UsageError
from scrapy.http import Response  # noqa: TC002  # scrapy-poet reads the annotation
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.conf import feed_process_params_from_cli

from newscrawl.cli.exit_codes import ALARM, DONE, FAILED, NO_ARTICLE, UNREACHABLE
from newscrawl.cli.shared_options import metadata_option, report, site_rules_option, with_options
from newscrawl.crawling.article_filters import ArticleFilters
from newscrawl.crawling.crawl_store import state_path
from newscrawl.crawling.logs import mask_secrets
from newscrawl.crawling.network import RefusedError
from newscrawl.crawling.output.feed_exporter import REDELIVERED_COUNT
from newscrawl.crawling.reporting.result import CrawlResult
from newscrawl.defaults import setting
from newscrawl.exporters.feed_files import (
    DOCUMENT_FORMATS,
    FeedFileStorage,
    has_content,
    is_replaced,
)
from newscrawl.exporters.markdown_folder import MARKDOWN
from newscrawl.optional import require
from newscrawl.spiders.url_list import INVALID_COUNT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.extensions.feedexport import FeedSlot
    from scrapy.settings import Settings
    from twisted.python.failure import Failure

    from newscrawl.crawling.reporting.result import Result

DEFAULT_FEED: Final = "articles.jsonl"
MARKDOWN_FEED: Final = "articles/"

NO_OUTPUT: Final[dict[str, Any]] = {
    "FEEDS": {},
    "ITEM_PIPELINES": {},
    "NEWSCRAWL_SEGMENTS": "",
    "NEWSCRAWL_STATE": "",
    "NEWSCRAWL_WARC": "",
}
"""Settings of a crawl without items: the feeds and pipelines of a project expect its own."""

_LISTED_FILES: Final = 3
_SUFFIXES: Final = ("csv", "json", "jsonl", "parquet", "xml")
_EXIT_CODES: Final[dict[Result, int]] = {
    "articles": DONE,
    "nothing_new": DONE,
    "not_due": DONE,
    "no_article": NO_ARTICLE,
    "unreachable": FAILED,
}

content_filters = with_options(
    click.option(
        "--languages", metavar="LIST", help="keep articles in these languages, such as en,de"
    ),
    click.option(
        "--keywords",
        metavar="LIST",
        help="keep articles with one of these words, separated by commas",
    ),
    metadata_option,
    site_rules_option,
    click.option(
        "--markdown",
        is_flag=True,
        help="write a Markdown file for each article: -o names their folder "
        f"(default: {MARKDOWN_FEED})",
    ),
)
"""Options for the content of articles."""

feed_options = with_options(
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        multiple=True,
        help="append the articles to FILE (.jsonl, .csv; with :FORMAT after the name, any "
        "format); -: standard output, as JSON Lines (the default of discover; else "
        f"{DEFAULT_FEED})",
    ),
    click.option(
        "-O",
        "--overwrite-output",
        metavar="FILE",
        multiple=True,
        help="write the articles to FILE, replacing its content",
    ),
    click.option(
        "--since",
        metavar="TIME",
        help="keep articles published since TIME: a day, a time in ISO 8601, or an age such as "
        "24h or 7d",
    ),
    click.option("--until", metavar="TIME", help="keep articles published until TIME"),
)
"""Options of a crawl's feeds and its period."""


def crawl_to_feeds(
    settings: Settings,
    spider: type[Spider],
    arguments: Mapping[str, Any],
    *,
    output: Sequence[str],
    overwrite_output: Sequence[str],
    default_feed: str = DEFAULT_FEED,
    report_folder: str | None = None,
    alarm_exit: bool = False,
    markdown: bool = False,
    **filters: Any,
) -> int:
    """Crawl with *spider*, write the feeds; return the exit code.

    With *markdown*, outputs without a suffix are folders of Markdown files. *report_folder*: where
    to write a report of the crawl; *alarm_exit*: its alarms set the exit code. *filters* are
    settings without their prefix, such as ``since``; None and () keep the setting.
    """
    _set_filters(settings, filters)
    if markdown:
        extra = sorted({*setting(settings, "NEWSCRAWL_EXTRA_FIELDS"), "body_markdown"})
        settings.set("NEWSCRAWL_EXTRA_FIELDS", extra, priority="cmdline")
        overwrite_output = [_markdown_uri(uri, overwrite=True) for uri in overwrite_output]
        output = [_markdown_uri(uri) for uri in output]
        default_feed = _markdown_uri(MARKDOWN_FEED)
    _set_feeds(settings, list(output), list(overwrite_output), default_feed)
    _set_log(settings)
    files: list[str] = []

    def add_file(slot: FeedSlot) -> None:
        # the name with the time of the crawl, and the number of the part
        path = slot.storage.path if isinstance(slot.storage, FeedFileStorage) else slot.uri
        files.append("standard output" if path == "stdout:" else mask_secrets(path))

    crawler = run_spider(settings, spider, feed_closed=add_file, **arguments)
    code = _exit_code(crawler, settings, files)
    if report_folder is None:
        return code
    alarm = _write_report(crawler, settings, report_folder)
    if alarm not in (DONE, ALARM, UNREACHABLE):
        return FAILED
    is_unreachable = CrawlResult(crawler.stats.get_stats()).kind == "unreachable"
    is_alarm = alarm_exit and alarm != DONE and (code != FAILED or is_unreachable)
    return alarm if is_alarm else code


def _write_report(crawler: Crawler, settings: Settings, folder: str) -> int:
    """Write a report of the crawl; return the exit code of ``newscrawl report``.

    It runs in a process of its own, because it has another reactor to send alarms.
    """
    path = state_path(crawler)
    if path is None:
        raise click.UsageError("--report needs a state file: NEWSCRAWL_STATE is empty")
    given = [
        f"--set={name}={value}"
        for name, value in settings.items()
        if settings.getpriority(name) == SETTINGS_PRIORITIES["cmdline"] and isinstance(value, str)
    ]
    command = [sys.executable, "-m", "newscrawl", "report", str(path), "-o", folder, *given]
    return subprocess.run(command, check=False).returncode  # noqa: S603  # our own command


def _exit_code(crawler: Crawler, settings: Settings, files: list[str]) -> int:
    """Return the exit code of a crawl; print what it has written."""
    stats = crawler.stats.get_stats()
    reason = stats.get("finish_reason", "")
    ended = reason == "finished" or reason.startswith("closespider_")
    result = CrawlResult(stats)
    is_failed = crawler.spider is None and result.kind != "unreachable"  # as in Scrapy's commands
    if not ended or is_failed:
        return FAILED
    if INVALID_COUNT in stats and not result.sites:
        return FAILED  # a list without a URL; its lines are logged
    written = stats.get("item_scraped_count", 0)
    former = stats.get(REDELIVERED_COUNT, 0)
    counts = f"{written} articles" + (f" and {former} of former crawls" if former else "")
    report(f"{counts} written" + _named(files or [settings["NEWSCRAWL_SEGMENTS"]]))
    return DONE if written or former else _EXIT_CODES[result.kind]


def _named(files: list[str]) -> str:
    """Return the names of *files* after "to", of many the first ones."""
    named = ", ".join(filter(None, files[:_LISTED_FILES]))
    more = f" and {len(files) - _LISTED_FILES} more" if len(files) > _LISTED_FILES else ""
    return f" to {named}{more}" if named else ""


class _Process(AsyncCrawlerProcess):
    #: whether Ctrl-C or SIGTERM was received
    interrupted = False
    #: whether such a signal ends the crawl without waiting for what it is doing
    stops_at_once = False

    def _signal_shutdown(self, signum: int, frame: Any) -> None:
        self.interrupted = True
        super()._signal_shutdown(signum, frame)
        if self.stops_at_once:
            self._signal_kill(signum, frame)  # as a second signal does


def run_spider(
    settings: Settings,
    spider: type[Spider],
    *,
    feed_closed: Callable[[FeedSlot], None] | None = None,
    **arguments: Any,
) -> Crawler:
    """Crawl with *spider* until it is done; return its crawler, with the stats.

    Calls *feed_closed* after each file of a feed. Raises the exception of a crawl that could not
    start; ``ValueError`` is one of a setting. Raises ``click.Abort`` for one that was interrupted.
    """
    process = _Process(settings)
    process.stops_at_once = issubclass(spider, RequestSpider)
    crawler = process.create_crawler(spider)
    if feed_closed:
        crawler.signals.connect(feed_closed, signals.feed_slot_closed)
    task = process.crawl(crawler, **arguments)
    process.start()
    finished = crawler.stats.get_value("finish_reason") == "finished"
    if not task.done() or (process.interrupted and not finished):
        raise click.Abort
    try:
        task.result()
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return crawler


class RequestSpider(Spider):
    """Sends *requests*; awaits *done* with each response, calls *failed* with URL and exception."""

    name = "request"
    custom_settings = {  # noqa: RUF012  # Scrapy declares it so
        **NO_OUTPUT,
        "NEWSCRAWL_CSS_ENABLED": False,
        "NEWSCRAWL_PROGRESS_ENABLED": False,
    }

    def __init__(
        self,
        requests: Iterable[Request],
        done: Callable[[Crawler, Response], Awaitable[None]],
        failed: Callable[[str, BaseException | None], None],
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._requests = requests
        self._done = done
        self._failed = failed

    async def start(self) -> AsyncIterator[Any]:
        """Yield the requests."""
        for request in self._requests:
            yield request.replace(callback=self.parse, errback=self.fail, dont_filter=True)

    async def parse(self, response: Response, **_: Any) -> None:
        """Pass on a response."""
        await self._done(self.crawler, response)

    def fail(self, failure: Failure) -> None:
        """Pass on an exception."""
        self._failed(failure.request.url, failure.value)  # type: ignore[attr-defined]


def send(request: Request, settings: Settings, *, name: str | None = None) -> Response:
    """Send *request* under the rules of crawls and return the response.

    Raises ``click.ClickException``, which has the URL, or *name* instead. It can be called once in
    a process, because it runs Twisted's reactor.
    """
    responses: list[Response] = []
    errors = ["no response"]

    async def done(_: Crawler, response: Response) -> None:
        responses.append(response)

    def failed(_: str, error: BaseException | None) -> None:
        errors.append(failure_message(error))

    run_spider(settings, RequestSpider, requests=[request], done=done, failed=failed)
    if not responses:
        raise click.ClickException(f"{name or mask_secrets(request.url)}: {errors[-1]}")
    return responses[0]


def failure_message(error: BaseException | None) -> str:
    """Return the reason why a download failed, for people."""
    if isinstance(error, HttpError):
        return f"HTTP status {error.response.status}"
    if isinstance(error, RefusedError) and error.reason == "address":
        return "not a public address; allow it with -s NEWSCRAWL_ALLOWED_ADDRESSES=HOST"
    message = str(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _markdown_uri(uri: str, *, overwrite: bool = False) -> str:
    """Return the output *uri* with the format of a folder of Markdown files, if it has no other."""
    path = Path(uri)
    if uri == "-" or (path.suffix and not path.is_dir() and not uri.endswith(("/", os.sep))):
        return uri
    if overwrite:
        raise click.UsageError(f"{uri}: the files of a folder are updated in place; use -o")
    if path.exists() and not path.is_dir():
        raise click.UsageError(f"{uri}: a file; name a folder")
    return f"{uri}:{MARKDOWN}"


def _check_format(settings: Settings, uri: str) -> None:
    """Raise ``click.UsageError`` for an output without a format, with the remedy."""
    formats = settings.getwithbase("FEED_EXPORTERS")
    suffix = Path(uri).suffix.lower()
    if uri.rpartition(":")[2] in formats or suffix[1:] in formats:
        return
    folder = f"{Path(uri).stem or 'articles'}/"
    if suffix in (".md", ".markdown"):
        raise click.UsageError(
            f"{uri}: each article gets a Markdown file of its own; use -o {folder} --markdown"
        )
    if uri.endswith("/") or Path(uri).is_dir():
        raise click.UsageError(f"{uri}: a folder; with --markdown it gets a file for each article")
    known = ", ".join(sorted(f".{name}" for name in _SUFFIXES))
    what = f"no format has the suffix {suffix!r}" if suffix else "no suffix"
    raise click.UsageError(f"{uri}: {what}; use {known}, or FILE:FORMAT")


def _set_feeds(
    settings: Settings, output: list[str], overwrite_output: list[str], default_feed: str
) -> None:
    if not (output or overwrite_output or settings["FEEDS"] or settings["NEWSCRAWL_SEGMENTS"]):
        output = [default_feed]
    if not output and not overwrite_output:
        return
    output, overwrite_output = (
        ["-:jsonl" if uri == "-" else uri for uri in uris] for uris in (output, overwrite_output)
    )
    for uri in (*output, *overwrite_output):
        _check_format(settings, uri)
    try:
        feeds = feed_process_params_from_cli(settings, output, overwrite_output=overwrite_output)
    except UsageError as error:
        raise click.UsageError(str(error)) from error
    for uri, options in feeds.items():
        if options["format"] == "parquet":
            require("pyarrow", "pyarrow", "parquet")
        is_document = options["format"] in DOCUMENT_FORMATS and has_content(uri)
        if output and (is_document or is_replaced(uri)):
            what = options["format"] if is_document else uri.partition(":")[0]
            raise click.UsageError(
                f"{mask_secrets(uri)}: {what} cannot be appended to; use -O to replace it, or "
                "%(time)s in its name"
            )
        options.setdefault("store_empty", "%(" not in uri)  # a named file exists after the crawl
    settings.set("FEEDS", feeds, priority="cmdline")


def _set_filters(settings: Settings, filters: Mapping[str, Any]) -> None:
    for name, value in filters.items():
        if value not in (None, (), ""):
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
