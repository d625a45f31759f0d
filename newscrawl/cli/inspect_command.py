"""Subcommand ``inspect``: a page with marks on what extraction saw."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from scrapy import Request

from newscrawl.cli.crawl_process import send
from newscrawl.cli.page_sources import SourceError, check_html, find_sources, read_page
from newscrawl.cli.shared_options import page_limits, page_options, suffix_of, with_settings
from newscrawl.document.document import MAX_PAGE_BYTES
from newscrawl.document.encoding import header_charset
from newscrawl.items import PageItem
from newscrawl.workers.child import WorkerError
from newscrawl.workers.copied_process import call_in_copy

if TYPE_CHECKING:
    from scrapy.settings import Settings

_TASK: Final = "newscrawl.inspection.inspect_page:inspect_page"


@click.command(no_args_is_help=True)
@click.argument("page", metavar="PAGE")
@click.option("-o", "--output", metavar="FILE", required=True, help="HTML file to write")
@page_options
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
) -> None:
    """Show what extraction saw in PAGE: a file, a URL, or - for standard input.

    Writes one HTML file with the page, without scripts, and a list of title, date, authors, blocks
    of the body, removed comments, rejected candidates and the separator node, each with its source,
    probability and reason.
    """
    suffix_of(output, (".htm", ".html"))
    try:
        source = _read(settings, page, url)
        arguments = {
            "url": source.url or None,
            "encoding": encoding or source.encoding,
            "method": method,
            "assets": not no_assets,
        }
        shown = call_in_copy(_TASK, source.html, arguments, **page_limits(settings))
    except (SourceError, WorkerError) as error:
        raise click.ClickException(
            f"{page}: {str(error).removeprefix('DocumentError: ')}"
        ) from error
    Path(output).write_text(shown, encoding="utf-8", errors="replace")
    click.echo(f"Wrote {output}", err=True)


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
