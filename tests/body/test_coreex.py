"""Tests of CoreEx: the examples of the paper, its variants, and today's constants."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.body.coreex import (
    CoreExParameters,
    coreex,
    count_terminals,
    find_title,
)
from newscrawl.document.document import TEXT, Document, parse_document
from newscrawl.extraction.extract import extract
from newscrawl.extraction.methods import get_method
from newscrawl.extraction.render import render
from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.lab.corpora.metrics import bag_score, mean
from newscrawl.lab.paper_methods import COREEX_VARIANTS
from newscrawl.text import tokens, words

PUBLISHED, TODAY = CoreExParameters.PUBLISHED, CoreExParameters.TODAY
BASIC, WEIGHTED, SUBSET = (COREEX_VARIANTS[name] for name in ("R1", "R2", "R3"))

SENTENCE = "The council voted on Tuesday, after a long debate, to rebuild the ferry terminal."
NAVIGATION = (
    "<ul>" + "".join(f"<li><a href=/{n}>Section number {n}</a></li>" for n in range(40)) + "</ul>"
)


def paragraphs(sentence: str = SENTENCE, count: int = 8) -> str:
    return "".join(f"<p id=p{n}>{' '.join([sentence] * (n % 3 + 1))}</p>" for n in range(count))


def text_of(document: Document, forest: list[int]) -> str:
    return " ".join(document.subtree_text(tree) for tree in forest)


def ids(document: Document, forest: list[int]) -> list[str | None]:
    return [None if document.tag[u] == TEXT else document.element(u).get("id") for u in forest]


def row_of(document: Document, tag: str) -> int:
    return document.tag.index(tag)


class TestCounts:
    """textCnt and linkCnt (section 2.1, Figures 3 and 4)."""

    PAGE = (
        "<body><p>A paragraph <a href=/l>with a link</a></p><p>Note:</p>"
        "<ul><li>One item</li><li>Another item</li></ul><a href=/i><img src=i.png></a>"
        "<a name=top></a><img src=plain.png></body>"
    )

    def counts(self, tag: str) -> tuple[int, int]:
        document = parse_document(self.PAGE)
        counts = count_terminals(document, TODAY)
        row = row_of(document, tag)
        first, end = row, document.end[row]
        return counts.words[end] - counts.words[first], counts.links[end] - counts.links[first]

    def test_a_link_is_one_word_and_one_link(self):
        assert self.counts("a") == (1, 1)

    def test_words_next_to_a_link_are_not_linked(self):
        assert self.counts("p") == (3, 1)

    def test_counts_add_up_and_ignore_other_terminals(self):
        assert self.counts("ul") == (4, 0)
        assert self.counts("img") == (0, 0)
        assert self.counts("body") == (9, 2)  # a linked image is a link, an anchor is none

    def test_a_character_is_a_word_in_scripts_without_spaces(self):
        document = parse_document("<p>港の再建が夜の会議で決まった</p><p>항구를 다시 짓는다</p>")
        counts = count_terminals(document, TODAY)
        assert counts.words[-1] == 14 + 3


class TestScore:
    """Basic and weighted scoring, and ties."""

    def test_basic_scoring_prefers_a_part_without_links(self):
        """Figure 5: a link in the last sentence disqualifies the container."""
        document = parse_document(
            f"<body><div id=story><p id=one>{SENTENCE}</p><p id=two>{SENTENCE} {SENTENCE}</p>"
            f"<p>{SENTENCE} <a href=/x>More</a></p></div></body>"
        )
        assert ids(document, coreex(document, BASIC)) == ["one"]
        weighted = replace(WEIGHTED, weight_text=0.1)
        assert ids(document, coreex(document, weighted)) == [None]
        assert coreex(document, weighted) == [0]  # the page has only the article

    def test_weighted_scoring_prefers_the_node_with_more_text(self):
        """Figure 6: the list wins among two nodes without links."""
        document = parse_document(
            "<body><p>A paragraph <a href=/l>with a link</a></p><p id=note>Note:</p>"
            "<ul id=list><li>The first item</li><li>The second item</li></ul></body>"
        )
        assert ids(document, coreex(document, BASIC)) == ["note"]
        assert ids(document, coreex(document, WEIGHTED)) == ["list"]

    def test_of_equal_scores_the_highest_node_wins(self):
        document = parse_document(
            f"<body><a href=/>Home</a><div id=a><p>{SENTENCE}</p></div></body>"
        )
        assert ids(document, coreex(document, BASIC)) == ["a"]

    def test_of_equal_siblings_the_first_wins(self):
        document = parse_document(
            f"<body><a href=/>Home</a><p id=a>{SENTENCE}</p><p id=b>{SENTENCE}</p></body>"
        )
        assert ids(document, coreex(document, WEIGHTED)) == ["a"]

    def test_a_page_of_links_has_no_core_content(self):
        document = parse_document(NAVIGATION)
        assert all(coreex(document, one) == [] for one in (*COREEX_VARIANTS.values(), TODAY))


class TestSubset:
    """Subset selection (section 2.2.2, Figure 7)."""

    ADVERTISEMENT = "<div class=ad><a href=/1>Buy</a> <a href=/2>now</a></div>"
    STORY = (
        "<body><div id=story>"
        + ADVERTISEMENT.join(f"<p id=p{n}>{SENTENCE} {SENTENCE}</p>" for n in range(3))
        + "</div></body>"
    )

    def test_selects_text_nodes_without_advertisements(self):
        document = parse_document(self.STORY)
        assert ids(document, coreex(document, SUBSET)) == ["p0", "p1", "p2"]
        assert "Buy" not in text_of(document, coreex(document))
        assert "Buy" in text_of(document, coreex(document, replace(WEIGHTED, weight_text=0.3)))

    def test_excludes_a_child_at_the_threshold(self):
        nine = f"<p id=nine>{'word ' * 9}<a href=/>x</a></p>"  # (10 - 1) / 10
        ten = f"<p id=ten>{'word ' * 10}<a href=/>x</a></p>"
        document = parse_document(
            f"<div>{NAVIGATION}{nine}{ten}<p id=long>{'word ' * 10}</p></div>"
        )
        assert ids(document, coreex(document, replace(TODAY, weight_text=0.5))) == ["ten", "long"]

    def test_text_next_to_elements_is_a_child(self):
        document = parse_document(f"<div>{NAVIGATION}{SENTENCE}<br>{SENTENCE}<br>{SENTENCE}</div>")
        assert text_of(document, coreex(document)).count("council") == 3


class TestPreprocessing:
    """The variants of section 3.2."""

    def test_ignores_forms_from_r4_on(self):
        options = "".join(f"<option>State number {n} of the union</option>" for n in range(60))
        page = f"<body>{NAVIGATION}<form><select>{options}</select></form><div id=s>{paragraphs()}</div></body>"
        document = parse_document(page, scripts=True)
        assert coreex(document, COREEX_VARIANTS["R3"]) != coreex(document, COREEX_VARIANTS["R4"])
        assert ids(document, coreex(document, COREEX_VARIANTS["R4"])) == ["s"]

    def test_ignores_scripts_from_r5_on(self):
        script = f"<script>{'var a = 1; ' * 400}</script>"
        document = parse_document(
            f"<body>{script}{NAVIGATION}<div>{paragraphs()}</div></body>", scripts=True
        )
        published, without = (coreex(document, COREEX_VARIANTS[name]) for name in ("R4", "R5"))
        assert row_of(document, "script") in published
        assert document.tag[without[0]] == "div"

    def test_reads_a_page_in_a_form_only_today(self):
        """Section 6.1, Leading the Charge."""
        document = parse_document(
            f"<body><form>{NAVIGATION}<div id=story>{paragraphs()}</div></form></body>"
        )
        assert coreex(document, PUBLISHED) == []
        assert ids(document, coreex(document)) == ["story"]

    def test_ignores_hidden_text_only_today(self):
        hidden = f"<div hidden id=cookies>{paragraphs('Cookies are small files, and this is a policy.', 40)}</div>"
        document = parse_document(
            f"<body>{hidden}{NAVIGATION}<div id=s>{paragraphs()}</div></body>"
        )
        assert "cookies" not in ids(document, coreex(document))
        assert "cookies" in ids(document, coreex(document, PUBLISHED))


class TestTitle:
    """Section 6.1, Article Title."""

    def page(self, story: str) -> tuple[Document, list[int]]:
        """Return a page and the children of its article."""
        document = parse_document(
            f"<body><h1>The Gazette</h1><main><header><h1>Terminal to be rebuilt</h1></header>"
            f"<section>{story}</section></main></body>"
        )
        return document, list(document.children(row_of(document, "section")))

    def text(self, document: Document, row: int | None) -> str | None:
        return None if row is None else document.subtree_text(row)

    def test_finds_a_heading_in_another_container(self):
        document, forest = self.page(paragraphs())
        assert self.text(document, find_title(document, forest)) == "Terminal to be rebuilt"

    def test_prefers_a_heading_in_the_content(self):
        document, forest = self.page(f"<h1>In it</h1>{paragraphs()}")
        assert self.text(document, find_title(document, forest)) == "In it"

    def test_falls_back_to_headings_of_other_ranks(self):
        document = parse_document(f"<h2>Terminal</h2><h3></h3><div>{paragraphs()}</div>")
        forest = list(document.children(row_of(document, "div")))
        assert self.text(document, find_title(document, forest)) == "Terminal"

    def test_finds_no_title_without_heading(self):
        document = parse_document(paragraphs())
        assert find_title(document, coreex(document)) is None
        assert find_title(document, []) is None


def reference(document: Document, parameters: CoreExParameters) -> list[int]:
    """CoreEx as in section 2: bottom up, node by node, for pages without forms."""
    counts: dict[int, tuple[int, int]] = {}
    sets: dict[int, tuple[list[int], int, int]] = {}

    def visit(row: int) -> None:
        children = list(document.children(row))
        text = link = set_text = set_link = 0
        chosen = []
        if document.hidden[row]:
            children = []
        elif document.tag[row] == TEXT:
            text = set_text = len(tokens(document.text[row]))
            chosen = [row]
        elif document.tag[row] == "a":
            text = link = int(bool(children))
            children = []
        for child in children:
            visit(child)
            text += counts[child][0]
            link += counts[child][1]
            if counts[child][0] and 1 - counts[child][1] / counts[child][0] > parameters.threshold:
                chosen.append(child)
                set_text += counts[child][0]
                set_link += counts[child][1]
        counts[row] = text, link
        sets[row] = (chosen, set_text, set_link) if parameters.subset else ([row], text, link)

    visit(0)
    page, weight = counts[0][0], parameters.weight_text
    best: tuple[float, int, int] = (0.0, 0, 0)
    for row, (_, text, link) in sets.items():
        if text and text > link:
            score = (1 - weight) * ((text - link) / text) + weight * text / page
            best = max(best, (score, -len(list(document.ancestors(row))), -row))
    return sets[-best[2]][0] if best[0] else []


PIECES = st.recursive(
    st.sampled_from(
        ["one", "two words", "three words here", "<a>link</a>", "<a><b>in</b> it</a>", "<img>",
         "<a></a>", "<br>", "<div hidden>not shown here</div>", "港の再建"]
    ),
    lambda inner: st.lists(inner, min_size=1, max_size=4).map(
        lambda parts: f"<div>{'<i>.</i>'.join(parts)}</div>"
    ),
    max_leaves=25,
)  # fmt: skip


@given(PIECES, st.sampled_from([0.0, 0.01, 0.08, 0.5]), st.booleans())
def test_equals_a_literal_implementation_of_the_paper(body: str, weight: float, subset: bool):
    document = parse_document(f"<html><body>{body}</body></html>")
    parameters = replace(TODAY, weight_text=weight, subset=subset)
    assert coreex(document, parameters) == reference(document, parameters)


@given(PIECES, st.sampled_from([*COREEX_VARIANTS.values(), TODAY]))
def test_roots_are_disjoint_and_in_document_order(body: str, parameters: CoreExParameters):
    document = parse_document(f"<html><body>{body}</body></html>", scripts=True)
    forest = coreex(document, parameters)
    assert forest == coreex(document, parameters)
    assert all(0 <= row < len(document) for row in forest)
    assert all(document.end[one] <= other for one, other in pairwise(forest))


@pytest.mark.parametrize("name", ["coreex", *(f"coreex:{name}" for name in COREEX_VARIANTS)])
def test_each_variant_is_a_method(name: str):
    page = (
        f"<html><head><title>Ferry terminal</title></head><body>{NAVIGATION}"
        f"<h1>Ferry terminal to be rebuilt</h1><div>{paragraphs()}</div></body></html>"
    )
    article = extract(page, "https://gazette.example/1", method=name)
    assert article.title == "Ferry terminal to be rebuilt"
    assert name == "coreex:R1" or "council" in article.body  # R1 takes the headline
    assert "body" not in article.evidence or article.evidence["body"].source == "coreex"
    assert get_method(name).name == name


def test_published_variants_keep_captions():
    """Section 6.1, Wral.com."""
    caption = "<figure><img><figcaption>The old terminal in the rain</figcaption></figure>"
    page = f"<body><div>{paragraphs()}{caption}{paragraphs()}</div></body>"
    assert "in the rain" in extract(page, method="coreex:R5").body
    assert "in the rain" not in extract(page, method="coreex").body


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "today", "published"), [("news212", 0.86, 0.5), ("fundus", 0.88, 0.6)]
)
def test_f1_on_the_test_half(corpus_dir: Path, name: str, today: float, published: float):
    """Without the boilerplate filter."""
    pages = [page for page in load_corpus(corpus_dir / name).pages if page.half == "test"]
    documents = [(parse_document(page.html()), words(page.body or "")) for page in pages]

    def f1(parameters: CoreExParameters) -> float:
        return mean(
            [
                bag_score(words(render(document, coreex(document, parameters))), body).f1
                for document, body in documents
            ]
        )

    assert f1(TODAY) >= today
    assert f1(PUBLISHED) >= published
