"""Tests of ECON: Joint-para, Extract-news, and punctuation of many scripts."""

from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.body.econ import EconParameters, extract_news
from newscrawl.document.document import TEXT, Document, parse_document
from newscrawl.extraction.extract import extract
from newscrawl.extraction.render import render
from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.lab.corpora.metrics import bag_score, mean
from newscrawl.text import words

BEST, LITERAL = EconParameters.BEST, EconParameters.LITERAL

SENTENCES = {
    "Latin": "The council voted on Tuesday, after a long debate, to rebuild the ferry terminal.",
    "Chinese": "市议会周二经过长时间辩论，投票决定重建港口北端的渡轮码头。",
    "Japanese": "市議会は火曜日、長い議論の末に、フェリー乗り場の再建を決めた。",
    "Arabic": "صوّت المجلس يوم الثلاثاء، بعد نقاش طويل، على إعادة بناء محطة العبّارات",
    "Urdu": "کونسل نے منگل کو طویل بحث کے بعد فیری ٹرمینل دوبارہ تعمیر کرنے کا فیصلہ کیا۔",
    "Hindi": "परिषद ने मंगलवार को लंबी बहस के बाद नौका टर्मिनल के पुनर्निर्माण का निर्णय लिया।",
    "Cyrillic": "Совет во вторник, после долгих споров, решил перестроить паромный терминал.",
}
NAVIGATION = (
    "<ul>" + "".join(f"<li><a href=/{n}>Section number {n}</a></li>" for n in range(30)) + "</ul>"
)
FOOTER = "<div id=footer><p>All rights reserved</p><p>About us</p></div>"


def paragraphs(sentence: str = SENTENCES["Latin"], count: int = 6) -> str:
    return "".join(f"<p>{' '.join([sentence] * (n % 3 + 1))}</p>" for n in range(count))


def page(story: str, before: str = "", after: str = "", outside: str = "") -> Document:
    return parse_document(
        f"<html><body>{NAVIGATION}<div id=page><div>Harbour</div>{before}<div id=story>{story}</div>{after}</div>"
        f"{outside}{FOOTER}</body></html>"
    )


def text_of(document: Document, parameters: EconParameters = BEST) -> str:
    return " ".join(document.subtree_text(tree) for tree in extract_news(document, parameters))


def roots(document: Document, parameters: EconParameters = BEST) -> list[str]:
    return [
        document.element(row).get("id") or document.tag[row]
        for row in extract_news(document, parameters)
    ]


@pytest.mark.parametrize("parameters", [BEST, LITERAL])
@pytest.mark.parametrize("script", SENTENCES)
def test_extracts_news_in_scripts_with_known_punctuation(script: str, parameters: EconParameters):
    document = page(paragraphs(SENTENCES[script]))
    assert roots(document, parameters) == ["story"]


class TestJointPara:
    """The algorithm of Joint-para and its example (Figure 4)."""

    def test_joined_short_pieces_outweigh_long_noise(self):
        noise = (
            "<div id=noise><p>"
            + "Copyright of the paper, which reserves all rights. " * 3
            + "</p></div>"
        )
        pieces = "".join(f"<p>It was late, said member {n}.</p>" for n in range(9))
        assert roots(page(pieces, outside=noise)) == ["story"]

    def test_a_node_that_is_not_big_ends_the_set(self):
        """Of brothers 1 to 4, the two big-nodes in the middle are joined."""
        brothers = (
            "<div id=one><div>Share</div></div><p>First, a part</p><p>and, then, a second</p>"
            "<div id=four><div>Print</div></div>"
        )
        document = page(brothers)
        assert text_of(document) == "First, a part and, then, a second"

    def test_prunes_a_set_without_punctuation(self):
        document = page(
            paragraphs() + "<div><div><p>Read more</p><p>Share</p></div></div>" + paragraphs()
        )
        assert "Read more" not in text_of(document)
        assert text_of(document).count("council") == 2 * 12

    def test_joins_text_between_breaks(self):
        """Old pages have no paragraphs."""
        document = page("<br><br>".join([SENTENCES["Latin"]] * 5), before=NAVIGATION)
        assert roots(document) == ["story"]

    def test_literal_reading_prunes_emphasis_without_comma(self):
        story = f"<p>Some say, <b>and loudly so</b>, that it is late.</p>{paragraphs()}"
        assert "loudly" not in text_of(page(story), LITERAL)
        assert "loudly" in text_of(page(story))

    def test_only_the_literal_reading_splits_at_images(self):
        picture = "<div><img src=a.jpg></div>"
        noise = f"<div id=noise><p>{'Terms, conditions, and a policy. ' * 8}</p></div>"
        story = picture.join(f"<p>{SENTENCES['Latin']}</p>" for _ in range(6))
        assert roots(page(story, outside=noise)) == ["story"]
        assert "noise" in roots(page(story, outside=noise), replace(BEST, empty_parts=True))


