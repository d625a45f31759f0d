"""Markdown and HTML of the body: the same words as the text, and nothing active."""

import json
import re
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree, html

from newscrawl.body.parts import parse_names
from newscrawl.document.document import parse_document
from newscrawl.extraction.body_formats import set_formats, write_html
from newscrawl.extraction.body_structure import EMBED_TEXT, body_blocks
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.extraction.markdown_writer import write_markdown
from newscrawl.extraction.method import MethodResult
from newscrawl.extraction.render import render
from newscrawl.extraction.story_media import set_story_media
from newscrawl.extraction.web_addresses import MAX_URL, web_url
from newscrawl.items import EXTRA_FIELDS, Article, BodyLink, Evidence, Media
from samples import ExpectedPage, expected_pages
from tests.helpers.formats_read_back import CORPUS_NAMES, FORMATS, URL, articles, faults, rendered
from tests.pages.sample_pages import LEGACY, label


def text_of(markup: str) -> str:
    return render(parse_document(f"<body>{markup}</body>"), [0])


def formatted(page: str, skip: frozenset[int] = frozenset()) -> tuple[str, str]:
    document = parse_document(f"<body>{page}</body>")
    roots = [document.tag.index("body")]
    text, blocks = body_blocks(document, roots, skip, URL)
    assert text == render(document, roots, skip)
    return write_markdown(blocks), write_html(blocks)


@pytest.mark.parametrize(
    ("page", "markdown", "markup"),
    [
        ("<p>One<p>two", "One\n\ntwo", "<p>One</p>\n<p>two</p>"),
        ("one<br>two", "one\\\ntwo", "<p>one<br>\ntwo</p>"),
        ("one<br> <br>two", "one\n\ntwo", "<p>one</p>\n<p>two</p>"),
        ("<h1>A</h1><h4>B #</h4>", "## A\n\n#### B \\#", "<h2>A</h2>\n<h4>B #</h4>"),
        ("a <b>bold </b><i>it</i>, <code>x`y</code>", "a **bold** *it*, ``x`y``",
         "<p>a <strong>bold</strong> <em>it</em>, <code>x`y</code></p>"),
        ("H<sub>2</sub>O", "H2O", "<p>H<sub>2</sub>O</p>"),
        ("see <a href='/a b'>the <b>new</b> page</a>!",
         f"see [the **new** page]({URL[:20]}/a%20b)!",
         f'<p>see <a href="{URL[:20]}/a%20b">the <strong>new</strong> page</a>!</p>'),
        (
            "<ul><li>a<ol><li>b<li>c</ol><li>d</ul>",
            "- a\n  1. b\n  2. c\n- d",
            (
                "<ul>\n<li>\n<p>a</p>\n<ol>\n<li>\n<p>b</p>\n</li>\n<li>\n<p>c</p>\n</li>\n</ol>\n</li>\n"
                "<li>\n<p>d</p>\n</li>\n</ul>"
            ),
        ),
        ("<ul><li>a</ul><ul><li>b</ul>", "- a\n\n* b", None),
        ("<blockquote><p>a<p>b</blockquote><blockquote>c</blockquote>", "> a\n>\n> b\n\n> c",
         "<blockquote>\n<p>a</p>\n<p>b</p>\n</blockquote>\n<blockquote>\n<p>c</p>\n</blockquote>"),
        ("<pre>if a &lt; b:\n    ```</pre>", "````\nif a < b:\n    ```\n````",
         "<pre>if a &lt; b:\n    ```</pre>"),
        ("<table><tr><th>Year<th>Cost<tr><td>2001<td>1|2</table>",
         "| Year | Cost |\n| --- | --- |\n| 2001 | 1\\|2 |",
         "<table>\n<tr><th>Year</th><th>Cost</th></tr>\n<tr><td>2001</td><td>1|2</td></tr>\n</table>"),
        (
            "<figure><img src=/i.jpg alt='A [b]'><figcaption>Cap</figcaption></figure>",
            f"![A \\[b\\]]({URL[:20]}/i.jpg)\n\nCap",
            (
                f'<figure>\n<p><img src="{URL[:20]}/i.jpg" alt="A [b]"></p>\n'
                "<figcaption>Cap</figcaption>\n</figure>"
            ),
        ),
        ("<p>a<iframe src=//video.example/1 allowfullscreen></iframe><iframe src=/ad></iframe>",
         "a[▶](https://video.example/1)", '<p>a<a href="https://video.example/1">▶</a></p>'),
    ],
)  # fmt: skip
def test_structure(page: str, markdown: str, markup: str | None):
    assert formatted(page)[0] == markdown
    assert markup is None or formatted(page)[1] == markup


