"""Articles as TEI: valid by the DTD of corpora, with the words of the text."""

import pytest
from lxml import etree

from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.extraction.tei_writer import write_tei
from newscrawl.items import Article
from newscrawl.text import words
from samples import expected_pages
from tests.conftest import REPOSITORY, skip_missing

NAMES = {"t": "http://www.tei-c.org/ns/1.0"}
OPTIONS = ExtractOptions(
    parts=frozenset({"captions", "code", "lists", "quotes", "tables"}),
    extra_fields=frozenset({"body_html"}),
)
PAGE = """<html lang=en><body><article><h1>A & B</h1><p>Ann <b>said</b> <a href="/x?a=1&b=2">so</a> &lt;here&gt;,
and the town has closed the bridge to all traffic until the spring, if the weather allows.</p>
<h2>More</h2><ul><li>one item of the list is here</li><li>two <em>items</em></li></ul>
<blockquote><p>It was a long night for all of us, said the mayor of the town.</p></blockquote>
<pre>x = 1
y = 2</pre><figure><img src=/a.jpg alt=Bridge><figcaption>The old bridge</figcaption></figure>
<p>Engineers said on Monday that the repair would take until the spring.<br>So it did.</p></article>"""


def validate(tei: str) -> None:
    """Validate by the DTD of TEI for corpora, which the package trafilatura has."""
    found = list(REPOSITORY.glob(".venv-peers/lib/*/site-packages/trafilatura/data/tei_corpus.dtd"))
    if not found:
        skip_missing("the DTD of TEI comes with trafilatura: make .venv-peers/installed")
    dtd = etree.DTD(str(found[0]))
    root = etree.fromstring(tei)
    for table in root.findall(".//t:table", NAMES):  # TEI's module of tables is not in this DTD
        assert {etree.QName(row).localname for row in table} == {"row"}
        assert {etree.QName(cell).localname for row in table for cell in row} == {"cell"}
        table.getparent().remove(table)
    assert dtd.validate(root), dtd.error_log


def articles() -> list[Article]:
    made = extract(PAGE, "https://x.example/a", options=OPTIONS)
    full = Article(
        title="<T>", authors=["A", "B"], tags=("x & y",), description="d", url="https://x.example/"
    )
    pages = [extract(page.file.read_bytes(), options=OPTIONS) for page in expected_pages()]
    return [made, full, Article(), *pages]


def test_has_the_words_of_the_text():
    for article in articles():
        root = etree.fromstring(write_tei(article))
        (body,) = root.findall(".//t:body", NAMES)
        assert words("".join(body.itertext())) == words(article.body)
        assert (root.findtext(".//t:titleStmt/t:title", None, NAMES) or "") == (article.title or "")
        assert [e.text for e in root.findall(".//t:titleStmt/t:author", NAMES)] == article.authors


def test_leaves_out_what_xml_excludes():
    article = Article(
        title="]]>\ufffe", authors=["A\x00"], tags=("x\ud800",), description="d\x1b", language="en\x01",
        url="https://x.example/\uffff", canonical_url="https://x.example/\x02", site_name="S\x0c",
        body_html="<p>]]>\x0b body</p>",
    )  # fmt: skip
    shown = etree.fromstring(write_tei(article)).itertext()
    assert "".join(shown).strip() == "]]>AExtracted by newscrawl.]]>ASdenx]]> body"


@pytest.mark.slow  # in CI the environment of the other tools is made during the quick tests
def test_is_valid():
    for article in articles():
        validate(write_tei(article))
