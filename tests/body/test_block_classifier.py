"""Tests of the block classifier: blocks, regions, features, labels, selection and F1."""

from __future__ import annotations

import math
from array import array
from dataclasses import replace
from itertools import chain, combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.body.block_features import ITEM_CODE
from newscrawl.body.blocks import find_blocks, find_roots
from newscrawl.body.classifier import (
    BlockChoice,
    BodyModels,
    CandidateBlocks,
    best_subset,
    body_candidates,
    choose_blocks,
    load_body_models,
    with_companions,
)
from newscrawl.body.context_features import CONTEXT_FEATURES, context_table
from newscrawl.body.coreex import coreex
from newscrawl.body.econ import extract_news
from newscrawl.body.excluded_regions import (
    end_of_article,
    heading_row,
    outside_excluded_regions,
    reveal_hidden_article,
)
from newscrawl.body.feature_names import FEATURES
from newscrawl.body.nce import find_region, nce
from newscrawl.corpora.corpus import LabelledPage, load_corpus
from newscrawl.corpora.metrics import mean
from newscrawl.document.document import Document, parse_document
from newscrawl.ensemble.ensemble import ModelError, TreeEnsemble
from newscrawl.extraction import default_method
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.training.block_labels import label_blocks
from newscrawl.training.block_training import (
    BodyExample,
    Labelled,
    body_example,
    fit_body_models,
    predict_in_folds,
    read_labelled,
)
from newscrawl.training.boosting import boosted_ensemble
from newscrawl.training.training_errors import TooFewPagesError

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


@given(
    st.lists(st.tuples(st.floats(0.01, 0.99), st.floats(1, 500)), max_size=7),
)
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


def kept(html: str) -> list[str]:
    """Return the text of the blocks outside of excluded regions."""
    document = parse_document(html)
    blocks = find_blocks(document)
    places = outside_excluded_regions(document, blocks, range(len(blocks)), heading_row(document))
    return [texts(document)[place] for place in places]


@pytest.mark.parametrize(
    "noise",
    [
        "<div class='cookie-banner'><p>{}</p></div>",
        "<aside><p>{}</p></aside>",
        "<figure><img><figcaption>{}</figcaption></figure>",
        "<div id=newsletter-signup><p>{}</p></div>",
        "<section class='cli support-us'><p>{}</p></section>",
        "<div class=gallery-item__caption><p>{}</p></div>",
        "<div class='c-Disclaimer small'>{}</div>",
    ],
)
def test_excludes_regions_by_markup(noise: str):
    html = page(inside=noise.format(PROSE[0]))
    assert PROSE[0] not in kept(html)
    assert set(STORY) <= set(kept(html))


def test_excludes_other_articles_but_not_nested_ones():
    beside = (
        "<article><h2>The next story</h2>"
        + "".join(f"<p>{one}</p>" for one in PROSE)
        + "</article>"
    )
    assert not set(PROSE) & set(kept(page(after=beside, story=STORY * 2)))
    assert set(PROSE) <= set(kept(page(inside=beside, story=STORY * 2)))


OFFERS = "".join(
    f"<div class=offer><h2><a href=/shop/{n}>Storm lantern {n}</a></h2><div class=text>"
    f"<h3>Why we like it</h3><p>{n} of them are on board. {PROSE[0]} {PROSE[1]}</p>"
    f"<p>{PROSE[1]} It is number {n}, which we lit in the rain. {PROSE[0]}</p></div>"
    f"<h3>Buying options</h3><a href=/shop/{n}>See details</a></div>"
    for n in range(1, 12)
)


@pytest.mark.parametrize("above", [False, True])
def test_ends_at_the_article_element(*, above: bool):
    html = page(after=f"<section>{OFFERS}</section>", story=STORY * 2)
    if above:
        heading = html[html.index("<h1>") : html.index("</h1>") + len("</h1>")]
        html = html.replace(heading, "").replace(
            "<article>", f"<header>{heading}</header><article>"
        )
    body = extract(html).body
    assert all(text in body for text in STORY)
    assert not any(text in body for text in PROSE)
    document = parse_document(html)
    end = end_of_article(document, heading_row(document))
    assert document.tag[end] == "section"


