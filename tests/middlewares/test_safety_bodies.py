"""Bodies that contradict their headers."""

import asyncio
import gzip
import random
from pathlib import Path

import pytest

from newscrawl.document.encoding import is_binary
from tests.helpers.crawls import crawl_pages
from tests.servers import Request, response
from tests.servers.pages import article_page, paragraphs
from tests.servers.site import Answer, SiteServer, html

HTML = "<html><head><meta charset={}><title>Über</title></head><body><p>{}</p></body></html>"


@pytest.mark.parametrize(
    "data",
    [b"%PDF-1.7\n", b"\x89PNG\r\n", b"PK\x03\x04", b"\x7fELF", b"OggS", b"\xd0\xcf\x11\xe0",
     random.Random(7).randbytes(3000)],
)  # fmt: skip
def test_detects_binary_data(data: bytes):
    assert is_binary(data)


@pytest.mark.parametrize(
    "charset", ["utf-8", "utf-16", "utf-16-le", "cp1252", "iso2022_jp", "shift_jis"]
)
def test_text_in_any_charset_is_not_binary(charset: str):
    assert not is_binary(HTML.format(charset, "日本 Text " * 300).encode(charset, "replace"))
    assert not is_binary(b"")


class Packed(SiteServer):
    """Sends compressed pages, with errors that the URL names, unless ``identity`` is requested."""

    always = False

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        kind = request.target.strip("/")
        if kind == "robots.txt":
            return await super().answer(request, writer)
        page = article_page(5).encode()
        good = gzip.compress(page)
        packed = {
            "good": good,
            "lie": page,
            "noise": b"\x1f\x8b" + random.Random(1).randbytes(500),
            "br": b"\xff" * 500,
        }[kind.split("-")[0]]
        encoding = "br" if kind == "br" else "gzip"
        plain = request.headers["accept-encoding"] == "identity" and "always" not in kind
        self.record(request, 200)
        headers = {"Content-Type": "text/html; charset=utf-8"}
        if not plain:
            headers["Content-Encoding"] = encoding
        writer.write(response(page if plain else packed, headers=headers))
        return True


@pytest.mark.slow
def test_retries_uncompressed_once(tmp_path: Path):
    kinds = ["good", "lie", "noise", "br", "noise-always"]
    with Packed() as web:
        urls = [f"http://paper.example:{web.port}/{kind}" for kind in kinds]
        crawl = crawl_pages(tmp_path, urls, RETRY_TIMES=0)
    assert crawl.returncode == 0
    requested = {kind: web.request_counts()[f"paper.example/{kind}"] for kind in kinds}
    assert requested == {"good": 1, "lie": 1, "noise": 2, "br": 2, "noise-always": 2}
    assert crawl.stats["newscrawl/compression/retried_count"] == 3
    whole = {
        item["url"].rsplit("/", 1)[1] for item in crawl.items if paragraphs(5)[-1] in item["body"]
    }
    assert whole == {"good", "lie", "noise", "br"}


@pytest.mark.slow
def test_binary_page_fails_without_worker(tmp_path: Path):
    story = "/2026/11/20/a-story-of-the-day-with-a-long-name-1.html"
    with SiteServer() as web:
        web.put(
            "127.0.0.1/", html(f'<a href="{story}">A story of the day, with a long headline</a>')
        )
        body = b"%PDF-1.7\n" + random.Random(3).randbytes(5000)
        web.put(f"127.0.0.1{story}", Answer(body, headers={"Content-Type": "text/html"}))
        crawl = web.crawl(tmp_path)
        counts = crawl.site_counts(web.site)
    assert counts["failed_count/binary"] == 1
