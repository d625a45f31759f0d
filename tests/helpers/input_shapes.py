"""Shapes of downloaded bytes: a start, a repeated unit and an end.

``#`` in a unit is replaced by the number of the repetition, ``+`` by the next number.
"""

import contextlib
import gzip
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from protego import Protego

from newscrawl.archives.archive_reader import ArchiveRecord, Flaw, read_records
from newscrawl.archives.captures import NoPageError, page_of
from newscrawl.body.parts import PARTS
from newscrawl.crawling.discovery.feed_parser import read_feed
from newscrawl.crawling.discovery.page_links import read_page
from newscrawl.crawling.discovery.site_list import SitesError, load_sites
from newscrawl.crawling.discovery.sitemaps import read_sitemap
from newscrawl.crawling.logs import mask_secrets
from newscrawl.crawling.network.rule_files import product_token, read_rules
from newscrawl.css import decode_sheet, parse_sheet, sheet_urls
from newscrawl.document.encoding import header_charset, to_utf8
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.items import EXTRA_FIELDS
from newscrawl.middlewares.opt_out import (
    _meta_elements,
    is_opted_out_by_header,
    is_opted_out_by_meta,
)
from newscrawl.middlewares.politeness import retry_after

_SENTENCE = "The council of Riverton # voted late on Thursday # to reopen the old bridge. "
STORY = "<h1>Council reopens the old bridge</h1>" + "".join(
    f"<p>{_SENTENCE.replace('#', word) * 4}</p>" for word in ("first", "second", "third", "fourth")
)
HEAD = (
    "<!doctype html><title>Council reopens the old bridge</title><link rel=stylesheet href=/a.css>"
)

Shape = tuple[str, str, str]
"""Start, unit and end."""

