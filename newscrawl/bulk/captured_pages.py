"""Pages in the records of archives, the failures among them, and the task that extracts a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from newscrawl.crawl.discovery.urls import registered_domain, site_key_or
from newscrawl.crawl.warc.archive_reader import Flaw
from newscrawl.crawl.warc.captures import NoPageError, is_server_message, page_of

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator

    from newscrawl.crawl.warc.archive_reader import ArchiveRecord
    from newscrawl.crawl.warc.captures import Capture


class Failure(NamedTuple):
    """A page or a part of an archive without result."""

    #: URL of the page, "" if unknown
    url: str
    #: a reason of ``WorkerError`` or :class:`~newscrawl.crawl.warc.archive_reader.Flaw`
    reason: str
    message: str


def record_pages(
    records: Iterable[ArchiveRecord | Flaw],
    counts: Counter[str],
    failed: Callable[[Failure], object],
) -> Iterator[Capture]:
    """Yield the pages in *records*; count the other records, call *failed* with each flaw."""
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
        except Exception as error:  # noqa: BLE001  # costs this record only
            counts["failed"] += 1
            failed(Failure(record.url, "error", f"{type(error).__name__}: {error}"))
        else:
            yield page


def _flaw_failure(flaw: Flaw) -> Failure:
    if flaw.reason == "too_large":
        message = f"a record is too large: {flaw.url}"
    elif flaw.reason == "cut":
        message = f"the archive is cut off at byte {flaw.offset}"
    else:
        message = f"a record is damaged at byte {flaw.offset}"
    return Failure(flaw.url, flaw.reason, message)


def site_of(page: Capture) -> str:
    """Return the site to whose budget the time of *page* counts; "" if it has none."""
    return registered_domain(site_key_or(page.url, ""))


def page_arguments(page: Capture) -> dict[str, Any]:
    """Return the arguments of the task for *page*."""
    return {
        "url": page.url,
        "encoding": page.encoding,
        "fetched_at": page.at.isoformat() if page.at else None,
        "hints": page.hints,
    }