def test_ignores_the_end_of_short_or_numerous_article_elements():
    heading = "<body><h1>Harbour bridge, live</h1>"
    story = "".join(f"<p>{one}" for one in STORY * 2)
    entries = [
        f"<article><h3>9:0{n}</h3><p>{text}</article>" for n, text in enumerate(STORY + PROSE)
    ]
    for html in (
        f"{heading}<article><p>{STORY[0]}</article><div>{story}</div>",
        f"{heading}<article>{story}</article>{''.join(entries * 2)}",
        f"<article>{story}</article><p>{PROSE[0]}",
    ):
        document = parse_document(html)
        assert end_of_article(document, heading_row(document)) == len(document)


@pytest.mark.parametrize("tag", ["aside", "div class=newsletter", "section id=subscribe"])
def test_keeps_regions_with_most_of_the_page(tag: str):
    html = page().replace("<main>", f"<{tag}>")
    assert set(STORY) <= set(kept(html.replace("<h1>", "<h2>").replace("</h1>", "</h2>")))


@pytest.mark.parametrize("hiding", ["style='display:none'", "hidden", "aria-hidden=true"])
def test_reveals_a_hidden_article_but_not_menus_and_short_texts(hiding: str):
    story = "".join(f"<p>{one}</p>" for one in STORY * 2)
    html = f"<body><h1>Bridge</h1><p>Subscribe to read on.</p><div {hiding}>{story}</div>"
    assert extract(html).body.count("brass band") == 2
    short = f"<body><p>{STORY[0]}</p><div {hiding}><p>{PROSE[0]}</p></div>"
    document = parse_document(short)
    assert reveal_hidden_article(document) is document
    menu = f"<body><p>{STORY[0]}</p><nav {hiding}>{story}</nav>"
    document = parse_document(menu)
    assert reveal_hidden_article(document) is document


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


@pytest.mark.parametrize("cause", NOISE)
def test_removes_noise_and_keeps_all_paragraphs(cause: str):
    article = extract(page(after=NOISE[cause], story=STORY * 2))
    assert not [text for text in PROSE if text[:40] in article.body]
    assert all(text in article.body for text in STORY)
    assert "Gazette" not in article.body


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


def test_standfirst_below_the_heading_is_a_candidate():
    standfirst = (
        "Divers and engineers took seven months and eleven million to open it again for lorries"
    )
    links = "".join(f"<li><a href=/{n}>Another story of the day, number {n}</a>" for n in range(30))
    html = (
        f"<body><div><ul>{links}</ul><header><h1>Harbour bridge</h1><p>{standfirst}<p>Print</header>"
        f"</div><main><article>{''.join(f'<p>{one}' for one in STORY)}</article></main>"
    )
    document = parse_document(html)
    region = find_region(document).forest
    for roots in (region, coreex(document), extract_news(document)):
        assert standfirst not in "".join(map(document.subtree_text, roots))
    found = [texts(document)[place] for place in body_candidates(document, region).places]
    assert found == [standfirst, *STORY]


def test_prose_with_the_same_markup_after_a_box_is_a_candidate():
    links = "".join(f"<div class=teaser><a href=/{n}>Story number {n}</a></div>" for n in range(90))
    story = "".join(f"<p class=text>{one}" for one in STORY * 2)
    html = (
        f"<body><main><article><h1>Harbour bridge</h1><div class=part>{story}</div></article></main>"
        f"<section>{links}<div><div class=part><p class=text>{PROSE[0]}</div></div>"
        f"<div class=part><p class=legal>{PROSE[1]}</div></section>"
    )
    document = parse_document(html)
    region = find_region(document).forest
    found = [texts(document)[place] for place in body_candidates(document, region).places]
    assert found[-6:] == [*STORY, PROSE[0]]


@pytest.mark.parametrize(("times", "taken"), [(2, True), (3, False)])
def test_excludes_repeated_long_texts(times: int, *, taken: bool):
    notice = f"{PROSE[0]} Posts are shown once you have agreed to it, here and on all other pages."
    story = [f"<p>{one}</p><div class=embed><p>{notice}</p></div><p>Why?</p>" for one in STORY]
    document = parse_document(page(story=(*story[:times], *STORY)))
    region = find_region(document).forest
    found = [texts(document)[place] for place in body_candidates(document, region).places]
    assert found.count(notice) == times * taken
    assert found.count("Why?") == times
    assert set(STORY) <= set(found)
    assert extract(f"<article>{f'<p>{notice}</p>' * times}</article>").body.count(notice) == times


