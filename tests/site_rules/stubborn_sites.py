"""Pages of sites that extraction reads wrongly, each with the rule that corrects it."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

_STORY = """
The council of Port Ellery voted on Tuesday to close the old swing bridge for two years, after \
engineers found cracks in three of the four main girders.
Traffic will be diverted to the northern crossing, which adds eleven minutes to the trip between \
the harbour and the hospital, the council said.
“We would rather be blamed for a detour than for a collapse,” said Mayor Ines Calloway, who \
expects the first cranes to arrive before the end of March.
"""
_EXTRA = """
Readers have told us for years that the bus to the harbour is late, and our reporters have now \
counted each delay of the last three months at four stops.
The figures show that every third bus arrives more than ten minutes after the time on the board, \
and that no bus has been early since the first of June.
"""
STORY, EXTRA = (tuple(text.strip().split("\n")) for text in (_STORY, _EXTRA))


def paragraphs(texts: Iterable[str] = STORY) -> str:
    """Return *texts* as HTML."""
    return "\n".join(f"<p>{text}</p>" for text in texts)


def page(body: str, head: str = "<title>Bridge to close for two years</title>") -> str:
    """Return a page with navigation and footer."""
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{head}</head><body>'
        '<nav><a href="/">Home</a> <a href="/news">News</a> <a href="/sport">Sport</a></nav>'
        f'{body}<footer><a href="/imprint">Imprint</a> <a href="/privacy">Privacy</a></footer>'
        "</body></html>"
    )


class Site(NamedTuple):
    """A page, its rule, and what an article of it has to be."""

    name: str
    html: str
    rule: str
    #: field -> value; for ``body`` the paragraphs
    expected: Mapping[str, Any]


H1 = "<h1>Bridge to close for two years</h1>"
SITES = (
    Site(
        "advertorial-in-the-story",
        page(
            f'<main>{H1}<div class="text">{paragraphs(STORY[:2])}'
            f'<div class="box-a7">{paragraphs(EXTRA)}</div>{paragraphs(STORY[2:])}</div></main>'
        ),
        "strip: //div[@class='box-a7']",
        {"body": STORY},
    ),
    Site(
        "second-story-below",
        page(
            f'<main><div class="a">{H1}{paragraphs()}</div>'
            f'<div class="b">{paragraphs(EXTRA * 4)}</div></main>'
        ),
        "body: //div[@class='a']",
        {"body": STORY},
    ),
    Site(
        "names-like-comments",
        page(
            f'{H1}<div class="lead"><p>Opinion of the day, by the editors of the paper, on matters of '
            f'the town and its harbour.</p></div><div id="comments" class="comments">'
            f"{''.join(f'<div class=comment><p>{text}</p></div>' for text in STORY)}</div>"
        ),
        "body: //div[@id='comments']",
        {"body": STORY},
    ),
    Site(
        "hidden-in-a-comment",
        page(f'{H1}<p class="teaser">{EXTRA[0]}</p><!--story {paragraphs()} story-->'),
        "find_string: <!--story\nreplace_string: <div id='story'>\n"
        "find_string: story-->\nreplace_string: </div>\nbody: //div[@id='story']",
        {"body": STORY},
    ),
    Site(
        "list-of-links",
        page(
            f"{H1}<article><p>What the town read this week, picked by the editors:</p><ul>"
            + "".join(
                f'<li><a href="https://elsewhere.example/{n}">{text}</a></li>'
                for n, text in enumerate(STORY)
            )
            + "</ul></article>"
        ),
        "body: //article\nprune: no",
        {"body": ("What the town read this week, picked by the editors:", *STORY)},
    ),
    Site(
        "headline-without-markup",
        page(
            f'<h1>Port Ellery Observer</h1><div class="hed">Swing bridge shut until 2028</div>'
            f"<div>{paragraphs()}</div>",
            "<title>Port Ellery Observer</title>",
        ),
        "title: //div[@class='hed']",
        {"title": "Swing bridge shut until 2028"},
    ),
    Site(
        "date-of-the-template",
        page(
            f'<article>{H1}{paragraphs()}</article><p class="foot">Printed: 14 March 2025</p>',
            "<title>Bridge to close for two years</title>"
            '<meta property="article:published_time" content="2019-01-01T00:00:00Z">',
        ),
        "date: substring-after(//p[@class='foot'], 'Printed:')",
        {"date": "2025-03-14"},
    ),
    Site(
        "author-in-an-attribute",
        page(
            f'<article data-writers="Ines Calloway and Tom Aske">{H1}'
            f'<p class="by">By our own staff</p>{paragraphs()}</article>',
            "<title>Bridge to close for two years</title>"
            '<meta name="author" content="Web Desk Admin">',
        ),
        "author: //article/@data-writers",
        {"authors": ["Ines Calloway", "Tom Aske"]},
    ),
    Site(
        "body-hidden-until-a-click",
        page(
            f'{H1}<div class="offer">{paragraphs(EXTRA * 3)}</div>'
            f'<div class="full" style="display:none">{paragraphs()}</div>'
        ),
        "body: //div[@class='none']\nbody: //div[@class='full']",
        {"body": STORY},
    ),
    Site(
        "signs-in-each-paragraph",
        page(
            f"<article>{H1}"
            + "".join(
                f'<p>{text} <span class="tip-x">Our guide to bridges</span></p>' for text in STORY
            )
            + "</article>"
        ),
        "strip_id_or_class: tip-x",
        {"body": STORY},
    ),
)
