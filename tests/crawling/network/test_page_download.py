"""Statements of the ``Link`` headers about a page."""

from scrapy.http import Response

from newscrawl.crawling.network.page_download import MAX_HEADER_FEEDS, header_feeds, header_hints

URL = "https://news.example/a"
FEED = 'rel=alternate; type="application/rss+xml"'


def page(*links: str) -> Response:
    return Response(URL, headers={"Link": list(links)})


def test_finds_feeds_and_the_canonical_url():
    response = page(
        f"</feed>; {FEED}, <b.css>; rel=preload",
        "<mailto:a@b.example>; rel=canonical",
        '</story>; rel="x canonical"',
    )
    assert header_feeds(response) == ["https://news.example/feed"]
    assert header_hints(response) == {"canonical": "https://news.example/story"}


def test_reads_the_first_links():
    response = page(*(f"</{number}>; {FEED}" for number in range(1000)), "</b>; rel=canonical")
    assert header_feeds(response) == [f"https://news.example/{n}" for n in range(MAX_HEADER_FEEDS)]
    assert header_hints(response) == {"canonical": "https://news.example/b"}
    assert header_hints(page("x" * 70_000, "</b>; rel=canonical")) == {}
