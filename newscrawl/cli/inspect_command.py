"""Subcommand ``inspect``: a page with marks on what extraction saw."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import click
from scrapy import Request

from newscrawl.cli.crawl_process import send
from newscrawl.cli.page_sources import SourceError, check_html, find_sources, read_page
from newscrawl.cli.shared_options import (
    check_folder,
    page_limits,
    page_options,
    report,
    suffix_of,
    with_settings,
)
from newscrawl.defaults import setting
from newscrawl.document.document import MAX_PAGE_BYTES
from newscrawl.document.encoding import header_charset
from newscrawl.items import PageItem
from newscrawl.site_rules.rule_file import SUFFIX, SiteRules
from newscrawl.workers.child import WorkerError
from newscrawl.workers.copied_process import CopiedProcess

if TYPE_CHECKING:
    from scrapy.settings import Settings

_TASK: Final = "newscrawl.inspection.inspect_page:inspect_page"
_MARKED: Final = ("title", "body", "author", "date", "strip")
_DRAFT_TASK: Final = "newscrawl.inspection.rule_draft:draft_rule"


@click.command(no_args_is_help=True)
@click.argument("page", metavar="PAGE")
@click.option("-o", "--output", metavar="FILE", required=True, help="HTML file to write")
@page_options
@click.option(
    "--write-rule",
    metavar="DIR",
    callback=check_folder,
    help="write the start of a site rule to DIR, in a file named after the host",
)
@click.option(
    "--mark",
    "marks",
    metavar="FIELD=TEXT",
    multiple=True,
    callback=lambda _, __, marks: _read_marks(marks),
    help="with --write-rule: TEXT of the page that is in FIELD, of " + ", ".join(_MARKED),
)
@click.option("--no-assets", is_flag=True, help="do not load images and style sheets of the page")
@with_settings
def command(
    settings: Settings,
    *,
    page: str,
    output: str,
    url: str | None,
    encoding: str | None,
    method: str,
    no_assets: bool,
    site_rules: str,
    write_rule: str | None,
    marks: dict[str, list[str]],
) -> None:
    """Show what extraction saw in PAGE: a file, a URL, or - for standard input.

    Writes one HTML file with the page, without scripts, and a list of title, date, authors, blocks
    of the body, removed comments, rejected candidates and the separator node, each with its source,
    probability and reason.
    """
    suffix_of(output, (".htm", ".html"))
    try:
        source = _read(settings, page, url)
        rule = _rule_file(write_rule, source.url) if write_rule else None
        arguments: dict[str, Any] = {
            "url": source.url or None,
            "encoding": encoding or source.encoding,
            "method": method,
            "site_rules": site_rules or setting(settings, "NEWSCRAWL_SITE_RULES"),
        }
        if folder := arguments["site_rules"]:
            for line in SiteRules(folder).problems(source.url):
                report(line)
        with CopiedProcess(**page_limits(settings)) as copy:
            if rule:
                draft = copy.call(_DRAFT_TASK, source.html, {**arguments, "marks": marks})
            shown = copy.call(_TASK, source.html, {**arguments, "assets": not no_assets})
    except (SourceError, WorkerError) as error:
        raise click.ClickException(
            f"{page}: {str(error).removeprefix('DocumentError: ')}"
        ) from error
    Path(output).write_text(shown, encoding="utf-8", errors="replace")
    click.echo(f"Wrote {output}", err=True)
    if rule:
        rule.parent.mkdir(parents=True, exist_ok=True)
        rule.write_text(draft, encoding="utf-8", errors="replace")
        click.echo(f"Wrote {rule}", err=True)


def _read_marks(marks: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for mark in marks:
        name, _, text = mark.partition("=")
        if name not in _MARKED or not text.strip():
            raise click.UsageError(
                f"--mark {mark}: expected one of {', '.join(_MARKED)}, = and text"
            )
        found.setdefault(name, []).append(text)
    return found


def _rule_file(folder: str, url: str) -> Path:
    """Return the new file of the rule for the site of *url*."""
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    if not host:
        raise click.UsageError("--write-rule needs the URL of the page: --url")
    path = Path(folder, host + SUFFIX)
    if path.exists():
        raise click.UsageError(f"{path}: exists; edit or remove it")
    return path


def _read(settings: Settings, page: str, url: str | None) -> PageItem:
    """Return the page. Raises ``click.ClickException``, ``OSError`` and :class:`SourceError`."""
    sources = find_sources([page])
    if sources.urls:
        settings.set("DOWNLOAD_MAXSIZE", MAX_PAGE_BYTES, priority="command")
        response = send(Request(page), settings)
        check_html(response.body)
        charset = header_charset(response.headers.get("Content-Type"))
        return PageItem(response.url, response.body, charset)
    if sources.several or not sources.files:
        raise click.UsageError(f"{page}: expected one page, not a folder or an archive")
    return read_page(next(iter(sources.files)), url)
