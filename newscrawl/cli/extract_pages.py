"""Subcommand ``extract``: extracts files, folders, archives, URLs and standard input."""

from __future__ import annotations

import pkgutil
from collections import deque
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import click

from newscrawl.body.parts import PARTS, parse_names
from newscrawl.cli.article_output import DEFAULT_PARTS_LIST, FORMATS, ArticleOutput, format_of
from newscrawl.cli.exit_codes import DONE, FAILED, NO_ARTICLE
from newscrawl.cli.page_sources import (
    DamagedError,
    SourceError,
    Sources,
    find_sources,
    read_page,
)
from newscrawl.cli.shared_options import (
    COUNT,
    complete_part,
    default_settings,
    metadata_option,
    page_limits,
    page_options,
    progress,
    report,
    with_settings,
)
from newscrawl.defaults import NoSettings, setting
from newscrawl.items import Article
from newscrawl.pipeline_options import LOAD_TASK, PAGE_TASK, PipelineOptions, page_arguments
from newscrawl.workers.child import WorkerError, limit_memory, tune_garbage_collector
from newscrawl.workers.copied_process import CopiedProcess

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from typing import TypeAlias

    from scrapy.settings import Settings

    from newscrawl.items import PageItem
    from newscrawl.site_rules import SiteRules
    from newscrawl.workers.pool import WorkerPool

    Fail: TypeAlias = Callable[[str, WorkerError], None]

_READ_AHEAD: Final = 4
"""Pages read ahead for each worker."""
_MAX_WAITING: Final = 64 * 2**20
"""Maximum bytes of the pages that are read ahead."""


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
@click.option(
    "-o", "--output", metavar="FILE", default="-", help="output file (default: standard output)"
)
@click.option(
    "--jobs",
    type=COUNT,
    metavar="N",
    help="worker processes; 0: a copy of this process (default: NEWSCRAWL_WORKERS "
    "for several sources, otherwise 0)",
)
@page_options
@click.option(
    "--parts",
    metavar="LIST",
    default=DEFAULT_PARTS_LIST,
    show_default=True,
    shell_complete=complete_part,
    help=f"parts to include in the body, of {', '.join(PARTS)}",
)
@metadata_option
@partial(with_settings, lazily=True)
def command(
    settings: Settings | NoSettings,
    *,
    sources: tuple[str, ...],
    form: str | None,
    output: str,
    jobs: int | None,
    method: str,
    parts: str,
    url: str | None,
    encoding: str | None,
    site_rules: str,
    metadata_only: bool,
) -> int:
    """Extract the articles of pages.

    SOURCE is a file, a URL, a folder (with its subfolders), a WARC archive (.warc, .warc.gz), a
    feed of articles (.jsonl), which is converted, or - for standard input; pages may be gzipped.
    One page is printed as indented JSON, several as JSON Lines. Files are extracted first, then
    archives, then URLs. In a folder, hidden files and files that are not HTML are left out.
    """
    found = find_sources(sources)
    if url and (len(sources) > 1 or found.several or not found.files):
        raise click.UsageError("--url needs one file")
    form = form or ("markdown" if output.endswith("/") else format_of(output))
    if form == "tei" and found.several:
        raise click.UsageError("--format tei: a document has one article; give one page")
    options = _read_options(settings, method, parts, form, site_rules)
    options = replace(options, metadata_only=metadata_only or options.metadata_only)
    if jobs is None:
        jobs = setting(settings, "NEWSCRAWL_WORKERS") if found.several else 0
    with ArticleOutput(output, form, several=found.several) as writer:
        run = Extraction(found, writer, settings, options, jobs, encoding, url)
        run.extract_files()
        run.extract_archives()
        run.convert_feeds()
        run.extract_urls()
        run.report_empty_folders()
    return run.exit_code


def _read_options(
    settings: Settings | NoSettings, method: str, parts: str, form: str, site_rules: str
) -> PipelineOptions:
    try:
        body_parts: list[str] = sorted(parse_names(parts.split(","), PARTS, "part"))
        options = PipelineOptions.read(settings)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    extra_fields = {
        "front-matter": ["body_markdown"],
        "html": ["body_html"],
        "tei": ["body_html"],
        "markdown": ["body_markdown"],
    }.get(form, options.extra_fields)
    return replace(
        options,
        method=method,
        body_parts=body_parts,
        extra_fields=extra_fields,
        site_rules=site_rules or options.site_rules,
    )


