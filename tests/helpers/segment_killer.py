"""Process that writes a segment and kills itself before a given line of code."""

import json
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from newscrawl.crawling.output import atomic_write, segments

STORE, DAY = "0123abcd", "2026-11-22"
CODE = {atomic_write.__file__, segments.__file__}


def items(first: int, last: int) -> list[tuple[int, str]]:
    """Return articles of a few KB; every tenth item is a quote."""
    result = []
    for number in range(first, last + 1):
        url = f"https://site.test/{number}"
        if number % 10:
            body = f"Straße {number} \u2028 \ud83d\udea2 " * 40
            article = {"url": url, "body": body, "authors": ["Ada"], "date": "2026-11-21"}
            result.append((number, json.dumps(article)))
        else:
            quote = json.dumps({"text": f"quote {number}", "number": number})
            result.append((number, quote))
    return result


def write(folder: Path, first: int, last: int) -> None:
    """Write one segment."""
    span = segments.SegmentSpan(STORE, DAY, first, last)
    segments.write_span(folder, span, items(first, last))


class Killer:
    """Trace function that counts executed lines of :data:`CODE` and kills the process at one."""

    def __init__(self, fatal_line: int) -> None:
        self.fatal_line = fatal_line
        self.lines = 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> "Killer | None":
        """Count a line, or ignore a frame of other code; called by the interpreter."""
        if frame.f_code.co_filename not in CODE:
            return None
        if event == "line":
            self.lines += 1
            if self.lines == self.fatal_line:
                os.kill(os.getpid(), signal.SIGKILL)
        return self


def main() -> None:
    """Write a second segment in child processes, each killed one line later than the one before.

    Prints the number of killed children. The folder of each is ``<folder>/<line>``.
    """
    folder = Path(sys.argv[1])
    write(folder / "warm", 1, 5)  # imports must not be traced
    for line in range(1, 10_000):
        output = folder / str(line)
        write(output, 1, 25)
        child = os.fork()
        if not child:
            sys.settrace(Killer(line))
            write(output, 26, 60)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            sys.stdout.write(f"{line - 1}\n")
            return


if __name__ == "__main__":
    main()
