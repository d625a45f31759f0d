"""Sitemaps, feeds and addresses of public bug reports, and variants of them."""

import base64
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from newscrawl.crawling.discovery.feed_parser import read_feed
from newscrawl.crawling.discovery.sitemaps import read_sitemap
from newscrawl.crawling.network.rule_files import read_rules
from newscrawl.crawling.urls import absolute_url, page_key

CASES = Path(__file__).parents[2] / "cases"
BASE = "https://www.melbycourier.example/"
DOMAINS = ["melbycourier.example"]


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", rows("listings.jsonl"), ids=lambda case: case["name"])
def test_listing(case: dict[str, Any]):
    data = case["text"].encode() if "text" in case else base64.b64decode(case["base64"])
    expect = case["expect"]
    if case["call"] == "robots_sitemaps":
        read = read_rules(data, url=case["url"], file="robots", token="")
        assert read["sitemaps"] == expect["urls"]
        return
    read_listing = read_feed if case["call"] == "feed" else read_sitemap
    found = read_listing(data, url=case["url"], domains=DOMAINS)
    entries = {entry.url: entry for entry in found.entries}
    missing = set(expect.get("urls", ())) - entries.keys()
    extra = set() if expect.get("at_least") else entries.keys() - set(expect.get("urls", ()))
    assert (missing, extra) == (set(), set())
    assert found.kind == expect.get("kind_is", found.kind)
    for url, hints in expect.get("hints", {}).items():
        assert hints.items() <= entries[url].hints.items()
    for url, day in expect.get("day", {}).items():
        stamp = entries[url].timestamp
        assert (stamp and datetime.fromtimestamp(stamp, UTC).date().isoformat()) == day
    if expect.get("timestamp"):
        assert found.entries[0].timestamp


@pytest.mark.parametrize("case", rows("addresses.jsonl"), ids=lambda case: case["given"])
def test_address(case: dict[str, Any]):
    found = absolute_url(case["given"], BASE)
    if "fetched" in case:
        assert found == case["fetched"]
    else:
        other = absolute_url(case["other"], BASE)
        assert found
        assert other
        assert (page_key(found) == page_key(other)) == case["same_page"]


@pytest.mark.parametrize(
    ("given", "fetched"),
    [
        ("/read.php?gallery=12&section=2&source=b&society=1", None),
        ("/?utm_source=x", "/"),
        ("/a?x=1?utm_source=rss", "/a?x=1"),
        ("/a?b[]=1|2&fbclid=x&c=%zz", "/a?b[]=1|2&c=%zz"),
        ("/a?at_medium=custom7&at_id=4711", "/a?at_id=4711"),
        ("/story?sid=0123456789abcdef0123456789abcdef", "/story"),
        ("/story?ref=tram-seven-returns-to-town", None),
        ("/a?", None),
        ("\\news\\a", "/news/a"),
        ("/x/../news/./a#top", "/news/a"),
    ],
)
def test_addresses_stay_as_written(given: str, fetched: str | None):
    """Variants: only what is certainly tracking is removed."""
    assert absolute_url(given, BASE) == BASE + (fetched or given).lstrip("/")


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("/news/a-story-4711?amp=1", "/news/a-story-4711", True),
        ("/news/a-story-4711/amp.html", "/news/a-story-4711", True),
        ("/amp/news/a-story-4711", "/news/a-story-4711", True),
        ("/news/a-story-4711.amp.html", "/news/a-story-4711.html", True),
        ("/news/a-story-4711?outputType=amp", "/news/a-story-4711", True),
        ("/news/a-story-4711/print/", "/news/a-story-4711", True),
        ("/print", "/", False),
        ("/news/amp", "/news", False),
        ("https://amp.melbycourier.example/a", "/a", True),
        ("https://m.example/a", "https://example/a", False),
        ("/view?cid=1", "/view?cid=2", False),
        ("/story?smid=tw-share", "/story", True),
    ],
)
def test_copies_of_a_page(first: str, second: str, *, same: bool):
    urls = [absolute_url(url, BASE) or "" for url in (first, second)]
    assert (page_key(urls[0]) == page_key(urls[1])) == same


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Do., 20 Nov. 2026 10:00 Uhr", "2026-11-20"),
        ("20 de noviembre de 2026", "2026-11-20"),
        ("2026年11月20日 午後3:05", "2026-11-20"),
        ("20/11/2026 15:30", "2026-11-20"),
        ("Fri, 20 Nov 26 10:00:00 GMT", "2026-11-20"),
        ("20261120", "2026-11-20"),
        ("1795168800000", "2026-11-20"),
        ("03/04/2026 15:30", None),
        ("yesterday", None),
        ("10:30", None),
        ("0000-00-00 00:00:00", None),
    ],
)
def test_feed_dates_in_other_notations(written: str, read: str | None):
    """A date in any notation, and none rather than a wrong one."""
    item = f"<item><link>{BASE}a</link><pubDate>{written}</pubDate></item>"
    data = f'<rss version="2.0"><channel><language>es</language>{item}</channel></rss>'.encode()
    (entry,) = read_feed(data, url=BASE, domains=DOMAINS).entries
    assert entry.hints.get("date", "")[:10] == (read or "")