@dataclass
class Extraction:
    """Extraction of *sources*: writes articles, reports errors on standard error."""

    sources: Sources
    output: ArticleOutput
    settings: Settings | NoSettings
    options: PipelineOptions
    jobs: int
    encoding: str | None
    url: str | None
    articles: int = 0
    pages: int = 0
    failed: bool = False

    @cached_property
    def _rules(self) -> SiteRules | None:
        from newscrawl.site_rules import SiteRules  # noqa: PLC0415  # imports lxml

        return SiteRules(self.options.site_rules) if self.options.site_rules else None

    @property
    def exit_code(self) -> int:
        """Return the exit code: failed if a source failed."""
        if self.failed:
            return FAILED
        return DONE if self.articles else NO_ARTICLE

    def extract_files(self) -> None:
        """Extract the pages of files."""
        for error in self.sources.errors:
            self.fail(error.filename, error.strerror)
        if not self.sources.files:
            return
        with progress("extracting", len(self.sources.files)) as advance:
            self._extract_all(self._file_pages(advance), self.write, self._fail_page)

    def _file_pages(self, advance: Callable[[], None]) -> Iterator[tuple[str, PageItem]]:
        for path in self.sources.files:
            advance()
            if page := self._read(path):
                yield str(path), page

    def _pool(self) -> WorkerPool:
        from newscrawl.workers.pool import WorkerPool  # noqa: PLC0415  # imports Scrapy
        from newscrawl.workers.process import Limits  # noqa: PLC0415

        return WorkerPool(self.jobs, Limits.read(self._scrapy_settings()))

    def _scrapy_settings(self) -> Settings:
        return default_settings() if isinstance(self.settings, NoSettings) else self.settings

    def _extract_all(
        self,
        pages: Iterable[tuple[str, PageItem]],
        write: Callable[[str, Article | None], None],
        fail: Fail,
        memory_limit: int = 0,
    ) -> None:
        """Extract *pages*, each with its name, in worker processes; *write* the articles in order.

        This process may use *memory_limit* more MB to read the pages (0: no limit). Without *jobs*,
        a copy of it extracts them.
        """
        if not self.jobs:
            tune_garbage_collector()  # as the processes do, before extraction is imported
            if self.sources.several:  # once instead of in each copy after a failure
                pkgutil.resolve_name(LOAD_TASK)()
            with CopiedProcess(**page_limits(self.settings)) as copy:
                for name, page in pages:
                    write(name, self._extract_in_copy(copy, name, page, fail))
            return
        import asyncio  # noqa: PLC0415  # slow to import

        async def run() -> None:
            pool = self._pool()
            pending: deque[tuple[str, int, asyncio.Task[Article | None]]] = deque()
            limit_memory(memory_limit)
            try:
                for name, page in pages:
                    task = asyncio.create_task(self.extract_page(pool, name, page, fail))
                    pending.append((name, len(page.html), task))
                    while (
                        len(pending) > _READ_AHEAD * self.jobs
                        or sum(size for _, size, _ in pending) > _MAX_WAITING
                    ):
                        await write_next(pending)
                while pending:
                    await write_next(pending)
            finally:
                limit_memory(0)
                for *_, task in pending:  # after Ctrl-C: closing the pool is no failure of a page
                    task.cancel()
                await pool.close()

        async def write_next(pending: deque[tuple[str, int, asyncio.Task[Article | None]]]) -> None:
            name, _, task = pending.popleft()
            write(name, await task)

        asyncio.run(run())

    def _extract_in_copy(
        self, copy: CopiedProcess, name: str, page: PageItem, fail: Fail
    ) -> Article | None:
        """Return the article of *page*, extracted in *copy*; report a failure."""
        try:
            plain = copy.call(PAGE_TASK, page.html, self._arguments(page))
        except WorkerError as error:
            fail(name, error)
            return None
        return Article.from_dict(plain)

    def _read(self, path: Path) -> PageItem | None:
        named = self.sources.files[path]
        try:
            page = read_page(path, self.url)
        except SourceError as error:
            if named or isinstance(error, DamagedError):
                self.fail(str(path), error)
            else:
                self.sources.left_out[str(error)] += 1
        except OSError as error:
            self.fail(str(path), error.strerror or error)
        else:
            if page.html or named:
                self.pages += 1
                return page
            self.sources.left_out["empty"] += 1
        return None

    def _arguments(self, page: PageItem) -> dict[str, Any]:
        for line in self._rules.problems(page.url) if self._rules else ():
            report(line)
        page = replace(page, encoding=self.encoding or page.encoding)
        return page_arguments(page, self.options.task_arguments)

    async def extract_page(
        self, pool: WorkerPool, name: str, page: PageItem, fail: Fail | None = None
    ) -> Article | None:
        """Return the article of *page*, called *name*; report a failure and return None."""
        from newscrawl.crawling.urls import registered_domain, site_key_or  # noqa: PLC0415

        site = registered_domain(site_key_or(page.url, ""))
        try:
            plain = await pool.call(PAGE_TASK, page.html, site=site, **self._arguments(page))
        except WorkerError as error:
            (fail or self._fail_page)(name, error)
            return None
        return Article.from_dict(plain)

    def _fail_page(self, name: str, error: WorkerError) -> None:
        self.fail(name, str(error).removeprefix("DocumentError: "))

    def write(self, name: str, article: Article | None) -> None:
        """Write *article*, if there is one, of the source *name*."""
        if article is None:
            return
        from newscrawl.extraction.rule_fields import stale_fields  # noqa: PLC0415  # slow to import

        for field in stale_fields(article):
            report(f"{name}: the rule of the site is stale: no {field}")
        if dropped := self.options.drop_reason(article):
            report(f"{name}: no article ({dropped})")
        else:
            self.articles += 1
        self.options.trim(article)
        self.output.write(article, name if self.sources.several else None)

    def fail(self, name: str, reason: object) -> None:
        """Report that the source *name* failed."""
        self.failed = True
        report(f"{name}: {reason}")

    def extract_archives(self) -> None:
        """Extract the articles of archives."""
        if not self.sources.archives:
            return
        from newscrawl.archives.captures import summary_line  # noqa: PLC0415  # slow to import
        from newscrawl.cli.extract_archives import ArchivePages  # noqa: PLC0415

        pages = ArchivePages(self.sources.archives)

        def write(_: str, article: Article | None) -> None:
            if article:
                dropped = self.options.drop_reason(article)
                pages.counts[dropped or "article"] += 1
                if not dropped:
                    self.articles += 1
                    self.options.trim(article)
                    self.output.write(article, None)

        limit = setting(self.settings, "NEWSCRAWL_MEMORY_LIMIT") if self.jobs else 0
        self._extract_all(pages, write, pages.fail, limit)
        report(summary_line(pages.counts))
        self.failed |= pages.damaged

    def convert_feeds(self) -> None:
        """Write the articles of feeds; a body without markup becomes paragraphs."""
        if not self.sources.feeds:
            return
        from newscrawl.feeds.article_reader import read_articles  # noqa: PLC0415  # needs lxml

        for path in self.sources.feeds:
            try:
                with path.open("rb"):
                    pass
            except OSError as error:
                self.fail(str(path), error.strerror or error)
                continue
            invalid = 0
            for article in read_articles(str(path), self.options.extra_fields):
                if article is None:
                    invalid += 1
                else:
                    self.articles += 1
                    self.options.trim(article)
                    self.output.write(article, None)
            if invalid:
                self.fail(str(path), f"rows that are not articles: {invalid}")

    def report_empty_folders(self) -> None:
        """Report why there is no page, if there are only folders."""
        found = self.sources
        if self.pages or self.failed or found.archives or found.feeds or found.urls:
            return
        reasons = ", ".join(f"{number} {reason}" for reason, number in found.left_out.most_common())
        folders = ", ".join(map(str, found.folders))
        why = f"left out: {reasons}" if reasons else "it is empty"
        report(f"no page found in {folders}: {why}")

    def extract_urls(self) -> None:
        """Download and extract the pages of URLs."""
        if self.sources.urls:
            from newscrawl.cli.page_spider import crawl_pages  # noqa: PLC0415  # imports Scrapy

            crawl_pages(
                self.sources.urls,
                self._scrapy_settings(),
                jobs=self.jobs or 1,  # in this process, a page would hold up Ctrl-C
                extract=self.extract_page,
                write=self.write,
                fail=self.fail,
            )
