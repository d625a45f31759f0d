"""Writes a segment and kills itself with SIGKILL before a given line; see test_segments."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newscrawl.crawl.output import atomic_write as durable
from newscrawl.crawl.output import segments

if TYPE_CHECKING:
    from types import FrameType

STORE, DAY = "0123abcd", "2026-11-22"
CODE = {durable.__file__, segments.__file__}


def items(first: int, last: int) -> list[segments.StoredItem]:
    """Return articles of a few KB, and every tenth an item of another class."""
    made = []
    for number in range(first, last + 1):
        url = f"https://site.test/{number}"
        if number % 10:
            body = f"Straße {number} \u2028 \ud83d\udea2 " * 40
            article = {"url": url, "body": body, "authors": ["Ada"], "date": "2026-11-21"}
            made.append(segments.StoredItem(number, segments.ARTICLE, json.dumps(article)))
        else:
            quote = json.dumps({"text": f"quote {number}", "number": number})
            made.append(segments.StoredItem(number, "project.items.Quote", quote))
    return made


def span(first: int, last: int, kind: str) -> segments.SegmentSpan:
    """Return the span of :func:`items`."""
    return segments.SegmentSpan(STORE, DAY, first, last, kind)


def write(folder: Path, first: int, last: int, kind: str) -> None:
    """Write one segment."""
    segments.write_span(folder, span(first, last, kind), items(first, last))


class Killer:
    """Counts the lines of :data:`CODE` that are run, and kills the process before one of them."""

    def __init__(self, fatal: int) -> None:
        self.fatal = fatal
        self.lines = 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Killer | None:
        """Be called by the interpreter."""
        if frame.f_code.co_filename not in CODE:
            return None
        if event == "line":
            self.lines += 1
            if self.lines == self.fatal:
                os.kill(os.getpid(), signal.SIGKILL)
        return self


def main() -> None:
    """Run the second of two segments in one child after the other, each killed a line later.

    Prints the number of children that were killed. The folder of each is ``<folder>/<line>``.
    """
    folder, kind = Path(sys.argv[1]), sys.argv[2]
    write(folder / "warm", 1, 5, kind)  # what is imported on the way is not to be traced
    for line in range(1, 10_000):
        here = folder / str(line)
        write(here, 1, 25, kind)
        child = os.fork()
        if not child:
            sys.settrace(Killer(line))
            write(here, 26, 60, kind)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            sys.stdout.write(f"{line - 1}\n")
            return


if __name__ == "__main__":
    main()
