"""Pages in the WARC archives of ``newscrawl extract``."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from newscrawl.archives.archive_reader import ArchiveError, read_records
from newscrawl.archives.captures import MAX_FAILURES, Failure, record_pages
from newscrawl.cli.shared_options import report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from newscrawl.archives.archive_reader import ArchiveRecord, Flaw
    from newscrawl.items import PageItem
    from newscrawl.workers.child import WorkerError


class ArchivePages:
    """The pages of the archives at *paths*, with their URLs; reports errors on standard error."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = paths
        self._path: Path | None = None
        self._flaws = 0
        #: ``record``, ``article``, ``failed`` and reasons for records and pages that are left out
        self.counts: Counter[str] = Counter()
        #: a part of an archive could not be read
        self.damaged = False

    def __iter__(self) -> Iterator[tuple[str, PageItem]]:
        for page in record_pages(self._records(), self.counts, self._report_flaw):
            yield page.url, page

    def _records(self) -> Iterator[ArchiveRecord | Flaw]:
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

    def _report_flaw(self, failure: Failure) -> None:
        """Report a record of the current archive that could not be read."""
        self.damaged |= failure.reason in {"cut", "damaged", "memory"}
        self._flaws += 1
        if self._flaws <= MAX_FAILURES:
            _report(failure, self._path)

    def fail(self, url: str, error: WorkerError) -> None:
        """Report a page that could not be extracted."""
        self.counts["failed"] += 1
        _report(Failure.of(url, error.reason, str(error)))


def _report(failure: Failure, archive: Path | None = None) -> None:
    place = ": ".join(str(part) for part in (archive, failure.url) if part)
    report(f"{place}: failed ({failure.reason}): {failure.message}")
