"""Opt-outs of text and data mining."""

import json
from contextlib import nullcontext
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, XmlResponse
from scrapy.utils.test import get_crawler

from newscrawl.crawling.network import RefusedError
from newscrawl.middlewares.opt_out import (
    NOT_EMITTED,
    OptOutMiddleware,
    _meta_elements,
    is_opted_out_by_header,
    is_opted_out_by_meta,
)
from tests.helpers.crawls import crawl_pages
from tests.servers.site import SiteServer, html, text


@pytest.mark.parametrize(
    ("reservations", "tags", "expected"),
    [
        ([b"1"], [], True),
        ([b"0"], [], False),
        ([], [b"noai"], True),
        ([], [b"noindex, NoAI"], True),
        ([], [b"otherbot: noai, noimageai"], True),
        ([], [b"noindex", b"noai"], True),
        ([], [b"noimageai", b"noindex"], False),
        ([], [b"x-noai-x"], False),
    ],
)
def test_headers(reservations: list[bytes], tags: list[bytes], expected: bool):
    assert is_opted_out_by_header(reservations, tags) is expected


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (b'<meta name="tdm-reservation" content="1">', True),
        (b"<META CONTENT='1' NAME=tdm-reservation/>", True),
        (b'<meta name="tdm-reservation" content="0">', False),
        (b'<meta name="tdm-policy" content="1">', False),
        (b'<meta name="robots" content="noindex, noai, noimageai">', True),
        (b'<meta name="robots" content="noimageai">', False),
        (b'<meta name="description" content="What noai means">', False),
        (b'<p>name="robots" content="noai"</p>', False),
        (b"<meta " * 20_000, False),
    ],
)
def test_meta(page: bytes, expected: bool):
    assert is_opted_out_by_meta(_meta_elements(page)) is expected


@pytest.mark.parametrize(
    ("tag", "page", "role", "left_out"),
    [
        ("noindex", "", "article", "noindex"),
        ("otherbot: NoIndex, nofollow", "", None, "noindex"),
        ("none", "", None, "noindex"),
        ("noarchive", "", None, "noarchive"),
        ("", '<meta name="robots" content="noindex,follow">', None, "noindex"),
        ("", "<META CONTENT=none NAME=robots>", None, "noindex"),
        ("max-image-preview:none, index", "", None, ""),
        ("", '<meta name="robots" content="max-image-preview: none">', None, ""),
        ("nofollow, nosnippet, noai", "", None, ""),
        ("", '<meta name="description" content="noindex">', None, ""),
        ("", '<p>name="robots" content="noindex"</p>', None, ""),
        ("noindex", "", "section", ""),
    ],
)
def test_directives(tag: str, page: str, role: str | None, left_out: str):
    """Those of the setting leave articles out; sections are read for their links."""
    settings = {"NEWSCRAWL_ROBOTS_DIRECTIVES": "noindex,noarchive"}
    crawler = get_crawler(settings_dict=settings)
    middleware = OptOutMiddleware(crawler)
    request = Request("https://a.example/1", meta={"newscrawl_role": role} if role else {})
    headers = {"X-Robots-Tag": tag} if tag else {}
    response = HtmlResponse(request.url, headers=headers, body=page.encode(), request=request)
    context = pytest.raises(RefusedError, match="opted_out") if left_out else nullcontext()
    with context:
        assert middleware.process_response(request, response) is response
    feed = XmlResponse(request.url, headers=headers, request=request)
    assert middleware.process_response(request, feed) is feed
    assert (NOT_EMITTED in request.meta) == (role == "section")
    stats = crawler.stats.get_stats()
    assert stats == ({f"newscrawl/opt_out/refused_count/{left_out}": 1} if left_out else {})


@pytest.mark.slow
@pytest.mark.parametrize("enabled", [True, False])
def test_leaves_out_sites_and_pages(tmp_path: Path, enabled: bool):
    """Sites that opt out get no request; everything is counted. Off by default."""
    tdmrep = json.dumps([{"location": "/reserved/", "tdm-reservation": 1}])
    files = {
        "tdm.example/.well-known/tdmrep.json": text(tdmrep),
        "ai.example/ai.txt": text("User-agent: *\nDisallow: /\n"),
    }
    pages = {
        "tdm.example/open": html("<p>page"),
        "tdm.example/reserved/1": html("<p>page"),
        "ai.example/1": html("<p>page"),
        "head.example/1": html("<p>page", X_Robots_Tag="noai"),
        "head.example/2": html("<p>page", TDM_Reservation="1"),
        "head.example/3": html('<meta name="tdm-reservation" content="1"><p>page'),
        "head.example/4": html("<p>page", X_Robots_Tag="noindex"),
    }
    settings = {"NEWSCRAWL_TDM_OPT_OUT_OBEY": True} if enabled else {}
    with SiteServer(files | pages) as web:
        crawl = crawl_pages(tmp_path, web.urls(*pages), **settings)
        requested = web.request_counts()
    assert crawl.returncode == 0, crawl.output[-3000:]
    assert crawl.errors() == []
    refused = {
        name.removeprefix("newscrawl/opt_out/refused_count/"): number
        for name, number in crawl.stats.items()
        if name.startswith("newscrawl/opt_out/")
    }
    if enabled:
        assert refused == {"tdmrep": 1, "ai_txt": 1, "header": 2, "meta": 1}
        assert not {"tdm.example/reserved/1", "ai.example/1"} & requested.keys()
        assert requested["tdm.example/.well-known/tdmrep.json"] == 1
        assert {"tdm.example/open", "head.example/4"} <= requested.keys()
    else:
        assert refused == {}
        assert pages.keys() <= requested.keys()
        assert not any(url.endswith(("tdmrep.json", "ai.txt")) for url in requested)
