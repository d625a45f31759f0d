"""Feed parser: formats and size limits."""

import gzip
import json
from io import BytesIO
from typing import Any

import feedparser
import pytest

from newscrawl.crawling.discovery.feed_parser import MAX_ENTRIES, MAX_JSON_SIZE, MAX_SIZE, read_feed

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RSS = "http://purl.org/rss/1.0/"
FORMS = {
    "rss": ('<rss version="2.0"><channel><title>N</title>', "</channel></rss>", "item", "<link>{}</link>"),
    "rdf": (f'<rdf:RDF xmlns:rdf="{RDF}" xmlns="{RSS}"><channel><title>N</title></channel>', "</rdf:RDF>", "item",
            "<link>{}</link>"),
    "atom": ('<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:title>N</a:title>', "</a:feed>", "a:entry",
             '<a:link href="{}"/>'),
}  # fmt: skip


def feed(form: str, number: int, text: str = "") -> bytes:
    """Return a feed of *number* entries, each with *text*."""
    head, tail, name, link = FORMS[form]
    entries = (
        f"<{name}>{link.format(url(n))}<summary><![CDATA[{text}]]></summary></{name}>"
        for n in range(number)
    )
    return f'<?xml version="1.0"?>{head}{"".join(entries)}{tail}'.encode()


def url(number: int) -> str:
    return f"https://news.example/2026/11/22/story-{number}"


def read(data: bytes, **options: Any) -> dict[str, Any]:
    options = {"domains": ["news.example"], "limit": 10_000, **options}
    return read_feed(data, url="https://news.example/f", **options)


def urls(found: dict[str, Any]) -> list[str]:
    return [entry.url for entry in found.entries]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("number", [3, MAX_ENTRIES])
def test_reads_all_entries_within_the_limits(form: str, number: int):
    found = read(feed(form, number))
    assert urls(found) == [url(n) for n in range(number)]
    assert found.left_out == {}


@pytest.mark.parametrize("form", FORMS)
def test_reads_the_first_entries_of_a_long_feed(form: str):
    found = read(feed(form, MAX_ENTRIES + 1))
    assert urls(found) == [url(n) for n in range(MAX_ENTRIES)]
    assert found.left_out == {"over_size": 1}


@pytest.mark.parametrize("form", FORMS)
def test_reads_whole_entries_of_a_large_feed(form: str):
    data = feed(form, 100, "<p>Text </p>" * 4000)
    assert len(data) > MAX_SIZE
    whole = data[:MAX_SIZE].count(b"story-") - 1
    found = read(data)
    assert urls(found) == [url(n) for n in range(whole)]
    assert found.left_out == {"over_size": 1}


def test_accepts_a_feed_with_one_oversized_entry():
    found = read(feed("rss", 1, "x" * MAX_SIZE))
    assert found.kind == "feed"
    assert found.left_out == {"over_size": 1}


def test_reads_the_first_entries_of_a_long_json_feed():
    items = [{"url": url(n)} for n in range(MAX_ENTRIES + 5)]
    found = read(json.dumps({"items": items}).encode())
    assert len(found.entries) == MAX_ENTRIES
    assert found.left_out == {"over_size": 1}


@pytest.mark.parametrize("name", ["xml:base", "base", "XML:BASE"])
@pytest.mark.parametrize("quote", ["'", '"'])
def test_nested_bases_make_no_endless_address(name: str, quote: str):
    """The address of an entry is resolved with the first relative ones only."""
    opened = f"<a {name}={quote}x/{quote}>" * 3000
    story = "<item><link>story</link></item></rss>"
    entries = read(f"<rss>{opened}{story}".encode()).entries  # none if it is a trap
    assert all(entry.url.count("/x") <= 100 for entry in entries)
    long = f"<a {name}={quote}{'x' * 3000}/{quote}>" * 10
    (entry,) = read(f"<rss>{long}{story}".encode()).entries
    assert "xx" not in entry.url


def test_bounds_values_of_the_whole_feed():
    long = "x" * 100_000
    items = [{"url": "/2026/01/02/a-story.html"}]
    found = read(json.dumps({"items": items, "next_url": long, "language": long}).encode())
    assert (found.next, len(found.entries[0].hints["language"])) == (None, 40)
    assert read(json.dumps({"items": items, "next_url": ["a"]}).encode()).next is None
    too_long = json.dumps({"items": items, "x": "x" * MAX_JSON_SIZE}).encode()
    assert read(too_long).left_out == {"over_size": 1}


def test_a_page_is_no_feed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(feedparser, "parse", None)
    assert read(b"<!DOCTYPE html><title>News</title>").kind == "unknown"


