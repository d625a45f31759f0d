"""Pages in the records of archives, and the failures among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from newscrawl.archives.archive_reader import Flaw
from newscrawl.archives.captures import NoPageError, is_server_message, page_of
from newscrawl.crawl.discovery.urls import registered_domain, site_key_or
from newscrawl.text import without_controls

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator

    from newscrawl.archives.archive_reader import ArchiveRecord
    from newscrawl.items import PageItem


MAX_FAILURES: Final = 10_000
"""Maximum number of failures of a unit or command that are listed; others are only counted."""

_MAX_TEXT: Final = 2000
"""Maximum characters of the URL and of the message of a failure."""


class Failure(NamedTuple):
    """A page or a part of an archive without result."""

    #: URL of the page, "" if unknown
    url: str
    #: a reason of ``WorkerError`` or :class:`~newscrawl.archives.archive_reader.Flaw`
    reason: str
    message: str

    @classmethod
    def of(cls, url: str, reason: str, message: str) -> Failure:
        """Return a failure with texts of the archive: shortened, without control characters."""
        return cls(*(without_controls(text[:_MAX_TEXT]) for text in (url, reason, message)))


def record_pages(
    records: Iterable[ArchiveRecord | Flaw],
    counts: Counter[str],
    failed: Callable[[Failure], object],
) -> Iterator[PageItem]:
    """Yield the pages in *records*; count the other records, call *failed* with each failure."""
    for record in records:
        if isinstance(record, Flaw):
            counts[record.reason] += 1
            failed(_flaw_failure(record))
            continue
        counts["record"] += 1
        if not is_server_message(record):
            continue
        try:
            page = page_of(record)
        except NoPageError as error:
            counts[error.reason] += 1
            if error.message:
                failed(Failure.of(record.url, error.reason, error.message))
        except Exception as error:  # noqa: BLE001  # costs this record only
            counts["failed"] += 1
            reason = "memory" if isinstance(error, MemoryError) else "error"
            failed(Failure.of(record.url, reason, f"{type(error).__name__}: {error}"))
        else:
            yield page


_FLAWS: Final = {
    "cut": "the archive is cut off at byte",
    "damaged": "a record is damaged at byte",
    "memory": "a record exceeded the memory limit at byte",
    "too_large": "a record is too large at byte",
}


def _flaw_failure(flaw: Flaw) -> Failure:
    return Failure.of(flaw.url, flaw.reason, f"{_FLAWS[flaw.reason]} {flaw.offset}")


def site_of(page: PageItem) -> str:
    """Return the site to whose budget the time of *page* counts; "" if it has none."""
    return registered_domain(site_key_or(page.url, ""))
