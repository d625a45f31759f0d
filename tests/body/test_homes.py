"""The element with most of the text of a page."""

from __future__ import annotations

import pytest

from newscrawl.body.blocks import find_blocks
from newscrawl.body.groups import home_of
from newscrawl.document.document import parse_document

TEXT = "The lorry crossed the bridge at nine and nobody looked up from the nets that morning."


@pytest.mark.parametrize(
    ("story", "home"),
    [
        (f"<section>{f'<p>{TEXT}</p>' * 4}</section>", "section"),
        (f"<section>{f'<div><p>{TEXT}</p></div>' * 4}</section>", "section"),
        (f"<section>{f'<div><div><p>{TEXT}</p></div></div>' * 4}</section>", "section"),
        (f"<section>{f'<div><p>{TEXT}</p><p>{TEXT}</p></div>' * 3}</section>", "section"),
        (f"<section>{f'<p>{TEXT}</p>' * 4}</section>{f'<div><p>{TEXT}</p></div>' * 3}", "section"),
    ],
    ids=["plain", "own containers", "two levels", "sections", "teasers after it"],
)
def test_home(story: str, home: str):
    document = parse_document(f"<main>{story}<aside><p>{TEXT}</p></aside></main>")
    blocks = find_blocks(document)
    above = [document.parent[row] for row in blocks.owner]
    row = home_of(document, above, blocks.chars(document, range(len(blocks))))
    assert document.tag[row] == home


def test_without_text():
    document = parse_document("<p>")
    assert home_of(document, [], []) == 0
