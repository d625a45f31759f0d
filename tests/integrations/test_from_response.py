"""Extraction from response objects."""

import pytest
import requests
import web_poet
from scrapy.http import HtmlResponse

import newscrawl
from tests.servers import pages
from tests.servers.site import SiteServer

URL = "http://tagesbote.test/2026/03/14/1-muehle.html"
TEXT = pages.article_page(1, meta_charset=None)
HTML = TEXT.encode("cp1252")
TYPE = "text/html; charset=windows-1252"


def check(article: newscrawl.Article, url: str = URL) -> None:
    assert (article.url, article.title) == (url, pages.title(1))
    assert set(pages.paragraphs(1)) <= set(article.body.split("\n\n"))


def test_reads_scrapy_response() -> None:
    response = HtmlResponse(URL, body=HTML, headers={"Content-Type": TYPE})
    check(newscrawl.from_response(response))
    named = newscrawl.from_response(response, method="nce")
    assert named.evidence["body"].source == "nce"


def test_reads_declared_encoding() -> None:
    """One letter is too little to detect the encoding."""
    html = b"<html><body><h1>The caf\x8e is open</h1>" + b"<p>It was closed for a year.</p>" * 9
    headers = {"Content-Type": "text/html; charset=macintosh"}
    response = HtmlResponse(URL, body=html, headers=headers)
    assert newscrawl.from_response(response).title == "The café is open"
    assert newscrawl.from_response(response, encoding=None).title != "The café is open"


def test_reads_web_poet_response() -> None:
    check(newscrawl.from_response(web_poet.HttpResponse(URL, HTML, headers={"Content-Type": TYPE})))


def test_reads_requests_response() -> None:
    with SiteServer({"/1.html": TEXT.encode()}) as server:
        response = requests.get(f"{server.url}/1.html", timeout=30)
    check(newscrawl.from_response(response), response.url)


def test_rejects_other_documents() -> None:
    with pytest.raises(newscrawl.DocumentError):
        newscrawl.from_response(HtmlResponse(URL, body=b"%PDF-1.7"))
