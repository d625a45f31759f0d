"""NCE in its three phases."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.body.nce import (
    NceParameters,
    cut_before,
    find_comments,
    find_separator,
    find_title,
    forest_of,
    nce,
)
from newscrawl.corpora.corpus import load_corpus
from newscrawl.document.document import Document, parse_document

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
    """Phase 1."""

    def test_the_container_of_the_paragraphs(self) -> None:
        """The closest ancestor of the first long leaf with enough text separates."""
        document = article()
        assert element_id(document, find_separator(document, PARAMETERS)) == "story"

    def test_condition_1_no_paragraph(self) -> None:
        """A p never separates, however long."""
        document = parse_document(f"<div id=story><p id=one>{'word ' * 400}</p></div>")
        assert element_id(document, find_separator(document, PARAMETERS)) == "story"

    def test_condition_2_enough_text(self) -> None:
        """Below beta2 the search climbs on."""
        document = article()
        large = replace(PARAMETERS, beta2=document.chars(0) - 1)
        assert document.tag[find_separator(document, large) or 0] == "body"
        assert find_separator(document, replace(PARAMETERS, beta2=document.chars(0) + 1)) is None

    def test_condition_3_at_most_one_large_sibling(self) -> None:
        """A node with two siblings of much text is a part of something: the search climbs on."""
        part = f"<div><p>{'word ' * 400}</p></div>"
        two = parse_document(f"<main><article id=a>{part}{part}</article></main>")
        three = parse_document(f"<main><article id=a>{part}{part}{part}</article></main>")
        assert two.tag[find_separator(two, PARAMETERS) or 0] == "div"
        assert element_id(three, find_separator(three, PARAMETERS)) == "a"
        links = replace(PARAMETERS, beta1=0.5)
        linked = part.replace("<p>", "<p><a>").replace("</p>", "</a></p>")
        mixed = parse_document(f"<main><article id=a>{part}{linked}{linked}</article></main>")
        assert mixed.tag[find_separator(mixed, links) or 0] == "div"

    def test_leaves_in_links_are_passed_over(self) -> None:
        """A long teaser before the article does not start the search."""
        teaser = f"<div id=teasers><a href=/x>{'teaser ' * 300}</a></div>"
        document = parse_document(f"<body>{teaser}<div id=story>{PARAGRAPHS}</div></body>")
        assert element_id(document, find_separator(document, PARAMETERS)) == "story"

    def test_the_forest_leaves_out_link_lists(self) -> None:
        """Children of more links than beta4 are not in the forest; text nodes are."""
        related = "<ul><li><a href=/1>One story</a></li><li><a href=/2>And another</a></li></ul>"
        document = article(inside=f"{related} A bare closing line.")
        forest = forest_of(document, find_separator(document, PARAMETERS), PARAMETERS)
        assert text_of(document, forest).endswith("A bare closing line.")
        assert "another" not in text_of(document, forest)

    def test_cjk_counts_for_more(self) -> None:
        """A Japanese article of 900 characters has its separator node."""
        sentence = (
            "港の新しい灯台は三年の工事を終えて今週金曜日の夕方に初めて点灯すると市が発表した。"
        )
        story = "".join(f"<p>{sentence * 2}</p>" for _ in range(11))
        document = parse_document(f"<body>{NAVIGATION}<div id=story>{story}</div></body>")
        assert element_id(document, find_separator(document, PARAMETERS)) == "story"


class TestFallbacks:
    """Where phase 1 finds nothing."""

    def test_relaxed(self) -> None:
        """A short article is found with smaller thresholds."""
        short = f"<p>{SENTENCES[0]} {SENTENCES[1]}</p><p>{' '.join(SENTENCES[2:])}</p>"
        document = parse_document(f"<body>{NAVIGATION}<div id=story>{short}</div></body>")
        result = nce(document)
        assert result.fallback == "relaxed"
        assert "Section number" not in text_of(document, result.forest)
        assert nce(document, replace(PARAMETERS, relaxations=0)).fallback == "whole_tree"

    def test_whole_tree(self) -> None:
        """Without a leaf of text to start from, the forest is the whole tree, as published."""
        document = parse_document(f"<title>Front</title><body>{NAVIGATION}</body>")
        result = nce(document)
        assert (result.separator, result.forest, result.fallback) == (None, [0], "whole_tree")
        assert result.title == document.tag.index("title")


class TestComments:
    """Phase 2."""

    @pytest.mark.parametrize("place", ["inside", "outside"])
    def test_comments_are_cut_off(self, place: str) -> None:
        """A region of blocks that repeat themselves ends the article."""
        if place == "inside":
            document = article(inside=COMMENTS)
        else:
            document = parse_document(
                f"<body><article id=a><div>{PARAGRAPHS[:900]}</div><div>{PARAGRAPHS}</div>"
                f"{COMMENTS}</article></body>"
            )
        result = nce(document)
        assert result.comments is not None
        text = text_of(document, result.forest)
        assert "knees" not in text
        assert "wrote on Friday" not in text
        assert text.count("Engineers warned") == document.subtree_text(0).count("Engineers warned")
        assert "wrote on Friday" in text_of(document, nce(document, comments=False).forest)

    def test_prose_is_no_comments(self) -> None:
        """Unrelated paragraphs share too few words."""
        document = article()
        paragraphs = forest_of(document, find_separator(document, PARAMETERS), PARAMETERS)
        assert find_comments(document, paragraphs, PARAMETERS) is None

    def test_two_comments_make_no_component(self) -> None:
        """The paper's own limit: one or two comments stay."""
        two = COMMENTS.split("<li class=c12>")[0] + "</ol></section>"
        assert nce(article(inside=two)).comments is None

    def test_a_cut_above_the_forest_is_not_made(self) -> None:
        """Where the region is most of the forest, as in a live blog, nothing is cut."""
        blog = COMMENTS * 6
        document = parse_document(f"<body><div id=story>{PARAGRAPHS[:400]}{blog}</div></body>")
        forest = forest_of(document, find_separator(document, PARAMETERS), PARAMETERS)
        unbounded = replace(PARAMETERS, removable=1.0)
        first = find_comments(document, forest, unbounded)
        assert first is not None
        assert find_comments(document, forest, PARAMETERS) is None

    def test_cut_splits_trees(self) -> None:
        """What comes before the cut in the same tree stays."""
        document = parse_document(
            "<body><div><p>one</p><div><p>two</p><p>three</p></div></div></body>"
        )
        three = document.tag.index("p", document.text.index("two"))
        assert text_of(document, cut_before(document, [0], three)) == "one two"
        assert cut_before(document, [0], 0) == []


