"""Sitemaps and the sitemap lines of robots.txt."""

import gzip
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.crawling.discovery import listing_entries, sitemaps
from newscrawl.crawling.discovery.entries import Entry, Listing
from newscrawl.crawling.discovery.sitemaps import read_sitemap

URL = "https://news.example/sitemap.xml"
NAMESPACES = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
)


def read(text: str | bytes, **plain: Any) -> dict[str, Any]:
    data = text.encode() if isinstance(text, str) else text
    return read_sitemap(data, url=URL, domains=["news.example"], **plain)


def urlset(*entries: str) -> str:
    body = "".join(f"<url>{entry}</url>" for entry in entries)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {NAMESPACES}>{body}</urlset>'


def loc(path: str, changed: str = "") -> str:
    lastmod = f"<lastmod>{changed}</lastmod>" if changed else ""
    return f"<loc>https://news.example{path}</loc>{lastmod}"


def paths(found: dict[str, Any]) -> list[str]:
    return [entry.url.removeprefix("https://news.example") for entry in found.entries]


def test_reads_news_fields_as_hints():
    news = (
        "<news:news><news:publication><news:name>News</news:name>"
        "<news:language>pt</news:language></news:publication>"
        "<news:publication_date>2026-11-20T08:30:00+01:00</news:publication_date>"
        "<news:title>Chuva &amp; vento</news:title></news:news>"
        "<image:image><image:loc>https://img.example/1.jpg</image:loc></image:image>"
    )
    found = read(urlset(loc("/a", "2026-11-21") + news, loc("/b", "2026-11-19")))
    assert found.kind == "news"
    assert found.entries[0] == Entry(
        "https://news.example/a",
        "news.example/a",
        datetime(2026, 11, 20, 7, 30, tzinfo=UTC).timestamp(),
        datetime(2026, 11, 21, tzinfo=UTC).timestamp(),
        {"title": "Chuva & vento", "date": "2026-11-20T08:30:00+01:00", "language": "pt"},
    )
    assert found.entries[1].hints == {}, "the last change is no publication date"


def test_orders_entries_by_date():
    entries = (
        ("/old", "2020-01-01"),
        ("/x", ""),
        ("/2026/11/20/new", ""),
        ("/mid", "2024"),
        ("/y", ""),
    )
    found = read(urlset(*(loc(*entry) for entry in entries)))
    assert paths(found) == ["/2026/11/20/new", "/mid", "/old", "/x", "/y"]


def test_index_accepts_other_hosts_and_skips_old_sitemaps():
    text = (
        f"<sitemapindex {NAMESPACES}>"
        "<sitemap><loc>https://news.example/2019.xml</loc><lastmod>2019-12-31</lastmod></sitemap>"
        "<sitemap><loc>https://cdn.example/new.xml</loc><lastmod>2026-11-20</lastmod></sitemap>"
        "<sitemap><loc>/sitemap-2026-10.xml.gz</loc></sitemap></sitemapindex>"
    )
    found = read(text, since="2026-10-01")
    assert found.kind == "index"
    assert [entry.url for entry in found.entries] == [
        "https://cdn.example/new.xml",
        "https://news.example/sitemap-2026-10.xml.gz",
    ]
    assert found.left_out == {"too_old": 1}


def test_skips_and_counts_bad_entries():
    bad = [
        "<loc>javascript:alert(1)</loc>",
        "<loc>file:///etc/passwd</loc>",
        "<loc>http://[broken/</loc>",
        "<loc></loc><lastmod>2026-01-01</lastmod>",
        f"<loc>https://news.example/{'x' * 3000}</loc>",
        loc("/a/b/a/b/a/b/a"),
        "<loc>https://elsewhere.example/story</loc>",
    ]
    found = read(urlset(loc("/first"), *bad, loc("/last", "yesterday")))
    assert paths(found) == ["/first", "/last"]
    assert found.left_out == {"bad": 5, "trap": 1, "other_site": 1}


def test_returns_each_page_once():
    twice = (
        loc("/story/"),
        "<loc>http://www.news.example/story?utm_source=map#top</loc>",
        loc("/story"),
    )
    assert paths(read(urlset(*twice))) == ["/story/"]


def test_limit_keeps_the_newest():
    days = [loc(f"/{day}", f"2026-11-{day:02}") for day in range(1, 29)]
    found = read(urlset(*days), limit=3)
    assert paths(found) == ["/28", "/27", "/26"]
    assert found.left_out == {"over_limit": 25}


def test_reads_sitemaps_that_are_truncated_or_have_no_namespace():
    text = urlset(loc("/a"), loc("/b"), loc("/c")).replace(NAMESPACES, "")
    assert paths(read(text)) == ["/a", "/b", "/c"]
    assert paths(read(text[: text.index("/c") - 5])) == ["/a", "/b"]