PAGES: dict[str, Shape] = {
    "paragraphs": (f"{HEAD}<article>", f"<p>{_SENTENCE}</p>", "</article>"),
    "same paragraphs": (f"{HEAD}<article>", "<p>The same words again and again.</p>", "</article>"),
    "short paragraphs": (f"{HEAD}{STORY}", "<p>#</p>", ""),
    "sentences": (f"{HEAD}{STORY}<p>", _SENTENCE, "</p>"),
    "numbers": (f"{HEAD}{STORY}<p>", "1# 2,3 ", "</p>"),
    "Chinese": (f"{HEAD}{STORY}<p>", "新聞報導第#頁。", "</p>"),
    "nested elements": (f"{HEAD}{STORY}", "<div class=c#>text ", ""),
    "formatted text": (f"{HEAD}{STORY}<p>", "<b>a#</b> <i>b</i><br>", ""),
    "misnested elements": (f"{HEAD}{STORY}", "<p><table><b>a#</p>", ""),
    "end tags": (f"{HEAD}{STORY}", "</p></div>", ""),
    "attributes": (f"{HEAD}{STORY}<p ", "a#=b ", ">c</p>"),
    "classes": (f"{HEAD}{STORY}<p class='", "a# ", "'>c</p>"),
    "data attributes": (f"{HEAD}{STORY}", "<p data-a# data-b='{\"a\":\"<p>\"}'>c</p>", ""),
    "comments": (f"{HEAD}{STORY}", "<!-- # --><!-", ""),
    "headings": (f"{HEAD}{STORY}", "<h2>Heading # of the page</h2>", ""),
    "titles": (f"{HEAD}{STORY}", "<h1>Council reopens the old bridge</h1><title>a #</title>", ""),
    "parts of a title": ("<title>", "Bridge # | ", f"</title>{STORY}"),
    "links": (f"{HEAD}{STORY}", "<a href='/2026/05/0#/bridge'>The bridge # reopens now</a>", ""),
    "links in a sentence": (f"{HEAD}{STORY}<p>", "word <a href=/#>b</a>, ", "</p>"),
    "teasers": (f"{HEAD}{STORY}", "<li><a href=/a#><img src=#.jpg><h3>One # two three</h3></a>", ""),
    "list items": (f"{HEAD}{STORY}<ul>", "<li>One # of the items, which has text", "</ul>"),
    "nested lists": (f"{HEAD}{STORY}", "<ul><li>#", ""),
    "definitions": (f"{HEAD}{STORY}<dl>", "<dt>#<dd>The word # defined", "</dl>"),
    "table rows": (f"{HEAD}{STORY}<table>", "<tr><th>#<td>1<td>2", "</table>"),
    "table cells": (f"{HEAD}{STORY}<table><tr>", "<td rowspan=2 colspan=2>#", "</table>"),
    "nested tables": (f"{HEAD}{STORY}", "<table><tr><td>#", ""),
    "figures": (f"{HEAD}{STORY}", "<figure><img src=#.jpg width=900><figcaption>A man #", ""),
    "images": (f"{HEAD}{STORY}", "<img src='#.jpg' srcset='a# 1x, b# 2x' alt='A #'>", ""),
    "dates": (f"{HEAD}{STORY}<p>", "4 May 2026 10:#, 5/6/2026, 3 hours ago, ", "</p>"),
    "elements with dates": (f"{HEAD}{STORY}", "<span>Updated 4 May 2026, 1#:10</span>", ""),
    "times": (f"{HEAD}{STORY}", "<time datetime=2026-05-04T10:00>4 May #</time>", ""),
    "authors": (f"{HEAD}{STORY}", "<a rel=author href=/a#>Jane Doe #</a>", ""),
    "names in a byline": (f"{HEAD}<p class=byline>By ", "Jane D# and John Roe, ", f"</p>{STORY}"),
    "bylines": (f"{HEAD}{STORY}", "<p class=byline>By Jane Doe#</p>", ""),
    "breadcrumbs": (f"{HEAD}<nav class=breadcrumb><ol>", "<li><a href=/a#>A#</a>", f"</ol></nav>{STORY}"),
    "comments of readers": (
        f"{HEAD}{STORY}<div id=comments>",
        f"<div class=comment><b>anna#</b> <i>4 May 2026</i><p>{_SENTENCE * 3}</p><a>Reply</a></div>",
        "</div>",
    ),
    "quotes": (f"{HEAD}{STORY}", "<blockquote class=twitter-tweet><p>Tweet #<a href=/x>x</a>", ""),
    "code": (f"{HEAD}{STORY}<pre>", "if x: # \n", "</pre>"),
    "hidden elements": (f"{HEAD}{STORY}", "<div hidden style='display:none'>#</div>", ""),
    "inline styles": (f"{HEAD}{STORY}", "<p style='color:red;--a#:1px;width:calc(1px+#px)'>#", ""),
    "styled elements": (f"{HEAD}{STORY}", "<style>.a#{color:red}p{margin:#px}</style><p class=a#>Text #", ""),
    "tables in quotes": (f"{HEAD}{STORY}", f"<blockquote><table><tr><td>#</table><p>{_SENTENCE}</p><dl><dt>a", ""),
    "tables among paragraphs": (f"{HEAD}{STORY}", f"<table><tr><td>1<td>2<tr><td>3<td>4</table><p>{_SENTENCE}</p>", ""),
    "style elements": (f"{HEAD}{STORY}", "<style>.a#{color:red}</style>", ""),
    "scripts": (f"{HEAD}{STORY}", '<script>var a#={"b":[1,"</p>"]}</script>', ""),
    "meta elements": (HEAD, "<meta name=article:tag content='Tag #'><meta property=og:a content=b>", STORY),
    "meta dates": (HEAD, "<meta property=article:published_time content=2026-05-04T10:#>", STORY),
    "charsets": ("", "<meta charset=latin#>", HEAD + STORY),
    "link elements": (HEAD, "<link rel='stylesheet alternate' hreflang=a# href=/#.css>", STORY),
    "base elements": (HEAD, "<base href=/a#/><meta http-equiv=refresh content='0;url=/b#'>", STORY),
    "keywords": (f"{HEAD}<meta name=keywords content='", "word #, ", f"'>{STORY}"),
    "JSON-LD": (HEAD, '<script type=application/ld+json>{"@type":"NewsArticle","headline":"A #"}</script>', STORY),
    "JSON-LD graph": (
        f'{HEAD}<script type=application/ld+json>{{"@graph":[{{"@id":"x"}}',
        ',{"@id":"#","@type":"NewsArticle","author":{"@id":"x"},"isPartOf":{"@id":"#"}}',
        f"]}}</script>{STORY}",
    ),
    "JSON-LD media": (
        f'{HEAD}<script type=application/ld+json>{{"@type":"NewsArticle","image":[',
        '{"@type":"ImageObject","url":"/a/#/b.jpg","name":"A #"},"/a/1920x#/c.jpg",',
        f'0]}}</script><meta property=og:image content=/b/b.jpg>{STORY}',
    ),
    "JSON-LD comments": (
        f'{HEAD}<script type=application/ld+json>{{"@type":"NewsArticle","comment":[',
        '{"@type":"Comment","text":"Text #","author":{"@id":"#a"}},{"@id":"#a","name":"A #"},',
        f"0]}}</script>{STORY}",
    ),
    "JSON-LD authors": (
        f'{HEAD}<script type=application/ld+json>{{"@type":"NewsArticle","keywords":["a"],"author":["b"',
        ',{"@type":"Person","name":"Jane #"},"B #"',
        f"]}}</script>{STORY}",
    ),
    "JSON-LD body": (
        f'{HEAD}<script type=application/ld+json>{{"@type":"NewsArticle","articleBody":"',
        _SENTENCE,
        f'"}}</script>{STORY}',
    ),
    "nested JSON-LD": (f"{HEAD}<script type=application/ld+json>", '{"a":[', f"</script>{STORY}"),
    "JSON-LD strings": (f"{HEAD}<script type=application/ld+json>[", '"a\nb\\x",//\n', f"</script>{STORY}"),
    "microdata": (f"{HEAD}{STORY}", "<div itemscope itemtype=https://schema.org/NewsArticle><p itemprop=name>#", ""),
    "microdata properties": (
        f"{HEAD}<div itemscope itemtype=https://schema.org/NewsArticle>",
        "<p itemprop='author headline keywords'>Jane #</p>",
        STORY,
    ),
    "state of a script": (
        f'{HEAD}{STORY}<script id=__NEXT_DATA__ type=application/json>{{"a":[',
        '{"title":"A #","body":"<p>The text # of the story</p>","date":"2026-05-04"},',
        "{}]}</script>",
    ),
    "entities": (f"{HEAD}{STORY}<p>", "&amp;&#x41;&nbsp;&b# ", "</p>"),
    "white space": (f"{HEAD}{STORY}<p>", " \t\n\r\f\xa0", "</p>"),
    "one word": (f"{HEAD}{STORY}<p>", "abc", "</p>"),
    "line breaks": (f"{HEAD}{STORY}<p>", "line #<br>", "</p>"),
    "options": (f"{HEAD}{STORY}<form><select>", "<option>#<input value=#>", ""),
    "iframes": (f"{HEAD}{STORY}", "<iframe src=https://www.youtube.com/embed/#></iframe><video src=#>", ""),
    "sections": (f"{HEAD}{STORY}", "<section><header><h2>Part #</h2></header><p>Its text #.</p></section>", ""),
    "articles": (f"{HEAD}{STORY}", "<article><h2><a href=/a#>A #</a></h2><time>4 May 2026</time></article>", ""),
    "footnotes": (f"{HEAD}{STORY}", "<p><a id=f# href=#g#><sup>#</sup></a> note</p>", ""),
    "paywalls": (f"{HEAD}{STORY}", "<div class=paywall>Subscribe # to read on</div>", ""),
    "image captions": (f"{HEAD}{STORY}", "<p>Photo: Jane Doe / Agency #</p><small>© Agency</small>", ""),
    "invalid UTF-8": (f"{HEAD}{STORY}<p>", "\udcff\udce9t\udce9 ", ""),
    "NUL": (f"{HEAD}{STORY}<p>", "\0a#", ""),
    "hiding rules": (f"{HEAD}{STORY}<style>p{{", "opacity:0;display:none}&.a .b>p:not(.c)~p{", "</style>"),
    "open rules": (f"{HEAD}{STORY}<style>p", "/*{display:none", ""),
    "open style sheets": (f"{HEAD}{STORY}<style>", "@import 'a' layer(url(", ""),
    "open tags": (HEAD, "<link a=\"' ", STORY),
    "metadata": (f"{HEAD}<meta property=og:site_name content='", "&lt;a... - x, {logo", f"'>{STORY}"),
    "open JSON-LD": (f"{HEAD}<script type=application/ld+json>{{'headline': ", '"\\, // <!-- ', f"</script>{STORY}"),
    "dates without end": (f"{HEAD}{STORY}<p>", "1 mar 2023 today mon 5 m p.m. ", ""),
}  # fmt: skip

