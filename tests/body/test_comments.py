"""Tests of the removal of readers' comments."""

from itertools import islice, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reader_comments.articles import KINDS
from benchmarks.reader_comments.labels import share_removed
from benchmarks.reader_comments.measure import OURS, made_pages, real_pages, score
from benchmarks.reader_comments.pages import generated_pages
from newscrawl.body.comments import comment_rows
from newscrawl.document.document import parse_document
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.lab.corpora.metrics import mean
from newscrawl.text import words
from tests.pages.commented_pages import CommentedPage, commented_pages

SENTENCE = "The council met on Tuesday and voted, after some hours, to do nothing at all. "
STORY = "<h1>Council does nothing at all</h1>" + f"<p>{SENTENCE * 3}</p>" * 8
NAMES = ("Ann", "harbour_rat", "P. Garrow", "Tam")


def commented_text(html: str) -> str:
    """Return the text that is classified as comments."""
    document = parse_document(html)
    shown = [row for rows in comment_rows(document) for row in rows if not document.hidden[row]]
    return " ".join(document.text[row] for row in shown if document.text[row])


def records(form: str) -> str:
    """Return four records; *form* has placeholders for a name, a day and a text."""
    return "".join(
        form.format(
            name=name, day=f"{day} May 2026, 1{day}:05", text=f"I say that {name} is right."
        )
        for day, name in enumerate(NAMES, start=1)
    )


@pytest.mark.parametrize("page", commented_pages(), ids=lambda page: page.page)
def test_removes_comments_and_keeps_the_article(page: CommentedPage):
    """At least nine words of ten."""
    body = words(extract(page.html).body)
    text = f" {' '.join(body)} "
    lines = [words(line) for line in page.comments.splitlines()]
    held = sum(len(line) for line in lines if f" {' '.join(line)} " in text)
    assert held <= 0.1 * sum(map(len, lines))
    for paragraph in page.body.split("\n\n"):
        assert f" {' '.join(words(paragraph))} " in text


def test_both_halves_have_the_same_kinds_of_markup():
    tune, report = ({page.system for page in commented_pages(half)} for half in ("tune", "report"))
    assert not tune & report
    assert min(len(commented_pages("tune")), len(commented_pages("report"))) >= 15
    assert {page.language for page in commented_pages()} >= {
        "ar", "en", "he", "hi", "ja", "ko", "zh",
    }  # fmt: skip


@pytest.mark.parametrize(
    "form",
    [
        "<div class='css-1'><b>{name}</b> <i>{day}</i><p>{text}</p><a href=#>Reply</a></div>",
        "<li><a href=/u>{name}</a><div>{text}</div><span>{day}</span><button>Reply</button></li>",
    ],
)
def test_finds_records_without_names(form: str):
    page = f"<main>{STORY}</main><div>{records(form)}</div>"
    assert all(name in commented_text(page) for name in NAMES)
    assert "council" not in commented_text(page)


def test_finds_records_without_buttons_below_a_heading():
    form = "<div><b>{name}</b> <i>{day}</i><p>{text}</p></div>"
    assert commented_text(f"{STORY}<section>{records(form)}</section>") == ""
    page = f"{STORY}<section><h2>4 Kommentare</h2>{records(form)}</section>"
    assert commented_text(page).startswith("4 Kommentare Ann")


@pytest.mark.parametrize(
    "after",
    [
        # teasers: their texts are links
        "<div>"
        + records("<div><a href=/s><b>{name}</b><p>{text}</p></a><i>{day}</i></div>")
        + "</div>",
        # a live blog: its entries have headlines
        "<div>"
        + records(
            "<div><b>{name}</b><time>{day}</time><h2>The third motion of this evening has failed, too"
            "</h2><p>{text}</p><a href=#>Share</a></div>"
        )
        + "</div>",
        # products: their prices
        "<div>"
        + records(
            "<div><b>{name}</b><i>{day}</i><p>{text}</p><span>$ 49</span><a href=#>Buy</a></div>"
        )
        + "</div>",
        "<p class=comment-count>4 comments</p><a class=comments-link href=#c>Write to us</a>",
    ],
)
def test_keeps_other_lists_of_records(after: str):
    assert "is right" not in commented_text(f"<main>{STORY}</main>{after}")


@pytest.mark.parametrize(
    "name", ["commentary", "comments-open", "section-comment", "no-comments", "commentator-column"]
)
def test_keeps_an_article_with_a_name_of_comments(name: str):
    assert commented_text(f"<body class={name}><article class='{name}'>{STORY}</article>") == ""
    assert commented_text(f"<body><h1>A</h1><div class='{name}'>{STORY[40:]}</div>") == ""


def test_finds_comments_that_are_longer_than_the_article():
    form = "<li class=comment id=c><cite>{name}</cite><time>{day}</time><p>{text}</p></li>"
    comments = records(form) * 40
    page = f"<article>{STORY}</article><ol class=commentlist>{comments}</ol>"
    assert words(commented_text(page)) == words(
        commented_text(f"<ol class=comments>{comments}</ol>")
    )
    article = extract(page)
    assert "is right" not in article.body
    assert article.body.count(SENTENCE.strip()) == 24


def test_finds_named_comments_without_records():
    page = f"<body>{STORY}<div class=comments><p>{'I say that Ann is right. ' * 90}</p></div>"
    assert words(commented_text(page)) == words("I say that Ann is right. " * 90)


def test_published_methods_do_not_hide_comments():
    page = next(page for page in commented_pages("tune") if page.system == "facebook")
    comment = max(page.comments.splitlines(), key=len)
    assert comment not in extract(page.html).body
    assert comment in extract(page.html, method="nce").body


