"""Subcommand ``rules``: site rules, checked with the pages that they name."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from scrapy import Request

from newscrawl.cli.crawl_process import RequestSpider, failure_message, run_spider
from newscrawl.cli.exit_codes import DONE, FAILED
from newscrawl.cli.page_sources import SourceError, check_html, read_page
from newscrawl.cli.shared_options import check_folder, page_limits, report, with_settings
from newscrawl.document.document import MAX_PAGE_BYTES
from newscrawl.extraction.rule_fields import BY_RULE, stale_fields
from newscrawl.items import Article
from newscrawl.pipeline_options import PAGE_TASK
from newscrawl.site_rules import RuleError, SiteRules
from newscrawl.text import printable, squeeze
from newscrawl.workers.child import WorkerError
from newscrawl.workers.copied_process import CopiedProcess

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import Settings

    from newscrawl.site_rules import RuleTest, SiteRule

_NO_NAME: Final = re.compile(r"[^a-z0-9]+")


@click.group(no_args_is_help=True)
def command() -> None:
    """Work with site rules: files in the FiveFilters format that correct sites."""


@command.command(no_args_is_help=True)
@click.argument("folder", metavar="DIR")
@click.option(
    "--pages",
    metavar="PAGES",
    callback=check_folder,
    help="folder of test pages: those in it are not fetched, the others are saved there",
)
@with_settings
def check(settings: Settings, /, *, folder: str, pages: str | None) -> int:
    """Extract the test pages of the rules in DIR and say which rules hold.

    A rule holds if each field that it names is found on each page of its test_url lines, and the
    body has the texts of test_contains. Ends with 1 if a rule does not hold or cannot be read.
    """
    try:
        rules = list(SiteRules(folder).read_all())
    except RuleError as error:
        raise click.UsageError(str(error)) from error
    urls = [test.url for rule in rules if not isinstance(rule, RuleError) for test in rule.tests]
    store = _Pages(Path(pages) if pages else None)
    store.fetch(urls, settings)
    counts: Counter[str] = Counter()
    with CopiedProcess(**page_limits(settings)) as copy:
        for rule in rules:
            if isinstance(rule, RuleError):
                click.echo(printable(f"error: {rule}"))
                counts["in error"] += 1
                continue
            outcome, notes = _outcome(rule, store, folder, copy)
            counts[outcome] += 1
            click.echo(printable(": ".join([f"{rule.name}.txt", outcome, *filter(None, [notes])])))
    total = ", ".join(f"{number} {outcome}" for outcome, number in counts.most_common())
    number = "1 rule" if len(rules) == 1 else f"{len(rules)} rules"
    report(f"{number}: {total}" if rules else f"{folder}: no rule")
    return FAILED if counts["stale"] or counts["in error"] or not rules else DONE


class _Pages:
    """Test pages, kept in *folder* if there is one."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._fetched: dict[str, bytes] = {}
        #: URL -> why the page could not be fetched
        self.errors: dict[str, str] = {}

    def _path(self, url: str) -> Path | None:
        if self._folder is None:
            return None
        name = _NO_NAME.sub("-", url.lower().partition("://")[2]).strip("-")[:80]
        return self._folder / f"{name}-{hashlib.sha256(url.encode()).hexdigest()[:8]}.html"

    def fetch(self, urls: Iterable[str], settings: Settings) -> None:
        """Fetch the pages that are not in the folder, under the rules of crawls."""
        missing = [
            url for url in dict.fromkeys(urls) if not ((p := self._path(url)) and p.exists())
        ]
        requests = []
        for url in missing:
            try:
                requests.append(Request(url, cb_kwargs={"url": url}))
            except ValueError as error:
                self.errors[url] = str(error)
        if not requests:
            return

        async def done(_: Crawler, response: Response) -> None:
            url = response.cb_kwargs["url"]
            try:
                check_html(response.body)
            except SourceError as error:
                self.errors[url] = str(error)
                return
            if path := self._path(url):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(response.body)
            self._fetched[url] = response.body

        def failed(url: str, error: BaseException | None) -> None:
            self.errors[url] = failure_message(error)

        settings.set("DOWNLOAD_MAXSIZE", MAX_PAGE_BYTES, priority="command")
        settings.set("ROBOTSTXT_OBEY", value=True, priority="command")
        run_spider(settings, RequestSpider, requests=requests, done=done, failed=failed)

    def read(self, url: str) -> bytes | None:
        """Return the page at *url*; None if it is not available. Raises :class:`SourceError`."""
        path = self._path(url)
        if url in self._fetched or path is None or not path.exists():
            return self._fetched.get(url)
        return read_page(path, url).html


def _outcome(rule: SiteRule, pages: _Pages, folder: str, copy: CopiedProcess) -> tuple[str, str]:
    """Return whether *rule* holds, and what to say about it."""
    if not rule.tests:
        return "unchecked", "no test_url"
    notes: list[str] = []
    stale = checked = 0
    for test in rule.tests:
        problems, is_read = _problems(rule, test, pages, folder, copy)
        notes += [f"{problem} ({test.url})" for problem in problems]
        checked += is_read
        stale += bool(problems) and is_read
    outcome = "stale" if stale else "holds" if checked else "unchecked"
    return outcome, "; ".join(notes) or f"{checked} page{'' if checked == 1 else 's'}"


def _problems(
    rule: SiteRule, test: RuleTest, pages: _Pages, folder: str, copy: CopiedProcess
) -> tuple[list[str], bool]:
    """Return why *rule* fails for a page, and whether the page was read."""
    try:
        html = pages.read(test.url)
        if html is None:
            return [pages.errors.get(test.url, "page missing")], False
        arguments: dict[str, Any] = {"url": test.url, "site_rules": folder}
        plain = copy.call(PAGE_TASK, html, arguments)
    except (OSError, SourceError, WorkerError) as error:
        return [str(error).removeprefix("DocumentError: ")], False
    return list(_failures(Article.from_dict(plain), rule, test)), True


def _failures(article: Article, rule: SiteRule, test: RuleTest) -> Iterator[str]:
    """Yield what of *rule* fails for the *article* of its test page."""
    fields = stale_fields(article)
    if "body" in rule.patterns and "body" not in fields and article.evidence.get("body") != BY_RULE:
        fields.append("body")
    if fields:
        yield f"no {', '.join(fields)}"
    body = squeeze(article.body)
    for text in test.contains:
        if squeeze(text) not in body:
            yield f"the body lacks {text!r}"