DEEP_PAGES: dict[str, Shape] = {"nested inline elements": (f"{HEAD}{STORY}<p>", "<b>a<i>b", "")}
"""Pages that take quadratic time up to ``MAX_DEPTH``, as the ancestors of each text are read."""

SHEETS: dict[str, Shape] = {
    "rules": ("", ".a#{color:red}", ""),
    "matching rules": ("", "p{color:red}.a,#title{margin:1px}", ""),
    "selectors": ("", ".a#,p ", "{color:red}"),
    "compound selector": ("p", ".a#", "{color:red}"),
    "descendants": ("p", " .a", "{color:red}"),
    "matching descendants": ("", "* ", "p{color:red}"),
    "siblings": ("", "* ~ ", "p{color:red}"),
    "attributes": ("", "[a#='b'],p[class~=a] ", "{color:red}"),
    "nested :not": ("", ":not(", "{color:red}"),
    ":is": ("p:is(a", ",.a#,.b", "){color:red}"),
    ":has": ("", "p:has(> .a#),p:has(b + i),", "p{color:red}"),
    ":nth-child": ("", "p:nth-child(#n+1 of .a),", "p{color:red}"),
    "pseudo-elements": ("", "p::before{content:'#'}p:first-line:hover{color:red}", ""),
    "declarations": ("p{", "color:#00#;font-size:#px;", "}"),
    "fonts": ("p{", "font:italic bold 1#px/1.2 'A #',serif;", "}"),
    "font families": ("p{font-family:", "'A #',", "serif}"),
    "colours": ("p{", "color:rgb(# 2 3/50%);background:hsl(#deg 10% 20%);", "}"),
    "background layers": ("p{background:", "url(a#.png),linear-gradient(red,blue #%),", "red}"),
    "custom properties": (":root{--a:1px;", "--a#:red;", "}p{color:var(--a1)}"),
    "chain of custom properties": (":root{--a0:red;", "--a+:var(--a#);", "}p{color:var(--a9)}"),
    "uses of custom properties": (
        ":root{--a:1px}",
        "p{color:var(--a);width:var(--b,var(--a#))}",
        "",
    ),
    "nested fallbacks": ("p{color:", "var(--a#,", "red}"),
    "sum": ("p{width:calc(1px", " + #px*2", ")}"),
    "nested calc": ("p{width:", "calc(1px + ", "1px}"),
    "nested min": ("p{width:", "min(1px,max(2em,", "1px}"),
    "nested rules": ("", ".a#{color:red;&:hover,", ""),
    "nested rules side by side": ("p{", "&.a#{color:red}> b{color:blue}", "}"),
    "media": ("", "@media (min-width:#px) and screen{p{color:red}}", ""),
    "nested media": ("", "@media (width>#px){", "p{color:red}"),
    "media queries": ("@media ", "(width>#px) or (not (hover)),", "all{p{color:red}}"),
    "nested conditions": ("@supports ", "(", "color:red){p{color:red}}"),
    "supports": ("", "@supports (color:red#) or selector(p){p{color:red}}", ""),
    "layers": ("", "@layer a#.b{p{color:red}}", ""),
    "layer names": ("@layer ", "a#,", "b;"),
    "imports": ("", "@import url(/#.css) layer(a#) screen;", ""),
    "properties": ("", "@property --a#{syntax:'*';inherits:false;initial-value:1px}", ""),
    "keyframes": ("@keyframes a{", "#%{color:red}", "}"),
    "comments": ("", "/* # */p{color:red}", ""),
    "open comments": ("", "p{}/*", ""),
    "strings": ("p{content:", "'a#' ", "}"),
    "open strings": ("", "p{content:'#}\n", ""),
    "escapes": ("", "\\70 \\{.\\31 #{color:red}", ""),
    "open brackets": ("p{color:", "([{", ""),
    "closing brackets": ("", "}])", "p{color:red}"),
    "semicolons": ("p{", ";;", "color:red}"),
    "charsets": ("", "@charset 'latin1';", "p{color:red}"),
    "white space": ("p{color:", " \n\t", "red}"),
    "important": ("p{", "color:red!important;all:unset;", "}"),
    "braces": ("", "}p{{color:red;", ""),
    "scopes": ("", "@scope (.a#) to (.b){p{color:red}}@container (width>#px){p{color:red}}", ""),
}