def test_reads_gzip_damaged_or_too_large(monkeypatch: pytest.MonkeyPatch):
    many = urlset(*(loc(f"/{number}") for number in range(5000)))
    packed = gzip.compress(many.encode())
    assert len(read(packed, limit=9000).entries) == 5000
    assert 0 < len(read(packed[: len(packed) // 2], limit=9000).entries) < 5000
    flipped = packed[:-2000] + bytes(2000)
    assert 0 < len(read(flipped, limit=9000).entries) <= 5000
    monkeypatch.setattr(sitemaps, "MAX_SIZE", 50_000)
    found = read(packed, limit=9000)
    assert 0 < len(found.entries) < 2000
    assert found.left_out == {"over_size": 1}


@pytest.mark.parametrize("lines", [False, True])
def test_limits_the_number_of_entries(monkeypatch: pytest.MonkeyPatch, lines: bool):
    monkeypatch.setattr(sitemaps, "MAX_ENTRIES", 20)
    for number, left_out in ((20, {}), (21, {"over_size": 1})):
        listed = [f"https://news.example/{n}" for n in range(number)]
        text = "\r\n".join(listed) if lines else urlset(*(f"<loc>{url}</loc>" for url in listed))
        found = read(text)
        assert len(found.entries) == 20
        assert found.left_out == left_out


@pytest.mark.parametrize("name", ["url", "sitemap"])
def test_limits_the_addresses_of_entries(monkeypatch: pytest.MonkeyPatch, name: str):
    """An index may have several in an entry; a page has one, whatever else is in its entry."""
    monkeypatch.setattr(sitemaps, "MAX_ENTRIES", 10)
    root = "urlset" if name == "url" else "sitemapindex"
    entries = [f"<{name}>{loc(f'/{n}.xml') * 4}</{name}>" for n in range(9)]
    found = read(f"<{root}>{''.join(entries)}</{root}>")
    assert len(found.entries) == (9 if name == "url" else 2)
    assert found.left_out == ({} if name == "url" else {"over_size": 1})


@pytest.mark.parametrize("inside", [True, False])
def test_an_entry_of_megabytes_ends_the_sitemap(monkeypatch: pytest.MonkeyPatch, inside: bool):
    monkeypatch.setattr(sitemaps, "MAX_ENTRY_SIZE", 10_000)
    flood = "<xhtml:link rel='alternate' href='/x'/>" * 400
    middle = f"{loc('/c')}{flood if inside else ''}</url>{'' if inside else flood}<url>"
    found = read(urlset(loc("/a"), loc("/b"), f"{middle}{loc('/d')}"))
    assert paths(found) == ["/a", "/b"]
    assert found.left_out == {"over_size": 1}


def test_undated_entries_of_a_period_are_limited(monkeypatch: pytest.MonkeyPatch):
    """All those that are searched, up to a size in all, but fewer sitemaps of an index."""
    period = {"since": "2026-10-01", "until": "2026-10-31", "limit": 5}
    many = urlset(*(loc(f"/story-{number:04}") for number in range(300)))
    assert len(read(many, **period).entries) == 300
    monkeypatch.setattr(listing_entries, "MAX_RESULT_SIZE", 5_000)
    assert 50 < len(read(many, **period).entries) < 100
    monkeypatch.setitem(listing_entries.MAX_UNDATED, "index", 50)
    index = "".join(f"<sitemap>{loc(f'/{n}')}</sitemap>" for n in range(300))
    assert len(read(f"<sitemapindex>{index}</sitemapindex>", **period).entries) == 50


def test_does_not_expand_entities():
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    head = f'<!DOCTYPE urlset [<!ENTITY l0 "ha">{laughs}<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    body = urlset(loc("/a&l11;"), loc("/b&x;"), loc("/c")).split("\n", 1)[1]
    found = read(head + body)
    assert "/c" in paths(found)
    assert all(len(path) < 10 for path in paths(found))


def test_reads_text_and_feeds():
    assert paths(read("https://news.example/a\n\nhttps://news.example/b\nnonsense\n")) == [
        "/a",
        "/b",
    ]
    rss = "<rss version='2.0'><channel><item><link>https://news.example/c</link></item></channel></rss>"
    found = read(rss)
    assert (found.kind, paths(found)) == ("feed", ["/c"])


@pytest.mark.parametrize(
    "data", [b"", b"<html><p>Not found</html>", b"\x1f\x8b", b"\xff\xfe\0\0", b"<"]
)
def test_other_data_is_unknown(data: bytes):
    assert (read(data).kind, read(data).entries) == ("unknown", [])


@given(st.binary() | st.text().map(lambda text: urlset(loc("/a"), text).encode(errors="replace")))
def test_accepts_any_bytes(data: bytes):
    assert isinstance(read(data), Listing)


def test_references_that_are_no_characters():
    assert paths(read(urlset(loc("/a-&#xD800;&#9999999;b")))) == ["/a-%EF%BF%BD%EF%BF%BDb"]


@pytest.mark.parametrize("name", [":name", "news:", "a:b:c", "-"])
def test_invalid_names_of_elements(name: str):
    """An element with an invalid name does not cost the sitemap."""
    found = read(urlset(loc("/a"), f"{loc('/b')}<{name}>x</{name}>", loc("/c")))
    assert paths(found)[:1] == ["/a"]


def test_prefixes_without_a_declaration():
    """Sites forget to declare the namespace of news."""
    news = "<news:news><news:title>Wind</news:title><news:language>pt</news:language></news:news>"
    found = read(f"<urlset><url>{loc('/a')}{news}</url></urlset>")
    assert found.kind == "news"
    assert found.entries[0].hints == {"title": "Wind", "language": "pt"}
