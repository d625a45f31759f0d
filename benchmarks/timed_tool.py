"""Child process of :mod:`benchmarks.stages`: extract pages with one tool, and measure each.

The newscrawl of the working folder is measured, which may be another commit. An input line is the
path and the URL of a page, the answer its CPU time in seconds, or with ``calls`` its calls of
Python functions: ``{"parse": by lxml, "own": {stage: without the stages it calls}}``, or null if
the tool failed. After an empty line, the garbage collector is configured as in a worker.

    python benchmarks/timed_tool.py TOOL seconds|calls
"""

from __future__ import annotations

import gc
import gzip
import json
import os
import sys
from collections import defaultdict
from functools import wraps
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import lxml.html

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

#: stage -> functions where they are called; a commit without one of them counts it for its caller
STAGES = {
    "document": ["extract.parse_document"],
    "hidden article": ["method.reveal_hidden_article"],
    "comments": ["method.comment_rows"],
    "metadata": ["extract.read_metadata"],
    "region by NCE": ["default_method.find_region"],
    "title": ["default_method._find_title_by_model"],
    "candidates of blocks": ["default_method.body_candidates"],
    "choice of blocks": ["default_method.choose_blocks"],
    "bylines and consent": ["default_method.without_byline", "default_method.without_consent"],
    "hidden text by style": [
        "method.Stylesheets.may_hide",
        "method.Stylesheets.may_hide_part",
        "default_method.elements_around_some",
        "default_method.little_hidden_text",
    ],
    "embedded article": ["default_method.find_embedded_article"],
    "dates": ["extract.page_dates", "extract.gather", "extract.decide"],
    "body": ["extract._select_body"],
    "paywall": ["extract.find_paywall", "extract.shows_paywall"],
    "kind": ["extract.kind_features", "extract._kind", "extract.page_kind"],
    "description": ["extract._set_description"],
    "language": ["extract.detect_language"],
    "authors": ["extract._set_authors", "extract._find_authors"],
    "further pages": ["extract.find_further_pages"],
}
REST = "rest"


class Meter:
    """Sums of a clock by stage."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.own: dict[str, float] = defaultdict(float)
        self._stage, self._since = REST, clock()

    def enter(self, stage: str) -> str:
        """Count what passed for the stage before, and return it; *stage* goes on."""
        now = self.clock()
        self.own[self._stage] += now - self._since
        before, self._stage, self._since = self._stage, stage, now
        return before

    def counted(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return *function* as a part of *stage*."""

        @wraps(function)
        def run(*arguments: Any, **options: Any) -> Any:
            before = self.enter(stage)
            try:
                return function(*arguments, **options)
            finally:
                self.enter(before)

        return run


def count_calls() -> Callable[[], float]:
    """Return a clock of the calls of Python functions, except those of this file."""
    calls, this_file = 0, __file__

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code.co_filename != this_file

    sys.setprofile(profile)
    return lambda: calls


def load(tool: str, meter: Meter) -> Callable[[bytes, str, str | None], object]:
    """Return a function of bytes, text and URL; for newscrawl, *meter* counts its stages."""
    if tool != "newscrawl":
        peers = import_module("benchmarks.peers.tools")
        run = peers.TOOLS[tool].load()
        return lambda html, text, url: run(peers.PageInput(html, text, url))
    for stage, places in STAGES.items():
        for place in places:
            module, *names, name = place.split(".")
            caller: Any = import_module(f"newscrawl.extraction.{module}")
            for part in names:
                caller = getattr(caller, part, None)
            if function := getattr(caller, name, None):
                setattr(caller, name, meter.counted(stage, function))
    extract = import_module("newscrawl.extraction.extract").extract
    return lambda html, _, url: extract(html, url)


def main(tool: str, unit: str) -> None:
    """Answer each line."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what tools print
    sys.path[0] = str(Path.cwd())
    meter = Meter(count_calls() if unit == "calls" else process_time)
    run = load(tool, meter)
    for line in sys.stdin:
        if not line.strip():
            gc.freeze()
            gc.set_threshold(20_000, 10, 10)
            continue
        path, url = json.loads(line)
        html = gzip.decompress(Path(path).read_bytes())
        text = html.decode("utf-8", "replace")
        answer = None
        try:
            meter.counted("parse", lxml.html.document_fromstring)(html)
            bytearray(4096)  # the allocator joins the pieces of the tree that was freed
            meter.enter(REST)
            parse = meter.own["parse"]
            meter.own.clear()
            meter.counted(REST, run)(html, text, url)
            answer = {"parse": parse, "own": meter.own}
        except Exception as error:  # noqa: BLE001 (of any tool)
            sys.stderr.write(f"{tool}, {path}: {error!r}\n")
        answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