SITEMAPS: dict[str, Shape] = {
    "entries": ("<urlset>", "<url><loc>https://news.example/#</loc><lastmod>2026-05-04</lastmod></url>", "</urlset>"),
    "news": (
        "<urlset xmlns:n='http://www.google.com/schemas/sitemap-news/0.9'>",
        "<url><loc>https://news.example/#</loc><n:news><n:title>A #</n:title><n:keywords>a,b</n:keywords></n:news></url>",
        "</urlset>",
    ),
    "one entry": ("<urlset><url>", "<loc>https://news.example/#</loc>", "</url></urlset>"),
    "index": ("<sitemapindex>", "<sitemap><loc>https://news.example/#.xml</loc></sitemap>", "</sitemapindex>"),
    "nested": ("<urlset>", "<url>", ""),
    "namespaces": ("<urlset ", "xmlns:a#='b#' ", "><url><loc>/a</loc></url></urlset>"),
    "comments": ("<urlset>", "<!-- # --><url/>", "</urlset>"),
    "doctype": ("<!DOCTYPE a [", "<!ENTITY a# 'b'>", "]><urlset><url><loc>/a</loc></url></urlset>"),
    "open doctypes": ("", "<!DOCTYPE a [", ""),
    "blanks": ("", " \n", "<urlset/>"),
    "text": ("", "https://news.example/#\n", ""),
    "one line": ("", "https://news.example/# ", ""),
    "elements in text": ("<urlset><url><loc>", "a<b>#</b>", "</loc></url></urlset>"),
    "instructions": ("", "<?a #?>", "<urlset/>"),
    "markup": ("<urlset>", "\n<a:&<![CDATA[] ", ""),
}  # fmt: skip

