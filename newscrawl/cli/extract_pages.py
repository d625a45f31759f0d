"""Subcommand ``extract``: extracts files, folders, archives, URLs and standard input."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import click
from scrapy import Request, Spider
from w3lib.encoding import resolve_encoding

from newscrawl import clock
from newscrawl.body.parts import PARTS, UnknownPartError, parse_parts
from newscrawl.cli.article_output import DEFAULT_PARTS_LIST, FORMATS, ArticleOutput, format_of
from newscrawl.cli.corpus_options import COUNT, check_method, progress, report
from newscrawl.cli.crawl_process import failure_message, run_spider
from newscrawl.cli.exit_codes import DONE, FAILED, NO_ARTICLE
from newscrawl.cli.page_sources import (
    SourceError,
    SourcePage,
    Sources,
    check_html,
    find_sources,
    read_page,
)
from newscrawl.cli.setting_options import with_settings
from newscrawl.crawl.workers.child import tune_garbage_collector
from newscrawl.crawl.workers.pool import WorkerError, WorkerPool
from newscrawl.defaults import DEFAULTS, setting
from newscrawl.document.document import MAX_PAGE_BYTES
from newscrawl.document.encoding import header_charset
from newscrawl.items import Article
from newscrawl.optional import require
from newscrawl.pipeline_options import PAGE_TASK, PipelineOptions

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from scrapy.http import Response
    from scrapy.settings import Settings
    from twisted.python.failure import Failure

_READ_AHEAD: Final = 4
"""Pages read ahead for each worker."""


@click.command()
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="output format (default: by the name of the output file, otherwise json)",
)
@click.option("--text", "form", flag_value="text", help="the same as --format text")
@click.option("--markdown", "form", flag_value="markdown", help="the same as --format markdown")
@click.option("--html", "form", flag_value="html", help="the same as --format html")
@click.option(
    "-o", "--output", metavar="FILE", default="-", help="output file (default: standard output)"
)
@click.option(
    "--jobs",
    type=COUNT,
    metavar="N",
    help="worker processes; 0: extract in this process (default: NEWSCRAWL_WORKERS for several "
    "sources, otherwise 0)",
)
@click.option(
    "--method", default=DEFAULTS["NEWSCRAWL_METHOD"], show_default=True, help="extraction method"
)
@click.option(
    "--parts",
    metavar="LIST",
    default=DEFAULT_PARTS_LIST,
    show_default=True,
    help=f"parts to include in the body, of {', '.join(PARTS)}",
)
@click.option("--url", help="URL of the page, if SOURCE is one file")
@click.option("--encoding", help="charset of the pages (default: declared or detected)")
@with_settings
def command(
    settings: Settings,
    *,
    sources: tuple[str, ...],
    form: str | None,
    output: str,
    jobs: int | None,
    method: str,
    parts: str,
    url: str | None,
    encoding: str | None,
) -> int:
    """Extract the articles of pages.

    SOURCE is a file, a URL, a folder (with its subfolders), a WARC archive (.warc, .warc.gz) or -
    for standard input; pages may be gzipped. One page is printed as indented JSON, several as JSON
    Lines. Files are extracted first, then archives, then URLs. In a folder, files that are not HTML
    are skipped.
    """
    found = find_sources(sources)
    if url and (found.several or not found.files):
        raise click.UsageError("--url needs one file")
    if encoding and not resolve_encoding(encoding):
        raise click.UsageError(f"unknown encoding {encoding!r}")
    if found.archives:
        require("warcio", "warcio", "warc")
    form = form or format_of(output)
    options = _read_options(settings, method, parts, form)
    if jobs is None:
        jobs = setting(settings, "NEWSCRAWL_WORKERS") if found.several else 0
    with ArticleOutput(output, form, several=found.several) as writer:
        run = Extraction(found, writer, settings, options, jobs, encoding, url)
        run.extract_files()
        run.extract_archives()
        run.extract_urls()
    return run.exit_code


def _read_options(settings: Settings, method: str, parts: str, form: str) -> PipelineOptions:
    check_method(method)
    try:
        body_parts: list[str] = sorted(parse_parts(parts.split(",")))
        options = PipelineOptions.read(settings)
    except (UnknownPartError, ValueError) as error:
        raise click.UsageError(str(error)) from error
    formats = [form] if form in ("markdown", "html") else options.body_formats
    return replace(options, method=method, body_parts=body_parts, body_formats=formats)


@dataclass
class Extraction:
    """Extraction of *sources*: writes articles, reports errors on standard error."""

    sources: Sources
    output: ArticleOutput
    settings: Settings
    options: PipelineOptions
    jobs: int
    encoding: str | None
    url: str | None
    articles: int = 0
    failed: bool = False

    @property
    def exit_code(self) -> int:
        """Return the exit code: failed if a source failed."""
        if self.failed:
            return FAILED
        return DONE if self.articles else NO_ARTICLE

    def extract_files(self) -> None:
        """Extract the pages of files."""
        if self.sources.files:
            with progress("extracting", len(self.sources.files)) as advance:
                asyncio.run(self._extract_files(advance))

    def _pool(self) -> WorkerPool:
        if not self.jobs:  # as the processes do
            tune_garbage_collector()
        return WorkerPool.from_settings(self.settings, self.jobs)

    async def _extract_files(self, advance: Callable[[], None]) -> None:
        pool = self._pool()
        pending: deque[tuple[Path, asyncio.Task[Article | None]]] = deque()

        async def write_next() -> None:
            path, task = pending.popleft()
            self.write(str(path), await task)
            advance()

        try:
            for path in self.sources.files:
                pending.append((path, asyncio.create_task(self._extract_file(pool, path))))
                if len(pending) > _READ_AHEAD * max(1, self.jobs):
                    await write_next()
            while pending:
                await write_next()
        finally:
            await pool.close()

    async def _extract_file(self, pool: WorkerPool, path: Path) -> Article | None:
        try:
            page = read_page(path, self.url)
        except SourceError as error:
            if path not in self.sources.optional:
                self.fail(str(path), error)
        except OSError as error:
            self.fail(str(path), error.strerror or error)
        else:
            return await self.extract_page(pool, page)
        return None

    async def extract_page(self, pool: WorkerPool, page: SourcePage) -> Article | None:
        """Return the article of *page*; report a failure and return None."""
        try:
            plain = await pool.call(
                PAGE_TASK,
                page.html,
                url=page.url,
                encoding=self.encoding or page.encoding,
                fetched_at=clock.now().isoformat() if page.url else None,
                **self.options.task_arguments,
            )
        except WorkerError as error:
            self.fail(page.name, str(error).removeprefix("DocumentError: "))
            return None
        return Article.from_dict(plain)

    def write(self, name: str, article: Article | None) -> None:
        """Write *article*, if there is one, of the source *name*."""
        if article is None:
            return
        if dropped := self.options.drop_reason(article):
            report(f"{name}: no article ({dropped})")
        else:
            self.articles += 1
        self.output.write(article, name if self.sources.several else None)

    def fail(self, name: str, reason: object) -> None:
        """Report that the source *name* failed."""
        self.failed = True
        report(f"{name}: {reason}")

    def extract_archives(self) -> None:
        """Extract the articles of archives."""
        if not self.sources.archives:
            return
        from newscrawl.cli.extract_archives import extract_archives  # noqa: PLC0415  # needs warcio

        complete = extract_archives(
            self.sources.archives,
            self.settings,
            self._emit,
            pool=self._pool,
            ahead=_READ_AHEAD * max(1, self.jobs),
            options=self.options,
            encoding=self.encoding,
        )
        self.failed |= not complete

    def _emit(self, article: Article) -> None:
        self.articles += 1
        self.output.write(article, None)

    def extract_urls(self) -> None:
        """Download and extract the pages of URLs."""
        if self.sources.urls:
            self.settings.setdict(_DOWNLOAD_SETTINGS, priority="command")
            self.settings.set("NEWSCRAWL_WORKERS", self.jobs, priority="cmdline")
            run_spider(self.settings, PageSpider, extraction=self)


_DOWNLOAD_SETTINGS: Final = {"DOWNLOAD_MAXSIZE": MAX_PAGE_BYTES, "ROBOTSTXT_OBEY": True}


class PageSpider(Spider):
    """Downloads the URLs of an extraction."""

    name = "extract"
    # The feeds and pipelines of the project expect its own items.
    custom_settings: dict[str, Any] = {  # noqa: RUF012  # Scrapy declares it so
        "FEEDS": {},
        "ITEM_PIPELINES": {},
        "NEWSCRAWL_SEGMENTS": "",
        "NEWSCRAWL_STATE": "",
        "NEWSCRAWL_WARC": "",
    }

    def __init__(self, extraction: Extraction, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.extraction = extraction

    async def start(self) -> AsyncIterator[Any]:
        """Yield the requests."""
        from newscrawl.crawl.stylesheet_fetcher import META  # noqa: PLC0415  # slow to import

        for url in self.extraction.sources.urls:
            meta = {META: False}  # no style sheets
            yield Request(url, errback=self.fail, meta=meta, dont_filter=True)

    async def parse(self, response: Response, **_: Any) -> None:
        """Extract the page."""
        pool = WorkerPool.for_crawler(self.crawler)
        url = response.url
        try:
            check_html(response.body)
        except SourceError as error:
            self.extraction.fail(url, error)
            return
        encoding = header_charset(response.headers.get("Content-Type"))
        page = SourcePage(url, response.body, url, encoding)
        self.extraction.write(url, await self.extraction.extract_page(pool, page))

    def fail(self, failure: Failure) -> None:
        """Report that a download failed."""
        url = failure.request.url  # type: ignore[attr-defined]
        self.extraction.fail(url, failure_message(failure.value))
