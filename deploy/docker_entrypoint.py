#!/usr/bin/env python3
"""Entrypoint of the container image: crawls the listed sites once, or at an interval.

Arguments are options of ``newscrawl crawl``; if the first one is another subcommand of
``newscrawl``, that is run instead. ``--health`` checks the last crawl. Environment variables:

- ``CRAWL_SITES``: files that list sites, and URLs, separated by spaces (``/config/sites.txt``)
- ``CRAWL_SETTINGS``: optional file with lines ``NAME=VALUE`` (``/config/settings.txt``)
- ``CRAWL_INTERVAL``: seconds between the starts of two crawls (900); 0: crawl once
- ``CRAWL_OVERDUE``: seconds without the end of a crawl until the container is unhealthy (86400)
- ``NEWSCRAWL_...``: settings of newscrawl; they take precedence over the file

The exit code is that of the last crawl. Wrong usage (2) ends the container; after any other failure
the next crawl starts in time.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

DONE: Final = 0
UNHEALTHY: Final = 1
USAGE: Final = 2

_STATUS: Final = Path(tempfile.gettempdir(), "newscrawl-last-crawl")
_SETTING: Final = re.compile(r"NEWSCRAWL_\w+")


class Entrypoint:
    """Runs crawls until SIGTERM or SIGINT, which let the running crawl end in order."""

    def __init__(self, options: list[str]) -> None:
        self._command = ["newscrawl", "crawl", *crawl_settings(), *options, *crawl_sites()]
        self._crawl: subprocess.Popen[bytes] | None = None
        self._signals: SimpleQueue[int] = SimpleQueue()  # reentrant, unlike threading.Event
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)

    def run(self, interval: int) -> int:
        """Crawl every *interval* seconds, once if it is 0; return the last exit code."""
        _STATUS.write_text(str(DONE))
        while True:
            start = time.monotonic()
            code = self._run_crawl()
            if self._signals.empty():
                _STATUS.write_text(str(code))
            if not interval or code == USAGE:
                return code
            try:
                self._signals.get(timeout=max(start + interval - time.monotonic(), 0))
            except Empty:
                continue
            return code

    def _run_crawl(self) -> int:
        # In its own session, so that Ctrl-C does not reach it twice: Scrapy would stop at once.
        self._crawl = subprocess.Popen(self._command, start_new_session=True)  # noqa: S603
        if not self._signals.empty():  # a signal came before the assignment
            self._crawl.terminate()
        code = self._crawl.wait()
        return code if code >= 0 else 128 - code  # killed by a signal: as in shells

    def _stop(self, number: int, _: object) -> None:
        self._signals.put(number)
        if self._crawl is not None:
            self._crawl.terminate()


def crawl_sites() -> list[str]:
    """Return the site lists and URLs to crawl."""
    return os.environ.get("CRAWL_SITES", "/config/sites.txt").split()


def crawl_settings() -> list[str]:
    """Return the settings of file and environment as options of the command."""
    path = Path(os.environ.get("CRAWL_SETTINGS", "/config/settings.txt"))
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    pairs = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    pairs += [f"{name}={value}" for name, value in os.environ.items() if _SETTING.fullmatch(name)]
    return [option for pair in pairs for option in ("-s", pair)]


def seconds(name: str, default: int) -> int:
    """Return a number of seconds of the environment; exit if it is invalid."""
    value = os.environ.get(name, str(default))
    if not value.isdecimal():
        sys.stderr.write(f"{name}={value}: expected a number of seconds\n")
        sys.exit(USAGE)
    return int(value)


def check_health() -> int:
    """Return 0 unless the last crawl failed, or none has ended for too long."""
    if not _STATUS.exists():  # another subcommand, or just started
        return DONE
    code = int(_STATUS.read_text() or DONE)
    age = time.time() - _STATUS.stat().st_mtime
    limit = seconds("CRAWL_INTERVAL", 900) + seconds("CRAWL_OVERDUE", 86400)
    sys.stdout.write(f"exit code of the last crawl: {code}, {age:.0f} seconds ago\n")
    return DONE if code == DONE and age <= limit else UNHEALTHY


def main(arguments: list[str]) -> int:
    """Run the container with *arguments*; return its exit code."""
    if arguments == ["--health"]:
        return check_health()
    if arguments and not arguments[0].startswith("-"):
        os.execvp("newscrawl", ["newscrawl", *arguments])  # noqa: S606, S607  # as asked
    return Entrypoint(arguments).run(seconds("CRAWL_INTERVAL", 900))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
