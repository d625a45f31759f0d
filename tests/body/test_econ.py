"""ECON: big-nodes, text-node-sets, Joint-para, Extract-news, and punctuation of many scripts."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.body.econ import EconParameters, extract_news
from newscrawl.body.render import render
from newscrawl.corpora.corpus import load_corpus
from newscrawl.corpora.metrics import bag_score, mean
from newscrawl.document.document import TEXT, Document, parse_document
from newscrawl.extraction.extract import extract
from newscrawl.text import words

if TYPE_CHECKING:
    from pathlib import Path

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
def test_news_in_the_scripts_that_it_counts_the_punctuation_of(
    script: str, parameters: EconParameters
) -> None:
    document = page(paragraphs(SENTENCES[script]))
    assert roots(document, parameters) == ["story"]


class TestJointPara:
    """The algorithm of Joint-para and its example (Figure 4)."""

    def test_short_pieces_together_outweigh_a_long_piece_of_noise(self) -> None:
        noise = (
            "<div id=noise><p>"
            + "Copyright of the paper, which reserves all rights. " * 3
            + "</p></div>"
        )
        pieces = "".join(f"<p>It was late, said member {n}.</p>" for n in range(9))
        assert roots(page(pieces, outside=noise)) == ["story"]

    def test_a_node_that_is_not_big_ends_the_set(self) -> None:
        """Of the brothers 1 to 4, the two big ones in the middle are joined."""
        brothers = (
            "<div id=one><div>Share</div></div><p>First, a part</p><p>and, then, a second</p>"
            "<div id=four><div>Print</div></div>"
        )
        document = page(brothers)
        assert text_of(document) == "First, a part and, then, a second"

    def test_a_set_without_punctuation_is_pruned(self) -> None:
        document = page(
            paragraphs() + "<div><div><p>Read more</p><p>Share</p></div></div>" + paragraphs()
        )
        assert "Read more" not in text_of(document)
        assert text_of(document).count("council") == 2 * 12

    def test_text_between_breaks_is_joined(self) -> None:
        """Old pages have no paragraphs."""
        document = page("<br><br>".join([SENTENCES["Latin"]] * 5), before=NAVIGATION)
        assert roots(document) == ["story"]

    def test_emphasis_without_a_comma_falls_out_of_its_sentence_to_the_letter(self) -> None:
        story = f"<p>Some say, <b>and loudly so</b>, that it is late.</p>{paragraphs()}"
        assert "loudly" not in text_of(page(story), LITERAL)
        assert "loudly" in text_of(page(story))

    def test_pictures_between_paragraphs_part_them_to_the_letter_alone(self) -> None:
        picture = "<div><img src=a.jpg></div>"
        noise = f"<div id=noise><p>{'Terms, conditions, and a policy. ' * 8}</p></div>"
        story = picture.join(f"<p>{SENTENCES['Latin']}</p>" for _ in range(6))
        assert roots(page(story, outside=noise)) == ["story"]
        assert "noise" in roots(page(story, outside=noise), replace(BEST, empty_parts=True))


class TestExtractNews:
    """The algorithm of Extract-news: snippet-node, backtracking, summary-node."""

    def test_backtracking_stops_where_a_father_adds_no_punctuation(self) -> None:
        document = page(paragraphs(), before="<h1>Ferry terminal to be rebuilt</h1>")
        assert roots(document) == ["story"]

    def test_noise_with_a_comma_is_taken_for_news(self) -> None:
        """Table II: most wrongly extracted pages are of this kind."""
        document = page(
            paragraphs(), after="<div><p>Follow us on this, that, and the other.</p></div>"
        )
        assert "Follow us" in text_of(document)

    def test_paragraphs_in_boxes_of_their_own(self) -> None:
        """The first distance is 0 at once; a father that wraps no more is passed today."""
        boxes = "".join(f"<div><p>{SENTENCES['Latin']}</p></div>" for _ in range(6))
        assert text_of(page(boxes)).count("council") == 6
        assert text_of(page(boxes), LITERAL).count("council") == 1

    def test_a_short_page_is_missed(self) -> None:
        """Table IV: one sentence against a long notice."""
        notice = f"<div><p>{'These terms, as amended, apply to all readers. ' * 9}</p></div>"
        document = page(f"<div>{SENTENCES['Latin']}</div>", after=f"<div><div>{notice}</div></div>")
        assert text_of(document, LITERAL).startswith("These terms")

    def test_a_page_without_punctuation_has_no_content(self) -> None:
        document = page("<p>Nothing here has a comma</p>")
        assert extract_news(document) == extract_news(document, LITERAL) == []

    def test_hidden_text_is_neither_news_nor_counted(self) -> None:
        cookies = f"<div hidden><p>{'Cookies are small, and many. ' * 40}</p></div>"
        document = page(paragraphs(), before=cookies)
        assert roots(document) == ["story"]

    def test_punctuation_in_scripts_does_not_count(self) -> None:
        """Condition 1 of big-nodes leaves script and style out."""
        html = f"<div><div id=story>{paragraphs()}</div><script>f(1, 2, 3);</script></div>"
        document = parse_document(html)
        assert roots(document, LITERAL) == ["story"]


class TestPunctuation:
    """What is a period or a comma."""

    def test_teasers_are_sentences_today(self) -> None:
        teasers = "".join(f"<li><a href=/{n}>He came, he saw, he left.</a></li>" for n in range(9))
        document = page(paragraphs(), after=f"<ul>{teasers}</ul>")
        assert "he saw" not in text_of(document)
        assert "he saw" in text_of(document, replace(BEST, link_marks=True))

    def test_numbers_hold_none(self) -> None:
        prices = "<table><tr><td>Gold 1,900.50</td><td>Oil 3.5</td></tr></table>"
        document = page(paragraphs(), after=prices)
        assert "Gold" not in text_of(document)
        assert "Gold" in text_of(document, replace(BEST, decimal_marks=True))

    def test_a_number_may_end_a_sentence(self) -> None:
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
def test_the_forest_is_of_disjoint_subtrees_in_the_order_of_the_page(
    body: str, parameters: EconParameters
) -> None:
    document = parse_document(f"<html><body>{body}</body></html>")
    forest = extract_news(document, parameters)
    assert forest == extract_news(document, parameters)
    assert all(0 <= row < len(document) for row in forest)
    assert all(document.chars(row) for row in forest)
    assert all(document.end[one] <= other for one, other in pairwise(forest))


@given(PIECES, st.sampled_from(READINGS))
def test_text_is_extracted_where_a_period_or_a_comma_counts(
    body: str, parameters: EconParameters
) -> None:
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
def test_what_is_pruned_has_no_punctuation(body: str) -> None:
    """All of the summary-node's text with a mark is kept, in every reading."""
    document = parse_document(f"<html><body>{body}</body></html>")
    forest = extract_news(document, LITERAL)
    kept = {row for tree in forest for row in range(tree, document.end[tree])}
    if forest:
        inside = range(forest[0], document.end[forest[-1]])
        lost = [row for row in inside if document.tag[row] == TEXT and row not in kept]
        assert not any("," in document.text[row] for row in lost if not document.hidden[row])


@pytest.mark.parametrize("name", ["econ", "econ:literal"])
def test_each_reading_is_a_method(name: str) -> None:
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
def test_bodies_of_sites_that_no_reading_was_chosen_on(
    corpus_dir: Path, name: str, best: float, literal: float
) -> None:
    """Forests as found, without the filter of captions and boxes."""
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
