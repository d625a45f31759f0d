"""Tests of the parts of an article: captions, code, embeds, lists, quotes and tables."""

from pathlib import Path

import pytest

from newscrawl.body.parts import DEFAULT_PARTS, PARTS, Part, is_data_table, parse_names
from newscrawl.document.document import parse_document
from newscrawl.extraction.extract import DEFAULT_METHOD, ExtractOptions, extract
from newscrawl.workers.tasks import extract_page
from tests.commands.test_command_extract import scrapy_extract
from tests.pages.commented_pages import commented_pages

SENTENCE = "The council met on Tuesday and voted, after some hours, to do nothing at all. "
STORY = "".join(f"<p>{SENTENCE * 3}No. {number}.</p>" for number in range(9))
PIECES: dict[Part, str] = {
    "captions": "<figure><img src=a.png><figcaption>The councillors, resting.</figcaption></figure>",
    "code": "<pre>for motion in motions:\n    motion.reject()</pre>",
    "definitions": "<dl><dt>Quorum</dt><dd>Seven councillors, awake.</dd></dl>",
    "embeds": "<blockquote class='twitter-tweet' data-lang=en><p>What a night in the council!</p>"
    "&mdash; Ann (@ann) <a href=/s>3 May 2026</a></blockquote>",
    "lists": "<ul><li>no new bridge</li><li>no new school</li></ul>",
    "quotes": "<blockquote><p>We shall think about it next year, the mayor said.</p></blockquote>",
    "tables": "<table><tr><th>Yes</th><td>eleven</td></tr><tr><th>No</th><td>three</td></tr></table>",
}
WORDS = {
    "captions": "The councillors, resting.",
    "code": "motion.reject()",
    "definitions": "Seven councillors, awake.",
    "embeds": "What a night in the council!",
    "lists": "no new school",
    "quotes": "We shall think about it",
    "tables": "eleven",
}
PAGE = (
    "<title>Council does nothing at all</title><h1>Council does nothing at all</h1><div>"
    + STORY
    + "<h2>What follows</h2>"
    + "".join(f"{piece}<p>{SENTENCE}</p>" for piece in PIECES.values())
    + "</div>"
)


def body_of(page: str, *parts: Part, method: str = "nce") -> str:
    return extract(page, method=method, options=ExtractOptions(parts=frozenset(parts))).body


@pytest.mark.parametrize("part", PARTS)
def test_includes_or_excludes_each_part(part: Part):
    """The rest of the text stays the same."""
    alone, others = body_of(PAGE, part), body_of(PAGE, *(other for other in PARTS if other != part))
    for other, text in WORDS.items():
        assert (text in alone) == (other == part)
        assert (text in others) == (other != part)
    for body in (alone, others):
        assert body.count(SENTENCE.strip()) == 9 * 3 + len(PIECES)
        assert "What follows" in body


def test_default_parts():
    body = extract(PAGE, method="nce").body
    assert [part for part in PARTS if WORDS[part] in body] == sorted(DEFAULT_PARTS)


def test_default_method_respects_the_parts():
    page = next(page for page in commented_pages() if page.page == "coral.en.html")
    first, _, rest = page.html.decode().partition("</p>\n<p>")
    items = "".join(f"<li>{SENTENCE}Item {number} of it.</li>" for number in range(3))
    html = f"{first}</p>{PIECES['captions']}<ul>{items}</ul><p>{rest}"
    without = body_of(html, "captions", method=DEFAULT_METHOD)
    assert "of it." not in without
    assert WORDS["captions"] in without
    assert WORDS["captions"] not in body_of(html, "lists", method=DEFAULT_METHOD)
    for paragraph in page.body.split("\n\n"):
        assert paragraph in without


STANDINGS = "".join(
    f"<tr><td>{place}<td>{team}<td>{points}"
    for place, team, points in [(1, "Harbour", 41), (2, "Old Mill", 38), (3, "Eastern Shore", 30)]
)


def test_default_method_includes_or_excludes_whole_tables():
    page = next(page for page in commented_pages() if page.page == "coral.en.html")
    first, _, rest = page.html.decode().partition("</p>\n<p>")
    table = f"<table><tr><th>Place<th>Team<th>Points{STANDINGS}</table>"
    html = f"{first}</p>{table}<p>{rest}"
    without = ExtractOptions(parts=DEFAULT_PARTS - {"tables"})
    assert extract(html, options=without).body == page.body
    body = extract(html).body
    assert "Place Team Points\n\n1 Harbour 41\n\n2 Old Mill 38\n\n3 Eastern Shore 30" in body
    assert all(paragraph in body for paragraph in page.body.split("\n\n"))


@pytest.mark.parametrize(
    ("rows", "is_data"),
    [
        (STANDINGS, True),
        ("<tr><th>Length<td>212 m<tr><th>Piers<td>nine<tr><th>Opened<td>1871", True),
        ("<tr><th colspan=3>Final standings" + STANDINGS, True),
        (f"<tr><td><a href=/>Home</a><td>{STORY}<tr><td>Contact<td>{STORY}", False),
        (f"<tr><td>{SENTENCE}<tr><td>{SENTENCE}", False),
        ("<tr><td>Menu<td>Council does nothing<tr><td><td>By our reporter", False),
        (f"<tr><td>Menu<td><table>{STANDINGS}</table><tr><td>Imprint<td>Contact", False),
        ("", False),
    ],
)
def test_distinguishes_data_tables_from_layout(rows: str, *, is_data: bool):
    document = parse_document(f"<table>{rows}</table>")
    assert is_data_table(document, document.rows_of("table")[0]) == is_data


@pytest.mark.parametrize(
    "layout",
    ["<table><tr><td>{}</td></tr></table>", "<ul><li>{}</li></ul>", "<blockquote>{}</blockquote>"],
)
def test_keeps_layout_tables_and_lists_with_the_article(layout: str):
    assert body_of(f"<h1>Council</h1><div>{layout.format(STORY)}</div>").count("No.") == 9


def test_includes_a_caption_before_the_body():
    page = f"<h1>Council does nothing</h1>{PIECES['captions']}<div>{STORY}</div><p>Bye.</p>"
    assert body_of(page, "captions").startswith(WORDS["captions"])
    assert WORDS["captions"] not in body_of(page)


def test_parses_part_names():
    assert parse_names(["lists", " tables", ""], PARTS, "part") == {"lists", "tables"}
    assert parse_names([], PARTS, "part") == frozenset()
    with pytest.raises(ValueError, match=r"'images'; expected one of: captions, code, definitions"):
        parse_names(["images"], PARTS, "part")


def test_worker_task_accepts_part_names():
    plain = extract_page(PAGE.encode(), parts=["captions"], method="nce")
    assert WORDS["captions"] in plain["body"]
    assert WORDS["lists"] not in plain["body"]


@pytest.mark.slow
def test_extract_command_accepts_parts(tmp_path: Path):
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    ran = scrapy_extract(
        tmp_path, "page.html", "--parts", "captions,tables", "--text", "--method", "nce"
    )
    text = ran.stdout.decode()
    assert [part for part in PARTS if WORDS[part] in text] == ["captions", "tables"]
    wrong = scrapy_extract(tmp_path, "page.html", "--parts", "images")
    assert wrong.returncode == 2
    assert b"unknown part 'images'" in wrong.stderr + wrong.stdout