@pytest.mark.parametrize(
    "text",
    [
        "# a", "- a", "+ a", "1. a", "12) a", "> a", "* a", "=== a", "a * b * c", "_a_", "__init__",
        "a_b_c", "[a](b)", "![a](b)", "`a`", "~~~", "a\\", "&amp;lt;", "&lt;b>x&lt;/b>", "| a | b |",
        "a<br>---", "a<br>--|--", "a!<a href=/b>b</a>", "<b>a</b><i>b</i><b>c</b>", "<b>“a”</b>b", "<i>a</i><sub><i>b</i></sub>",
        "a<b>b <img src=/i></b>", "<b>a <code>b</code> c</b>",
        "<code>a</code><b><code>b</code></b>", "<h3>C#</h3>", "a<b> b </b>c", "http://a.example/_b_",
    ],
)  # fmt: skip
def test_special_characters_are_escaped(text: str):
    markdown, _ = formatted(f"<div>{text}</div>")
    assert text_of(rendered(markdown)).split() == text_of(f"<div>{text}</div>").split()


_TAGS = "a b i em code sub p div h2 ul ol li blockquote pre table tr td th br span dl dt dd figure".split()  # noqa: SIM905
_MARKUP = st.lists(
    st.one_of(
        st.sampled_from([f"<{tag}>" for tag in _TAGS] + [f"</{tag}>" for tag in _TAGS]),
        st.sampled_from(
            ["<a href='/x_y*_**z~'>", "<a href='javascript:x()'>", "<img src=/i.png onerror=x()>"]
        ),
        st.text("ab1 .#*_-+`[]()!|\\~:=\n", max_size=8),
    ),
    max_size=25,
)


@given(_MARKUP)
@example(["<pre>", "1", "<img src=/i.png onerror=x()>", "1"])
def test_formats_have_the_words_of_the_text(pieces: list[str]):
    page = "".join(pieces)
    markdown, markup = formatted(page)
    article = Article(body=text_of(page), body_markdown=markdown, body_html=markup)
    assert faults(article) == []


@pytest.mark.parametrize("page", expected_pages(), ids=label)
def test_sample_pages_have_the_same_words_in_all_formats(page: ExpectedPage):
    data, encoding = page.file.read_bytes(), LEGACY.get(page.path, "utf-8")
    plain = extract(data, URL, encoding=encoding)
    article = extract(data, URL, encoding=encoding, options=ExtractOptions(extra_fields=FORMATS))
    assert {"body_markdown", "body_html"}.isdisjoint(plain.to_dict())
    if article.body:
        assert faults(article) == []
        assert Article.from_dict(article.to_dict()).to_dict() == article.to_dict()
    article.body_markdown = article.body_html = None
    assert article == extract(data, URL, encoding=encoding, fetched_at=article.fetched_at)


@pytest.mark.parametrize(
    "value",
    ["javascript:alert(1)", "java\nscript:alert(1)", " JAVASCRIPT:x", "data:text/html,x", "vbscript:x",
     "http://a b.example/", "http://a.example:99999/", "mailto:a@b.example", "javascript://a.example/%0ax()", "ftp://a.example/", "file:///etc/passwd", "#part", "", "http://", "http://[",
     "https://a.example/" + "x" * MAX_URL],
)  # fmt: skip
def test_other_addresses_are_left_out(value: str):
    assert web_url(value, URL) is None


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("/a?b=1&c=2", "https://news.example/a?b=1&c=2"),
        ("//cdn.example/a", "https://cdn.example/a"),
        ('/a"><script>', "https://news.example/a%22%3E%3Cscript%3E"),
        ("/a (b)", "https://news.example/a%20%28b%29"),
        ("/日本", "https://news.example/日本"),
    ],
)
def test_addresses_are_absolute_and_quoted(value: str, url: str):
    assert web_url(value, URL) == url


