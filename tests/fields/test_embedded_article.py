"""Articles in the embedded data of pages that show only their beginning."""

from __future__ import annotations

import json
from typing import Any

import pytest

from newscrawl.extraction.extract import extract

STORY = tuple(
    f"On day {n} the divers went down to the {n}. pier of the bridge, measured how far it had moved, and"
    f" wrote “{n} cm” into the book that the harbour master keeps."
    for n in range(12)
)


def prosemirror(text: str) -> dict[str, Any]:
    """Return a paragraph as nested nodes, with a link."""
    head, link, tail = text.partition("the book")
    return {
        "type": "paragraph",
        "content": [
            {"type": "text", "text": head},
            {"type": "link", "content": [{"type": "text", "text": link}]},
            {"type": "text", "text": tail},
        ],
    }


def htmlparser(text: str) -> dict[str, Any]:
    """Return a paragraph as a tree of HTML nodes."""
    return {"type": "tag", "name": "p", "children": [{"type": "text", "data": text}]}


FORMS = {
    "nodes": [*map(prosemirror, STORY), {"type": "ad", "content": []}],
    "tree of HTML": [*map(htmlparser, STORY)],
    "objects with HTML": [{"kind": "p", "text": f"<b>{text}</b>"} for text in STORY],
    "HTML": "".join(f"<p>{text}</p>\n" for text in STORY),
}


def page(data: object, *, shown: int = 2, script: str = "application/json") -> str:
    """Return a page that shows the first paragraphs, with *data* in a script."""
    paragraphs = "".join(f"<p>{text}</p>" for text in STORY[:shown])
    return (
        "<html><head><title>The piers of the bridge</title></head><body>"
        f"<article><h1>The piers of the bridge</h1>{paragraphs}</article><p>Subscribe to read on.</p>"
        f"<script type='{script}'>{json.dumps({'props': {'story': data, 'menu': ['a', 'b']}})}</script>"
    )


@pytest.mark.parametrize("form", FORMS)
def test_extracts_the_full_article(form: str):
    article = extract(page(FORMS[form]))
    assert article.body.split("\n\n") == list(STORY)
    assert article.evidence["body"].source == "page-data"


@pytest.mark.parametrize(
    "html",
    [
        page(FORMS["nodes"], shown=12),
        page(FORMS["nodes"], script="text/javascript"),
        page([{"text": text.replace("divers", "clerks")} for text in STORY]),
        page(list(STORY)),
        page(FORMS["nodes"]).replace("props", "props\\"),
        page(FORMS["nodes"][:2]),
    ],
    ids=["all visible", "no data", "another story", "list of strings", "broken", "same length"],
)
def test_keeps_the_visible_body(html: str):
    """If the data contain no more of this article or cannot be read."""
    article = extract(html)
    assert article.evidence["body"].source == "blocks"
    assert article.body.startswith(STORY[0])


def test_limits_the_depth_of_data():
    deep: object = {"text": STORY[0]}
    for _ in range(300):
        deep = {"content": [deep, {"text": STORY[1]}]}
    assert extract(page(deep)).body
