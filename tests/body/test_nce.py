"""Tests of the three phases of NCE."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.body.nce import (
    NceParameters,
    cut_before,
    find_first_comment,
    find_region,
    find_separator_node,
    find_title,
    forest_of,
    nce,
)
from newscrawl.document.document import Document, parse_document
from newscrawl.lab.corpora.corpus import load_corpus

PARAMETERS = NceParameters()

SENTENCES = (
    "The council voted on Tuesday to rebuild the ferry terminal at the north end of the harbour.",
    "Work is to begin in the spring, once the winter storms have passed and the tenders are in.",
    "Residents of the old quay, who have waited nine years for this, were cautious in their praise.",
    "A study found that four in five passengers would rather walk than take the shuttle bus.",
    "The port authority will pay for two thirds of the project out of its reserves, it said.",
    "Nobody at the meeting could say what is to become of the listed ticket hall from 1931.",
    "Engineers warned that the sea wall needs repairs before any heavy machinery can cross it.",
    "The architect, who grew up three streets away, promised a roof that lets the evening in.",
)
PARAGRAPHS = "".join(
    f"<p>{SENTENCES[n % 8]} {SENTENCES[(3 * n + 1) % 8]} {SENTENCES[(5 * n + 2) % 8]}</p>"
    for n in range(8)
)
NAVIGATION = (
    "<ul>" + "".join(f"<li><a href=/{n}>Section number {n}</a></li>" for n in range(30)) + "</ul>"
)


def comment(user: str, minute: int, text: str) -> str:
    return (
        f"<li class=c{minute}><div>{user} wrote on Friday, 20 November 2026 at 14:{minute:02}</div>"
        f"<p>{text}</p><div>Reply to this comment · Report to the moderators · Permalink "
        "to share · Up votes and down votes: log in to take part in the discussion</div></li>"
    )


COMMENTS = (
    "<section><h2>Discussion</h2><ol>"
    + "".join(
        comment(user, 10 + n, text)
        for n, (user, text) in enumerate(
            [
                ("old_salt", "About time. My knees are not what they were."),
                ("Marta K.", "And who pays for the overruns? We do, as always."),
                ("harbourmouse", "Please keep the ticket hall, it is the only nice thing there."),
                ("dwight", "Nine years for a vote and they call it a plan."),
            ]
        )
    )
    + "</ol></section>"
)


def article(
    after: str = "", *, inside: str = "", title: str = "Ferry terminal to be rebuilt"
) -> Document:
    return parse_document(
        f"<html><head><title>{title} | The Gazette</title></head><body>{NAVIGATION}"
        f"<div id=page><h1>{title}</h1><div id=story>{PARAGRAPHS}{inside}</div>{after}</div>"
        "<footer><p>About us</p></footer></body></html>"
    )


def text_of(document: Document, forest: list[int]) -> str:
    return " ".join(document.subtree_text(tree) for tree in forest)


def element_id(document: Document, row: int | None) -> str | None:
    return None if row is None else document.element(row).get("id")


class TestSeparatorNode:
    """Phase 1: separator node search."""

    def test_finds_the_closest_ancestor_with_enough_text(self):
        document = article()
        assert element_id(document, find_separator_node(document, PARAMETERS)) == "story"

    def test_condition_1_rejects_paragraphs(self):
        document = parse_document(f"<div id=story><p id=one>{'word ' * 400}</p></div>")
        assert element_id(document, find_separator_node(document, PARAMETERS)) == "story"

    def test_condition_3_rejects_nodes_with_two_large_siblings(self):
        part = f"<div><p>{'word ' * 400}</p></div>"
        two = parse_document(f"<main><article id=a>{part}{part}</article></main>")
        three = parse_document(f"<main><article id=a>{part}{part}{part}</article></main>")
        assert two.tag[find_separator_node(two, PARAMETERS) or 0] == "div"
        assert element_id(three, find_separator_node(three, PARAMETERS)) == "a"
        links = replace(PARAMETERS, beta1=0.5)
        linked = part.replace("<p>", "<p><a href=x>").replace("</p>", "</a></p>")
        mixed = parse_document(f"<main><article id=a>{part}{linked}{linked}</article></main>")
        assert mixed.tag[find_separator_node(mixed, links) or 0] == "div"

    def test_does_not_start_at_a_long_teaser(self):
        teaser = f"<div id=teasers><a href=/x>{'teaser ' * 300}</a></div>"
        document = parse_document(f"<body>{teaser}<div id=story>{PARAGRAPHS}</div></body>")
        assert element_id(document, find_separator_node(document, PARAMETERS)) == "story"

    def test_thresholds_are_inclusive(self):
        """Text of beta2 and beta3 is enough; up to ``sibling`` a sibling does not count."""
        document = parse_document(f"<main><div id=a><p>{'word ' * 40}</p></div></main>")
        row = document.tag.index("div")
        exact = replace(PARAMETERS, beta2=document.chars(row), beta3=document.chars(row))
        assert find_separator_node(document, exact) == row
        assert find_separator_node(document, replace(exact, beta3=exact.beta3 + 1)) is None
        three = parse_document(f"<main>{'<div><p>' + 'word ' * 40 + '</p></div>'}" * 3 + "</main>")
        at_limit = replace(exact, sibling=exact.beta2)
        assert three.tag[find_separator_node(three, at_limit) or 0] == "div"

    def test_siblings_with_a_link_density_of_beta1_do_not_count(self):
        part = f"<div><p>{'word ' * 400}</p></div>"
        linked = part.replace("<p>", "<p><a href=x>").replace("</p>", "</a></p>")
        document = parse_document(f"<article id=a>{part}{linked}{linked}</article>")
        only_links = replace(PARAMETERS, beta1=1.0)
        assert document.tag[find_separator_node(document, only_links) or 0] == "div"

    def test_forest_has_children_with_text_and_up_to_beta4_of_links(self):
        document = parse_document(
            "<main><p>ab<a href=x>cd</a></p><p><a href=x>ab</a></p><p></p>e</main>"
        )
        main = document.tag.index("main")
        half = forest_of(document, main, replace(PARAMETERS, beta4=0.5))
        assert [document.subtree_text(row) for row in half] == ["ab cd", "e"]


class TestFallbacks:
    """Phase 1 without a separator node."""

    def test_finds_a_short_article_with_relaxed_parameters(self):
        short = f"<p>{SENTENCES[0]} {SENTENCES[1]}</p><p>{' '.join(SENTENCES[2:])}</p>"
        document = parse_document(f"<body>{NAVIGATION}<div id=story>{short}</div></body>")
        result = nce(document)
        assert result.fallback == "relaxed"
        assert "Section number" not in text_of(document, result.forest)
        assert nce(document, replace(PARAMETERS, relaxations=0)).fallback == "whole_tree"

    def test_returns_the_whole_tree_without_a_long_leaf(self):
        document = parse_document(f"<title>Front</title><body>{NAVIGATION}</body>")
        result = nce(document)
        assert (result.separator, result.forest, result.fallback) == (None, [0], "whole_tree")
        assert result.title == document.tag.index("title")


class TestComments:
    """Phase 2: comments removal."""

    @pytest.mark.parametrize("place", ["inside", "outside"])
    def test_cuts_the_article_before_the_comments(self, place: str):
        if place == "inside":
            document = article(inside=COMMENTS)
        else:
            document = parse_document(
                f"<body><article id=a><div>{PARAGRAPHS[:900]}</div><div>{PARAGRAPHS}</div>"
                f"{COMMENTS}</article></body>"
            )
        result = nce(document)
        text = text_of(document, result.forest)
        assert "knees" not in text
        assert "wrote on Friday" not in text
        assert text.count("Engineers warned") == document.subtree_text(0).count("Engineers warned")
        assert "wrote on Friday" in text_of(document, nce(document, comments=False).forest)

    def test_published_conditions(self):
        """Little text next to the story continues the search."""
        aside = f"<div>{SENTENCES[2]} {SENTENCES[3]}</div>"
        document = parse_document(
            f"<body>{NAVIGATION}<div id=all><div id=story>{PARAGRAPHS}</div>{aside}{aside}</div></body>"
        )
        ids = document.attributes["id"]
        found = find_separator_node(document, PARAMETERS)
        published = find_separator_node(document, NceParameters.PUBLISHED)
        assert found is not None
        assert published is not None
        assert (ids.get(found), ids.get(published)) == ("story", "all")

    def find_among(self, *blocks: str, **parameters: float) -> int | None:
        """Return the place of the first comment among *blocks*."""
        document = parse_document("<main>" + "".join(f"<div>{it}</div>" for it in blocks))
        exact = replace(PARAMETERS, alpha1=1, alpha2=1000, removable=1.0, **parameters)
        rows = list(document.children(document.tag.index("main")))
        first = find_first_comment(document, rows, exact)
        return None if first is None else rows.index(first)

    def test_needs_a_component_of_three_blocks(self):
        block = "<b>anna wrote</b><p>the very same words</p>"
        other = ["<b>no word</b><p>of it</p>", "<b>one more</b><p>text here</p>"]
        assert self.find_among(*other, block, block, block) == 2
        assert self.find_among(*other, block, block) is None
        assert self.find_among(*["<p>anna wrote the very same words</p>"] * 3) == 0
        assert self.find_among(*other, "<b>a third</b><p>other block</p>") is None

    def test_the_thesis_cuts_before_the_least_common_ancestor(self):
        block = "<p><b>anna wrote</b> the very same words</p>"
        document = parse_document(
            f"<main><div><p>unlike of it</p></div><ol><li>Say:<li>{block}<li>{block}<li>{block}</ol></main>"
        )
        rows = list(document.children(document.tag.index("main")))
        paper = replace(PARAMETERS, alpha1=15, alpha2=60, removable=1.0)
        thesis = replace(paper, common_ancestor=True)
        assert document.tag[find_first_comment(document, rows, paper) or 0] == "li"
        assert document.tag[find_first_comment(document, rows, thesis) or 0] == "ol"

    def test_joins_blocks_up_to_beta5_apart(self):
        block = "<b>anna wrote</b><p>the very same words</p>"
        gap = ["<b>no one</b><p>of it</p>", "<b>a more</b><p>text here</p>"]
        assert self.find_among(block, *gap, block, *gap, block) == 0
        assert self.find_among(block, *gap, block, *gap, block, beta5=2) is None

    @pytest.mark.parametrize(("shared", "found"), [(80, 0), (79, None)])
    def test_joins_blocks_that_share_beta6_of_the_characters(self, shared: int, found: int | None):
        blocks = [f"<p>{'x' * shared}{own * (100 - shared)}</p>" for own in "abc"]
        assert self.find_among(*blocks) == found

    def test_candidates_have_alpha1_to_alpha2_of_text(self):
        block = "<div><b>anna wrote</b><p>the very same words</p></div>"
        document = parse_document(f"<main>{block * 3}</main>")
        rows = list(document.children(document.tag.index("main")))
        chars = document.chars(rows[0])
        exact = replace(PARAMETERS, alpha1=chars, alpha2=chars, removable=1.0)
        assert find_first_comment(document, rows, exact) == rows[0]
        for others in (replace(exact, alpha1=chars + 1), replace(exact, alpha2=chars - 1)):
            assert find_first_comment(document, rows, others) is None

    def test_removes_up_to_the_removable_share(self):
        block = "<div><b>anna wrote</b><p>the very same words</p></div>"
        document = parse_document(f"<main><p>unlike</p>{block * 3}</main>")
        rows = list(document.children(document.tag.index("main")))
        removed = sum(map(document.chars, rows[1:]))
        share = removed / (removed + document.chars(rows[0]))
        exact = replace(PARAMETERS, alpha1=10, removable=share)
        assert find_first_comment(document, rows, exact) == rows[1]
        less = replace(exact, removable=share - 0.01)
        assert find_first_comment(document, rows, less) is None

    def test_splits_the_tree_at_the_cut(self):
        document = parse_document(
            "<body><div><p>one</p><div><p>two</p><p>three</p></div></div></body>"
        )
        three = document.tag.index("p", document.text.index("two"))
        assert text_of(document, cut_before(document, [0], three)) == "one two"
        assert cut_before(document, [0], 0) == []


class TestTitle:
    """Phase 3: title search."""

    def test_falls_back_to_the_title_element(self):
        document = article()
        assert document.tag[nce(document).title or 0] == "title"

    def title_of(self, *headings: str, title: str = "", **parameters: float) -> str:
        """Return the title of a page with *headings* right before its body."""
        lines = "".join(f"<h2>{heading}</h2>" for heading in headings)
        document = parse_document(
            f"<title>{title}</title>{lines}<p>one two three four five six seven eight nine ten eleven"
        )
        found = find_title(document, [document.tag.index("p")], replace(PARAMETERS, **parameters))
        if found is None or found == document.title_row:
            return document.title
        return document.subtree_text(found)

    def test_candidates_have_alpha3_to_alpha4_words(self):
        ten = "one two three four five six seven eight nine ten"
        assert self.title_of("one two three") == "one two three"
        assert self.title_of(ten) == ten
        assert self.title_of("one two", f"{ten} eleven", title="A") == "A"

    def test_the_longest_candidate_with_words_of_the_body_wins(self):
        headings = "one two three", "four five six seven", "one two three four other"
        assert self.title_of(*headings) == "four five six seven"
        assert self.title_of(*headings, beta7=0.8) == "one two three four other"
        assert self.title_of("unknown words only", title="A") == "A"

    def test_candidates_are_longer_than_the_title_element(self):
        assert self.title_of("one two three", title="One two three") == "One two three"
        assert self.title_of("one two three", title="x" * 300) == "x" * 300


@given(
    st.lists(
        st.sampled_from([PARAGRAPHS, NAVIGATION, COMMENTS, "<div>", "</div>", "<p>short</p>",
                         "<article>", "</article>", f"<p>{'word ' * 90}</p>", "<h1>A title</h1>"]),
        max_size=8,
    ).map("".join)
)  # fmt: skip
def test_trees_are_disjoint_and_in_document_order(page: str):
    document = parse_document("<body>" + page)
    result = nce(document)
    for tree, following in zip(result.forest, result.forest[1:], strict=False):
        assert document.end[tree] <= following
    whole = nce(document, comments=False)
    kept = sum(map(document.chars, result.forest))
    assert kept >= (1 - PARAMETERS.removable) * sum(map(document.chars, whole.forest))


@pytest.mark.corpus
def test_condition_4_finds_the_closest_ancestor(corpus_dir: Path):
    pages = load_corpus(corpus_dir / "news212").pages[::20]
    for page in pages:
        document = parse_document(page.html())
        separator = find_separator_node(document, PARAMETERS)
        if separator is None:
            continue
        assert document.chars(separator) >= PARAMETERS.beta2
        assert document.tag[separator] != "p"
        leaf = next(
            row
            for row in document.text_nodes(separator)
            if document.chars(row) >= PARAMETERS.beta3 and not document.link_chars(row)
        )
        closer = [row for row in document.ancestors(leaf) if row > separator]
        large = [row for row in closer if document.chars(row) >= PARAMETERS.beta2]
        for row in large:
            siblings = [
                other
                for other in document.children(document.parent[row])
                if other != row and document.chars(other) > PARAMETERS.sibling
            ]
            assert document.tag[row] == "p" or len(siblings) > 1


@pytest.mark.parametrize("relaxations", range(4))
def test_relaxes_the_parameters_step_by_step(monkeypatch: pytest.MonkeyPatch, relaxations: int):
    """The search is repeated with half the lengths, as often as there are relaxations."""
    tried: list[tuple[float, float]] = []

    def find_nothing(_document: Document, parameters: NceParameters) -> None:
        tried.append((parameters.beta2, parameters.beta3))

    monkeypatch.setattr("newscrawl.body.nce.find_separator_node", find_nothing)
    parameters = NceParameters(relaxations=relaxations)
    region = find_region(parse_document("<p>A short page.</p>"), parameters)
    assert region.fallback == "whole_tree"
    halves = [2**step for step in range(relaxations + 1)]
    assert tried == [(parameters.beta2 / half, parameters.beta3 / half) for half in halves]