def test_relative_addresses_are_left_out_without_a_base():
    document = parse_document("<p><a href=/a>one</a> <a href=http://a.example/>two</a>")
    assert (
        write_markdown(body_blocks(document, [0], frozenset(), None)[1])
        == "one [two](http://a.example/)"
    )


def test_images_between_paragraphs_without_other_text():
    page = "<article><p>one</p><div><a><img src=/1></a><img src=/2></div><div><img src=/3>x</div><p>two"
    document = parse_document(page)
    roots = list(document.rows_of("p"))
    markdown = write_markdown(body_blocks(document, roots, frozenset(), "http://a.example")[1])
    assert markdown == "one\n\n![](http://a.example/2)\n\ntwo"


@pytest.mark.parametrize(
    "page",
    [
        "<ul><li>" * 3000 + "deep",
        "<blockquote>" * 3000 + "deep",
        "<b><i>" * 3000 + "deep",
        "<table><tr><td>" * 500 + "deep",
        f"<p><a href='/{'x' * 10**6}'>deep</a><img src=/a alt='{'y' * 10**6}'>",
        "<p>" + "<img src=/a>" * 20_000 + "deep",
        "<p>deep<script>x()</script><style>p{}</style><svg onload=x()><a href=/>no</a></svg>",
    ],
    ids=range(7),
)
def test_hostile_pages(page: str):
    markdown, markup = formatted(page)
    article = Article(body="deep", body_markdown=markdown, body_html=markup)
    assert faults(article) == []
    assert len(markup) + len(markdown) < 100_000


def test_links_and_images_of_the_body():
    page = """<p>See <a href=/a>the <b>new</b> bridge</a> and <a href='javascript:x()'>not this</a>.</p>
        <figure><a href=/big><img data-src=/lazy.jpg src=data:x alt='A  bridge'></a>
        <figcaption>The <i>old</i> bridge</figcaption></figure>
        <ul><li><a href=/b>one<br>two</a></ul><p><img src=/c.jpg>
        <iframe src=//video.example/1 allowfullscreen></iframe>
        <table><tr><th>Year<th>Cost<tr><td>2001<td><a href=/t>5</a></table>"""
    names = {"links", "images", "videos"}
    document, article = parse_document(page), Article(url=URL)
    article.body, blocks = body_blocks(document, [0], frozenset(), URL)
    set_formats(article, blocks, names)
    set_story_media(article, document, MethodResult([0], Evidence("", 1)), names)
    site = "https://news.example"
    assert article.links == [
        BodyLink(f"{site}/a", "the new bridge"),
        BodyLink(f"{site}/big", ""),
        BodyLink(f"{site}/b", "one"),
        BodyLink(f"{site}/b", "two"),
        BodyLink("https://video.example/1", EMBED_TEXT),
        BodyLink(f"{site}/t", "5"),
    ]
    assert article.images == [
        Media(f"{site}/lazy.jpg", "The old bridge", alt="A bridge"),
        Media(f"{site}/c.jpg"),
    ]
    assert article.videos == [Media("https://video.example/1")]
    assert article.body_markdown is article.body_html is None
    assert Article.from_dict(article.to_dict()) == article


def test_requested_formats_of_an_empty_body_are_empty():
    options = ExtractOptions(extra_fields=frozenset(EXTRA_FIELDS), min_body_chars=1000)
    article = extract("<p>One paragraph, and a <a href=/a>link</a>.", URL, options=options)
    assert article.body == article.body_markdown == article.body_html == ""
    assert article.links == article.images == []


def test_article_with_title():
    article = Article(title="A *b* < #", body="x", body_markdown="x", body_html="<p>x</p>")
    assert article.to_markdown() == "# A \\*b\\* \\< \\#\n\nx\n"
    markup = article.to_html()
    assert markup == "<article>\n<h1>A *b* &lt; #</h1>\n<p>x</p>\n</article>\n"
    assert etree.tostring(html.fromstring(markup), encoding="unicode") in markup


