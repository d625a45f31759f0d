"""Media queries for a light screen of 1280 by 800 pixels with a mouse."""

import re
from collections import Counter
from pathlib import Path

import pytest
from lxml import html as lxml_html

from newscrawl.css import decode_sheet, parser
from newscrawl.css import sheet_links as links
from newscrawl.css.parser import media_applies
from newscrawl.css.sheet_links import (
    MAX_SCANNED_BYTES,
    holds_css,
    links_sheet,
    sheet_url,
    sheet_urls,
)
from newscrawl.lab.corpora.corpus import load_corpus


@pytest.mark.parametrize(
    "query",
    [
        "", "all", "SCREEN", "only screen", "screen and (min-width: 600px)", "(max-width: 80em)",
        "print, screen", "not print", "not all and (min-width: 2000px)", "(width >= 1280px)",
        "(orientation: landscape) and (hover)", "(-webkit-min-device-pixel-ratio: 1)",
        "not (max-width: 600px)", "(prefers-color-scheme: light)", "(min-resolution: 96dpi)",
        "(600px <= width <= 2000px)", "(600px < width)", "(max-width: 300px) or (width >= 1000px)",
        "screen and (not ((max-width: 500px) and (hover)))", "screen and ((min-width: 1px))",
    ],
)  # fmt: skip
def test_applies(query: str):
    assert media_applies(query)


@pytest.mark.parametrize(
    "query",
    [
        "print", "speech", "not screen", "(max-width: 600px)", "screen and (min-width: 1281px)",
        "(width < 1280px)", "(orientation: portrait)", "(prefers-color-scheme: dark)", "(hover: none)",
        "(unknown)", "not (unknown)", "screen and", "(min-width: 1px", "(min-resolution: 2dppx)",
        "(prefers-reduced-motion)", "(min-width: calc(1px))", "(" * 5000, "(2000px < width < 3000px)",
        "(min-width: 1px) or (width)", "(min-width: 1px) and (width > 0) or (hover)", "(color)",
    ],
)  # fmt: skip
def test_does_not_apply(query: str):
    assert not media_applies(query)


PAGE = "http://paper.test/2026/story.html"


def urls(html: str) -> list[str]:
    """Return the sheet URLs of a page without their common host."""
    return [url.removeprefix("http://paper.test/") for url in sheet_urls(html.encode(), PAGE)]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<link rel=stylesheet href=/a.css>", ["a.css"]),
        ("<LINK HREF='/a.css' REL='StyleSheet'>", ["a.css"]),
        ('<link rel="preload stylesheet" href="/a.css?x=1&amp;y=2">', ["a.css?x=1&y=2"]),
        ("<link rel=stylesheet href='/a.css?x=1&copy=2'>", ["a.css?x=1&copy=2"]),
        ("<link rel=stylesheet href=a.css#top>", ["2026/a.css"]),
        ('<link\nrel = "stylesheet"\nhref = "\n/a.css "/>', ["a.css"]),
        ("<link onload=\"if(1>0)x('y')\" rel=stylesheet href=/a.css>", ["a.css"]),
        ("<link rel=stylesheet href=/a.css media='screen and (min-width: 900px)'>", ["a.css"]),
        ("<link rel=stylesheet href=/a.css media=print onload=\"this.media='all'\">", []),
        ("<link rel=stylesheet href=/a.css media='(max-width: 600px)'>", []),
        ("<noscript><link rel=stylesheet href=/a.css></noscript>", ["a.css"]),
        ("<link rel='alternate stylesheet' href=/a.css>", []),
        ("<link rel=preload as=style href=/a.css>", []),
        ("<link rel=stylesheet disabled href=/a.css>", []),
        ("<link rel=stylesheet type=text/less href=/a.css>", []),
        ("<link rel=stylesheet type='text/css; charset=utf-8' href=/a.css>", ["a.css"]),
        ("<link rel=stylesheet href=''><link rel=stylesheet>", []),
        ("<link rel=stylesheet href='data:text/css,p{}'>", []),
        ("<link rel=stylesheet href=http://[bad/a.css>", []),
        ("<linked rel=stylesheet href=/a.css>", []),
        ("<!--[if IE]><link rel=stylesheet href=/a.css><![endif]-->", []),
        ("<!--[if !IE]><!--><link rel=stylesheet href=/a.css><!--<![endif]-->", ["a.css"]),
        ("<!--><link rel=stylesheet href=/a.css>", ["a.css"]),
        ("<script>x = '<link rel=stylesheet href=/a.css>'</script>", []),
        ("<template><link rel=stylesheet href=/a.css></template>", []),
        ("<p>" * 300_000 + "<link rel=stylesheet href=/a.css>", ["a.css"]),
        (f"<style data-emotion='{'css-1f39n02 ' * 1000}'>@import '/a.css';</style>", ["a.css"]),
        ("<style media=print>@import '/a.css';</style>", []),
        ("<style type=text/x-template>@import '/a.css';</style>", []),
    ],
)
def test_finds_linked_sheets(html: str, expected: list[str]):
    assert urls(html) == expected


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("@import '/a.css';", ["a.css"]),
        ('@IMPORT url( "/a.css" );', ["a.css"]),
        ("@import url(/a.css?f=Inter:wght@300;400);", ["a.css?f=Inter:wght@300;400"]),
        ("@charset 'x'; /* @import '/no.css'; */ @layer a, b; @import '/a.css'", ["a.css"]),
        ("@import '/a.css' layer(base) supports(display: grid) screen;", ["a.css"]),
        ("@import '/a.css' print; @import '/b.css';", ["b.css"]),
        ("p { color: red } @import '/late.css';", []),
        ("<!-- @import '/a.css'; -->", ["a.css"]),
    ],
)
def test_finds_imports_of_style_elements(css: str, expected: list[str]):
    assert urls(f"<style>{css}</style>") == expected


