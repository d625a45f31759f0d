"""Text inside the story that a sheet hides from readers."""

import pytest

import newscrawl

PARAGRAPHS = [
    f"{start} The council met for the {number}th time on Tuesday evening, and heard from residents of the"
    f" harbour quarter who had waited {number} years for an answer to their letters about the old bridge."
    for number, start in enumerate(
        ("First things first.", "Nobody was surprised.", "A vote followed.", "The mayor spoke.",
         "Others disagreed.", "It grew late.", "The session closed."), 11)
]  # fmt: skip
TRAP = "Whoever reads this sentence elsewhere has found a copy of our report, made without our leave, sorry."
URL = "https://paper.example/bridge.html"


def body_of(story: str, css: str = "", **options: object) -> str:
    html = f"""<!DOCTYPE html><html><head><title>Council votes on the old bridge</title>
    <style>{css}</style></head><body><nav><a href="/">Home</a></nav>
    <article><h1>Council votes on the old bridge</h1>{story}</article></body></html>"""
    return newscrawl.extract(html, URL, **options).body  # type: ignore[arg-type]


def paragraphs(*inserted: str) -> str:
    """Return the story with *inserted* after its third paragraph."""
    shown = [f"<p>{text}</p>" for text in PARAGRAPHS]
    return "\n".join([*shown[:3], *inserted, *shown[3:]])


@pytest.mark.parametrize(
    ("trap", "css"),
    [
        (f"<p class=q7>{TRAP}</p>", ".q7{display:none}"),
        (f"<p class=q7>{TRAP}</p>", "article > p.q7 { color: red; visibility: hidden }"),
        (f"<p class=q7>{TRAP}</p>", "p { display: block } .q7 { font-size: 0 }"),
        (f"<p class=q7>{TRAP}</p>", ":root{--off:none} p.q7{display:var(--off)}"),
        (
            f"<div id=share><p>{TRAP}</p></div>",
            "@media screen { article #share { display: none } }",
        ),
        (f"<div><p class='a q7'>{TRAP}</p></div>", "div > .q7:first-child { display: none }"),
    ],
)
def test_little_hidden_text_goes(trap: str, css: str):
    story = paragraphs(trap)
    assert TRAP in body_of(story)
    body = body_of(story, css)
    assert TRAP not in body
    assert all(text in body for text in PARAGRAPHS)


@pytest.mark.parametrize(
    "css",
    [
        "@media print { .q7 { display: none } }",
        "@media (max-width: 600px) { .q7 { display: none } }",
        "/* .q7 { display: none } */",
        ".q7 { display: none } article .q7 { display: block }",
        ".q7:hover { display: none } .other .q7 { display: none }",
        ".q7::after { display: none }",
        "p { display: none } article p { display: block }",
    ],
)
def test_shown_text_stays(css: str):
    assert TRAP in body_of(paragraphs(f"<p class=q7>{TRAP}</p>"), css)


def test_a_linked_sheet_hides_without_the_others():
    """A missing sheet does not matter."""
    story = paragraphs(f"<p class=q7>{TRAP}</p>")
    links = "<link rel=stylesheet href=/a.css><link rel=stylesheet href=/missing.css>"
    sheets = {"https://paper.example/a.css": ".q7{display:none}"}
    assert TRAP not in body_of(links + story, stylesheets=sheets)


def test_poison_after_each_paragraph_goes():
    story = "\n".join(
        f"<p>{text}</p><p class=q7>{number}. {TRAP}</p>" for number, text in enumerate(PARAGRAPHS)
    )
    body = body_of(story, ".q7{display:none}")
    assert TRAP not in body
    assert all(text in body for text in PARAGRAPHS[:-1])


@pytest.mark.parametrize(
    ("story", "css"),
    [
        # the rest behind a wall
        (
            f"<p>{PARAGRAPHS[0]}</p><div class=rest>"
            + "".join(f"<p>{text}</p>" for text in PARAGRAPHS[1:]) + "</div>",
            ".rest{display:none}",
        ),
        # answers of an accordion
        (
            "".join(f"<h3>Question {n}?</h3><div class=answer><p>{text}</p></div>" if n > 3
                    else f"<p>{text}</p>" for n, text in enumerate(PARAGRAPHS)),
            ".answer{display:none}",
        ),
        # an article that appears later
        (paragraphs(), "body { visibility: hidden }"),
        # a panel that an attribute hides and a control opens
        (
            "".join(f"<p>{text}</p>" for text in PARAGRAPHS[:5])
            + "<button aria-controls=more>More</button><div id=more class=m hidden>"
            + "".join(f"<p>{text}</p>" for text in PARAGRAPHS[5:]) + "</div>",
            ".m{display:none}",
        ),
    ],
)  # fmt: skip
def test_hidden_parts_of_the_story_stay(story: str, css: str):
    body = body_of(story, css)
    assert all(text in body for text in PARAGRAPHS)
