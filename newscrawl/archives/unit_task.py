"""Task of a worker process that reads and extracts a unit.

The process that reads the pages also extracts them: sending pages to another process takes a fifth
of the time of extraction. It reports each page before it extracts it, so that
:class:`~newscrawl.archives.unit_extraction.UnitExtraction` can continue after a page that ended it.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from newscrawl.archives.captures import MAX_FAILURES, Failure, site_of
from newscrawl.archives.sources import Unit
from newscrawl.archives.unit_pages import RowFields, UnitPages, left_out
from newscrawl.pipeline_options import page_arguments
from newscrawl.workers.child import limit_memory, run_task
from newscrawl.workers.process import SiteBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from newscrawl.items import PageItem


def extract_unit(
    _: bytes,
    *,
    unit: Mapping[str, Any],
    skip: int,
    fields: Sequence[str],
    url_gate: bool,
    domains: Sequence[str],
    task: str,
    options: Mapping[str, Any],
    memory_limit: int,
    max_pages: int,
    site_seconds: float,
    used: Mapping[str, tuple[float, int]],
) -> Iterator[dict[str, Any]]:
    """Yield the answers for the pages of *unit* after the first *skip*.

    - *fields*: names of the columns (:class:`~newscrawl.archives.unit_pages.RowFields`).
    - *task*, *options*: the function that extracts a page, and its arguments for all pages.
    - *memory_limit* (MB): limit of each page and of the reader between them; 0: none.
    - *max_pages*: limit of this process; 0: none.
    - *site_seconds*, *used*: :class:`~newscrawl.workers.process.SiteBudget`.

    Each page has a part with its ``url``, ``site`` and ``position`` (arguments *first* of the unit
    and *skip* with which to continue after it), and a part with its ``article``, or ``reason`` and
    ``message``. The result is ``finished`` if no pages are left. Parts before a page and the result
    have the ``counts`` and ``failures`` since the last ones and the offsets ``first`` and ``next``.
    """
    counts: Counter[str] = Counter()
    failures: list[Failure] = []

    def fail(failure: Failure) -> None:
        if len(failures) < MAX_FAILURES:
            failures.append(failure)

    pages = UnitPages(Unit(**unit), RowFields(*fields), counts, fail)
    budget = SiteBudget(site_seconds, used)
    limit_memory(memory_limit)

    def progress() -> dict[str, Any]:
        found = {"counts": dict(counts), "failures": failures[:]}
        counts.clear()
        failures.clear()
        return {**found, "first": pages.first, "next": pages.next}

    offset: int | None = None
    read = extracted = 0
    for number, page in enumerate(pages, 1):
        # Of the record of the page, if known, and the pages read from there on.
        offset, read = pages.offset, read + 1 if offset == pages.offset else 1
        if number == skip:  # an earlier process has reported these
            counts.clear()
            failures.clear()
        if number <= skip:
            continue
        if reason := left_out(page, domains=domains, url_gate=url_gate):
            counts[reason] += 1
            continue
        site = site_of(page)
        start = {"url": page.url, "site": site, "position": (offset, read)}
        yield {"part": {**start, **progress()}, "timed": True}
        if budget.is_exceeded(site):
            message = f"{site} has used its worker time"
            answer: dict[str, Any] = {"reason": "budget", "message": message}
        else:
            answer = _extract(task, page, options, memory_limit)
            budget.add(site, answer["seconds"])
        yield {"part": answer, "timed": False}
        extracted += 1
        if answer.get("reason") == "memory" or extracted == max_pages:
            yield {"result": {"finished": False, **progress()}}
            return
    yield {"result": {"finished": True, **progress()}}


def _extract(
    task: str, page: PageItem, options: Mapping[str, Any], memory_limit: int
) -> dict[str, Any]:
    start = time.process_time()
    limit_memory(memory_limit)
    answer = run_task(task, page.html, page_arguments(page, options))
    limit_memory(memory_limit)  # of the reader
    return {**answer, "seconds": time.process_time() - start}
