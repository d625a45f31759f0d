"""Markdown of the body, as HTML by markdown-it-py, has the structure of the body as HTML."""

import re

import pytest
from lxml import etree, html
from markdown_it import MarkdownIt

from newscrawl.body.parts import PARTS
from newscrawl.document.document import parse_document
from newscrawl.extraction.body_formats import set_formats
from newscrawl.extraction.body_structure import body_blocks
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.items import Article
from samples import ExpectedPage, expected_pages
from tests.helpers.formats_read_back import FORMATS, URL
from tests.pages.sample_pages import LEGACY, label

MARKDOWN = MarkdownIt("commonmark").enable("table")
CONTAINERS = {"blockquote", "div", "li", "ol", "table", "tr", "ul"}
#: that Markdown does not have
DROPPED = {"figure", "sub", "sup", "tbody", "thead"}
PAGES = {
    "emphasis": "<p>a <b>b <i>c</i></b> d<b>e</b>f <i>g</i>, <b><i>h</i></b> <code>i `j`</code> *k* __l__",
    "links": "<p><a href=/a>a <b>b</b> [c]</a>!<a href='/d_e(f)'>d</a> <a href='/?g=1&amp;h=2'><code>g</code></a>",
    "headings": "<h2>A #</h2><p>1. b<h3><a href=/c>C</a> <i>c</i></h3><p># d<br>- e<h4>F</h4>g",
    "lists": "<p>a<ul><li>b<li><b>c</b> d<li>- e</ul><p>f<ol><li>g<li>1) h</ol><ul><li>i</ul><ul><li>j</ul>",
    "nested lists": """<ul><li>a<ol><li>b<ul><li>c<li>d</ul><li>e</ol><li>f<p>g</p><blockquote>h</blockquote>
        <li><ul><li>i</ul><li><p>j<pre>k\n  l</pre></ul>""",
    "quotes": """<blockquote><p>a<p>b<blockquote>c</blockquote><ul><li>d<li>e</ul></blockquote>
        <blockquote>&gt; f<br>g</blockquote><p>h""",
    "code": "<p>a<pre>def f(x):\n    return `x`  # <b>b</b>\n\n\tend\n```\n</pre><pre># c</pre><p><code>``d`` e</code>",
    "tables": """<table><tr><th>a<th>b|c<tr><td>d<td><b>e</b> <a href=/f>f</a><tr><td>`g`<td>h<br>i</table>
        <p>j<table><tr><th>k<th>l<th>m<tr><td>n<td>o<td>p</table>""",
    "images": """<p>a <img src=/b.jpg alt='[b] *c*'> d<figure><img src=/e.jpg><figcaption>F <i>f</i></figcaption></figure>
        <p>!<a href=/g><img src=/g.jpg alt=g></a>""",
    "all": """<h2>a</h2><p>b <b>c</b><ul><li>d <a href=/e>e</a><ol><li>f</ol><li><pre>g\n h</pre></ul><blockquote>
        <p>i<ol><li>j<li>k</ol></blockquote><table><tr><th>l<th>m<tr><td>n<td>o</table><hr><p>p &lt;b> &amp;amp; q""",
}  # fmt: skip


def rendered(markdown: str) -> str:
    """Return *markdown* as HTML in which all items of lists have paragraphs."""
    tokens = MARKDOWN.parse(markdown)
    for token in tokens:
        token.hidden = False
    return str(MARKDOWN.renderer.render(tokens, MARKDOWN.options, {}))


def outline(markup: str) -> list[str]:
    """Return the elements, URLs and texts of *markup*, as far as Markdown has them."""
    root = html.fragment_fromstring(markup, create_parent="div")
    for element in list(root.iter()):
        if element.tag in DROPPED or (element.tag == "code" and element.getparent().tag == "pre"):
            element.drop_tag()
        elif element.tag == "figcaption":
            element.tag = "p"
        elif element.tag == "tr" and element.getprevious() is None:
            for cell in element:  # the first row is the header
                cell.tag = "th"
    found = []
    for event, element in etree.iterwalk(root, ("start", "end")):
        starts, parent = event == "start", element if event == "start" else element.getparent()
        attributes = [value for _, value in sorted(element.attrib.items())] if starts else []
        found.append(" ".join([element.tag if starts else f"/{element.tag}", *attributes]))
        text = (element.text if starts else element.tail) or ""
        if parent is not None and not (parent.tag in CONTAINERS and text.isspace()):
            found.append(text.strip("\n") if parent.tag == "pre" else re.sub(r"\s+", " ", text))
    return [piece for piece in found if piece]


def assert_same_structure(article: Article) -> None:
    assert outline(rendered(article.body_markdown or "")) == outline(article.body_html or "")


@pytest.mark.parametrize("name", PAGES)
def test_made_pages(name: str):
    document = parse_document(f"<body>{PAGES[name]}</body>")
    text, blocks = body_blocks(document, [document.tag.index("body")], frozenset(), URL)
    article = Article(body=text)
    set_formats(article, blocks, FORMATS)
    assert_same_structure(article)


@pytest.mark.parametrize("page", expected_pages(), ids=label)
def test_sample_pages_keep_their_structure(page: ExpectedPage):
    options = ExtractOptions(extra_fields=FORMATS, parts=frozenset(PARTS))
    encoding = LEGACY.get(page.path, "utf-8")
    assert_same_structure(extract(page.file.read_bytes(), URL, encoding=encoding, options=options))
