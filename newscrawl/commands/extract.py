"""``scrapy extract``: the article of one page, from a file or from the web."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from scrapy import Request, Spider
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.spidermiddlewares.httperror import HttpError
from w3lib.encoding import http_content_type_encoding
from w3lib.url import is_url

from newscrawl.body.parts import DEFAULT_PARTS, PARTS, UnknownPartError, parse_parts
from newscrawl.document import MOST_BYTES, DocumentError
from newscrawl.extraction import DEFAULT_METHOD, ExtractOptions, UnknownMethodError, extract

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator

    from scrapy.http import Response
    from twisted.python.failure import Failure

    from newscrawl.items import Article


class Page(NamedTuple):
    """A page as read or fetched."""

    html: bytes
    url: str | None
    encoding: str | None


class PageSpider(Spider):
    """Fetch one page, and leave it or the exception in ``outcome``; nothing is parsed here."""

    name = "extract"
    # Those of the project at hand are for its own items.
    custom_settings: dict[str, Any] = {"FEEDS": {}, "ITEM_PIPELINES": {}}  # noqa: RUF012  # Scrapy declares it so

    def __init__(self, page_url: str, outcome: list[Page | BaseException], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.page_url = page_url
        self.outcome = outcome

    async def start(self) -> AsyncIterator[Any]:
        """Yield the one request."""
        yield Request(self.page_url, errback=self.fail, dont_filter=True)

    def parse(self, response: Response, **_: Any) -> None:
        """Keep the page."""
        content_type = response.headers.get("Content-Type") or b""
        encoding = http_content_type_encoding(content_type.decode("latin-1"))
        self.outcome.append(Page(response.body, response.url, encoding))

    def fail(self, failure: Failure) -> None:
        """Keep what went wrong."""
        self.outcome.append(failure.value or Exception("not fetched"))


class Command(ScrapyCommand):
    """Extract the article of one page and print it."""

    default_settings: ClassVar[dict[str, Any]] = {
        "DOWNLOAD_MAXSIZE": MOST_BYTES,
        "LOG_LEVEL": "CRITICAL",
        "ROBOTSTXT_OBEY": True,
    }

    def syntax(self) -> str:
        """Return the arguments of the command."""
        return "[options] FILE-OR-URL"

    def short_desc(self) -> str:
        """Return what the command does, in a line."""
        return "Extract the article of one page"

    def long_desc(self) -> str:
        """Return what the command does."""
        return (
            "Extract title, date, body and the other fields of the article in FILE, or at URL, "
            "which is fetched by Scrapy under the settings of the project, and print them as JSON."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options of the command."""
        super().add_options(parser)
        parser.add_argument("--text", action="store_true", help="print readable text, not JSON")
        parser.add_argument(
            "--method", default=DEFAULT_METHOD, help="extraction method (default: %(default)s)"
        )
        parser.add_argument(
            "--parts",
            metavar="LIST",
            default=",".join(sorted(DEFAULT_PARTS)),
            help=f"of {', '.join(PARTS)}, those that belong to the body (default: %(default)s)",
        )
        parser.add_argument("--url", help="URL that the page in FILE was fetched from")
        parser.add_argument(
            "--encoding", help="charset of the page, in place of the one that the server names"
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check the arguments; a file needs no crawler."""
        super().process_options(args, opts)
        if len(args) != 1:
            raise UsageError("one FILE or URL is needed")
        self.requires_crawler_process = is_url(args[0])

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the article, or say on standard error why there is none and exit with 1."""
        try:
            page = self._fetch(args[0]) if self.crawler_process else _read(args[0], opts.url)
            article = extract(
                page.html,
                page.url,
                encoding=opts.encoding or page.encoding,
                method=opts.method,
                options=ExtractOptions(parts=parse_parts(opts.parts.split(","))),
            )
        except (UnknownMethodError, UnknownPartError) as error:
            raise UsageError(str(error), print_help=False) from error
        except (_FetchError, OSError, DocumentError) as error:
            sys.stderr.write(f"scrapy extract: {args[0]}: {error}\n")
            self.exitcode = 1
            return
        text = as_text(article) if opts.text else _as_json(article)
        sys.stdout.buffer.write(text.encode())

    def _fetch(self, url: str) -> Page:
        assert self.crawler_process is not None  # noqa: S101  # by process_options
        outcome: list[Page | BaseException] = []
        self.crawler_process.crawl(PageSpider, page_url=url, outcome=outcome)
        self.crawler_process.start()
        result = outcome[0] if outcome else _FetchError("not fetched")
        if isinstance(result, Page):
            return result
        raise _FetchError(_reason(result)) from result


class _FetchError(Exception):
    """The page could not be fetched."""


def as_text(article: Article) -> str:
    """Return *article* for a reader: headline, date and authors, body."""
    line = " - ".join(part for part in (_date_text(article), ", ".join(article.authors)) if part)
    return "\n\n".join(part for part in (article.title, line, article.body) if part) + "\n"


def _date_text(article: Article) -> str:
    return article.date.isoformat() if article.date else ""


def _as_json(article: Article) -> str:
    return json.dumps(article.to_dict(), ensure_ascii=False, indent=2) + "\n"


def _read(path: str, url: str | None) -> Page:
    return Page(Path(path).read_bytes(), url, None)


def _reason(error: BaseException) -> str:
    if isinstance(error, HttpError):
        return f"HTTP status {error.response.status}"
    message = str(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
