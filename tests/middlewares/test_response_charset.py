"""Charsets of responses, and meta refresh without decoding the page."""

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response, XmlResponse
from scrapy.utils.test import get_crawler
from w3lib.encoding import resolve_encoding

from newscrawl.middlewares import CharsetMiddleware, MetaRefreshMiddleware

URL = "http://a.example/story"
REFRESH = '<meta http-equiv="refresh" content="0; url=/weiter">'


def html_response(body: bytes, content_type: str = "text/html") -> HtmlResponse:
    return HtmlResponse(URL, headers={"Content-Type": content_type}, body=body)


@pytest.mark.parametrize("charset", ["punycode", "hex", "utf-7", "unicode_escape", "undefined"])
@pytest.mark.parametrize("in_header", [True, False])
def test_decodes_unknown_charsets_as_utf8(charset: str, *, in_header: bool):
    content_type = f"text/html; charset={charset}" if in_header else "text/html"
    meta = "" if in_header else f"<meta charset={charset}>"
    crawler = get_crawler()
    middleware = CharsetMiddleware.from_crawler(crawler)
    body = f"{meta}<p>Brücke</p>".encode()
    response = middleware.process_response(Request(URL), html_response(body, content_type))
    assert "Brücke" in response.text
    is_refused = charset == "utf-7" and resolve_encoding(charset) is None  # since w3lib 2.5
    assert crawler.stats.get_value("newscrawl/charset/unknown_count", 0) == (not is_refused)


def test_keeps_known_charsets():
    middleware = CharsetMiddleware.from_crawler(get_crawler())
    response = html_response("<p>Brücke".encode("cp1252"), "text/html; charset=iso-8859-1")
    assert middleware.process_response(Request(URL), response) is response
    binary = Response(URL, headers={"Content-Type": "image/png; charset=hex"}, body=b"x")
    assert middleware.process_response(Request(URL), binary) is binary


@pytest.mark.parametrize("sent", [HtmlResponse, XmlResponse])
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<!-- <rss> --><!DOCTYPE html><HTML>", HtmlResponse),
        (b"<rss><html>", XmlResponse),
        (b"<rdf:RDF xmlns='x'>", XmlResponse),
        (b"<news>", None),
    ],
)
def test_root_decides_between_html_and_feeds(sent: type, body: bytes, kind: type | None):
    response = sent(URL, body=b"\xef\xbb\xbf<?xml version='1.0'?>\n" + body)
    found = CharsetMiddleware.from_crawler(get_crawler()).process_response(Request(URL), response)
    assert type(found) is (kind or sent)


@pytest.mark.parametrize(
    ("charset", "encoding"),
    [("utf-8", "utf-8"), ("gb18030", "gb18030"), ("utf-16", "utf-16-le"), ("hex", "cp1252")],
)
def test_follows_meta_refresh(charset: str, encoding: str):
    middleware = MetaRefreshMiddleware.from_crawler(get_crawler())
    response = html_response(REFRESH.encode(encoding), f"text/html; charset={charset}")
    request = middleware.process_response(Request(URL), response)
    assert isinstance(request, Request)
    assert request.url == "http://a.example/weiter"


@pytest.mark.parametrize(
    ("script", "is_followed"),
    [
        ("<title>x</title><script>location='/weiter'</script>", True),
        ('<script type="text/javascript">top.location.href = "/weiter";</script>', True),
        ("<script>setTimeout(() => window.location.assign('/weiter'), 0)</script>", True),
        ("<script>document.cookie = 'a=1'; location.href = '/weiter'</script>", False),
        ("<script>if (location.href == '/weiter') start()</script>", False),
        ("<script>location.href = '/weiter'</script>" + "<p>A story.</p>" * 200, False),
        ("<b onclick=\"location.href='/weiter'\">Story</b>", False),
    ],
)
def test_follows_redirects_by_the_script_of_an_empty_page(script: str, *, is_followed: bool):
    middleware = MetaRefreshMiddleware.from_crawler(get_crawler())
    response = html_response(script.encode())
    found = middleware.process_response(Request(URL), response)
    assert (found is response) is not is_followed
    assert found.url == ("http://a.example/weiter" if is_followed else URL)


def test_meta_refresh_does_not_decode_the_body(monkeypatch: pytest.MonkeyPatch):
    def fail(response: HtmlResponse) -> str:
        assert len(response.body) < 20_000
        return response.body.decode("latin-1")

    monkeypatch.setattr(HtmlResponse, "text", property(fail))
    middleware = MetaRefreshMiddleware.from_crawler(get_crawler())
    page = html_response(b"<p>" + b"\xff\x80" * 50_000, "text/html; charset=gb18030")
    assert middleware.process_response(Request(URL), page) is page
    late = html_response(b"<p>" + b" " * 50_000 + REFRESH.encode())
    assert middleware.process_response(Request(URL), late) is late