class TestExtractNews:
    """The algorithm of Extract-news: snippet-node, backtracking, summary-node."""

    def test_backtracking_stops_where_a_father_adds_no_punctuation(self):
        document = page(paragraphs(), before="<h1>Ferry terminal to be rebuilt</h1>")
        assert roots(document) == ["story"]

    def test_mistakes_noise_with_a_comma_for_news(self):
        """Table II: most wrong extractions are of this kind."""
        document = page(
            paragraphs(), after="<div><p>Follow us on this, that, and the other.</p></div>"
        )
        assert "Follow us" in text_of(document)

    def test_literal_reading_stops_at_the_box_of_a_paragraph(self):
        """The first distance is 0; today's reading passes fathers without more text."""
        boxes = "".join(f"<div><p>{SENTENCES['Latin']}</p></div>" for _ in range(6))
        assert text_of(page(boxes)).count("council") == 6
        assert text_of(page(boxes), LITERAL).count("council") == 1

    def test_misses_a_short_article(self):
        """Table IV: one sentence against a long notice."""
        notice = f"<div><p>{'These terms, as amended, apply to all readers. ' * 9}</p></div>"
        document = page(f"<div>{SENTENCES['Latin']}</div>", after=f"<div><div>{notice}</div></div>")
        assert text_of(document, LITERAL).startswith("These terms")

    def test_a_page_without_punctuation_has_no_content(self):
        document = page("<p>Nothing here has a comma</p>")
        assert extract_news(document) == extract_news(document, LITERAL) == []

    def test_ignores_hidden_text(self):
        cookies = f"<div hidden><p>{'Cookies are small, and many. ' * 40}</p></div>"
        document = page(paragraphs(), before=cookies)
        assert roots(document) == ["story"]

    def test_ignores_punctuation_in_scripts(self):
        """Condition 1 of big-nodes excludes script and style."""
        html = f"<div><div id=story>{paragraphs()}</div><script>f(1, 2, 3);</script></div>"
        document = parse_document(html)
        assert roots(document, LITERAL) == ["story"]


class TestPunctuation:
    """Periods and commas."""

    def test_ignores_punctuation_in_links(self):
        teasers = "".join(f"<li><a href=/{n}>He came, he saw, he left.</a></li>" for n in range(9))
        document = page(paragraphs(), after=f"<ul>{teasers}</ul>")
        assert "he saw" not in text_of(document)
        assert "he saw" in text_of(document, replace(BEST, link_marks=True))

    def test_ignores_punctuation_in_numbers(self):
        prices = "<table><tr><td>Gold 1,900.50</td><td>Oil 3.5</td></tr></table>"
        document = page(paragraphs(), after=prices)
        assert "Gold" not in text_of(document)
        assert "Gold" in text_of(document, replace(BEST, decimal_marks=True))

    def test_counts_punctuation_after_a_number(self):
        document = page("".join(f"<p>The hall was built in 193{n}.</p>" for n in range(9)))
        assert roots(document) == ["story"]


PIECES = st.recursive(
    st.sampled_from(
        ["word", "A sentence, short.", "<a>link</a>", "<b>bold</b>", "<p>par, agraph.</p>", "<br>",
         "<p>none</p>", "<img>", "<div hidden>not, shown.</div>", "議会は、決めた。", "1.5"]
    ),
    lambda inner: st.lists(inner, min_size=1, max_size=4).map(
        lambda parts: f"<div>{''.join(parts)}</div>"
    ),
    max_leaves=25,
)  # fmt: skip
READINGS = [BEST, LITERAL, *(replace(BEST, **{one.name: True}) for one in fields(EconParameters))]


@given(PIECES, st.sampled_from(READINGS))
def test_roots_are_disjoint_and_in_document_order(body: str, parameters: EconParameters):
    document = parse_document(f"<html><body>{body}</body></html>")
    forest = extract_news(document, parameters)
    assert forest == extract_news(document, parameters)
    assert all(0 <= row < len(document) for row in forest)
    assert all(document.chars(row) for row in forest)
    assert all(document.end[one] <= other for one, other in pairwise(forest))


@given(PIECES, st.sampled_from(READINGS))
def test_extracts_text_if_any_punctuation_counts(body: str, parameters: EconParameters):
    document = parse_document(f"<html><body>{body}</body></html>")
    links, decimals = parameters.link_marks, parameters.decimal_marks
    counts = any(
        any(mark in document.text[row] for mark in ",.。、")
        and (links or not document.link_chars(row))
        and (decimals or document.text[row] != "1.5")
        for row in document.text_nodes()
        if "1.5" not in document.text[row] or document.text[row] == "1.5"
    )
    if counts:
        assert extract_news(document, parameters)


@given(PIECES)
def test_prunes_only_text_without_punctuation(body: str):
    document = parse_document(f"<html><body>{body}</body></html>")
    forest = extract_news(document, LITERAL)
    kept = {row for tree in forest for row in range(tree, document.end[tree])}
    if forest:
        inside = range(forest[0], document.end[forest[-1]])
        lost = [row for row in inside if document.tag[row] == TEXT and row not in kept]
        assert not any("," in document.text[row] for row in lost if not document.hidden[row])


@pytest.mark.parametrize("name", ["econ", "econ:literal"])
def test_each_reading_is_a_method(name: str):
    html = (
        f"<html><body>{NAVIGATION}<h1>Ferry terminal to be rebuilt</h1>"
        f"<div>{paragraphs()}</div></body></html>"
    )
    article = extract(html, "https://gazette.example/1", method=name)
    assert article.title == "Ferry terminal to be rebuilt"
    assert article.body.count("council") == 12
    assert article.evidence["body"].source == "econ"


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "best", "literal"), [("news212", 0.84, 0.76), ("fundus", 0.85, 0.79)]
)
def test_f1_on_the_test_half(corpus_dir: Path, name: str, best: float, literal: float):
    """Without the boilerplate filter."""
    pages = [one for one in load_corpus(corpus_dir / name).pages if one.half == "test"]
    documents = [(parse_document(one.html()), words(one.body or "")) for one in pages]

    def f1(parameters: EconParameters) -> float:
        return mean(
            [
                bag_score(words(render(document, extract_news(document, parameters))), body).f1
                for document, body in documents
            ]
        )

    assert f1(BEST) >= best
    assert f1(LITERAL) >= literal
