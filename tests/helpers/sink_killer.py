"""Process that delivers segments in child processes, and kills the process group of each.

``python -m tests.helpers.sink_killer FOLDER URL KILLS SEED`` prints as JSON how many children were
killed and how many were started. The delays are drawn with the seed, up to twice the time that a
segment takes here and now, so that a kill can hit any step.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import boto3
from scrapy.settings import Settings

from newscrawl.crawling.output.segments import SegmentSpan, write_span
from newscrawl.sinks import opensearch, postgresql, s3
from newscrawl.sinks.delivery import deliver

IMPORTED = opensearch, postgresql, s3
"""Imported before the first fork."""
DAY = "2026-11-22"
ITEMS = 8
"""Items of a segment."""
PAGES = 60
"""Pages that all items are versions of."""


def article(number: int) -> dict[str, object]:
    """Return version *number* of some page. Later numbers are not always later versions."""
    made = random.Random(f"article {number}")
    page = made.randrange(PAGES)
    minute, second = divmod(made.randrange(3600), 60)
    suffix = made.choice(["", "?utm_source=feed", "/amp/"])
    return {
        "url": f"https://www.site.example/2026/11/22/story-{page}-of-the-town-hall{suffix}",
        "canonical_url": f"https://site.example/2026/11/22/story-{page}-of-the-town-hall",
        "title": f"Straße {page}",
        "date": "2026-11-22",
        "body": f"Version {number} of page {page}. \u2028 \ud83d\udea2 " * 20,
        "authors": ["Ada"],
        # Unique, so that there is one newest version.
        "fetched_at": f"2026-11-22T10:{minute:02}:{second:02}.{number:06}+00:00",
    }


def write_segments(folder: Path, first: int, count: int) -> None:
    """Write *count* segments, the first of which has the number *first*."""
    for segment in range(first, first + count):
        start = segment * ITEMS + 1
        numbers = range(start, start + ITEMS)
        items = [(it, json.dumps(article(it))) for it in numbers]
        span = SegmentSpan("0123abcd", DAY, start, start + ITEMS - 1)
        write_span(folder, span, items)


def start(folder: Path, url: str) -> tuple[int, int]:
    """Deliver in a child with its own process group; return its ID and a pipe.

    The child writes a byte to the pipe after each segment.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        done = deliver(folder, url, Settings(), on_segment=lambda _: os.write(writer, b"."))
        os.write(2, "".join(f"{line}\n" for line in done.problems).encode())
        os._exit(1 if done.problems else 0)
    os.close(writer)
    return child, reader


def finish(child: int, reader: int) -> int:
    """Wait for the child; return its exit code, negative after a signal."""
    while os.read(reader, 4096):
        pass
    os.close(reader)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(folder: Path, url: str, kills: int, seed: int) -> None:
    """Kill *kills* deliveries, then complete one."""
    made = random.Random(seed)
    boto3.client("s3", region_name="us-east-1")  # reads its files before the first fork
    segments = 4
    write_segments(folder, 0, segments)
    begin = time.monotonic()
    assert finish(*start(folder, url)) == 0
    limit = 2 * (time.monotonic() - begin) / segments
    killed = started = 0
    while killed < kills:
        write_segments(folder, segments, 2)
        segments += 2
        child, reader = start(folder, url)
        started += 1
        os.read(reader, 1)
        time.sleep(made.uniform(0, limit))
        os.killpg(child, signal.SIGKILL)
        killed += finish(child, reader) == -signal.SIGKILL
    assert finish(*start(folder, url)) == 0
    json.dump({"killed": killed, "started": started, "items": segments * ITEMS}, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
