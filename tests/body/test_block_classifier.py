"""The block classifier: blocks, labels, features and choice."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.body.block_features import (
    CONTEXT_FEATURES,
    FEATURES,
    best_subset,
    context_columns,
    shared_probabilities,
)
from newscrawl.body.blocks import find_blocks, find_roots
from newscrawl.body.classifier import BodyModels, body_candidates, choose_blocks, load_body_models
from newscrawl.body.nce import nce
from newscrawl.document.document import Document, parse_document
from newscrawl.ensemble.ensemble import Columns
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.lab.training.block_labels import label_blocks

STORY = (
    "The bridge over the harbour was closed in the spring, when divers found that two of its piers had moved by the width of a hand.",
    "Since then the ferry has carried nine thousand passengers a day, and the queues on the eastern shore have reached as far as the old mill.",
    "Engineers of the city drove forty steel tubes into the bed of the river, filled them with concrete, and waited for six weeks to see whether anything gave way.",
    "Nothing did, and on Monday morning the first lorry crossed at walking pace, watched by the mayor, a brass band and several hundred people in the rain.",
    "The works cost eleven million, two more than planned; a commission of the council is to find out by summer why nobody had looked at the piers for nineteen years.",
)
PROSE = (
    "Readers of this page have asked for many years how we choose what we print, and the answer is always a little different.",
    "There is a long table in the middle of the room, at which everybody sits at nine in the morning, and whoever speaks first has lost.",
)

NOISE = {
    "comments": "<div id=comments><h3>2 comments</h3><ol class=comment-list>"
    + "".join(
        f"<li class=comment><b>reader{n}</b> <time>3 May, 10:1{n}</time><p>{text}</p><a href=#>Reply</a>"
        for n, text in enumerate(PROSE)
    )
    + "</ol></div>",
    "teasers": "<div class=related><h3>More stories</h3><ul>"
    + "".join(f"<li><a href=/{n}>{text}</a>" for n, text in enumerate(PROSE))
    + "</ul></div>",
    "caption": f"<figure><img src=b.jpg><figcaption>{PROSE[0]}</figcaption></figure>",
    "newsletter": f"<div class=newsletter-box><h4>The morning letter</h4><p>{PROSE[0]}</p><form><input></form></div>",
    "biography": f"<div class=author-bio><img src=a.jpg><p>{PROSE[0]}</p><a href=/a>All articles</a></div>",
    "cookies": f"<div id=cookie-consent><p>{PROSE[0]}</p><p>{PROSE[1]}</p><button>OK</button></div>",
    "second article": "<article><h2><a href=/n>The next story</a></h2>"
    + "".join(f"<p>{one}</p>" for one in PROSE)
    + "</article>",
}


def page(*, inside: str = "", after: str = "", story: tuple[str, ...] = STORY) -> str:
    """Return a page with an article, *inside* in the middle of it and *after* behind it."""
    paragraphs = [f"<p>{one}</p>" for one in story]
    middle = len(paragraphs) // 2
    body = "".join([*paragraphs[:middle], inside, *paragraphs[middle:]])
    return (
        "<!doctype html><html><head><title>Harbour bridge reopens after repairs | The Gazette</title></head>"
        "<body><nav><ul><li><a href=/>Home</a><li><a href=/w>World</a></ul></nav><main><article>"
        f"<h1>Harbour bridge reopens after repairs</h1>{body}</article>{after}</main>"
        "<footer><p>The Gazette, printed on Harbour Street since 1871.</p></footer></body></html>"
    )


def texts(document: Document) -> list[str]:
    """Return the text of each block."""
    return [" ".join(document.text[row] for row in rows) for rows in find_blocks(document).rows]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>one <b>two</b> three</p><p>four</p>", ["one two three", "four"]),
        ("<div>one<p>two</p>three</div>", ["one", "two", "three"]),
        ("<div>one<br>two<br><br>three</div>", ["one two", "three"]),
        ("<table><tr><td>one<td>two</table>", ["one", "two"]),
        ("<p>one</p><p hidden>two</p><p>three</p>", ["one", "three"]),
        ("<ul><li>one<ul><li>two</ul>three</ul>", ["one", "two", "three"]),
    ],
)
def test_splits_text_into_blocks(html: str, expected: list[str]):
    assert texts(parse_document(html)) == expected


TREES = st.recursive(
    st.sampled_from(["a word", "<br>", "more of it", "<img>"]),
    lambda inner: st.builds(
        "<{0}>{1}</{0}>".format,
        st.sampled_from(["p", "div", "ul", "b", "span", "td", "h2"]),
        st.lists(inner, max_size=4).map("".join),
    ),
)


@given(TREES, st.data())
def test_roots_contain_exactly_the_selected_text_nodes(html: str, data: st.DataObject):
    document = parse_document(f"<body>x{html}")
    chosen = data.draw(st.sets(st.sampled_from(list(document.text_nodes()))))
    forest = find_roots(document, sorted(chosen))
    assert [row for root in forest for row in document.text_nodes(root)] == sorted(chosen)


@given(st.lists(st.tuples(st.floats(0.01, 0.99), st.floats(1, 500)), max_size=7))
def test_best_subset_has_the_greatest_expected_f1(blocks: list[tuple[float, float]]):
    probabilities, sizes = [p for p, _ in blocks], [size for _, size in blocks]
    true = math.fsum(p * size for p, size in blocks)

    def expected(places: tuple[int, ...]) -> float:
        hit = math.fsum(probabilities[i] * sizes[i] for i in places)
        return 2 * hit / (true + math.fsum(sizes[i] for i in places))

    chosen, best = best_subset(probabilities, sizes)
    everything = range(len(blocks))
    others = [expected(s) for n in everything for s in combinations(everything, n + 1)]
    assert chosen == sorted(chosen)
    assert best == pytest.approx(max(others, default=0.0))


def test_labels_by_position_then_by_trigrams():
    """Each word of the label is used once."""
    body = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    blocks = [body[:5], ["one", "two"], body[5:], body[:5], ["x", "y", "z"], []]
    assert label_blocks(blocks, body) == [True, False, True, False, False, False]
    assert label_blocks([body[5:], body[:5]], body) == [True, True]


def test_keeps_headings_lists_and_quotes_in_order():
    inside = (
        "<h2>What it cost</h2><ul><li>Steel tubes, forty of them, four million</li>"
        "<li>Concrete and divers, six weeks, seven million</li></ul>"
        f"<blockquote><p>{PROSE[1]}</p></blockquote>"
    )
    body = extract(page(inside=inside, story=STORY * 2)).body
    parts = ("What it cost", "Steel tubes", "Concrete and divers", PROSE[1])
    order = [body.find(STORY[0]), *map(body.find, parts), body.rfind(STORY[4])]
    assert -1 not in order
    assert order == sorted(order)


SCRIPTS = {
    "zh": ("市政府周一宣布，经过七个月的维修，横跨港口的大桥将于本周重新开放，首批车辆已在当天早晨以步行速度通过。", "版权所有，未经许可不得转载。"),
    "ja": ("港にかかる橋は、七か月にわたる補修工事を終え、月曜日の朝に再び開通し、最初のトラックがゆっくりと渡った。", "無断転載を禁じます。"),
    "ar": ("أعلنت المدينة يوم الاثنين أن الجسر الذي يعبر الميناء سيفتح من جديد، بعد سبعة أشهر من أعمال الإصلاح، وعبرته أول شاحنة في الصباح.", "جميع الحقوق محفوظة"),
    "he": ("העירייה הודיעה ביום שני כי הגשר שמעל הנמל ייפתח מחדש, לאחר שבעה חודשים של עבודות, והמשאית הראשונה חצתה אותו בבוקר.", "כל הזכויות שמורות"),
}  # fmt: skip


@pytest.mark.parametrize("language", SCRIPTS)
def test_handles_scripts_without_spaces_and_right_to_left(language: str):
    paragraph, notice = SCRIPTS[language]
    story = tuple(f"{n}. {paragraph}" for n in range(8))
    html = page(story=story, after=f"<div class=copyright>{notice}</div>")
    body = extract(html.replace("<html>", f"<html lang={language}>")).body
    assert all(one in body for one in story)
    assert notice not in body


class Rated(NamedTuple):
    """Models that rate the last candidates lower than the others, and links lowest."""

    number: int
    probability: float

    def probabilities(self, features: Columns, chars: list[float]) -> list[float]:
        rated = [0.95] * (len(chars) - self.number) + [self.probability] * self.number
        links = features["link_density"]
        return [0.01 if link else one for link, one in zip(links, rated, strict=True)]


LINKS = "".join(f"<li><a href=/{n}>Shelf {n} of the archive</a></li>" for n in range(8))
ABOUT = "".join(f"<p>{one}</p>" for one in PROSE)
BOXES = (
    f"<div><div><h1>Piers of the harbour bridge hold</h1>{{story}}</div></div><ul>{LINKS}</ul><div><div>{ABOUT}</div></div>",
    f"<table><tr><td><h1>Piers of the harbour bridge hold</h1>{{story}}</td><td>{LINKS}</td><td>{ABOUT}</td></tr></table>",
    f"<section><h1>Piers of the harbour bridge hold</h1><div>{{story}}</div></section><aside></aside><nav>{LINKS}</nav><div>{ABOUT}</div>",
)


@pytest.mark.parametrize("form", BOXES)
def test_text_after_a_gap_is_chosen_or_left_out_as_a_whole(form: str):
    def body(form: str, probability: float, story: Sequence[str] = STORY) -> str:
        paragraphs = "".join(f"<p>{one}</p>" for one in story)
        document = parse_document(f"<body>{form.format(story=paragraphs)}")
        candidates = body_candidates(document, [0])
        choice = choose_blocks(candidates, cast("BodyModels", Rated(len(PROSE), probability)))
        return " ".join(document.text[row] for row in choice.rows)

    assert body(form, 0.55).endswith(STORY[-1])
    assert body(form, 0.8).endswith(PROSE[-1])
    assert body(form.replace(LINKS, LINKS[: LINKS.index("<li><a href=/4")]), 0.55).endswith(
        PROSE[-1]
    ), "a short gap"
    assert body(form.replace("h1>", "b>"), 0.55).endswith(PROSE[-1]), "no heading"
    assert body(form, 0.55, STORY[:1]).endswith(PROSE[-1]), "a standfirst before the gap"


def test_choice_is_a_deterministic_subset_of_the_candidates():
    document, model = parse_document(page()), load_body_models()
    candidates = body_candidates(document, nce(document).forest)
    rows = {row for place in candidates.places for row in candidates.blocks.rows[place]}
    choice = choose_blocks(candidates, model)
    assert set(choice.rows) <= rows
    assert choice.rows == sorted(choice.rows)
    assert choice == choose_blocks(body_candidates(document, nce(document).forest), model)
    assert candidates.features.keys() == set(FEATURES)
    for column in candidates.features.values():
        assert len(column) == len(candidates.places)
        assert all(map(math.isfinite, column))
    empty = parse_document("<body><img>")
    assert choose_blocks(body_candidates(empty, [0]), model)[:2] == ([], 0.0)


def test_context_sees_neighbours_and_equal_markup():
    features = dict.fromkeys(FEATURES, [0.0] * 4) | {"own_count": [3.0, 3.0, 1.0, 3.0]}
    probabilities = [0.2, 0.8, 0.1, 0.5]
    found = context_columns(features, probabilities, [10.0, 30.0, 10.0, 10.0], 0.7, 0.5)
    assert set(CONTEXT_FEATURES) <= {*FEATURES, *found}
    assert list(found["probability"]) == probabilities
    assert list(found["probability-1"]) == [-1, 0.2, 0.8, 0.1]
    assert list(found["probability+2"]) == [0.1, 0.5, -1, -1]
    assert found["own_probability"][0] == pytest.approx((2 + 24 + 5) / 50)
    assert found["own_probability"][2] == pytest.approx(0.1)
    assert found["own_best"][3] == 0.8
    assert list(found["own_share"]) == pytest.approx([50 / 60, 50 / 60, 10 / 60, 50 / 60])
    assert found["window_12"][3] == found["level"][0] == pytest.approx((2 + 24 + 1 + 5) / 60)
    assert found["earlier"][3] == pytest.approx((2 + 24 + 1) / (2 + 24 + 1 + 5))
    assert found["above_cut"][1] == pytest.approx(0.3)


def test_context_is_empty_without_candidates():
    assert context_columns({}, [], [], 0.0, 0.0) == {}


def test_confidence_is_lower_for_menus():
    sure = extract(page(story=STORY * 2)).evidence["body"]
    assert sure.source == "blocks"
    menu = "".join(f"<li><a href=/{n}>Section {n}</a> and what is in it" for n in range(40))
    unsure = extract(f"<body><h1>All sections</h1><ul>{menu}</ul>").evidence.get("body")
    assert 0.9 < sure.confidence <= 1
    assert unsure is None or unsure.confidence < sure.confidence


def test_body_is_the_region_without_boilerplate_removal():
    html = page(inside=NOISE["caption"], story=STORY * 2)
    assert PROSE[0] in extract(html, options=ExtractOptions(remove_boilerplate=False)).body


def _choice(tags: list[float], rates: list[float]) -> list[float]:
    features = dict.fromkeys(FEATURES, [0.0] * len(tags)) | {"tag": tags}
    return shared_probabilities(features, rates, [10.0] * len(tags))


def test_a_heading_is_as_probable_as_the_block_after_it():
    heading = 9.0  # h2
    tags = [1.0, heading, heading, 1.0, heading, 1.0]
    assert _choice(tags, [0.9, 0.2, 0.1, 0.8, 0.3, 0.1]) == [0.9, 0.8, 0.8, 0.8, 0.3, 0.1]
    assert _choice([heading, 1.0], [0.01, 0.9]) == [0.01, 0.9]