def test_uses_first_valid_base():
    link = "<link rel=stylesheet href=a.css>"
    assert urls(f"{link}<base href=/x/><base href=/y/>") == ["x/a.css"]
    assert urls(f"<base target=_top><base href=http://[bad><base href=/y/>{link}") == ["2026/a.css"]
    assert sheet_urls(b"<base href=//cdn.test/>" + link.encode(), PAGE) == ["http://cdn.test/a.css"]


def test_keeps_document_order_and_limit():
    links = "".join(f"<link rel=stylesheet href=/{n % 5}.css>" for n in range(20))
    html = f"<style>@import '/9.css';</style>{links}".encode()
    assert [url[-5] for url in sheet_urls(html, PAGE)] == list("901234")
    assert [url[-5] for url in sheet_urls(html, PAGE, limit=2)] == list("90")


def test_returns_all_schemes_but_data():
    assert sheet_urls(b"<link rel=stylesheet href=ftp://x.test/a.css>", PAGE) == [
        "ftp://x.test/a.css"
    ]
    assert sheet_url("a.css", "") is None


HOSTILE = [
    (b"", b"<link a="),
    (b"<link rel=stylesheet href=a.css ", b"x=1 "),
    (b"", b"<link a=\"'"),
    (b"<link ", b"a "),
    (b"", b"<!---->"),
    (b"<style>", b"@import url("),
    (b"<style>", b"@import 'a.css';"),
    (b"<style>", b"/*"),
    (b"", b"<style>@layer"),
    (b"<style>@import 'a' ", b"layer("),
    (b"", b"<style>@import 'a' " + b"layer(" * 700 + b";</style>"),
    (b"", b"<"),
    (b"", b"\0"),
]


@pytest.mark.parametrize(("start", "unit"), HOSTILE)
def test_bounds_work_on_hostile_pages(start: bytes, unit: bytes, monkeypatch: pytest.MonkeyPatch):
    """The numbers of scanned tags, attributes and bytes are limited."""
    html = start + unit * (MAX_SCANNED_BYTES // len(unit) + 1)
    tags: list[int] = []
    find_elements, attribute = links._find_elements, links._ATTRIBUTE
    matches: Counter[int] = Counter()

    def count_tags(page: bytes, limit: int) -> list[tuple[bytes, int, int]]:
        found = list(find_elements(page, limit))
        tags.append(len(found))
        assert len(page) <= MAX_SCANNED_BYTES
        return found

    def parse_prelude(css: str) -> parser.Sheet:
        assert len(css) <= 16_384
        return parser.parse_sheet(css)

    class CountedAttribute:
        def match(self, page: bytes, start: int, stop: int) -> re.Match[bytes] | None:
            matches[stop] += 1  # the attributes of a tag share its end
            assert stop - start <= 4096
            return attribute.match(page, start, stop)

    monkeypatch.setattr(links, "_find_elements", count_tags)
    monkeypatch.setattr(links, "parse_sheet", parse_prelude)
    monkeypatch.setattr(links, "_ATTRIBUTE", CountedAttribute())
    sheet_urls(html, PAGE)
    assert sum(tags) <= 2000
    assert len(matches) <= 2000
    assert max(matches.values(), default=0) <= 32


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        ("a{}é".encode(), None, "a{}é"),
        ("a{}é".encode("latin-1"), "iso-8859-1", "a{}é"),
        (b'@charset "windows-1251"; ' + "я".encode("cp1251"), None, '@charset "windows-1251"; я'),
        (b'@charset "utf-16"; ' + "я".encode(), None, '@charset "utf-16"; я'),
        ("\ufeffя".encode("utf-16-le"), "utf-8", "я"),
        ("\ufeffя".encode(), "latin-1", "я"),
        (b"a\xff", "no-such-charset", "a\ufffd"),
    ],
)
def test_decodes_sheets(data: bytes, charset: str | None, text: str):
    """Precedence: byte order mark, header, rule, UTF-8."""
    assert decode_sheet(data, charset) == text


@pytest.mark.corpus
def test_byte_scan_agrees_with_the_tree(corpus_dir: Path):
    """The scan finds the same sheets as the parsed tree on 98 % of the pages."""
    differ, pages = (
        0,
        [p for name in ("news212", "fundus") for p in load_corpus(corpus_dir / name).pages],
    )
    for page in pages:
        html = page.html()
        root = lxml_html.document_fromstring(html)
        base = next(iter(root.xpath("//base/@href")), "")
        base = sheet_url(base, page.url) or page.url
        linked = [e.get("href") or "" for e in root.iter("link") if links_sheet(e.get)]
        imported = any("@import" in (e.text or "") for e in root.iter("style") if holds_css(e.get))
        expected = {sheet_url(href, base) for href in linked} - {None}
        found = set(sheet_urls(html, page.url))
        differ += not (expected <= found if imported else expected == found)
    assert differ <= 0.02 * len(pages)
