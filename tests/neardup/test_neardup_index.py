"""Verdicts of the near-duplicate index."""

import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise, permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newscrawl.neardup import Index, NearDuplicateIndexError, Options, Story, Verdict
from newscrawl.neardup.batch import in_order, two_pass
from newscrawl.neardup.postings import SETTLE_INTERVAL
from tests.helpers.neardup_writer import OPTIONS, WORDS, stories

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def words(count: int, seed: int = 0) -> list[str]:
    return random.Random(seed).choices(WORDS, k=count)


def story(url: str, text: list[str] | str, when: datetime = NOON) -> Story:
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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of an index."""
    return tmp_path / "near-duplicates.sqlite"


def test_rejects_foreign_files_without_changing_them(path: Path):
    path.write_text("these are not stories\n" * 200, encoding="utf-8")
    with pytest.raises(NearDuplicateIndexError, match="not an index"):
        Index(path)
    assert path.read_text(encoding="utf-8").startswith("these are")
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE story (id)")
    connection.close()
    with pytest.raises(NearDuplicateIndexError, match="not an index"):
        Index(path)


@pytest.mark.parametrize(("version", "reason"), [(99, "newer version"), (1, "older version")])
def test_rejects_other_formats(path: Path, version: int, reason: str):
    Index(path).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    with pytest.raises(NearDuplicateIndexError, match=reason):
        Index(path)


def test_rejects_damaged_files(path: Path):
    with Index(path, OPTIONS) as index:
        index.add_many(stories(60))
    data = bytearray(path.read_bytes())
    data[8192:20480] = bytes(12288)
    path.write_bytes(data)
    with pytest.raises(NearDuplicateIndexError, match="damaged"):
        Index(path, OPTIONS)


def test_rejects_other_sketch_options_but_not_other_thresholds(path: Path):
    Index(path).close()
    Index(path, Options(containment=0.5)).close()
    with pytest.raises(NearDuplicateIndexError, match="other options"):
        Index(path, Options(shingle=5))


def test_rejects_a_second_writer(path: Path):
    with Index(path) as index:
        index.add(story("https://a.test/1", words(50)))
        with pytest.raises(NearDuplicateIndexError, match="in use"):
            Index(path)
    Index(path).close()


def test_failed_batch_changes_nothing(path: Path):
    """Not even the boilerplate of a site."""

    def breaking() -> Iterator[Story]:
        for n in range(5):
            yield story(f"https://a.test/{n}", words(100, seed=1) + words(100, seed=10 + n))
        raise RuntimeError("broken off")

    with Index(path) as index:
        with pytest.raises(RuntimeError, match="broken off"):
            index.add_many(breaking())
        assert len(index) == 0
        with Index(None) as fresh:
            assert index.add_many(stories(40)) == fresh.add_many(stories(40))


def kill_and_resume(path: Path, count: int, kill_at: int, batch: int) -> None:
    """Kill a writer after *kill_at* acknowledgements; check and complete its index."""
    writer = subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.neardup_writer", str(path), str(count), str(batch)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
    )
    acknowledged = [int(line) for line, _ in zip(writer.stdout, range(kill_at), strict=False)]
    writer.kill()
    acknowledged += [int(line) for line in writer.stdout if line.strip()]
    writer.wait()
    writer.stdout.close()
    everything, done = stories(count), acknowledged[-1]
    with Index(path, OPTIONS) as index:
        held = {len({one.url for one in everything[:n]}) for n in (done, min(count, done + batch))}
        assert len(index) in held
        index.add_many(everything[:done])
        assert len(index) in held
        index.add_many(everything[done:])
        left = contents(index)
    assert left == whole(count)


@cache
def whole(count: int) -> list[list[tuple[object, ...]]]:
    """Return the content of an index of *count* stories whose writer was not killed."""
    with Index(None, OPTIONS) as index:
        index.add_many(stories(count))
        return contents(index)


def contents(index: Index) -> list[list[tuple[object, ...]]]:
    """Return the whole content of an index."""
    tables = ("site", "cluster", "alias", "story", "boilerplate", "posting", "part")
    found = [index._connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables]
    index._postings.recent.take(0, 0)
    return [*found, index._postings.recent.entries.tolist()]


@pytest.mark.parametrize("batch", [1, 16])
def test_killed_writer_loses_nothing_acknowledged(path: Path, batch: int):
    kill_and_resume(path, 96, kill_at=3, batch=batch)


@pytest.mark.slow
def test_twenty_kills_lose_and_repeat_nothing(path: Path):
    draw = random.Random(20)
    for number in range(20):
        batch = draw.choice([1, 1, 5, 20])
        target = path.with_name(f"{number}.sqlite")
        kill_and_resume(target, 240, kill_at=draw.randrange(1, 240 // batch), batch=batch)


def test_closed_index_is_a_single_file(path: Path):
    with Index(path) as index:
        first = index.add(story("https://a.test/1", words(300)))
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    shutil.copy(path, copied := path.with_name("copy.sqlite"))
    with Index(copied) as index:
        assert index.add(story("https://b.test/1", words(300))).cluster == first.cluster


def test_compares_only_within_the_window():
    with Index(None, Options(window=timedelta(hours=48))) as index:
        first = index.add(story("https://a.test/1", words(300)))
        late = index.add(story("https://b.test/1", words(300), NOON + timedelta(hours=49)))
        near = index.add(story("https://c.test/1", words(300), NOON - timedelta(hours=48)))
    assert late.cluster != first.cluster == near.cluster


def test_repeated_arrival_returns_the_stored_verdict():
    with Index(None) as index:
        first = index.add(story("https://a.test/1", words(300)))
        copy = index.add(story("https://b.test/1", words(300)))
        assert index.add(story("https://a.test/1", words(300))) == first
        assert index.add(story("https://b.test/1", words(300))) == copy
        assert len(index) == 2


def test_update_replaces_the_text_and_keeps_the_cluster():
    with Index(None) as index:
        first = index.add(story("https://a.test/1", words(300)))
        update = index.add(story("https://a.test/1", words(300, seed=1)))
        old = index.add(story("https://b.test/1", words(300)))
        new = index.add(story("https://c.test/1", words(300, seed=1)))
        served_again = index.add(story("https://a.test/1", words(300)))
        assert len(index) == 3
    assert update == first
    assert old.cluster != first.cluster == new.cluster
    assert served_again == update


def test_story_that_matches_two_clusters_merges_them():
    text = words(400)
    with Index(None) as index:
        first = index.add(story("https://a.test/1", text[:230]))
        second = index.add(story("https://b.test/1", text[170:]))
        whole = index.add(story("https://c.test/1", text))
        assert first.cluster != second.cluster
        assert whole.cluster == first.cluster == index.resolve(second.cluster)
        assert whole.merged == (second.cluster,)
        assert whole.size == 3


def test_half_of_a_cluster_is_not_enough_to_merge():
    one, other = words(400, seed=1), words(400, seed=2)
    with Index(None) as index:
        both = index.add(story("https://both.test/", one[:220] + other[:200]))
        first = index.add(story("https://other.test/", other))
        copies = [index.add(story(f"https://c{n}.test/", one + words(9, seed=n))) for n in range(4)]
        last = index.add(story("https://last.test/", other))
    assert both.cluster == first.cluster == last.cluster
    assert {copy.cluster for copy in copies} == {copies[0].cluster} != {both.cluster}


@pytest.mark.parametrize(("start", "joins"), [(80, True), (230, False)])
def test_half_of_a_cluster_suffices_if_the_rest_is_related(start: int, joins: bool):
    text = words(500)
    with Index(None) as index:
        whole = index.add(story("https://whole.test/", text))
        index.add(story("https://first.test/", text[:230] + words(220, seed=1)))
        cut = text[start:][:250] + words(200, seed=2)
        assert (index.add(story("https://cut.test/", cut)).cluster == whole.cluster) is joins


def test_parts_of_a_story_join_in_any_order():
    text = words(400)
    parts = {"https://a.test/": text, "https://b.test/": text[:230], "https://c.test/": text[170:]}
    for order in permutations(parts):
        with Index(None) as index:
            found = index.add_many(story(url, parts[url]) for url in order)
            assert len({index.resolve(verdict.cluster) for verdict in found}) == 1


def test_more_copies_than_are_compared_join():
    text = words(120)
    with Index(None) as index:
        found = index.add_many(
            story(f"https://{n}.test/", text + words(6, seed=n)) for n in range(600)
        )
    assert {verdict.cluster for verdict in found} == {found[0].cluster}
    assert found[-1].size == 600


@pytest.mark.parametrize("wrong", [{"scale": 3}, {"shingle": 0}, {"containment": 2.0}])
def test_rejects_invalid_options(wrong: dict[str, object]):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Options(**wrong)


@pytest.mark.parametrize("interval", [1, SETTLE_INTERVAL])
def test_neither_a_restart_nor_moving_postings_to_the_file_changes_a_verdict(
    path: Path, monkeypatch: pytest.MonkeyPatch, interval: int
):
    everything = stories(120)
    with Index(None, OPTIONS) as index:
        whole = index.add_many(everything)
    monkeypatch.setattr("newscrawl.neardup.postings.SETTLE_INTERVAL", interval)
    parts = []
    for start in range(0, 120, 29):
        with Index(path, OPTIONS) as index:
            parts += [index.add(story) for story in everything[start : start + 29]]
    assert parts == whole


@settings(max_examples=8)
@given(seed=st.integers(0, 2**16), cuts=st.lists(st.integers(0, 60), max_size=4))
def test_batches_change_no_verdict(seed: int, cuts: list[int]):
    everything = in_order(stories(60, seed))
    with Index(None, OPTIONS) as index:
        single = [index.add(story) for story in everything]
    edges = [0, *sorted(cuts), 60]
    with Index(None, OPTIONS) as index:
        batches = [
            verdict
            for low, high in pairwise(edges)
            for verdict in index.add_many(everything[low:high])
        ]
        count = len(index)
        index.add_many(everything)
        assert len(index) == count
    assert single == batches


@settings(max_examples=8)
@given(seed=st.integers(0, 2**16), order=st.randoms(use_true_random=False))
def test_two_pass_is_independent_of_the_order(seed: int, order: random.Random):
    everything = list({story.url: story for story in stories(60, seed)}.values())
    found = two_pass(everything, OPTIONS)
    order.shuffle(everything)
    assert two_pass(everything, OPTIONS) == found
    clusters = [verdict.cluster for verdict in found.verdicts]
    assert all(verdict.size == clusters.count(verdict.cluster) for verdict in found.verdicts)
    assert sum(verdict.is_first for verdict in found.verdicts) == len(set(clusters))


def test_two_pass_knows_boilerplate_before_it_compares():
    frame = words(200, seed=9)
    source = story("https://0.test/", frame, NOON - timedelta(hours=1))
    pages = [story(f"https://a.test/{n}", frame + words(100, seed=n)) for n in range(3)]
    found = two_pass([source, *pages])
    assert len({verdict.cluster for verdict in found.verdicts}) == 4


def test_prunes_stories_outside_of_the_window():
    options = Options(window=timedelta(hours=10), retain=100)
    with Index(None, options) as index:
        for n in range(400):
            when = NOON + timedelta(hours=n)
            index.add(story(f"https://s{n % 7}.test/{n}", words(60, seed=n), when))
        assert 100 <= len(index) <= 150
        assert len(index._postings.recent) <= 60 * 150


def test_removes_postings_of_pruned_stories_from_the_file(path: Path):
    options = Options(window=timedelta(hours=10), retain=100)
    with Index(path, options) as index, pytest.MonkeyPatch.context() as patch:
        patch.setattr("newscrawl.neardup.postings.SETTLE_INTERVAL", 1)
        for n in range(1500):
            when = NOON + timedelta(hours=n)
            index.add(story(f"https://s{n % 7}.test/{n}", words(120, seed=n), when))
        held = index._connection.execute("SELECT sum(length(entries)) FROM posting").fetchone()[0]
    assert held < 6 * 104 * 2.5 * 200


def test_single_future_date_does_not_prune():
    options = Options(window=timedelta(hours=10), retain=100)
    with Index(None, options) as index:
        index.add(story("https://future.test/", words(50), NOON + timedelta(days=36525)))
        for n in range(300):
            index.add(story(f"https://s.test/{n}", words(60, seed=n), NOON))
        assert len(index) == 301
