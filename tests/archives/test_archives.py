"""Pages in WARC archives, and ``scrapy extract`` over archives."""

import gzip
import io
import json
import subprocess
import zlib
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from newscrawl.archives.archive_reader import ArchiveRecord, Flaw, read_records
from newscrawl.archives.captures import NoPageError, page_of
from newscrawl.css import sheet_urls
from newscrawl.document.document import MAX_PAGE_BYTES
from newscrawl.items import PageItem
from tests.extraction.test_extraction import PAGE, TITLE, URL
from tests.helpers.forked_scrapy import scrapy

AT = "2024-05-05T08:00:00Z"
HTML = ("Content-Type", "text/html; charset=utf-8")
BODY = PAGE.encode()


class Archive:
    """An archive written by warcio."""

    def __init__(self) -> None:
        self._out = io.BytesIO()
        self._writer = WARCWriter(self._out, gzip=True, warc_version="1.1")

    def add(
        self,
        body: bytes = BODY,
        *headers: tuple[str, str],
        url: str = URL,
        status: str = "200 OK",
        kind: str = "response",
        content_type: str = "",
        **warc: str,
    ) -> "Archive":
        """Add a record; without *headers*, one of HTML."""
        http = StatusAndHeaders(status, list(headers or [HTML]), protocol="HTTP/1.1")
        named = {name.replace("_", "-"): value for name, value in warc.items()}
        record = self._writer.create_warc_record(
            url,
            kind,
            payload=io.BytesIO(body),
            length=len(body),
            http_headers=http if kind in {"response", "revisit"} else None,
            warc_content_type=content_type,
            warc_headers_dict={"WARC-Date": AT, **named},
        )
        self._writer.write_record(record)
        return self

    def data(self) -> bytes:
        return self._out.getvalue()

    def records(self, folder: Path) -> list[ArchiveRecord]:
        path = folder / "test.warc.gz"
        path.write_bytes(self.data())
        return [record for record in read_records(path) if not isinstance(record, Flaw)]


def page(folder: Path, *args: Any, **named: Any) -> PageItem:
    (record,) = Archive().add(*args, **named).records(folder)
    return page_of(record)


def reason(folder: Path, *args: Any, **named: Any) -> str:
    with pytest.raises(NoPageError) as caught:
        page(folder, *args, **named)
    return caught.value.reason


def chunked(data: bytes, size: int = 1000) -> bytes:
    chunks = (data[start : start + size] for start in range(0, len(data), size))
    return b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


def zstd(data: bytes) -> bytes:
    from scrapy.utils._compression import zstd as module

    return module.compress(data)


def test_reads_page(tmp_path: Path):
    found = page(tmp_path)
    assert found == PageItem(URL, BODY, "utf-8", datetime(2024, 5, 5, 8, tzinfo=UTC))


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("br", brotli.compress),
        ("zstd", zstd),
        ("gzip, gzip", lambda data: gzip.compress(gzip.compress(data))),
    ],
)
def test_decodes_content_encodings(tmp_path: Path, encoding: str, pack: Any):
    """Bodies may be chunked, compressed, or already decompressed by the writer of the archive."""
    headers = (HTML, ("Content-Encoding", encoding))
    assert page(tmp_path, pack(BODY), *headers).html == BODY
    both = (*headers, ("Transfer-Encoding", "chunked"))
    assert page(tmp_path, chunked(pack(BODY)), *both).html == BODY
    assert page(tmp_path, pack(BODY), *both).html == BODY
    assert page(tmp_path, BODY, *headers).html == BODY


def test_reads_charset_of_header(tmp_path: Path):
    latin = ("Content-Type", "text/html; charset=windows-1252")
    assert page(tmp_path, PAGE.encode("cp1252"), latin).encoding == "cp1252"
    assert page(tmp_path, BODY, ("Content-Type", "text/html")).encoding is None


def test_reads_resource_record(tmp_path: Path):
    """A page without HTTP headers, as some tools archive it."""
    found = page(tmp_path, kind="resource", content_type="text/html; charset=utf-8")
    assert (found.html, found.encoding) == (BODY, "utf-8")


