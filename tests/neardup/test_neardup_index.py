"""Verdicts of the near-duplicate index."""

import random
from datetime import UTC, datetime
from itertools import permutations

import pytest

from newscrawl.neardup import Index, Story, Verdict
from newscrawl.neardup.batch import two_pass
from tests.helpers.neardup_writer import WORDS

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def words(count: int, seed: int = 0) -> list[str]:
    """Return random words."""
    return random.Random(seed).choices(WORDS, k=count)


def story(url: str, text: list[str] | str, when: datetime = NOON) -> Story:
    """Return a story of the site in its URL."""
    text = text if isinstance(text, str) else " ".join(text)
    return Story(url, text, when, url.split("/")[2])


def test_copy_joins_the_cluster_of_the_original():
    with Index(None) as index:
        first = index.add(story("https://a.test/1", words(300)))
        other = index.add(story("https://b.test/1", words(300, seed=1)))
        copy = index.add(story("https://c.test/1", words(300)))
    assert first == Verdict(first.cluster, 1, True, None, ())
    assert other.cluster != first.cluster
    assert copy == Verdict(first.cluster, 2, False, 1.0, ("https://a.test/1",))


@pytest.mark.parametrize("length", [60, 400, 3000])
def test_trimmed_copy_joins_in_either_order(length: int):
    text = words(length)
    for text_before, text_after in permutations((text, text[: length // 2])):
        with Index(None) as index:
            first = index.add(story("https://a.test/1", text_before))
            assert index.add(story("https://b.test/1", text_after)).cluster == first.cluster


def test_compares_characters_in_scripts_without_spaces():
    draw = random.Random(3)
    kana = [chr(code) for code in range(0x3041, 0x3090)] + [chr(c) for c in range(0x4E00, 0x4F00)]
    text = "".join(draw.choices(kana, k=400))
    with Index(None) as index:
        first = index.add(story("https://a.test/1", text))
        edited = index.add(story("https://b.test/1", text[:150] + "変更" + text[160:350]))
        other = index.add(story("https://c.test/1", "".join(draw.choices(kana, k=400))))
    assert edited.cluster == first.cluster != other.cluster


def test_separates_texts_of_a_template_by_their_numbers():
    template = "The Fed added {} million dollars in reserves through a {} day repurchase agreement"
    with Index(None) as index:
        first = index.add(story("https://a.test/1", template.format(900, 3)))
        other = index.add(story("https://b.test/1", template.format(1500, 7)))
        same = index.add(story("https://c.test/1", template.format(900, 3) + " on Monday"))
    assert other.cluster != first.cluster == same.cluster


TEMPLATES = {
    "numbers": "Rainfall in the valley reached {1} millimetres and winds blew at {2} kilometres per "
    "hour until the storm moved on after {3} hours, the weather service said in its daily note.",
    "names": "The court said that {4} and {5} of {6} have to pay the costs of the hearing, and the "
    "judge set a date for an appeal of the company, which did not comment on the decision.",
    "Greek": "Σύμφωνα με την ανακοίνωση του δικαστηρίου ο {7} και ο {8} πρέπει να πληρώσουν τα έξοδα "
    "της δίκης, ενώ η εταιρεία δεν θέλησε να σχολιάσει την απόφαση που εκδόθηκε νωρίς το πρωί.",
    "Chinese": "市气象台{9}月{10}日发布消息，过去一昼夜累计降雨{1}毫米，局部乡镇出现短时强降水，最高气温{2}摄氏度，请市民注意出行安全。",
}
"""Templates of reports: by numbers, by capitalised names, and in other scripts."""

VALUES = (
    ["", "12.5", "61", "7", "Holt", "Marsh", "Ashford", "Παππάς", "Βλάχος", "3", "14"],
    ["", "30.1", "48", "9", "Quinn", "Tate", "Kendal", "Ζήσης", "Δούκας", "4", "22"],
)


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_separates_short_reports_of_a_template(template: str):
    one, other = (template.format(*values) for values in VALUES)
    collection = [
        story("https://a.test/1", one),
        story("https://b.test/1", other),
        story("https://c.test/1", one + " (News)"),
    ]
    with Index(None) as index:
        first, second, copy = index.add_many(collection)
    clusters = two_pass_clusters(collection)
    assert second.cluster != first.cluster == copy.cluster
    assert clusters["https://b.test/1"] != clusters["https://a.test/1"]
    assert clusters["https://a.test/1"] == clusters["https://c.test/1"]


def test_corrected_number_does_not_separate_copies():
    text = TEMPLATES["numbers"].format(*VALUES[0])
    with Index(None) as index:
        first = index.add(story("https://a.test/1", text))
        corrected = index.add(story("https://b.test/1", text.replace("61", "63")))
    assert corrected.cluster == first.cluster


def test_short_text_requires_a_higher_containment():
    text = words(100)
    mixed = text[:50] + words(50, seed=9)
    with Index(None) as index:
        first = index.add(story("https://a.test/1", text))
        short = index.add(story("https://b.test/1", mixed))
        trimmed = index.add(story("https://c.test/1", text[:50]))
    assert short.cluster != first.cluster == trimmed.cluster


@pytest.mark.parametrize("head", [0, 40, 200, 400])
def test_separates_short_stories_in_a_long_frame(head: int):
    """From the first page of a site on, wherever the story is; copies are found later."""
    frame, stories = words(400, seed=5), [words(60 + 10 * n, seed=10 + n) for n in range(8)]
    collection = [
        story(f"https://a.test/{n}", frame[:head] + text + frame[head:])
        for n, text in enumerate(stories)
    ] + [story("https://b.test/", stories[5])]
    with Index(None) as index:
        *found, copy = index.add_many(collection)
    clusters = two_pass_clusters(collection)
    assert len({verdict.cluster for verdict in found}) == 8
    assert copy.cluster == found[5].cluster
    assert len({clusters[page.url] for page in collection}) == 8


@pytest.mark.parametrize("shown", [12, 100])
def test_versions_of_a_live_blog_join(shown: int):
    """With a URL each, the newest entry first, even if old entries are removed."""
    entries = [words(50, seed=10 + n) for n in range(20)]
    blog = [
        story(
            f"https://a.test/{n}",
            [word for entry in entries[max(0, n - shown) : n][::-1] for word in entry],
        )
        for n in range(4, 20, 2)
    ]
    collection = [*PLAIN_PAGES, *blog]
    with Index(None) as index:
        *_, first, _, _, _, last = index.add_many(collection)
    clusters = two_pass_clusters(collection)
    assert last.cluster == first.cluster
    assert len({clusters[page.url] for page in blog}) == 1
    assert len(set(clusters.values())) == 1 + len(PLAIN_PAGES)


@pytest.mark.parametrize("site", ["a0.test", "digest.test"])
@pytest.mark.parametrize(("count", "length"), [(4, 150), (2, 150), (2, 80), (3, 80)])
def test_digest_has_a_cluster_of_its_own(site: str, count: int, length: int):
    """Also on the site of one of its stories; later copies join the stories, or the digest.

    It has the first *length* words of each of its stories.
    """
    texts = [words(150, seed=10 + n) for n in range(count)]
    digest = [word for text in texts for word in text[:length]]
    collection = [
        *(story(f"https://a{n}.test/1", text) for n, text in enumerate(texts)),
        story(f"https://{site}/digest", digest),
        story("https://b.test/digest", digest),
        *(story(f"https://c{n}.test/1", text) for n, text in enumerate(texts)),
    ]
    with Index(None) as index:
        streamed = [verdict.cluster for verdict in index.add_many(collection)]
        clusters = [index.resolve(cluster) for cluster in streamed]
    assert clusters[:count] == clusters[count + 2 :]
    assert clusters[count] == clusters[count + 1]
    assert len(set(clusters)) == count + 1
    of_url = two_pass_clusters(collection)
    two_passes = [of_url[page.url] for page in collection]
    assert [two_passes.index(it) for it in two_passes] == [clusters.index(it) for it in clusters]


def test_texts_without_words_match_nothing():
    with Index(None) as index:
        verdicts = index.add_many(story(f"https://a.test/{n}", "…!" * n) for n in range(4))
    assert [verdict.is_first for verdict in verdicts] == [True] * 4


def test_ignores_boilerplate_from_the_first_page_on():
    frame = words(250, seed=5)
    with Index(None) as index:
        found = [
            index.add(story(f"https://a.test/{n}", frame + words(250, seed=10 + n)))
            for n in range(8)
        ]
        copy = index.add(story("https://b.test/1", words(250, seed=13)))
    assert len({verdict.cluster for verdict in found}) == 8
    assert copy.cluster == found[3].cluster


def test_finds_a_page_indexed_before_its_boilerplate_was_known():
    frame, text = words(24000, seed=5), words(600)
    with Index(None) as index:
        first = index.add(story("https://a.test/", frame + text))
        for n in range(240):
            part = frame[n // 3 * 300 :][:300]
            index.add(story(f"https://a.test/{n}", part + words(900, seed=10 + n)))
        copy = index.add(story("https://b.test/", text))
    assert copy.cluster == first.cluster


@pytest.mark.parametrize("pages", [0, 1, 2, 6])
def test_versions_on_one_site_join(pages: int):
    """Whatever the boilerplate of the site and the number of versions."""
    frame, text = words(60, seed=5), words(300)
    with Index(None) as index:
        for n in range(pages):
            index.add(story(f"https://a.test/other/{n}", frame + words(300, seed=10 + n)))
        found = [
            index.add(story(f"https://a.test/{n}", frame + text + words(12 * n, seed=40 + n)))
            for n in range(6)
        ]
        copy = index.add(story("https://b.test/1", text))
    assert len({verdict.cluster for verdict in (*found, copy)}) == 1


@pytest.mark.parametrize(("site", "joins"), [("a.test", False), ("b.test", True)])
def test_pages_of_one_site_require_a_higher_containment(site: str, joins: bool):
    text = words(400)
    mixed = story(f"https://{site}/mixed", text[:220] + words(180, seed=9))
    pages = [story(f"https://{host}/{n}", words(300, seed=n)) for host in ("a.test", "b.test")
             for n in range(1, 4)]  # fmt: skip
    collection = [*pages, story("https://a.test/story", text), mixed]
    with Index(None) as index:
        *_, first, last = index.add_many(collection)
    clusters = two_pass_clusters(collection)
    assert (last.cluster == first.cluster) is joins
    assert (clusters[mixed.url] == clusters["https://a.test/story"]) is joins


def two_pass_clusters(collection: list[Story]) -> dict[str, str]:
    """Return URL -> cluster of a two-pass clustering."""
    found = two_pass(collection)
    placed = zip(found.stories, found.verdicts, strict=True)
    return {story.url: verdict.cluster for story, verdict in placed}


PLAIN_PAGES = [story(f"https://a.test/other/{n}", words(300, seed=50 + n)) for n in range(3)]
"""Pages without boilerplate, enough for the index to know it."""


@pytest.mark.parametrize("length", [200, 400, 1500])
def test_shared_ending_joins_neither_pages_nor_copies(length: int):
    rest = words(length, seed=5)
    pages = [story(f"https://a.test/{n}", words(100, seed=n) + rest) for n in range(2)]
    copies = [
        story(f"https://b{n}.test/", words(100, seed=n) + words(20, seed=9)) for n in range(2)
    ]
    collection = [*PLAIN_PAGES, *pages, *copies]
    with Index(None) as index:
        *_, page, other, copy, second = index.add_many(collection)
    clusters = two_pass_clusters(collection)
    assert page.cluster == copy.cluster != other.cluster == second.cluster
    assert [clusters[copy.url] for copy in copies] == [clusters[page.url] for page in pages]
    assert len({clusters[page.url] for page in pages}) == 2


@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize("edit", ["trimmed", "updated", "begun anew", "in a digest"])
def test_edited_story_on_the_same_site_joins(edit: str, is_reversed: bool):
    text = words(300)
    edited = {
        "trimmed": text[:110],
        "updated": words(200, seed=1) + text,
        "begun anew": words(40, seed=1) + text[40:],
        "in a digest": words(300, seed=1) + text + words(300, seed=2),
    }[edit]
    pages = [story("https://a.test/1", text), story("https://a.test/2", edited)]
    collection = [*PLAIN_PAGES, *(reversed(pages) if is_reversed else pages)]
    copy = story("https://b.test/", text)
    with Index(None) as index:
        *_, first, second, last = index.add_many([*collection, copy])
    clusters = two_pass_clusters([*collection, copy])
    assert first.cluster == second.cluster == last.cluster
    assert len({clusters[page.url] for page in (*pages, copy)}) == 1
