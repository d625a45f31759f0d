"""Pages of public bug reports about bodies, kinds and languages."""

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from newscrawl.extraction.extract import ExtractOptions, extract

FETCHED = "2026-05-20T12:00:00+00:00"
CASES = Path(__file__).parents[1] / "cases" / "bodies.jsonl"
SHARED, *ROWS = map(json.loads, CASES.read_text(encoding="utf-8").splitlines())

#: name -> reason
KNOWN = {
    "b07-anchor-emph": "a line of strong words with a link looks like a reference",
    "author-in-definition": "a role of two words looks like a definition",
    "ingredients": "the list is short next to labels of the page",
    "lines-with-bullets": "lines with bullets look like controls",
    "x02-unclosed-div": "the last paragraph is loose text next to the foot of the page",
    "g01-lang-wrong": "the declared language is believed",
    "b18-glossary-span": "the explanation of a word is in a span of its sentence",
    "p-b11-comments-as-body": "comments without a date or a button, next to a short story",
    "short-hidden-rest": "the hidden rest of a story is short",
}


def squeeze(text: str | None) -> str:
    return re.sub(r"\s+", " ", text or "").strip()


def page(case: dict[str, Any]) -> bytes:
    html = case["html"]
    while "§" in html:  # pieces that several pages share
        html = re.sub(r"§(\d+)§", lambda found: SHARED["pieces"][found[1]], html)
    return html.encode()


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(row, id=row["name"], marks=[pytest.mark.xfail(reason=KNOWN[row["name"]])])
        if row["name"] in KNOWN
        else pytest.param(row, id=row["name"])
        for row in ROWS
    ],
)
def test_body(case: dict[str, Any]) -> None:
    expect = case["expect"]
    options = ExtractOptions(
        formats={"markdown"} if "markdown_has" in expect else frozenset(),
        **({"parts": frozenset(case["parts"])} if case.get("parts") else {}),
    )
    fetched = datetime.fromisoformat(case.get("fetched_at", FETCHED))
    article = extract(
        page(case), case["url"], encoding=case.get("encoding"), fetched_at=fetched, options=options
    )
    body = squeeze(article.body)
    assert [text for text in expect.get("body_has", ()) if squeeze(text) not in body] == []
    assert [text for text in expect.get("body_not", ()) if squeeze(text) in body] == []
    assert {body.count(squeeze(text)) for text in expect.get("body_once", ())} <= {1}
    places = [body.find(squeeze(text)) for text in expect.get("body_order", ())]
    assert -1 not in places
    assert places == sorted(places)
    lines = list(map(squeeze, article.body.split("\n")))
    assert [line for line in expect.get("lines", ()) if squeeze(line) not in lines] == []
    assert all(text in (article.body_markdown or "") for text in expect.get("markdown_has", ()))
    kinds = expect.get("kind", article.kind)
    assert article.kind in ([kinds] if isinstance(kinds, str) else kinds)
    assert (article.language or "").lower().startswith(expect.get("language", "").lower())
    assert article.paywalled is expect.get("paywalled", article.paywalled)
    if "title" in expect:
        assert squeeze(article.title) == squeeze(expect["title"])