@pytest.mark.parametrize(("lists", "taken"), [(1, False), (4, False), (5, True)])
def test_accepts_lists_with_links_only_if_there_are_many(lists: int, *, taken: bool):
    paragraph, item = ([0.0] * len(FEATURES) for _ in range(2))
    item[FEATURES.index("tag")], item[FEATURES.index("link_density")] = ITEM_CODE, 0.9
    blocks = [paragraph, *[item, item, paragraph] * lists]
    probabilities = [0.9 if block is paragraph else 0.2 for block in blocks]
    chosen = [place for place, block in enumerate(blocks) if block is paragraph]
    table = array("d", chain.from_iterable(blocks))
    found = with_companions(table, probabilities, chosen)
    assert found == (list(range(len(blocks))) if taken else chosen)


def test_choice_is_a_deterministic_subset_of_the_candidates():
    document, model = parse_document(page()), load_body_models()
    candidates = body_candidates(document, nce(document).forest)
    rows = {row for place in candidates.places for row in candidates.blocks.rows[place]}
    choice = choose_blocks(candidates, model)
    assert set(choice.rows) <= rows
    assert choice.rows == sorted(choice.rows)
    assert choice == choose_blocks(body_candidates(document, nce(document).forest), model)
    assert len(candidates.features) == len(FEATURES) * len(candidates.places)
    assert all(map(math.isfinite, candidates.features))
    empty = parse_document("<body><img>")
    assert choose_blocks(body_candidates(empty, [0]), model)[:2] == ([], 0.0)


def test_context_sees_neighbours_and_equal_markup():
    blocks = [[0.0] * len(FEATURES) for _ in range(4)]
    for block, count in zip(blocks, (3.0, 3.0, 1.0, 3.0), strict=True):
        block[FEATURES.index("own_count")] = count
    flat, probabilities = array("d", chain.from_iterable(blocks)), [0.2, 0.8, 0.1, 0.5]
    table = context_table(flat, probabilities, [10.0, 30.0, 10.0, 10.0], 0.7, 0.5)
    width = len(CONTEXT_FEATURES)
    rows = [
        dict(zip(CONTEXT_FEATURES, table[i : i + width], strict=True))
        for i in range(0, len(table), width)
    ]
    assert len(rows) == 4
    assert [row["probability"] for row in rows] == probabilities
    assert [row["probability-1"] for row in rows] == [-1, 0.2, 0.8, 0.1]
    assert [row["probability+2"] for row in rows] == [0.1, 0.5, -1, -1]
    assert rows[0]["own_probability"] == pytest.approx((2 + 24 + 5) / 50)
    assert rows[2]["own_probability"] == pytest.approx(0.1)
    assert rows[3]["own_best"] == 0.8
    assert rows[3]["window_12"] == rows[0]["level"] == pytest.approx((2 + 24 + 1 + 5) / 60)
    assert rows[3]["earlier"] == pytest.approx((2 + 24 + 1) / (2 + 24 + 1 + 5))
    assert rows[1]["above_cut"] == pytest.approx(0.3)


def test_context_table_is_empty_without_candidates():
    assert not context_table(array("d"), [], [], 0.0, 0.0)


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