def test_reads_notes_of_crawl(tmp_path: Path):
    """Hints are read from the notes; section pages are skipped."""
    notes = json.dumps({"role": "article", "hints": {"title": "Straße"}})
    assert page(tmp_path, WARC_JSON_Metadata=notes).hints == {"title": "Straße"}
    section = json.dumps({"role": "section"})
    assert reason(tmp_path, WARC_JSON_Metadata=section) == "other_role"
    for broken in ("{", "[]", '{"hints": null}'):
        assert page(tmp_path, WARC_JSON_Metadata=broken).hints == {}


@pytest.mark.parametrize(
    ("args", "named", "why"),
    [
        ((), {"status": "404 Not Found"}, "http_404"),
        ((b"", ("Location", "/x")), {"status": "301 Moved"}, "http_301"),
        ((b"{}", ("Content-Type", "application/json")), {}, "not_html"),
        ((b"%PDF-1.7" + bytes(2000), HTML), {}, "binary"),
        ((b"",), {"kind": "revisit"}, "revisit"),
        ((b"1.2.3.4",), {"url": "dns:a.test", "kind": "resource"}, "not_http"),
        ((gzip.compress(bytes(MAX_PAGE_BYTES + 1)), HTML, ("Content-Encoding", "gzip")), {},
         "too_large"),
        ((bytes(MAX_PAGE_BYTES + 1),), {}, "too_large"),
    ],
)  # fmt: skip
def test_names_reason_without_page(
    tmp_path: Path, args: tuple[Any, ...], named: dict[str, str], why: str
):
    assert reason(tmp_path, *args, **named) == why


STATUSES = ("", " ok", f" {'2' * 5000} OK", " ٢٠٠ OK", " -20 OK", " 20 OK")


@pytest.mark.parametrize(
    "head", [b"", b"\0" * 99, *(f"HTTP/1.1{status}\r\n\r\n".encode() for status in STATUSES)]
)
def test_rejects_invalid_http(head: bytes):
    headers = {"warc-target-uri": URL, "content-type": "application/http; msgtype=response"}
    with pytest.raises(NoPageError, match="not_http"):
        page_of(ArchiveRecord("response", headers, head))


@given(
    url=st.sampled_from([URL, "http://[", "http://a b/\0", "https:", "http://a.test:x/"])
    | st.text().map(lambda text: f"http://{text}"),
    status=st.sampled_from(["HTTP/1.1 200 OK", "HTTP/2 200", "HTTP/1.1 302 Found"]) | st.text(),
    headers=st.lists(
        st.sampled_from(
            [
                "Content-Type: text/html", "Content-Type: text/css; charset=none",
                "Content-Encoding: gzip, br", "Content-Encoding: zstd", "Content-Encoding: deflate",
                "Transfer-Encoding: chunked", "Location: http://[", ": ",
            ]
        )
        | st.text()
    ),
    body=st.binary() | st.binary().map(gzip.compress) | st.binary().map(chunked),
)  # fmt: skip
def test_any_bytes_give_page_or_reason(url: str, status: str, headers: list[str], body: bytes):
    head = "\r\n".join([status, *headers, "", ""]).encode(errors="replace")
    record = ArchiveRecord("response", {"warc-target-uri": url}, head + body)
    with suppress(NoPageError):
        page = page_of(record)
        assert sheet_urls(page.html, page.url) is not None


# --- The command ---


