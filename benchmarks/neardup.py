"""Speed of near-duplicate detection compared with datasketch and rensa, and of a long stream.

``python benchmarks/neardup.py`` adds synthetic articles to the index on disk, one transaction each,
and to the in-memory indexes of datasketch and rensa (extra ``peers``), in interleaved rounds;
``--corpus ../shared/corpora/near-duplicates`` uses the labelled bodies of a corpus. ``--stream
100000`` adds 100,000 articles to one index and prints time, memory and size by tenths.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.neardup import Index, Options, Story
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VOCABULARY = 50_000
SITES = 500
START = datetime(2026, 1, 1, tzinfo=UTC)


def articles(count: int, length: int, seed: int = 0) -> Iterator[Story]:
    """Yield synthetic articles: Zipf-distributed words, site boilerplate, one in ten an edited copy."""
    random = np.random.default_rng(seed)
    spelling = np.array([f"w{number:x}" for number in range(VOCABULARY)])
    weights = 1 / np.arange(2, VOCABULARY + 2)
    cumulative = np.cumsum(weights / weights.sum())
    frames = random.integers(0, VOCABULARY, (SITES, 25))
    recent: list[np.ndarray] = []
    for number in range(count):
        site = int(random.integers(SITES))
        if recent and random.random() < 0.1:
            body = recent[int(random.integers(len(recent)))].copy()
            edits = random.integers(0, body.size, body.size // 25)
            body[edits] = random.integers(0, VOCABULARY, edits.size)
        else:
            size = int(random.integers(length // 2, length * 3 // 2))
            body = np.searchsorted(cumulative, random.random(size)).clip(0, VOCABULARY - 1)
        recent = [*recent[-999:], body]
        text = " ".join(spelling[np.concatenate((body, frames[site]))].tolist())
        when = START + timedelta(seconds=number)
        yield Story(f"https://site{site}.test/{number}", text, when, f"site{site}.test")


def ours(stories: list[Story], options: Options) -> float:
    """Return the CPU seconds of the index on disk, one transaction per article."""
    with tempfile.TemporaryDirectory() as folder, Index(Path(folder) / "index", options) as index:
        start = time.process_time()
        for story in stories:
            index.add(story)
        return time.process_time() - start


def shingles(text: str) -> list[bytes]:
    """Return the shingles for the other libraries."""
    found = words(text)
    return list({" ".join(found[i : i + 5]).encode() for i in range(max(1, len(found) - 4))})


def datasketch_lsh(stories: list[Story], *, bulk: bool = False) -> float:
    """Return the CPU seconds of datasketch's MinHashLSH, hashing shingles one by one or in bulk."""
    from datasketch import MinHash, MinHashLSH  # noqa: PLC0415  # may be missing

    lsh = MinHashLSH(threshold=0.15, num_perm=128)
    start = time.process_time()
    for story in stories:
        minhash = MinHash(num_perm=128)
        if bulk:
            minhash.update_batch(shingles(story.text))
        else:
            for shingle in shingles(story.text):
                minhash.update(shingle)
        lsh.query(minhash)
        lsh.insert(story.url, minhash)
    return time.process_time() - start


def rensa_lsh(stories: list[Story]) -> float:
    """Return the CPU seconds of rensa's RMinHashLSH."""
    from rensa import RMinHash, RMinHashLSH  # noqa: PLC0415  # may be missing

    lsh = RMinHashLSH(threshold=0.15, num_perm=128, num_bands=64)
    start = time.process_time()
    for number, story in enumerate(stories):
        minhash = RMinHash(num_perm=128, seed=42)
        minhash.update([shingle.decode() for shingle in shingles(story.text)])
        lsh.query(minhash)
        lsh.insert(number, minhash)
    return time.process_time() - start


def bodies(corpus: Path) -> list[Story]:
    """Return the labelled bodies of a corpus in page order."""
    return [
        Story(page.url, page.body or "", START + timedelta(minutes=minute), page.site)
        for minute, page in enumerate(load_corpus(corpus).pages)
    ]


def throughput(stories: list[Story], repeats: int, options: Options) -> None:
    """Print articles per CPU second of each library, and the ratios to datasketch."""
    runs: dict[str, Callable[[], float]] = {
        "newscrawl, on disk": lambda: ours(stories, options),
        "datasketch update": lambda: datasketch_lsh(stories),
        "datasketch update_batch": lambda: datasketch_lsh(stories, bulk=True),
        "rensa, in memory": lambda: rensa_lsh(stories),
    }
    taken: dict[str, list[float]] = {}
    for _ in range(repeats):
        for name, run in runs.items():
            try:
                taken.setdefault(name, []).append(run())
            except ImportError as error:
                print(f"{name}: skipped, {error.name} is not installed (make peers)")
    length = statistics.mean(len(words(story.text)) for story in stories)
    print(f"{len(stories)} articles of {length:.0f} words, median of {repeats}")
    median = {name: statistics.median(seconds) for name, seconds in taken.items() if seconds}
    bases = [name for name in median if name.startswith("datasketch")]
    for name, seconds in median.items():
        ratios = "".join(f"{median[base] / seconds:8.2f} x {base}" for base in bases)
        print(f"{name:26}{len(stories) / seconds:8.0f} /s{ratios}")


def resident() -> float:
    """Return the resident memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 2**20


def stream(count: int, length: int, options: Options) -> None:
    """Print the cost of each tenth of a long stream."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        with Index(path, options) as index:
            print("articles   ms CPU each   ms each   MiB memory   bytes per article")
            spent = elapsed = 0.0
            for number, story in enumerate(articles(count, length), 1):
                start, clock = time.process_time(), time.perf_counter()
                index.add(story)
                spent += time.process_time() - start
                elapsed += time.perf_counter() - clock
                if number % (count // 10) == 0:
                    each, wall = (1000 * total / (count // 10) for total in (spent, elapsed))
                    size = path.stat().st_size / number
                    print(
                        f"{number:8}{each:14.2f}{wall:10.2f}{resident():13.0f}{size:19.0f}",
                        flush=True,
                    )
                    spent = elapsed = 0.0
        print(f"closed: {path.stat().st_size / count:.0f} bytes per article")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--articles", type=int, default=2000)
    parser.add_argument("--words", type=int, default=400, help="mean length")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--stream", type=int, default=0, help="number of articles of the long stream"
    )
    parser.add_argument("--corpus", type=Path, help="folder of labelled pages; uses their bodies")
    arguments = parser.parse_args()
    options = Options(window=None)
    if arguments.stream:
        stream(arguments.stream, arguments.words, options)
    elif arguments.corpus:
        throughput(bodies(arguments.corpus), arguments.repeats, options)
    else:
        stories = list(articles(arguments.articles, arguments.words))
        throughput(stories, arguments.repeats, options)


if __name__ == "__main__":
    main()