def test_formats_are_available_on_request_only():
    article = Article(body="x")
    with pytest.raises(ValueError, match="'markdown'"):
        article.to_markdown()
    with pytest.raises(ValueError, match="'html'"):
        article.to_html()
    with pytest.raises(ValueError, match="'tei'; expected one of: body_markdown, body_html"):
        parse_names(["tei"], EXTRA_FIELDS, "field on request")


def test_body_of_structured_data_has_paragraphs():
    data = json.dumps({"@type": "NewsArticle", "articleBody": "One *a*.\n\nTwo <b>."})
    page = f'<script type="application/ld+json">{data}</script><p>x'
    article = extract(page, URL, method="metadata", options=ExtractOptions(extra_fields=FORMATS))
    assert article.body_html
    assert faults(article) == []


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize("corpus", CORPUS_NAMES)
def test_formats_of_labelled_pages_have_the_words_of_the_text(corpus: str, corpus_dir: Path):
    options = ExtractOptions(extra_fields=FORMATS)
    assert {
        page: found
        for page, article in articles(corpus_dir / corpus, options)
        if (found := faults(article))
    } == {}


HOSTILE = [
    "plain", "a: b # c", "- x", "'\"\\", "line\u2028break\x85end", "\U0001f600 汐見 \ufeff", "---",
    "yes", "{{ x }}",
]  # fmt: skip


@pytest.mark.parametrize(
    ("day", "read"),
    [
        (date(2026, 11, 20), date(2026, 11, 20)),
        (datetime.fromisoformat("2026-11-20T07:40"), datetime.fromisoformat("2026-11-20T07:40")),
        (datetime(2026, 11, 20, 7, 40, tzinfo=timezone(timedelta(hours=-4))),
         datetime(2026, 11, 20, 11, 40, tzinfo=UTC)),
        (None, None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("text", HOSTILE)
def test_front_matter_is_yaml(text: str, day: Any, read: Any):
    article = Article(
        title=text, date=day, authors=[text, "B"], url="https://x.example/a?b=1#c", tags=(text,),
        language="en", body="Text", body_markdown="Text",
    )  # fmt: skip
    start, header, body = re.split(
        r"^---\n", article.to_markdown(front_matter=True), flags=re.MULTILINE
    )
    values = yaml.safe_load(header)
    assert (start, body) == ("", "\nText\n")
    assert values["title"] == text
    assert values["authors"] == [text, "B"]
    assert values["tags"] == [text]
    assert values["url"] == "https://x.example/a?b=1#c"
    assert values.get("date") == read


def test_schema_org_has_known_values_only():
    assert Article(url="https://x.example/", body="Text").to_schema_org() == {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "url": "https://x.example/",
        "articleBody": "Text",
    }
    full = Article(title="T", date=date(2026, 11, 20), authors=["A"], paywalled=True, body="x")
    assert full.to_schema_org() | {"articleBody": "x"} == {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": "T",
        "datePublished": "2026-11-20",
        "author": [{"@type": "Person", "name": "A"}],
        "isAccessibleForFree": False,
        "articleBody": "x",
    }


def test_schema_org_is_read_back():
    article = extract(PAGE_WITH_DATA, "https://x.example/a")
    data = json.dumps(article.to_schema_org())
    page = f'<script type="application/ld+json">{data}</script><p>x</p>'
    again = extract(page.encode(), "https://x.example/a", method="metadata")
    assert (again.title, again.date, again.authors) == (
        article.title,
        article.date,
        article.authors,
    )


PAGE_WITH_DATA = b"""<html lang=en><head><title>Storm damages bridge</title>
<meta property=article:published_time content=2026-11-20T07:40:00-04:00><meta name=author content="Ann Lee">
</head><body><article><h1>Storm damages bridge</h1><p>A storm has damaged the bridge over the river, and the
town has closed it to all traffic until the spring, if the weather allows.</p></article></body></html>"""
