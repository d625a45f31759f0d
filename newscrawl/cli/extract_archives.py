"""Extraction of WARC archives with the settings of a crawl."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from newscrawl.archives.archive_reader import ArchiveError, read_records
from newscrawl.archives.captured_pages import MAX_FAILURES, record_pages
from newscrawl.archives.page_extractor import PageExtractor
from newscrawl.cli.shared_options import report
from newscrawl.workers.child import limit_memory

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from newscrawl.archives.archive_reader import ArchiveRecord, Flaw
    from newscrawl.archives.captured_pages import Failure
    from newscrawl.items import Article
    from newscrawl.pipeline_options import PipelineOptions
    from newscrawl.workers.pool import WorkerPool


def extract_archives(
    paths: Sequence[Path],
    emit: Callable[[Article], None],
    *,
    pool: Callable[[], WorkerPool],
    ahead: int,
    memory_limit: int,
    options: PipelineOptions,
    encoding: str | None,
) -> bool:
    """Call *emit* with each article of the archives at *paths*; report the rest on standard error.

    This process, which reads the archives, may use *memory_limit* more MB for that (0: no limit).
    Returns False if an archive is damaged.
    """
    records = _Records(paths)

    def failed(failure: Failure) -> None:
        report(f"{failure.url}: failed ({failure.reason}): {failure.message}")

    async def run() -> Counter[str]:
        workers = pool()
        extractor = PageExtractor(workers, options, ahead=ahead, failed=failed, encoding=encoding)
        limit_memory(memory_limit)
        try:
            pages = record_pages(records, extractor.counts, records.report_flaw)
            async for article in extractor.articles(pages):
                emit(article)
        finally:
            limit_memory(0)
            await workers.close()
        return extractor.counts

    report(summary(asyncio.run(run())))
    return not records.damaged


class _Records:
    """The records of the archives at *paths*; reports errors on standard error."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = paths
        self._path: Path | None = None
        self._failures = 0
        #: a part of an archive could not be read
        self.damaged = False

    def __iter__(self) -> Iterator[ArchiveRecord | Flaw]:
        for path in self._paths:
            self._path = path
            try:
                yield from read_records(path)
            except ArchiveError as error:
                self.damaged = True
                report(str(error))
            except OSError as error:
                self.damaged = True
                report(f"{path}: {error.strerror or error}")

    def report_flaw(self, failure: Failure) -> None:
        """Report a record of the current archive that could not be read."""
        self.damaged |= failure.reason in {"cut", "damaged", "memory"}
        self._failures += 1
        if self._failures > MAX_FAILURES:
            return
        report(": ".join(filter(None, (str(self._path), failure.message, failure.url))))


def summary(counts: Counter[str]) -> str:
    """Return a one-line summary of extracted and skipped records."""
    skipped = ", ".join(
        f"{number} {reason}"
        for reason, number in counts.most_common()
        if reason not in {"record", "article"}
    )
    line = f"{counts['article']} articles in {counts['record']} records"
    return f"{line}; left out: {skipped}" if skipped else line