FEEDS: dict[str, Shape] = {
    "RSS": (
        "<rss version='2.0'><channel>",
        "<item><title>A #</title><link>/#</link><pubDate>Mon, 04 May 2026 10:00:00 GMT</pubDate><category>c#</category></item>",
        "</channel></rss>",
    ),
    "Atom": (
        "<feed xmlns='http://www.w3.org/2005/Atom'>",
        "<entry><title>A #</title><link href='https://news.example/#'/><updated>2026-05-04T10:00:00Z</updated></entry>",
        "</feed>",
    ),
    "one item": ("<rss><channel><item>", "<title>#</title><link>/#</link><category>#</category>", "</item></channel></rss>"),
    "links of an entry": ("<feed xmlns='http://www.w3.org/2005/Atom'><entry>", "<link rel=a href='/#'/>", "</entry></feed>"),
    "nested": ("<rss><channel><item>", "<a>", ""),
    "attributes": ("<rss><channel><item ", "a#='b' ", "/></channel></rss>"),
    "entities": ("<rss><channel><item><title>", "&amp;&b#;&#x41;& ", "</title></item></channel></rss>"),
    "authors": ("<rss><channel><item>", "<author>a#@b.example (Jane)</author><enclosure url='/#'/>", "</item></channel></rss>"),
    "JSON": ('{"items":[', '{"url":"https://news.example/#","title":"A #","date_published":"2026-05-04"},', "{}]}"),
    "nested JSON": ("", '{"items":[', ""),
    "invalid": ("", "<item><title>#</item>", ""),
}  # fmt: skip

