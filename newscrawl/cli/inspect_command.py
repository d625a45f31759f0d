"""Subcommand ``inspect``: a page with marks on what extraction saw."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from newscrawl.document.document import MAX_PAGE_BYTES, DocumentError
from newscrawl.document.encoding import header_charset
from newscrawl.extraction.extract import DEFAULT_METHOD, METHODS
from newscrawl.inspection.inspect_page import inspect_page


@click.command(no_args_is_help=True)
@click.argument("page", metavar="PAGE")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), required=True,
    help="HTML file to write",
)  # fmt: skip
@click.option("--url", help="URL of the page in a file")
@click.option("--encoding", help="charset of the page (default: declared or detected)")
@click.option(
    "--method",
    type=click.Choice(sorted(METHODS)),
    default=DEFAULT_METHOD,
    metavar="NAME",
    help=f"extraction method (default: {DEFAULT_METHOD})",
)
@click.option("--no-assets", is_flag=True, help="do not load images and style sheets of the page")
@click.option("-s", "--set", "assignments", metavar="NAME=VALUE", multiple=True, help="a setting")
def command(
    page: str,
    output: Path,
    *,
    url: str | None,
    encoding: str | None,
    method: str,
    assignments: tuple[str, ...],
    no_assets: bool,
) -> None:
    """Show what extraction saw in PAGE: a file, a URL, or - for standard input.

    Writes one HTML file with the page, without scripts, and a list of title, date, authors, blocks
    of the body, removed comments, rejected candidates and the separator node, each with its source,
    probability and reason.
    """
    if page.lower().startswith(("http://", "https://")):
        html, url, charset = _fetch(page, assignments)
        encoding = encoding or charset
    elif "://" in page:
        raise click.UsageError(f"{page}: expected a file, an http or https URL, or -")
    else:
        html = sys.stdin.buffer.read() if page == "-" else Path(page).read_bytes()
    try:
        shown = inspect_page(html, url, encoding=encoding, method=method, assets=not no_assets)
    except DocumentError as error:
        raise click.ClickException(f"{page}: {error}") from error
    output.write_text(shown, encoding="utf-8", errors="replace")
    click.echo(f"Wrote {output}", err=True)


def _fetch(url: str, assignments: tuple[str, ...]) -> tuple[bytes, str, str | None]:
    """Return body, URL and charset of the response."""
    from scrapy import Request  # noqa: PLC0415  # slow to import

    from newscrawl.cli.web_request import request_settings, send  # noqa: PLC0415

    settings = request_settings(assignments)
    settings.set("DOWNLOAD_MAXSIZE", MAX_PAGE_BYTES, priority="cmdline")
    response = send(Request(url), settings)
    charset = header_charset(response.headers.get("Content-Type"))
    return response.body, response.url, charset