def boosted(seed: int = 0) -> tuple[object, np.ndarray, TreeEnsemble]:
    """Return a fitted model, rows, and the model as an ensemble."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(400, 5)).astype(np.float32)
    truth = (rows[:, 0] + rows[:, 1] * rows[:, 2] > 0).astype(int)
    model = HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=8).fit(rows, truth)
    return model, rows, boosted_ensemble(model, "abcde", {"b.example", "a.example"})


def test_boosted_ensemble_predicts_as_scikit_learn(tmp_path: Path):
    model, rows, ensemble = boosted()
    expected = model.predict_proba(rows)[:, 1]  # type: ignore[attr-defined]
    ensemble.save(tmp_path / "boosted.npz")
    for one in (ensemble, TreeEnsemble.load(tmp_path / "boosted.npz")):
        assert one.predict(rows.tolist()) == pytest.approx(expected, abs=1e-6)
        assert one.predict(rows[:3].tolist()) == pytest.approx(expected[:3], abs=1e-6)
        assert one.link == "logistic"


@pytest.mark.parametrize(
    "change", [{"link": "probit"}, {"base": math.nan}, {"value": None}, {"link": "mean"}]
)
def test_rejects_damaged_boosted_ensembles(tmp_path: Path, change: dict[str, object]):
    _, _, ensemble = boosted()
    if "value" in change:
        change = {"value": np.full_like(ensemble.value, np.inf)}
    replace(ensemble, **change).save(tmp_path / "damaged.npz")
    with pytest.raises(ModelError):
        TreeEnsemble.load(tmp_path / "damaged.npz")


def labelled_pages(count: int) -> list[Labelled]:
    """Return *count* pages of as many sites, in three templates."""
    found = []
    for number in range(count):
        noise = list(NOISE.values())[number % len(NOISE)]
        story = tuple(f"{text} {number}." for text in STORY * (1 + number % 3))
        html = page(after=noise, inside="<h2>Costs</h2>" * (number % 2), story=story)
        where = LabelledPage(
            "made", str(number), Path(), f"https://s{number}.example/a", f"s{number}.example", "tune",
            body="\n".join(story),
        )  # fmt: skip
        found.append(Labelled(where, body_example(parse_document(html), where.body or "")))
    return found


@pytest.mark.slow
def test_training_is_deterministic_and_records_the_sites(tmp_path: Path):
    pages = labelled_pages(12)
    assert all(any(one.example.labels) for one in pages)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        fit_body_models(pages).save(tmp_path / name)
    one, two = (load_body_models(tmp_path / name) for name in ("one", "two"))
    for file in ("body.npz", "body-context.npz"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    assert one.sites == two.sites
    assert "s0.example" in one.sites
    assert one.blocks.ensemble.feature_names == FEATURES
    assert one.context.ensemble.feature_names == CONTEXT_FEATURES


@pytest.mark.parametrize("cause", [*NOISE, "hidden article"])
def test_training_and_extraction_compute_the_same_features(
    monkeypatch: pytest.MonkeyPatch, cause: str
):
    html = page(after=NOISE.get(cause, ""), story=STORY * 2)
    if cause == "hidden article":
        html = html.replace("<article>", "<article hidden>")
    seen: list[CandidateBlocks] = []

    def choose(candidates: CandidateBlocks, models: BodyModels) -> BlockChoice:
        seen.append(candidates)
        return choose_blocks(candidates, models)

    monkeypatch.setattr(default_method, "choose_blocks", choose)
    extract(html)
    learned = body_example(parse_document(html), "\n".join(STORY))
    assert [list(one.features) for one in seen] == [[*chain.from_iterable(learned.features)]]
    assert [one.chars for one in seen] == [learned.chars]


def test_training_rejects_pages_without_trusted_labels():
    with pytest.raises(TooFewPagesError):
        fit_body_models([])
    doubted = [one._replace(page=replace(one.page, body_suspect=True)) for one in labelled_pages(3)]
    with pytest.raises(TooFewPagesError):
        fit_body_models(doubted)


def test_f1_counts_label_words_outside_of_candidates():
    example = BodyExample([[0.0]] * 3, [9.0] * 3, [4, 4, 2], [True, True, False], 2, 8)
    assert example.f1([0, 1]) == pytest.approx(2 * 8 / (8 + 10))
    assert example.f1([0, 2]) == pytest.approx(2 * 4 / (6 + 10))
    assert example.f1([]) == 0
    assert (
        BodyExample.from_plain(
            {"features": [], "chars": [], "words": [], "labels": [], "missing": 0, "found": 0}
        ).f1([])
        == 1
    )


@pytest.fixture(scope="module")
def f1_of_pages(corpus_dir: Path) -> dict[str, list[tuple[float, bool]]]:
    """F1 out of fold and whether the label is doubtful, of each page by corpus."""
    pages = [
        read_labelled(one)
        for name in ("news212", "fundus", "css-sites")
        for one in load_corpus(corpus_dir / name).pages
        if one.body
    ]
    found: dict[str, list[tuple[float, bool]]] = {"news212": [], "fundus": [], "css-sites": []}
    scores = {one.labelled.page: one.f1 for one in predict_in_folds(pages)}
    for one in pages:
        found[one.page.corpus].append((scores.get(one.page, 0.0), one.page.body_suspect))
    return found


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize(
    ("corpus", "everything", "trusted", "failed"),
    [("news212", 0.935, 0.965, 0.038), ("fundus", 0.968, 0.975, 0.008)],
)
def test_reaches_the_f1_of_the_release(
    f1_of_pages: dict[str, list[tuple[float, bool]]],
    corpus: str,
    everything: float,
    trusted: float,
    failed: float,
):
    """Mean F1 of all pages and of those with trusted labels, and the share of pages below 0.5.

    The labels of 10 pages of news212 are truncated, so every correct body fails there.
    """
    scores = [f1 for f1, _ in f1_of_pages[corpus]]
    assert mean(scores) >= everything
    assert mean([f1 for f1, suspect in f1_of_pages[corpus] if not suspect]) >= trusted
    assert mean([float(f1 < 0.5) for f1 in scores]) <= failed