ROBOTS: dict[str, Shape] = {
    "groups": ("", "User-agent: a#\nDisallow: /#\n\n", ""),
    "user agents": ("", "User-agent: *\n", "Disallow: /a"),
    "other user agents": ("User-agent: *\n", "User-agent: newscrawl#\n", "Disallow: /a"),
    "rules": ("User-agent: *\n", "Disallow: /2026/#*$\nAllow: /2026/05/#\n", ""),
    "wildcards": ("User-agent: *\nDisallow: /", "*0", "$"),
    "matching wildcards": ("User-agent: *\n", "Disallow: /*/*/*#\n", ""),
    "delays": (
        "User-agent: *\n",
        "Crawl-delay: #\nRequest-rate: 1/#s\nVisit-time: 0600-0845\n",
        "",
    ),
    "sitemaps": ("", "Sitemap: https://news.example/#.xml\n", ""),
    "comments": ("User-agent: *\n", "# comment #\n", ""),
    "invalid lines": ("User-agent: *\n", "a b #: c\n:::\n", ""),
    "one line": ("User-agent: *\nDisallow: /", "a%#", ""),
    "line ends": ("User-agent: *", "\r\n\u2028", ""),
}

SECRETS: dict[str, Shape] = {
    "parameters": ("https://a.example/?", "token=a#&b=c&", ""),
    "passwords": ("", "https://u:p#@a.example/ ", ""),
    "escaped": ("", "%3Ftoken%3Da#%26", ""),
    "open": ("http://?", "?token-_.a://", "?@="),
}

OPT_OUTS: dict[str, Shape] = {
    "rules": ("[", '{"location":"/#","tdm-reservation":1},', '{"location":"/"}]'),
    "nested": ("", "[", ""),
}

SITE_LISTS: dict[str, Shape] = {
    ".txt": ("", "https://a#.example/ # comment\n", ""),
    ".csv": ("url,limit\n", 'https://a#.example/,"#"\n', ""),
    ".jsonl": ("", '{"url":"https://a#.example/"}\n', ""),
    ".json": ('{"sites":[', '{"url":"https://a#.example/"},\n', '{"url":"https://b.example/"}]}'),
    ".yaml": ("sites:\n", "- url: https://a#.example/\n  limit: #\n", ""),
}

TEXTS: dict[str, Shape] = {
    "UTF-8": ("<p>", "\u00fc# ", "</p>"),
    "invalid": ("<p>", "\udcff\udc81\u00fc ", "</p>"),
    "invalid pairs": ("<meta charset=gb18030><p>", "\udc81\udcff0", "</p>"),
    "escape sequences": ("<p>", "\x1b$B#\x1b(B", "</p>"),
    "UTF-16": ("\udcff\udcfe", "a\0\udcd8\udcd8", ""),
    "NUL": ("<p>", "a\0b\0", "</p>"),
}

HEADERS: dict[str, Shape] = {
    "charsets": ("text/html", "; charset=latin#", ""),
    "dates": ("Mon, ", "04 May 2026 ", "10:00:00 GMT"),
    "digits": ("", "1", ""),
    "commas": ("noai", ", noindex", ""),
    "blanks": ("", " \t", "1"),
}

_RECORD = """\
WARC/1.1
WARC-Type: response
WARC-Record-ID: <urn:uuid:#>
WARC-Date: 2026-05-04T00:00:00Z
WARC-Target-URI: https://news.example/+
Content-Type: application/http;msgtype=response
Content-Length: 57

HTTP/1.1 200 OK
Content-Type: text/html

<p>Text</p>


"""
ARCHIVES: dict[str, Shape] = {
    "records": (
        "",
        _RECORD.replace("\n", "\r\n"),
        "",
    ),
    "headers": ("WARC/1.1\r\n", "A+: #\r\n", "\r\n"),
    "flaws": ("", "WARC/1.1\r\nContent-Length: x\r\n\r\n#", ""),
    "lengths": ("", "WARC/1.1\r\nContent-Length: 99999\r\n\r\n#\n", ""),
    "folded": ("WARC/1.1\r\nA: b\r\n", " +\r\n", "\r\n"),
    "empty": ("WARC/1.1\r\nA: b\r\nContent-Length: 0\r\n\r\n\r\n\r\n", "\r\n", ""),
}  # fmt: skip


URL = "https://news.example/2026/05/04/story.html"
SHEET_URL = "https://news.example/a.css"
DOMAINS = ("news.example",)
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
ALL_PARTS = ExtractOptions(extra_fields=frozenset(EXTRA_FIELDS), parts=frozenset(PARTS))


