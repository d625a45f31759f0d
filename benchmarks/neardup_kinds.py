"""Near-duplicate detection on four difficult kinds of texts, generated from a seed.

*Templated reports*: 400 pairs of short reports in twelve languages, of ``neardup_templates.json``;
one half of the pairs are two reports of one template, the others a report and an edited copy.
*Frames*: short stories on pages with 400 words of other text. *Live blogs* with a URL for each
version. *Digests* of four stories, among copies of these stories.

``python benchmarks/neardup_kinds.py --corpus ../shared/corpora/near-duplicates`` prints the figures of
the stream and of two passes. Rules are chosen on the tuning half; the other half has other kinds
of reports, and other stories.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from newscrawl.lab.evaluation.cluster_metrics import pair_score
from newscrawl.lab.evaluation.near_duplicate_corpus import UNEDITED, load_members
from newscrawl.neardup import Index, Options, Story
from newscrawl.neardup.batch import in_order, two_pass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from newscrawl.lab.corpora.metrics import Score

    Half = Literal["tune", "test"]

TEMPLATES: Final = Path(__file__).with_name("neardup_templates.json")
KINDS: Final[dict[Half, tuple[str, ...]]] = {
    "tune": ("weather", "sports", "traffic"),
    "test": ("markets", "earthquakes", "courts"),
}
PAIRS: Final = 200
"""Number of pairs of templated reports per half."""

START: Final = datetime(2026, 1, 1, tzinfo=UTC)

_SLOT: Final = re.compile(r"\{([a-z]+)(\d*)(?::(\d+)-(\d+))?\}")
_WORDINGS: Final = re.compile(r"\[([^\]]*)\]")
_SPACELESS: Final = frozenset({"zh", "ja"})


@dataclass(frozen=True)
class Labelled:
    """A story and its labelled cluster."""

    story: Story
    cluster: str


class Template:
    """Template of reports: sentences with slots for names and numbers, and alternative wordings."""

    def __init__(
        self, template: dict[str, Any], names: dict[str, list[str]], extra: list[str]
    ) -> None:
        self.kind: str = template["kind"]
        self.sentences: list[str] = template["sentences"]
        self.space = "" if template["language"] in _SPACELESS else " "
        self._comma = "." if template["language"] in {"en", "zh", "ja", "ko"} else ","
        self._names = names
        self._extra = extra

    def values(self, rng: random.Random) -> dict[str, str]:
        """Return random values of the slots: different names, numbers within their bounds."""
        drawn: dict[str, str] = {}
        for kind, number, low, high in _SLOT.findall(" ".join(self.sentences)):
            slot = kind + number
            if slot in drawn:
                continue
            if kind == "n":
                drawn[slot] = str(rng.randint(int(low), int(high)))
            elif kind == "d":
                drawn[slot] = f"{rng.uniform(int(low), int(high)):.1f}".replace(".", self._comma)
            else:
                taken = set(drawn.values())
                drawn[slot] = rng.choice([it for it in self._names[kind] if it not in taken])
        return drawn

    def later(self, values: dict[str, str], rng: random.Random) -> dict[str, str]:
        """Return the values of another report: all new, or the same names, or a part of both."""
        new = self.values(rng)
        draw = rng.random()
        kept: set[str] = set()
        if 0.5 < draw < 0.75:
            kept = {slot for slot in new if slot.rstrip("0123456789") not in {"n", "d", "day"}}
        elif draw >= 0.75:
            kept = {slot for slot in new if rng.random() < 0.4}
        return {slot: values[slot] if slot in kept else value for slot, value in new.items()}

    def report(self, values: dict[str, str], rng: random.Random) -> list[str]:
        """Return the sentences of a report."""
        return [
            _SLOT.sub(lambda slot: values[slot[1] + slot[2]], _worded(sentence, rng))
            for sentence in self.sentences
        ]

    def edited(self, report: list[str], values: dict[str, str], rng: random.Random) -> list[str]:
        """Return a report as another publisher prints it, reworded, with up to three edits."""
        edits: list[Callable[[list[str]], list[str]]] = [
            lambda text: text[:-1],
            lambda text: _without_one(text, rng),
            lambda text: [*text, rng.choice(self._extra)],
            lambda text: [text[0], *rng.sample(text[1:], len(text) - 1)],
            lambda text: [next(iter(values.values())) + self.space + "(News) – " + text[0], *text[1:]],
            lambda text: [_misspelt(text[0], rng), *text[1:]],
            lambda text: [_corrected(text[0], rng), *text[1:]],
        ]  # fmt: skip
        if rng.random() < 0.5:
            report = self.report(values, rng)
        for edit in rng.sample(edits, rng.randint(0, 3)):
            report = edit(report)
        return report


def _worded(sentence: str, rng: random.Random) -> str:
    return _WORDINGS.sub(lambda wordings: rng.choice(wordings[1].split("|")), sentence)


def _without_one(sentences: list[str], rng: random.Random) -> list[str]:
    """Return *sentences* without one of them."""
    place = rng.randrange(len(sentences))
    return sentences[:place] + sentences[place + 1 :]


def _corrected(sentence: str, rng: random.Random) -> str:
    """Return *sentence* with another number in place of its last one."""
    numbers = list(re.finditer(r"\d+", sentence))
    if not numbers:
        return sentence
    number = numbers[-1]
    return sentence[: number.start()] + str(rng.randint(1, 60)) + sentence[number.end() :]


def _misspelt(sentence: str, rng: random.Random) -> str:
    """Return *sentence* without one of its characters."""
    place = rng.randrange(1, len(sentence) - 1)
    return sentence[:place] + sentence[place + 1 :]


def templates(half: Half) -> list[Template]:
    """Return the templates of a half."""
    data = json.loads(TEMPLATES.read_text(encoding="utf-8"))
    return [
        Template(it, data["names"][it["language"]], data["extra"][it["language"]])
        for it in data["templates"]
        if it["kind"] in KINDS[half]
    ]


def report_pairs(half: Half, seed: int = 0) -> Iterator[tuple[Labelled, Labelled]]:
    """Yield the pairs of templated reports of a half; every second pair is of one report."""
    rng = random.Random(f"{seed} {half}")
    known = templates(half)
    for number in range(PAIRS):
        template = known[number // 2 % len(known)]
        values = template.values(rng)
        first = template.report(values, rng)
        if number % 2:
            second = template.edited(first, values, rng)
        else:
            second = template.report(template.later(values, rng), rng)
        texts = (template.space.join(first), template.space.join(second))
        same_site = rng.random() < 0.3
        yield (
            _labelled(f"r{2 * number}.test", texts[0], f"r{2 * number}", 2 * number),
            _labelled(
                f"r{2 * number + (not same_site)}.test",
                texts[1],
                f"r{2 * number + (not number % 2)}",
                2 * number + 1,
            ),
        )


def _labelled(site: str, text: str, cluster: str, minute: int) -> Labelled:
    url = f"https://{site}/{minute}"
    return Labelled(Story(url, text, START + timedelta(minutes=minute), site), cluster)


def bodies(corpus: Path, half: Half) -> list[list[str]]:
    """Return the words of the unedited stories of a half, at least 400 of each."""
    texts = {
        member.cluster: (member.page.body or "").split()
        for member in load_members(corpus)
        if member.half == half and member.kind in UNEDITED
    }
    return [text for _, text in sorted(texts.items()) if len(text) >= 400]


def framed(stories: Sequence[list[str]], rng: random.Random) -> list[Labelled]:
    """Return short stories of 60 to 160 words under frames of 400, each on one to three sites.

    The story comes first, or after a part of the frame.
    """
    frames = [text[:400] for text in stories[:12]]
    pages: list[tuple[int, list[str], str]] = []
    for number, text in enumerate(stories[12:72]):
        short = text[: rng.randint(60, 160)]
        for site in rng.sample(range(len(frames)), rng.randint(1, 3)):
            frame, head = frames[site], (0, 40, 200, 400)[site % 4]
            pages.append((site, frame[:head] + short + frame[head:], f"f{number}"))
    rng.shuffle(pages)
    return [
        _labelled(f"frame{site}.test", " ".join(text), cluster, minute)
        for minute, (site, text, cluster) in enumerate(pages)
    ]


def live_blogs(stories: Sequence[list[str]], rng: random.Random) -> list[Labelled]:
    """Return versions of live blogs, each at its own URL, among other stories of their sites.

    The newest entry comes first; every second blog shows its latest twelve entries only.
    """
    pages: list[tuple[int, list[str], str]] = []
    pool = list(stories)
    for blog in range(12):
        entries = _entries([word for text in pool[3 * blog : 3 * blog + 3] for word in text], rng)
        frame = pool[blog][-30:]
        count = 3
        for _ in range(8):
            shown = entries[max(0, count - 12) if blog % 2 else 0 : count][::-1]
            pages.append((blog, [*(word for entry in shown for word in entry), *frame], f"b{blog}"))
            count = min(len(entries), count + rng.randint(1, 3))
        for other in range(4):
            text = pool[36 + 4 * blog + other][:300]
            place = len(pages) - rng.randint(0, 8)
            pages.insert(place, (blog, text + frame, f"o{blog}-{other}"))
    # Blogs of all sites in turns: a stable sort by the position on the site.
    seen: dict[int, int] = {}
    ranks = []
    for blog, _, _ in pages:
        seen[blog] = seen.get(blog, -1) + 1
        ranks.append(seen[blog])
    order = sorted(range(len(pages)), key=ranks.__getitem__)
    return [
        _labelled(f"blog{pages[at][0]}.test", " ".join(pages[at][1]), pages[at][2], minute)
        for minute, at in enumerate(order)
    ]


def _entries(words: list[str], rng: random.Random) -> list[list[str]]:
    entries = []
    while len(words) >= 30:
        size = rng.randint(30, 80)
        entries.append(words[:size])
        words = words[size:]
    return entries


def digests(stories: Sequence[list[str]], rng: random.Random) -> list[Labelled]:
    """Return stories in three copies each, and digests of four stories on two sites each.

    A digest appears when one or two copies of each of its stories are out.
    """
    pages: list[tuple[float, list[str], str]] = []
    for group in range(min(12, len(stories) // 4)):
        own = [text[: rng.randint(80, 200)] for text in stories[4 * group : 4 * group + 4]]
        for number, text in enumerate(own):
            for at in (rng.random(), 1 + rng.random(), 3 + rng.random()):
                copy = text if rng.random() < 0.5 else text[: len(text) * 4 // 5]
                pages.append((at, copy, f"d{group}-{number}"))
        whole = [word for text in own for word in text]
        pages += [(at + rng.random(), whole, f"digest{group}") for at in (1.5, 2.5)]
    pages.sort(key=lambda page: page[0])
    return [
        _labelled(f"site{rng.randrange(40)}.test", " ".join(text), cluster, minute)
        for minute, (_, text, cluster) in enumerate(pages)
    ]


def stream_labels(stories: Sequence[Story], options: Options) -> list[str]:
    """Return the clusters of *stories*, in any order, after a stream."""
    order = in_order(stories)
    with Index(None, options) as index:
        verdicts = index.add_many(order)
        names = [index.resolve(verdict.cluster) for verdict in verdicts]
    label_of = dict(zip((story.url for story in order), names, strict=True))
    return [label_of[story.url] for story in stories]


def two_pass_labels(stories: Sequence[Story], options: Options) -> list[str]:
    """Return the clusters of *stories* in two passes."""
    found = two_pass(stories, options)
    clusters = [verdict.cluster for verdict in found.verdicts]
    label_of = dict(zip((story.url for story in found.stories), clusters, strict=True))
    return [label_of[story.url] for story in stories]


SYSTEMS: Final = {"stream": stream_labels, "two passes": two_pass_labels}


def score(
    collection: Sequence[Labelled], cluster: Callable[..., list[str]], options: Options
) -> Score:
    """Return the pair score of a clustering."""
    labels = cluster([it.story for it in collection], options)
    return pair_score(labels, [it.cluster for it in collection])


def collections(corpus: Path, half: Half, seed: int = 0) -> dict[str, list[Labelled]]:
    """Return the collections of a half, by name."""
    rng = random.Random(f"{seed} {half} order")
    stories = bodies(corpus, half)
    rng.shuffle(stories)
    reports = [it for pair in report_pairs(half, seed) for it in pair]
    return {
        "templated reports": reports,
        "short stories in frames": framed(stories, rng),
        "live blogs": live_blogs(stories, rng),
        "digests": digests(stories, rng),
    }


def pairs_alone(half: Half, options: Options, seed: int = 0) -> Score:
    """Return the score of the pairs of templated reports, each clustered without the others."""
    labels: list[str] = []
    gold: list[str] = []
    for number, pair in enumerate(report_pairs(half, seed)):
        found = stream_labels([it.story for it in pair], options)
        labels += [f"{number} {label}" for label in found]
        gold += [it.cluster for it in pair]
    return pair_score(labels, gold)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--corpus", type=Path, required=True, help="folder of labelled clusters")
    parser.add_argument("--half", choices=("tune", "test"), default="test")
    parser.add_argument("--draws", type=int, default=4, help="draws of texts and of hashes")
    arguments = parser.parse_args()
    print(
        f"{'':26}{'':12}{'P':>8}{'R':>8}{'F1':>8}   {arguments.half} half, {arguments.draws} draws"
    )
    rows: dict[tuple[str, str], list[Score]] = {}
    for seed in range(arguments.draws):
        options = replace(Options(), window=None, seed=seed)
        alone = pairs_alone(arguments.half, options, seed)
        rows.setdefault(("templated pairs", "stream"), []).append(alone)
        for name, collection in collections(arguments.corpus, arguments.half, seed).items():
            for system, cluster in SYSTEMS.items():
                rows.setdefault((name, system), []).append(score(collection, cluster, options))
    for (name, system), scores in rows.items():
        figures = [sum(values) / len(scores) for values in zip(*scores, strict=True)]
        print(f"{name:26}{system:12}" + "".join(f"{figure:8.3f}" for figure in figures))


if __name__ == "__main__":
    main()