HOSTILE = {
    "attributes": lambda size: (
        b"<item " + b" ".join(b"a%d='1'" % n for n in range(size)) + b"></item>"
    ),
    "entries": lambda size: b"<item>" * size,
    "blanks": lambda size: b"<item" + b" " * 8 * size + b"></item>",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_truncates_what_takes_quadratic_time(monkeypatch: pytest.MonkeyPatch, name: str):
    """feedparser gets the entries before it, however long the rest is."""
    sizes = []
    parse = feedparser.parse

    def record(file: BytesIO, **options: Any) -> Any:
        sizes.append(len(file.getvalue()))
        return parse(file, **options)

    monkeypatch.setattr(feedparser, "parse", record)
    head, _, _, _ = FORMS["rss"]
    good = feed("rss", 3).removesuffix(b"</channel></rss>")
    assert good.startswith(b'<?xml version="1.0"?>' + head.encode())
    for size in (20_000, 200_000):
        found = read(good + HOSTILE[name](size))
        assert urls(found)[:3] == [url(0), url(1), url(2)]
        assert found.left_out["over_size"] == 1
    assert sizes[0] == sizes[1] < 64 * 1024


@pytest.mark.parametrize(
    "reference", ["&#xD800;", "&#57343;", "&#x110000;", f"&#{'9' * 5000};", f"&#x{'f' * 20};"]
)
@pytest.mark.parametrize("form", ["rss", "atom"])
def test_references_that_are_no_characters(form: str, reference: str):
    """A numeric reference without a character does not cost the feed, nor its neighbours."""
    title = f"A {reference} B &#233; &#x0000E9;"
    name = FORMS[form][2].replace("entry", "title").replace("item", "title")
    data = feed(form, 3).replace(
        b"<summary><![CDATA[]]></summary>", f"<{name}>{title}</{name}>".encode()
    )
    found = read(data)
    assert urls(found) == [url(0), url(1), url(2)]
    titles = [entry.hints["title"] for entry in found.entries]
    assert titles == ["A \ufffd B \xe9 \xe9"] * 3


@pytest.mark.parametrize(
    ("link", "identifier", "url"),
    [
        ("", "https://news.example/story", "https://news.example/story"),
        ("https://news.example/", "https://news.example/story", "https://news.example/story"),
        ("/", "https://news.example/story", "https://news.example/story"),
        ("https://news.example/?p=12", "https://news.example/story", "https://news.example/?p=12"),
        ("https://news.example/story", "https://news.example/?p=12", "https://news.example/story"),
        ("https://news.example/story", "4711", "https://news.example/story"),
    ],
)
def test_identifier_is_the_address_of_an_item_that_links_the_front_page(
    link: str, identifier: str, url: str
):
    item = f"<item><title>x</title><link>{link}</link><guid>{identifier}</guid></item>"
    [found] = read(f"<rss version='2.0'><channel>{item}</channel></rss>".encode()).entries
    assert found.url == url


def test_names_that_are_not_text():
    """A name of an encoding is not needed; with an unreadable namespace there is no feed."""
    assert read(b'<?xml encoding="\x96"?><rss/>').kind == "feed"
    assert read(b'<?r?><t xmlns="\xed\xa0\xa09">').kind == "unknown"


@pytest.mark.parametrize(
    ("elements", "ttl"),
    [
        ("<ttl> 90 </ttl>", 5400),
        ("<ttl>soon</ttl>", 0),
        ("<sy:updatePeriod>\n hourly </sy:updatePeriod>", 3600),
        (
            "<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>",
            21_600,
        ),
        ("<x:updatePeriod>never</x:updatePeriod><x:updateFrequency>0</x:updateFrequency>", 0),
    ],
)
def test_reads_when_not_to_poll(elements: str, ttl: float):
    head = f'<rss version="2.0" xmlns:sy="s" xmlns:x="x"><channel>{elements}'
    item = "<item><link>http://site.example/a</link><ttl>9999</ttl></item>"
    found = read(f"{head}{item}</channel></rss>".encode())
    assert found.ttl == ttl


@pytest.mark.parametrize(
    ("form", "dates", "hints"),
    [
        ("rss", "<pubDate>Sun, 22 Nov 2026 07:00:00 GMT</pubDate>", "date"),
        ("rss", "<dc:date>2026-11-22T07:00:00Z</dc:date>", "date"),
        ("rss", "<pubDate/><dc:date>2026-11-22T07:00:00Z</dc:date>", "date"),
        ("rss", "<dcterms:created>2026-11-22T07:00:00Z</dcterms:created>", "date"),
        ("rdf", "<dc:date>2026-11-22T07:00:00Z</dc:date>", "date"),
        ("atom", "<a:published>2026-11-22T07:00:00Z</a:published>", "date"),
        ("atom", "<a:updated>2026-11-22T07:00:00Z</a:updated>", "updated"),
    ],
)
def test_takes_the_date_of_publication_in_any_notation(form: str, dates: str, hints: str):
    head, tail, name, link = FORMS[form]
    names = 'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"'
    entry = f"<{name} {names}>{link.format(url(1))}{dates}</{name}>"
    [found] = read(f"{head}{entry}{tail}".encode()).entries
    assert found.hints[hints].startswith(("2026-11-22", "Sun"))
    assert len({"date", "updated"} & found.hints.keys()) == 1


def test_reads_a_gzip_file_that_was_sent_as_it_is():
    data = feed("rss", 3)
    assert read(gzip.compress(gzip.compress(data))) == read(data)


@pytest.mark.parametrize(
    ("home", "host"),
    [
        ("https://www.news.example/", "www.news.example"),
        ("https://news.example/world/", "news.example"),
        ("https://elsewhere.example/", "news.example"),
        ("/", "news.example"),
    ],
)
def test_relative_links_belong_to_the_site_of_the_feed(home: str, host: str):
    data = feed("rss", 1).replace(b"https://news.example", b"")
    found = read(data.replace(b"</title>", f"</title><link>{home}</link>".encode()))
    assert urls(found) == [f"https://{host}/2026/11/22/story-0"]


def test_leaves_out_recordings():
    found = read(feed("rss", 3).replace(b"story-1", b"episode-1.mp3"))
    assert len(found.entries) == 2
    assert found.left_out == {"file": 1}
