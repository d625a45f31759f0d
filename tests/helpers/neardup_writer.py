"""Process that adds generated stories to an index and reports each batch, to be killed."""

import random
import sys
from datetime import UTC, datetime, timedelta

from newscrawl.neardup import Index, Options, Story

WORDS = [f"word{number}" for number in range(3000)]
#: index options of the writer and the tests
OPTIONS = Options()


def stories(count: int, seed: int = 7) -> list[Story]:
    """Return stories of twelve sites: new ones, copies, shortened copies, and updates."""
    rng = random.Random(seed)
    boilerplate = [rng.choices(WORDS, k=20) for _ in range(12)]
    bodies: list[list[str]] = []
    result: list[Story] = []
    for number in range(count):
        draw = rng.random()
        if bodies and draw < 0.5:
            body = list(rng.choice(bodies[-40:]))
            body = body[: len(body) * 2 // 3] if draw < 0.2 else body
            for _ in range(len(body) // 20):
                body[rng.randrange(len(body))] = rng.choice(WORDS)
        else:
            body = rng.choices(WORDS, k=rng.randrange(30, 400))
        bodies.append(body)
        site = rng.randrange(12)
        url = f"https://site{site}.test/{number}"
        if result and draw > 0.95:
            url, site = result[-1].url, int(result[-1].site[4:-5])
        date = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=number)
        result.append(Story(url, " ".join(body + boilerplate[site]), date, f"site{site}.test"))
    return result


def main() -> None:
    """Add stories in batches; print after each the number of acknowledged stories."""
    path, count, batch = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    all_stories = stories(count)
    with Index(path, OPTIONS) as index:
        sys.stdout.write("0\n")
        sys.stdout.flush()
        for start in range(0, count, batch):
            index.add_many(all_stories[start : start + batch])
            sys.stdout.write(f"{min(count, start + batch)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
