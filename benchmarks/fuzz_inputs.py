"""Inputs of the fuzzer: mutated files of the repository, and texts of simple grammars.

An own mutator instead of Hypothesis: most faults need a real page of 20 to 200 KB with one change,
which Hypothesis draws and shrinks byte by byte. Not atheris: it needs clang and instruments
Python only.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from typing import TYPE_CHECKING

from tests.conftest import REPOSITORY

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

MAX_SIZE = 200_000
_FOLDERS = ("newscrawl/samples", "tests/pages")
_SUFFIXES = {
    "page": ("html",),
    "links": ("html",),
    "sitemap": ("xml", "atom", "txt"),
    "feed": ("xml", "atom"),
    "robots": ("txt",),
    "css": ("css",),
}
_CHARSETS = (
    "utf-8", "utf-16", "utf-16le", "latin1", "windows-1251", "gb18030", "big5", "shift_jis",
    "euc-jp", "iso-2022-jp", "koi8-r", "x-user-defined", "punycode", "hex", "utf-7", "nonsense",
)  # fmt: skip
_EVIL = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x1b[2J", b"\xc2\x9b",
    b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"&b;", b"&#x1F600;",
    b"&#0;", b"&#xD800;", b"&#99999999999;", b"<svg><style><a title='</style>'>", b"<math><mi>",
    b"<template>", b"<plaintext>", b"<table><p>", b"<script>", b"</script >", b"<style>", b"<frameset>",
    b"<base href='//[::1'>", b"<base href='http://a:99999999/'>", b"<a href='http://[::1'>x</a>",
    b"<meta http-equiv=refresh content='0;url=http://['>", b"<time datetime='99999-99-99T99:99'>",
    b"<time datetime='0001-01-01'>1 January 0001</time>", b"<time datetime='9999-12-31T23:59:59-14:00'>",
    b"<script type=application/ld+json>[[[[{\"@graph\":{}}]]]]</script>",
    b"<script type=application/ld+json>{\"@type\":[],\"headline\":{\"@value\":1e999},\"datePublished\":-1e300}</script>",
    (b"<script type=application/ld+json>{\"@type\":\"NewsArticle\",\"@id\":\"a\",\"author\":{\"@id\":\"a\"},"
    b"\"image\":[null,{}],\"keywords\":{},\"articleBody\":[],\"isAccessibleForFree\":[]}</script>"),
    b"31 February 2026", b"29.02.2025 25:61", b"2026-11-16T12:00:00+99:99", b"\xd9\xa3\xd9\xa1/\xd9\xa1\xd9\xa2",
    b"<pubDate>Mon, 99 Foo 20266 99:99:99 +9999</pubDate>", b"<lastmod>9999-99-99</lastmod>",
    b"<loc>http://news.example:0x/</loc>", b"@import url(", b"@media (((", b"\\", b"\\110000 ", b":not(:not(",
    b":has(+:nth-child(9999999999999999999n-1))", b"calc(1px/0*1e999)", b"var(--a,var(--a))", b"/*", b"*/",
    b"!important", b"{", b"}", b"\"", b"'", b"<", b">", b"\r\n", b"\t" * 50, b"=" * 50, b"User-agent: *\nDisallow: /*$*$*",
    b"Crawl-delay: 1e999", b"\xe2\x80\xae", b"\xef\xbf\xbf", b"\xf0\x9f\x91\xa9\xe2\x80\x8d",
)  # fmt: skip
_TAGS = [
    "p",
    "div",
    "span",
    "a",
    "b",
    "i",
    "h1",
    "h2",
    "ul",
    "li",
    "table",
    "tr",
    "td",
    "th",
    "article",
    "section",
    "main",
    "header",
    "footer",
    "nav",
    "aside",
    "figure",
    "figcaption",
    "img",
    "br",
    "pre",
    "blockquote",
    "time",
    "meta",
    "title",
    "script",
    "style",
    "form",
    "input",
    "select",
    "option",
    "iframe",
    "object",
    "svg",
    "math",
    "template",
    "noscript",
    "dl",
    "dt",
    "dd",
    "details",
    "summary",
    "button",
    "label",
]
_ATTRIBUTES = [
    "class",
    "id",
    "style",
    "href",
    "src",
    "alt",
    "itemprop",
    "itemtype",
    "itemscope",
    "datetime",
    "content",
    "name",
    "property",
    "rel",
    "lang",
    "hidden",
    "aria-hidden",
    "aria-controls",
    "width",
    "height",
    "title",
    "role",
]
_VALUES = (
    "", "a", "headline", "datePublished", "author", "https://schema.org/NewsArticle", "display:none",
    "font-size:1e9px", "article", "byline", "comments", "caption", "/2026/05/04/a.html", "http://[",
    "article:published_time", "og:title", "2026-05-04", "2026-05-04T12:00:00+02:00", "canonical",
    "stylesheet", "\u0627\u0644\u0639", "\u65b0\u805e", "1" * 400, "a b c d e f", "&amp;&quot;",
)  # fmt: skip
_WORDS = [
    "The",
    "council",
    "decided",
    "on",
    "the",
    "budget",
    ".",
    ",",
    "2026",
    "May",
    "4",
    "May",
    "2026",
    "12:30",
    "yesterday",
    "By",
    "Jane",
    "Doe",
    "updated",
    "港の新聞",
    "новости",
    "أخبار",
    "Straße",
    "5.",
    "Mai",
    "copyright",
    "Reuters",
    "comment(s)",
    "17",
    "٣١",
    "2",
    "hours",
    "ago",
]
_CSS = [
    "a",
    ".b",
    "#c",
    "d[e='f']",
    ":not(.a)",
    ":is(a,b)",
    ":has(>p)",
    ":nth-child(2n+1)",
    "::before",
    "*",
    ">",
    "+",
    "~",
    ",",
    "{",
    "}",
    ";",
    ":",
    "@media",
    "@import",
    "@layer",
    "@supports",
    "@property",
    "--x",
    "@font-face",
    "screen",
    "(width<900px)",
    "and",
    "not",
    "display",
    "none",
    "block",
    "color",
    "red",
    "#fff",
    "rgb(1,2,3)",
    "font",
    "12px/1.2",
    "serif",
    "bold",
    "var(--x)",
    "calc(1em+2px)",
    "!important",
    "url(a.css)",
    "'s'",
    "/*c*/",
    "\\66",
    "U+26",
    "-1e9",
    "50%",
    "hidden",
    "visibility",
]
_ROBOTS = [
    "User-agent:",
    "Disallow:",
    "Allow:",
    "Crawl-delay:",
    "Sitemap:",
    "Host:",
    "Request-rate:",
    "*",
    "/",
    "/a",
    "/*.html$",
    "newscrawl",
    "Googlebot",
    "#",
    "comment",
    "1",
    "1e9",
    "-1",
    "1/5s",
    "https://news.example/s.xml",
    ":",
    "\n",
    "\n",
    "\n",
    "\r",
    "\u2028",
    "\ufeff",
]


@cache
def seeds(kind: str) -> tuple[bytes, ...]:
    """Return the files of the repository of this kind."""
    if kind == "warc":
        return tuple(map(_archive, (seeds("page")[:3], seeds("page")[3:6], seeds("css")[:2])))
    paths = sorted(
        path
        for folder in _FOLDERS
        for suffix in _SUFFIXES[kind]
        for path in (REPOSITORY / folder).rglob(f"*.{suffix}")
    )
    return tuple(path.read_bytes()[:MAX_SIZE] for path in paths)


def _archive(pages: Sequence[bytes]) -> bytes:
    members = []
    for number, page in enumerate(pages):
        http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + page
        head = (
            f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{number}>\r\n"
            f"WARC-Target-URI: https://news.example/{number}\r\nWARC-Date: 2026-05-04T00:00:00Z\r\n"
            f"Content-Type: application/http;msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
        )
        members.append(gzip.compress(head.encode() + http + b"\r\n\r\n", mtime=0))
    return b"".join(members)


def make_input(rng: random.Random, kind: str) -> bytes:
    """Return a mutated file, or a text of the grammar of *kind*."""
    data = rng.choice(seeds(kind))
    if kind in _GRAMMARS and rng.random() < 0.3:
        data = _GRAMMARS[kind](rng).encode("utf-8", "surrogatepass")
    for _ in range(rng.choice((0, 1, 1, 2, 3, 5, 10))):
        data = rng.choice(_MUTATIONS)(rng, data, kind)[:MAX_SIZE]
    return data


def _flip(rng: random.Random, data: bytes, _kind: str) -> bytes:
    changed = bytearray(data or b"a")
    for _ in range(rng.choice((1, 2, 10, 100))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _cut(rng: random.Random, data: bytes, _kind: str) -> bytes:
    start, end = _range(rng, data)
    return data[:start] + data[end:] if rng.random() < 0.7 else data[: max(1, start)]


def _repeat(rng: random.Random, data: bytes, _kind: str) -> bytes:
    start, end = _range(rng, data)
    end = min(end, start + 2000)
    times = rng.choice((2, 3, 10, 100, 2000))
    return data[:start] + data[start:end] * times + data[end:]


def _splice(rng: random.Random, data: bytes, kind: str) -> bytes:
    other = rng.choice(seeds(kind))
    start, end = _range(rng, other)
    place = rng.randrange(len(data) + 1)
    return data[:place] + other[start:end] + data[place:]


def _insert(rng: random.Random, data: bytes, _kind: str) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice(_EVIL) * rng.choice((1, 1, 1, 5, 1000)) + data[place:]


def _charset(rng: random.Random, data: bytes, _kind: str) -> bytes:
    name = rng.choice(_CHARSETS)
    return f"<meta charset={name}>".encode() + data if rng.random() < 0.5 else _encoded(data, name)


def _encoded(data: bytes, name: str) -> bytes:
    try:
        return data.decode("utf-8", "replace").encode(name, "replace")
    except (LookupError, TypeError, ValueError):
        return data


def _number(rng: random.Random, data: bytes, _kind: str) -> bytes:
    places = [n for n in range(0, len(data), 7) if data[n : n + 1].isdigit()]
    if not places:
        return data
    place = rng.choice(places)
    number = rng.choice((b"-1", b"0", b"99999999999999999999", b"1e999", b"\xd9\xa3", b"NaN"))
    return data[:place] + number + data[place + 1 :]


def _range(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + int(2 ** rng.uniform(0, 16)))


def _html(rng: random.Random) -> str:
    parts = []
    for _ in range(rng.randrange(1, 300)):
        kind = rng.random()
        if kind < 0.4:
            names = rng.choices(_ATTRIBUTES, k=rng.randrange(4))
            attributes = "".join(f' {name}="{rng.choice(_VALUES)}"' for name in names)
            parts.append(f"<{rng.choice(_TAGS)}{attributes}>")
        elif kind < 0.6:
            parts.append(f"</{rng.choice(_TAGS)}>")
        else:
            parts.append(" ".join(rng.choices(_WORDS, k=rng.randrange(1, 40))))
    return "".join(parts)


def _sitemap(rng: random.Random) -> str:
    root = rng.choice(("urlset", "sitemapindex", "rss", "a:urlset"))
    names = ("loc", "lastmod", "news:title", "news:publication_date", "news:language", "changefreq")
    entries = "".join(
        f"<url>{''.join(f'<{n}>{rng.choice(_VALUES)}</{n}>' for n in rng.choices(names, k=3))}</url>"
        for _ in range(rng.randrange(30))
    )
    return f"<?xml version='1.0'?><{root} xmlns:news='n' xmlns:a='b'>{entries}</{root}>"


def _feed(rng: random.Random) -> str:
    if rng.random() < 0.3:
        values = [*_VALUES, None, 1, [], {}, -1e300, ["a"], {"url": "b"}]
        names = ("url", "title", "date_published", "id", "language", "summary", "external_url")
        items = [{rng.choice(names): rng.choice(values) for _ in names} for _ in range(5)]
        return json.dumps({"version": rng.choice(values), "items": rng.choice((items, 1, {}))})
    names = (
        "title",
        "link",
        "pubDate",
        "guid",
        "updated",
        "published",
        "dc:date",
        "id",
        "language",
    )
    entries = "".join(
        f"<{tag}>{''.join(f'<{n}>{rng.choice(_VALUES)}</{n}>' for n in rng.choices(names, k=4))}</{tag}>"
        for tag in rng.choices(("item", "entry"), k=rng.randrange(20))
    )
    return f"<{(root := rng.choice(('rss', 'feed', 'rdf:RDF')))}>{entries}</{root}>"


def _words(words: Sequence[str]) -> Callable[[random.Random], str]:
    return lambda rng: " ".join(rng.choices(words, k=rng.randrange(1, 400)))


_GRAMMARS: dict[str, Callable[[random.Random], str]] = {
    "page": _html,
    "links": _html,
    "sitemap": _sitemap,
    "feed": _feed,
    "robots": _words(_ROBOTS),
    "css": _words(_CSS),
}
_MUTATIONS: tuple[Callable[[random.Random, bytes, str], bytes], ...] = (
    _flip, _cut, _repeat, _splice, _insert, _insert, _charset, _number,
)  # fmt: skip