class TestTitle:
    """Phase 3."""

    def test_the_title_element(self) -> None:
        """Without a longer candidate it is the title element."""
        document = article()
        assert document.tag[nce(document).title or 0] == "title"

    def test_a_longer_node_that_the_body_holds(self) -> None:
        """A node before the forest whose words the body holds beats a shorter title element."""
        page = (
            f"<title>News</title><body><h1>Rebuild the ferry terminal</h1><div>{PARAGRAPHS}</div>"
        )
        document = parse_document(page)
        result = nce(document)
        assert document.tag[result.title or 0] == "h1"
        strict = replace(PARAMETERS, alpha3=5)
        assert document.tag[find_title(document, result.forest, strict) or 0] == "title"

    def test_nothing(self) -> None:
        """Without title and candidates there is none."""
        assert nce(parse_document(f"<div>{PARAGRAPHS}</div>")).title is None


@given(
    st.lists(
        st.sampled_from([PARAGRAPHS, NAVIGATION, COMMENTS, "<div>", "</div>", "<p>short</p>",
                         "<article>", "</article>", f"<p>{'word ' * 90}</p>", "<h1>A title</h1>"]),
        max_size=8,
    ).map("".join)
)  # fmt: skip
def test_the_forest_is_a_forest(page: str) -> None:
    """Whatever the page: trees are disjoint, in order, and without the comments."""
    document = parse_document("<body>" + page)
    result = nce(document)
    for tree, following in zip(result.forest, result.forest[1:], strict=False):
        assert document.end[tree] <= following
    if result.comments is not None:
        assert all(document.end[tree] <= result.comments for tree in result.forest)
        whole = nce(document, comments=False)
        kept = sum(map(document.chars, result.forest))
        assert kept >= (1 - PARAMETERS.removable) * sum(map(document.chars, whole.forest))


@pytest.mark.corpus
def test_the_separator_is_the_closest(corpus_dir: Path) -> None:
    """On real pages no descendant on the way to the leaf meets the conditions (iv)."""
    pages = load_corpus(corpus_dir / "news212").pages[::20]
    for page in pages:
        document = parse_document(page.html())
        separator = find_separator(document, PARAMETERS)
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