def extract(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return scrapy(folder, "extract", *args)


def articles(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def news(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an archive like those of Common Crawl's news, and a damaged record."""
    folder = tmp_path_factory.mktemp("news")
    archive = Archive()
    archive.add(b"1.2.3.4", url="dns:one.test", kind="resource", content_type="text/dns")
    archive.add(b"GET / HTTP/1.1\r\n\r\n", kind="request")
    for number, host in enumerate(("one.test", "two.test", "one.test")):
        packed = gzip.compress(BODY.replace(TITLE.encode(), b"%b %d" % (TITLE.encode(), number)))
        cut = {"WARC_Truncated": "length"} if number == 2 else {}
        url = f"https://{host}/{number}"
        archive.add(packed, HTML, ("Content-Encoding", "gzip"), url=url, **cut)
    archive.add(b"\xff\xd8\xff", ("Content-Type", "image/jpeg"), url="https://one.test/a.jpg")
    archive.add(b"", url="https://one.test/empty")
    archive.add(b"<p>Hello", url="https://one.test/short")
    archive.add(b"", url="https://one.test/0", kind="revisit")
    archive.add(status="404 Not Found", url="https://one.test/missing")
    data = archive.data()
    (folder / "news.warc.gz").write_bytes(data)
    (folder / "plain.warc").write_bytes(gzip.decompress(data))
    starts = [place for place in range(len(data)) if data.startswith(b"\x1f\x8b\x08\0\0\0", place)]
    (folder / "cut.warc.gz").write_bytes(data[: (starts[4] + starts[5]) // 2])
    damaged = bytearray(data)
    damaged[(starts[3] + starts[4]) // 2] ^= 255
    (folder / "damaged.warc.gz").write_bytes(damaged)
    (folder / "other.warc.gz").write_bytes(b"<html>")
    (folder / "page.html").write_bytes(BODY)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["news.warc.gz", "plain.warc"])
def test_extracts_news_archive(news: Path, name: str):
    """Articles of all hosts are in order; other records are counted, failures reported."""
    done = extract(news, name)
    assert done.returncode == 0, done.stderr
    found = articles(done)
    assert [item["url"] for item in found] == [
        "https://one.test/0",
        "https://two.test/1",
        "https://one.test/2",
    ]
    assert [item["title"] for item in found] == [f"{TITLE} {number}" for number in range(3)]
    assert {item["fetched_at"] for item in found} == {"2024-05-05T08:00:00+00:00"}
    assert {item["style_complete"] for item in found} == {None}
    assert [item["flags"] for item in found] == [[], [], ["truncated"]]
    *lines, last = done.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("scrapy extract: https://one.test/empty: failed (document)")
    assert last.startswith("scrapy extract: 3 articles in 10 records; left out: ")
    for part in ("1 not_http", "1 not_html", "1 failed", "1 revisit", "1 http_404"):
        assert part in last, part


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "message", "urls"),
    [
        ("cut.warc.gz", "failed (cut): the archive is cut off", ["one.test/0", "two.test/1"]),
        ("damaged.warc.gz", "failed (damaged): a record is damaged", ["one.test/0", "one.test/2"]),
    ],
)
def test_extracts_complete_records(news: Path, name: str, message: str, urls: list[str]):
    done = extract(news, name)
    assert done.returncode == 1
    assert [item["url"] for item in articles(done)] == [f"https://{url}" for url in urls]
    assert f"{name}: {message}" in done.stderr


@pytest.mark.slow
def test_continues_after_unreadable_archive(news: Path):
    done = extract(news, "other.warc.gz", "news.warc.gz", "gone.warc", "news.warc.gz")
    assert done.returncode == 1
    assert len(articles(done)) == 3  # a source is read once
    assert "other.warc.gz: not a WARC archive" in done.stderr
    assert "gone.warc" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_uses_page_options_and_crawl_settings(news: Path):
    done = extract(news, "news.warc.gz", "--text", "--method", "nce", "-s", "NEWSCRAWL_WORKERS=0")
    assert done.stdout.count(f"{TITLE} 0 ") or done.stdout.startswith(f"{TITLE} 0")
    done = extract(news, "news.warc.gz", "-s", "NEWSCRAWL_MIN_BODY=100000")
    assert (done.stdout, done.returncode) == ("", 3)
    assert "too_short" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "args",
    [
        ["news.warc.gz", "--url", URL],
        ["news.warc.gz", "--method", "magic"],
        ["news.warc.gz", "--parts", "magic"],
        ["news.warc.gz", "-s", "NEWSCRAWL_MIN_BODY=x"],
    ],
)
def test_rejects_wrong_usage(news: Path, args: list[str]):
    done = extract(news, *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr
    assert "Traceback" not in done.stderr