def test_keeps_comments_if_the_option_is_off():
    form = "<li class=comment><cite>{name}</cite><i>{day}</i><p>{text}</p></li>"
    page = f"<title>Council does nothing</title>{STORY}<ol class=comments>{records(form)}</ol>"
    kept = extract(page, options=ExtractOptions(remove_comments=False))
    comment = "I say that P. Garrow is right."
    assert comment in kept.body
    assert comment not in extract(page).body
    assert kept.date is None, "the day of a comment"


def test_finds_records_by_their_reply_buttons():
    """They need neither dates nor a heading, and may be longer than the article."""
    form = "<div><b>{name}</b><p>{text}</p><span>Répondre à {name}</span></div>"
    page = f"<main>{STORY}</main><div>{records(form) * 40}</div>"
    assert all(name in commented_text(page) for name in NAMES)
    assert "council" not in commented_text(page)
    shared = page.replace("Répondre à", "Partager avec")
    assert commented_text(shared) == ""


def test_keeps_a_list_that_begins_before_the_comments():
    """The entries of a live blog have authors, dates and buttons."""
    form = (
        "<div><b>{name}</b> <i>{day}</i><p>" + SENTENCE * 2 + "{text}</p><a href=#>Share</a></div>"
    )
    comments = f"<div>{records('<p class=comment>{name} on {day}: {text}</p>') * 20}</div>"
    assert "council" not in commented_text(f"<h1>Live</h1><div>{records(form) * 2}</div>{comments}")


@pytest.mark.parametrize(
    "comments",
    [
        "<p><b>Ann</b>, 3 May 2026</p><p>I say that Ann is right.</p><hr><p>Tam, 4 May 2026</p><p>right.",
        "<dl><dt>1. On 3 May 2026, by Ann</dt><dd>I say that Ann is right, again.</dd></dl>",
        "<div>I say that Ann is right. I say it again.</div><div>Ann, Wexcombe, 3 May 2026</div>",
    ],
)
def test_finds_comments_below_a_heading(comments: str):
    """There is one, or their parts are siblings."""
    page = f"<body>{STORY}<div><h3>Comments (2)</h3>{comments}</div>"
    assert commented_text(page).startswith("Comments (2)")
    assert commented_text(page).endswith(("right.", "again.", "2026"))
    assert commented_text(page.replace("Comments (2)", "More news")) == ""


@pytest.mark.parametrize(
    "page",
    [
        # a counter in the byline of a short article, and of a long one with other dates
        f"<body><p>{SENTENCE * 5}</p><div><p>Comments (2)</p><p>3 May 2026</p>{STORY[40:1000]}</div>",
        f"<body><p>{SENTENCE * 5}</p><div><p>Comments (2)</p><p>3 May 2026</p>{STORY[40:]}"
        + "<p>4 May 2026</p>" * 2,
        # a word of a sentence
        f"<body>{STORY}<div><p>The paper <a>Comments</a> reported on it on <i>3 May 2026</i>. {SENTENCE}</p></div>",
        # a year is not a date
        f"<body>{STORY}<div><h2>Debate</h2><h3>In 2021 as well</h3><p>{SENTENCE * 2}</p></div>",
    ],
    ids=["byline", "byline-and-dates", "sentence", "year"],
)
def test_keeps_text_below_other_labels(page: str):
    assert commented_text(page) == ""


def test_generated_pages_are_reproducible_and_varied():
    pages = list(generated_pages())
    assert pages[:3] == list(islice(generated_pages(), 3))
    commented = [page for page in pages if page.comments]
    assert len(commented) >= 150
    assert len({page.system for page in commented}) >= 15
    assert len({page.language for page in commented}) >= 8
    assert {page.kind for page in commented} == set(KINDS)


@pytest.mark.slow
def test_removes_comments_of_unseen_systems():
    """95 % of the words, and at most 1 % of the bodies, on each half of the systems."""
    found = [score(page, OURS["newscrawl"]) for page in made_pages()]
    for half in ("tune", "report"):
        removed = [it.removed for it in found if it.page.half == half and it.removed is not None]
        assert mean(removed) >= 0.95
    assert mean([it.lost for it in found]) <= 0.01


@given(
    st.lists(
        st.sampled_from(
            [
                "<p>text of some length, really", "<div class=comment>", "</div>", "<ul>",
                "<li>3 May 2026", "<b>", "</ul>", "Reply ",
            ]
        ),
        max_size=60,
    )
)  # fmt: skip
def test_rows_are_disjoint_and_hiding_removes_their_text(parts: list[str]):
    document = parse_document("<html><body>x" + "".join(parts))
    found = comment_rows(document)
    assert all(one.stop <= other.start for one, other in pairwise(found))
    shorn = document.with_hidden(found)
    inside = sum(
        document.chars_before[rows.stop] - document.chars_before[rows.start] for rows in found
    )
    assert shorn.chars(0) == pytest.approx(document.chars(0) - inside)
    assert not any(row in rows for rows in found for row in shorn.text_nodes())


@pytest.mark.corpus
@pytest.mark.slow
def test_comments_of_real_pages(corpus_dir: Path):
    """Pages with labelled comments, and the bodies of all pages of two corpora."""
    found = [score(page, OURS["newscrawl"]) for page in real_pages(corpus_dir)]
    assert mean([it.removed or 0.0 for it in found]) >= 0.98
    assert mean([it.lost for it in found]) <= 0.005
    pages = [
        page for name in ("news212", "fundus") for page in load_corpus(corpus_dir / name).pages
    ]
    assert sum(share_removed(page) > 0.01 for page in pages) <= 2
