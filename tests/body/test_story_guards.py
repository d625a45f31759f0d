"""Tests of pages on which a rule would remove the article."""

import pytest

from newscrawl.body.comments import comment_rows
from newscrawl.body.excluded_regions import reveal_hidden_article
from newscrawl.document.document import parse_document
from newscrawl.extraction.extract import extract

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


def test_does_not_reveal_copies_of_shown_text():
    copy = "<br>".join(STORY) + " Printed from the site of the Harbour Gazette."
    page = f"<body>{HEAD}<div>{PARAGRAPHS}</div><div style='display: none'>{copy}{copy}</div>"
    document = parse_document(page)
    assert reveal_hidden_article(document) is document
    assert extract(page).body.split("\n\n") == STORY


def test_reveals_panels_with_a_control():
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
    shown = reveal_hidden_article(parse_document(page)).subtree_text(0)
    assert all(text in shown for text in STORY)
    assert "had said" not in shown
    assert all(text in extract(page).body for text in STORY)


def as_entries(form: str) -> str:
    """Return the article as entries; *form* has placeholders for a number and a text."""
    return "".join(form.format(number=number, text=text) for number, text in enumerate(STORY, 1))


def assert_story(page: str) -> None:
    """Assert that the article is neither hidden nor missing from the body."""
    document = parse_document(page)
    rest = document.with_hidden(comment_rows(document)).subtree_text(0)
    assert all(text in rest for text in STORY)
    body = extract(page).body
    assert all(text in body for text in STORY)


@pytest.mark.parametrize(
    "classes",
    [
        "post-7 post type-post status-publish format-standard hentry category-comment tag-comments",
        "article category-comments",
        "entry tag-comment",
    ],
)
def test_keeps_a_post_in_a_category_with_a_name_of_comments(classes: str):
    related = "".join(
        f"<li><a href=/{day}>Story of day {day}</a> <time>{day} May 2026</time></li>"
        for day in range(1, 5)
    )
    assert_story(f"<body>{HEAD}<div class='{classes}'>{PARAGRAPHS}<ul>{related}</ul></div>")


def test_keeps_an_article_in_an_unclosed_sidebar_item():
    teasers = "".join(
        f"<div class=teaser><a href=/{day}>Story {day}</a> <i>{day} May 2026</i></div>"
        for day in range(1, 5)
    )
    item = "<div class=comments-feed><a href=/comments/feed>Comments</a>"
    page = (
        f"<title>{HEADLINE}</title><body>{item}<h2>{HEADLINE}</h2><div>{PARAGRAPHS}</div>{teasers}"
    )
    assert_story(page)


def test_keeps_live_blog_entries_with_names_of_comments():
    form = "<div class='live-comment'><span>19:0{number}</span><p>{text}</p></div>"
    assert_story(f"<body>{HEAD}<div class=ticker>{as_entries(form)}</div>")


def test_keeps_products_with_makers_and_buttons():
    form = (
        "<div class=product><h3>No. {number} of 2026</h3><b>by Maker {number}</b><p>{text}</p>"
        "<a href=/{number}>See the rating</a></div>"
    )
    lead = "".join(f"<p>{text.replace('said', 'wrote')}</p>" for text in STORY[:3])
    document = parse_document(f"<body>{HEAD}{lead}<div>{as_entries(form)}</div>")
    rest = document.with_hidden(comment_rows(document)).subtree_text(0)
    assert all(text in rest for text in STORY)


def test_keeps_a_short_article_next_to_comments():
    comments = "".join(
        f"<div class=comment><b>{name}</b> <time>{day} May 2026</time><p>I was on board, and it was"
        f" a long crossing, says {name}. Nobody told us anything at all.</p><a href=#>Reply</a></div>"
        for day, name in enumerate(("Ann", "harbour_rat", "P. Garrow", "Tam"), start=1)
    )
    page = f"<title>{HEADLINE}</title><body><div id=content><h2>{HEADLINE}</h2><p>{STORY[0]}</p>{comments}"
    document = parse_document(page)
    rest = document.with_hidden(comment_rows(document)).subtree_text(0)
    assert STORY[0] in rest
    assert "on board" not in rest


def results(rows: int) -> str:
    cells = "".join(
        f"<tr><td>{place}</td><td>Crew of harbour {place}</td><td>{place + 41} points</td></tr>"
        for place in range(1, rows + 1)
    )
    return f"<table><tr><th>Place</th><th>Crew</th><th>Points</th></tr>{cells}</table>"


def test_keeps_tables_of_the_story():
    lead = "".join(f"<p>{text}</p>" for text in STORY[:3])
    promotion = "<aside>" + "<p>Read the Gazette for a month, and pay only for the ink. </p>" * 20
    page = f"<body>{HEAD}<article>{lead}%s</article>{promotion}</aside><footer><p>All of the last season</p>{results(9)}</footer>"
    body = extract(page % results(40)).body
    assert "12 Crew of harbour 12 53 points" in body
    assert all(text in body for text in STORY[:3])
    assert body.count("9 Crew of harbour 9 50 points") == 1
    assert "5 Crew of harbour 5 46 points" in extract(page % results(5)).body


def test_keeps_prose_in_captions_if_there_is_no_other():
    picture = "<div class='caption-image'><img src=1.jpg><p>{}</p></div>"
    pictures = "".join(picture.format(text) for text in STORY)
    teasers = "".join(f"<li><a href=/{n}>Story {n}</a> was read {n} times" for n in range(200))
    body = extract(f"<body>{HEAD}<div>{pictures}</div><ul>{teasers}</ul>").body
    assert all(text in body for text in STORY)
    caption = picture.format("A deck hand, who was there, looks at the new timetable. " * 3)
    page = f"<body>{HEAD}<div>{PARAGRAPHS}{caption}</div><ul>{teasers}</ul>"
    assert "deck hand, who" not in extract(page).body


@pytest.mark.parametrize(
    "page",
    [
        f"<body><footer>{PARAGRAPHS}</footer>",
        f"<body><aside>{PARAGRAPHS}</aside>",
        f"<body><article><a href=/s>{PARAGRAPHS}</a></article>",
        f"<body><div class=privacy>{PARAGRAPHS}</div>",
        f"<body><div class=privacy>{PARAGRAPHS}</div><figcaption>{STORY[0] * 3}</figcaption>",
    ],
)
def test_keeps_the_only_prose_of_a_page(page: str):
    assert STORY[0] in extract(page).body


def test_keeps_a_body_of_boilerplate_with_low_confidence():
    page = f"<body><article><a href=/s>{PARAGRAPHS}</a></article>"
    article = extract(page, method="nce")
    assert article.evidence["body"].confidence <= 0.1


def test_keeps_the_first_post_of_a_thread():
    post = (
        "<div class=post><b>{name}</b> <i>{day} May 2026, 10:1{day}</i><p>{text}</p>"
        "<a href=#>Reply</a><a href=#>Report</a></div>"
    )
    names = ("Ann", "harbour_rat", "P. Garrow", "Tam", "old_mill", "Wren")
    posts = "".join(
        post.format(name=name, day=day, text=text)
        for day, (name, text) in enumerate(zip(names, STORY, strict=True), start=1)
    )
    page = f"<body>{HEAD}<div class=thread>{posts}</div>"
    document = parse_document(page)
    assert STORY[0] in document.with_hidden(comment_rows(document)).subtree_text(0)
    assert STORY[0] in extract(page).body
