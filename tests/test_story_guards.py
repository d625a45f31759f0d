"""Guards against the loss of a story: pages on which the usual rules would take it for something else."""

from __future__ import annotations

from newscrawl.body.regions import reveal
from newscrawl.document import parse_document
from newscrawl.extraction import extract

HEADLINE = "Ferry crews agree to a new timetable after a long night"
STORY = [
    f"{who} said on Tuesday that the new timetable, agreed after nine hours of talks, would keep "
    f"every harbour on the route open {when}, and that {whose} jobs were no longer in danger."
    for who, when, whose in (
        ("The operator", "until the end of the winter", "three hundred"),
        ("The union's spokeswoman", "on Sundays and on holidays", "all of the deck hands'"),
        ("Two of the island councils", "for the lorries of the dairies", "the mainland's"),
        ("A skipper of the night boat", "whatever the weather does", "the engineers'"),
        ("The minister for the islands", "without another subsidy", "the pursers'"),
        ("The chamber of commerce", "for visitors from abroad", "the waiters' and the cooks'"),
    )
]
PARAGRAPHS = "".join(f"<p>{text}</p>" for text in STORY)
HEAD = f"<title>{HEADLINE}</title><h1>{HEADLINE}</h1><p class=date>3 May 2026</p>"


def test_hidden_copy():
    """for search engines, for printing: what is shown already is not shown again"""
    copy = "<br>".join(STORY) + " Printed from the site of the Harbour Gazette."
    page = f"<body>{HEAD}<div>{PARAGRAPHS}</div><div style='display: none'>{copy}{copy}</div>"
    document = parse_document(page)
    assert reveal(document) is document
    assert extract(page).body.split("\n\n") == STORY


def test_closed_panels():
    """answers that a control opens are text of the page; other hidden text is not"""
    panels = "".join(
        f"<h2><button aria-controls='panel-{number} other'>Question {number}</button></h2>"
        f"<div id=panel-{number} hidden><p>{text}</p></div>"
        for number, text in enumerate(STORY, start=1)
    )
    other = "".join(f"<p>{text.replace('said', 'had said')}</p>" for text in STORY[:3])
    page = (
        f"<body>{HEAD}<article>{PARAGRAPHS.replace('said', 'wrote')}{panels}</article>"
        f"<section id=settings hidden>{other}</section>"
    )
    shown = reveal(parse_document(page)).subtree_text(0)
    assert all(text in shown for text in STORY)
    assert "had said" not in shown
    assert all(text in extract(page).body for text in STORY)
