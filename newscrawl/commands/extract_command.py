"""``scrapy extract``: extracts one page, from a file or the web, or the pages of archives."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from scrapy import Request, Spider
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.spidermiddlewares.httperror import HttpError
from w3lib.url import is_url

from newscrawl.body.parts import DEFAULT_PARTS, PARTS, UnknownPartError, parse_parts
from newscrawl.document.document import MAX_PAGE_BYTES, DocumentError
from newscrawl.document.encoding import header_charset
from newscrawl.extraction.body_formats import BODY_FORMATS, parse_formats
from newscrawl.extraction.extract import DEFAULT_METHOD, ExtractOptions, UnknownMethodError, extract
from newscrawl.extraction.methods import get_method
from newscrawl.optional import require

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Callable

    from scrapy.http import Response
    from twisted.python.failure import Failure

    from newscrawl.extraction.body_formats import BodyFormat
    from newscrawl.items import Article


ARCHIVES = (".warc", ".warc.gz")
"""File name suffixes of archives."""


class SourcePage(NamedTuple):
    """A page read from a file or downloaded."""

    html: bytes
    url: str | None
    encoding: str | None


class PageSpider(Spider):
    """Downloads one page and appends it, or the exception, to ``outcome``."""

    name = "extract"
    # the project's feeds and pipelines expect its own items
    custom_settings: dict[str, Any] = {"FEEDS": {}, "ITEM_PIPELINES": {}}  # noqa: RUF012  # Scrapy declares it so

    def __init__(
        self, page_url: str, outcome: list[SourcePage | BaseException], **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.page_url = page_url
        self.outcome = outcome

    async def start(self) -> AsyncIterator[Any]:
        """Yield the request."""
        yield Request(self.page_url, errback=self.fail, dont_filter=True)

    def parse(self, response: Response, **_: Any) -> None:
        """Store the page."""
        encoding = header_charset(response.headers.get("Content-Type"))
        self.outcome.append(SourcePage(response.body, response.url, encoding))

    def fail(self, failure: Failure) -> None:
        """Store the exception."""
        self.outcome.append(failure.value or Exception("not fetched"))


class ExtractCommand(ScrapyCommand):
    """Extract and print the article of a page, or the articles of archives."""

    default_settings: ClassVar[dict[str, Any]] = {
        "DOWNLOAD_MAXSIZE": MAX_PAGE_BYTES,
        "LOG_LEVEL": "CRITICAL",
        "ROBOTSTXT_OBEY": True,
    }

    def syntax(self) -> str:
        """Return the arguments of the command."""
        return "[options] FILE-OR-URL | ARCHIVE..."

    def short_desc(self) -> str:
        """Return a one-line description."""
        return "Extract the article of a page, or the articles of archives"

    def long_desc(self) -> str:
        """Return the description."""
        return (
            "Extract title, date, body and other fields of the article in FILE, or at URL "
            "(downloaded with the settings of the project), and print them as JSON. For WARC "
            "archives (.warc, .warc.gz), print one line of JSON for each article."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options of the command."""
        super().add_options(parser)
        output = parser.add_mutually_exclusive_group()
        for form, name in (("text", "plain text"), ("markdown", "Markdown"), ("html", "HTML")):
            output.add_argument(
                f"--{form}",
                dest="form",
                action="store_const",
                const=form,
                help=f"print {name} instead of JSON",
            )
        parser.add_argument(
            "--method", default=DEFAULT_METHOD, help="extraction method (default: %(default)s)"
        )
        parser.add_argument(
            "--parts",
            metavar="LIST",
            default=",".join(sorted(DEFAULT_PARTS)),
            help=f"parts to include in the body, of {', '.join(PARTS)} (default: %(default)s)",
        )
        parser.add_argument("--url", help="URL of the page in FILE")
        parser.add_argument(
            "--encoding", help="charset of the page (default: declared or detected)"
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check the arguments; only a URL requires a crawler process."""
        super().process_options(args, opts)
        archives = [arg for arg in args if _is_archive(arg)]
        if not args or len(args) > max(1, len(archives)):
            raise UsageError("name one FILE or URL, or one or more archives")
        if archives and opts.url:
            raise UsageError("--url cannot be used with archives", print_help=False)
        self.requires_crawler_process = not archives and is_url(args[0])

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the articles; on an error, print a message and exit with 1."""
        try:
            if _is_archive(args[0]):
                self._extract_archives(args, opts)
            else:
                self._extract_page(args[0], opts)
        except (UnknownMethodError, UnknownPartError) as error:
            raise UsageError(str(error), print_help=False) from error

    def _extract_page(self, source: str, opts: argparse.Namespace) -> None:
        try:
            page = self._fetch(source) if self.crawler_process else _read(source, opts.url)
            article = extract(
                page.html,
                page.url,
                encoding=opts.encoding or page.encoding,
                method=opts.method,
                options=ExtractOptions(
                    parts=parse_parts(opts.parts.split(",")), formats=_formats(opts.form)
                ),
            )
        except (_FetchError, OSError, DocumentError) as error:
            sys.stderr.write(f"scrapy extract: {source}: {error}\n")
            self.exitcode = 1
            return
        _print(_FORMS[opts.form](article))

    def _extract_archives(self, paths: list[str], opts: argparse.Namespace) -> None:
        require("warcio", "warcio", "warc")
        from newscrawl.commands.extract_archives import extract_archives  # noqa: PLC0415  # optional

        assert self.settings is not None  # noqa: S101  # set before run
        get_method(opts.method)
        form = _FORMS[opts.form]
        complete = extract_archives(
            [Path(path) for path in paths],
            self.settings,
            lambda article: _print(form(article) + "\n" if opts.form else _as_line(article)),
            method=opts.method,
            parts=sorted(parse_parts(opts.parts.split(","))),
            formats=sorted(_formats(opts.form)),
            encoding=opts.encoding,
        )
        self.exitcode = int(not complete)

    def _fetch(self, url: str) -> SourcePage:
        assert self.crawler_process is not None  # noqa: S101  # by process_options
        outcome: list[SourcePage | BaseException] = []
        self.crawler_process.crawl(PageSpider, page_url=url, outcome=outcome)
        self.crawler_process.start()
        result = outcome[0] if outcome else _FetchError("not fetched")
        if isinstance(result, SourcePage):
            return result
        raise _FetchError(_reason(result)) from result


def _is_archive(source: str) -> bool:
    return source.endswith(ARCHIVES) and not is_url(source)


class _FetchError(Exception):
    """The page could not be downloaded."""


def as_text(article: Article) -> str:
    """Return *article* as plain text: title, date and authors, body."""
    date = article.date.isoformat() if article.date else ""
    byline = " - ".join(part for part in (date, ", ".join(article.authors)) if part)
    return "\n\n".join(part for part in (article.title, byline, article.body) if part) + "\n"


def _as_line(article: Article) -> str:
    return json.dumps(article.to_dict(), ensure_ascii=False) + "\n"


def _print(text: str) -> None:
    sys.stdout.buffer.write(text.encode(errors="replace"))


def _as_json(article: Article) -> str:
    return json.dumps(article.to_dict(), ensure_ascii=False, indent=2) + "\n"


_FORMS: dict[str | None, Callable[[Article], str]] = {
    None: _as_json,
    "text": as_text,
    "markdown": lambda article: article.to_markdown(),
    "html": lambda article: article.to_html(),
}


def _formats(form: str | None) -> frozenset[BodyFormat]:
    """Return the formats of the body that the output *form* requires."""
    return parse_formats({form or ""}.intersection(BODY_FORMATS))


def _read(path: str, url: str | None) -> SourcePage:
    return SourcePage(Path(path).read_bytes(), url, None)


def _reason(error: BaseException) -> str:
    if isinstance(error, HttpError):
        return f"HTTP status {error.response.status}"
    message = str(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