def repeat(shape: Shape, size: int) -> bytes:
    """Return an input with *size* repetitions."""
    start, unit, end = shape
    units = (unit.replace("+", str(n + 1)).replace("#", str(n)) for n in range(size))
    return "".join((start, *units, end)).encode("utf-8", "surrogateescape")


def cases() -> Iterator[tuple[str, Callable[[int], object]]]:
    """Yield all readers with their shapes."""
    for reader, (work, shapes) in READERS.items():
        for name, shape in shapes.items():
            yield f"{reader}: {name}", partial(_read, work, shape)


def deep_cases() -> Iterator[tuple[str, Callable[[int], object]]]:
    """Yield the readers of pages with :data:`DEEP_PAGES`."""
    for reader, (work, shapes) in READERS.items():
        if shapes is PAGES:
            for name, shape in DEEP_PAGES.items():
                yield f"{reader}: {name}", partial(_read, work, shape)


def _read(work: Callable[[bytes], object], shape: Shape, size: int) -> object:
    return work(repeat(shape, size))


def _page(html: bytes, **options: Any) -> object:
    return extract(html, URL, fetched_at=NOW, **options)


def _bare_page(html: bytes) -> object:
    """Read a page with all that is optional left out, by the method of the most steps."""
    options = ExtractOptions(parts=frozenset(), remove_boilerplate=False, remove_comments=False)
    return _page(html, options=options)


def _links(html: bytes) -> object:
    return (
        sheet_urls(html, URL),
        read_page(html, url=URL, domains=DOMAINS),
        is_opted_out_by_meta(_meta_elements(html)),
    )


_STYLED = (
    f"{HEAD}<body class=page>{STORY}<div class='a b'><p class=a>The <b>bold</b> <i>word</i></div>"
).encode()


def _sheet(css: bytes) -> object:
    sheet = parse_sheet(decode_sheet(css, None))
    return _page(_STYLED, stylesheets={SHEET_URL: sheet})


def _robots(data: bytes, file: str = "robots") -> object:
    read = read_rules(data, url=URL, file=file, token="newscrawl")
    rules = Protego.parse(read["text"])
    allowed = rules.can_fetch(URL, "newscrawl"), rules.crawl_delay("newscrawl")
    return read["sitemaps"], product_token(data[:9999].decode("latin-1")), allowed


def _site_list(data: bytes) -> object:
    with tempfile.TemporaryDirectory() as folder:
        for extension in SITE_LISTS:
            path = Path(folder, f"sites{extension}")
            path.write_bytes(data)
            with contextlib.suppress(SitesError):
                load_sites(path)
    return None


def _headers(data: bytes) -> object:
    return header_charset(data), retry_after(data, NOW), is_opted_out_by_header([data], [data])


def _texts(data: bytes) -> object:
    return [to_utf8(data, charset) for charset in (None, "gb18030", "shift_jis", "utf-16")]


def _archive(data: bytes) -> object:
    with tempfile.NamedTemporaryFile(suffix=".warc.gz") as file:
        file.write(data)
        file.flush()
        return [
            None if isinstance(record, Flaw) else _page_or_reason(record)
            for record in read_records(Path(file.name))
        ]


def _page_or_reason(record: ArchiveRecord) -> object:
    try:
        return page_of(record)
    except NoPageError as error:
        return error.reason


READERS: dict[str, tuple[Callable[[bytes], object], dict[str, Shape]]] = {
    "page": (partial(_page, stylesheets={}, options=ALL_PARTS), PAGES),
    "bare page": (_bare_page, PAGES),
    "links": (_links, PAGES),
    "sheet": (_sheet, SHEETS),
    "sitemap": (partial(read_sitemap, url=URL, domains=DOMAINS), SITEMAPS),
    "feed": (partial(read_feed, url=URL, domains=DOMAINS), FEEDS),
    "robots.txt": (_robots, ROBOTS),
    "secrets": (lambda data: mask_secrets(data.decode()), SECRETS),
    "site list": (_site_list, SITE_LISTS),
    "text": (_texts, TEXTS),
    "header": (_headers, HEADERS),
    "archive": (_archive, ARCHIVES),
    "packed archive": (lambda data: _archive(gzip.compress(data)), ARCHIVES),
    "opt-outs": (partial(_robots, file="tdmrep"), OPT_OUTS),
}
