"""What a crawl remembers of article pages: which are known, which to fetch again, which are new."""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from newscrawl import clock
from newscrawl.crawl.discovery.urls import owner, site_key
from newscrawl.crawl.history import schema as tables
from newscrawl.crawl.history.conditional_requests import validators
from newscrawl.crawl.history.revisit_policy import Delivered, due_at, judge
from newscrawl.crawl.history.schema import PageRow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request
    from scrapy.http import Response

    from newscrawl.crawl.discovery.target import Target
    from newscrawl.crawl.frontier.frontier_store import CrawlStore
    from newscrawl.crawl.frontier.leases import LeaseBook
    from newscrawl.crawl.history.revisit_policy import Policy, Verdict
    from newscrawl.items import Article

    Entry = dict[str, Any]

_DAY: Final = 24 * 3600.0
_RECENT: Final = 4096  # URLs of articles whose rows may still be on their way to the file
_GONE: Final = ("http_404", "http_410")


@dataclass(slots=True)
class Sifted:
    """The entries of a listing, against what is known of them."""

    #: never listed before
    fresh: list[Entry] = field(default_factory=list)
    #: to be fetched: those, and pages whose time has come; with their ``past``
    due: list[Entry] = field(default_factory=list)
    #: keys of the rest: put out before, given up, or waiting for another try
    known: list[str] = field(default_factory=list)
    #: rows for ``SEE_PAGE`` and ``SIGNAL``
    seen: list[tuple[Any, ...]] = field(default_factory=list)
    signals: list[tuple[Any, ...]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Visit:
    """An article page that was fetched and is on its way through the pipelines."""

    key: str
    target: Target
    request: Request | None
    #: final
    url: str
    validators: dict[str, str]

    @classmethod
    def of(cls, target: Target, response: Response) -> Visit:
        """Return the visit of *target* that *response* answered."""
        return cls(target.key, target, response.request, response.url, validators(response))


class PageHistory:
    """The tables ``page`` and ``alias``. *asks* False writes them and asks nothing of them."""

    def __init__(self, store: CrawlStore, leases: LeaseBook, policy: Policy, *, asks: bool) -> None:
        self._store = store
        self._leases = leases
        self._policy = policy
        self._asks = asks
        self._visits: dict[str, Visit] = {}
        self._recent: OrderedDict[str, Delivered] = OrderedDict()

    async def recall(self, site: str, *, since: float, limit: int) -> list[Entry]:
        """Return the pages of *site* that are due: those never put out, then the others.

        *since*: seconds, older ones are left, as are articles beyond their window; *limit*: pages
        of each kind.
        """
        found: list[Entry] = []
        if self._asks:
            now = clock.now().timestamp()
            for new, oldest in ((1, since), (0, now - self._policy.window)):
                rows = await self._store.read(tables.DUE, (site, now, new, oldest, limit))
                found += [_entry(PageRow(*row)) for row in rows]
        return found

    async def sift(self, entries: list[Entry]) -> Sifted:
        """Return which of *entries* are to be fetched."""
        sifted = Sifted()
        known = await self._look_up([entry["key"] for entry in entries])
        now = clock.now().timestamp()
        for entry in entries:
            rows = known.get(entry["key"], [])
            page = next((row for row in rows if row.same_url), None)
            if page is None:
                # An article that names this URL as its canonical one may be the same.
                twins = [[row.key, row.body_hash.hex()] for row in rows if row.body_hash]
                sifted.fresh.append({**entry, "past": {"twins": twins}} if twins else entry)
                sifted.due.append(sifted.fresh[-1])
            elif not self._asks:
                sifted.due.append(entry)
            else:
                self._sift_known(sifted, entry, page, now)
        return sifted

    async def not_articles(self, entries: list[Entry]) -> list[Entry]:
        """Return those of *entries* that were not put out as articles."""
        known = await self._look_up([entry["key"] for entry in entries]) if self._asks else {}
        return [
            entry
            for entry in entries
            if not any(row.same_url and row.body_hash for row in known.get(entry["key"], ()))
        ]

    def _sift_known(self, sifted: Sifted, entry: Entry, page: PageRow, now: float) -> None:
        changed = max(filter(None, (entry["changed"], page.changed)), default=None)
        if self._is_signal(entry, page, now):
            sifted.signals.append((now, changed, now, page.key))
            sifted.due.append({**entry, "past": page.past})
            return
        if now - page.last_seen > _DAY or changed != page.changed:
            sifted.seen.append((now, changed, page.key))
        if page.key == entry["key"] and self._is_due(page, now):
            sifted.due.append({**entry, "past": page.past})
        else:
            sifted.known.append(entry["key"])

    def _is_due(self, page: PageRow, now: float) -> bool:
        if page.next_due is None or page.next_due > now:
            return False
        return page.body_hash is None or now - page.since <= self._policy.window

    def _is_signal(self, entry: Entry, page: PageRow, now: float) -> bool:
        """Return True where a listing tells of a change that is worth a look."""
        changed = entry["changed"]
        if changed is None or page.body_hash is None or page.vain or page.key != entry["key"]:
            return False
        before = page.changed if page.changed is not None else page.fetched_at
        return changed > (before or 0) and now - page.since <= self._policy.window

    async def _look_up(self, keys: Iterable[str]) -> dict[str, list[PageRow]]:
        found: dict[str, list[PageRow]] = {}
        if asked := list(dict.fromkeys(keys)):
            for row in await self._store.read(tables.LOOK_UP, (json.dumps(asked),)):
                found.setdefault(row[0], []).append(PageRow(*row))
        return found

    def write_listed(
        self, site: str, sifted: Sifted, *, depth: int = 0, certain: bool = False
    ) -> None:
        """Write down what a listing names."""
        now = clock.now().timestamp()
        rows = [
            (
                *(entry["key"], site, entry["url"], depth, certain, json.dumps(entry["hints"])),
                *(now, now, entry["when"], entry["changed"], now),
            )
            for entry in sifted.fresh
        ]
        statements = {
            tables.LIST_PAGE: rows,
            tables.SEE_PAGE: sifted.seen,
            tables.SIGNAL: sifted.signals,
        }
        for sql, changes in statements.items():
            if changes:
                self._store.write(sql, changes)

    async def list_page(self, site: str, target: Target) -> dict[str, Any] | None:
        """Write down that *target* is an article page; return its past, None where it is known."""
        page: Entry = {"url": target.url, "key": target.key, "hints": target.hints}
        sifted = await self.sift([page | {"when": None, "changed": None}])
        self.write_listed(site, sifted, depth=target.depth)
        return sifted.due[0].get("past", {}) if sifted.due else None

    def taken(self, target: Target, response: Response) -> None:
        """Write down that *target* is handed on; unless more is said of it, it is no article."""
        visit = self._visits[response.url] = Visit.of(target, response)
        self._write(visit, tables.TAKE_PAGE, *self._next(target, changed=False))

    def unchanged(self, target: Target, response: Response) -> None:
        """Write down that *target* is as it was when it was put out."""
        self._keep(Visit.of(target, response))

    def failed(self, target: Target, request: Request | None, reason: str) -> None:
        """Write down that *target* could not be had, or gave no article for good."""
        now, past = clock.now().timestamp(), target.past
        before = bytes.fromhex(past["hash"]) if target.is_revisit else None
        failures, interval = past.get("failures", 0), past.get("interval")
        delay: float | None = None
        if target.is_revisit and reason in _GONE:
            status = "gone"
        elif target.is_revisit:  # there is no hurry: it is out already
            status, (_, interval, _) = "article", self._next(target, changed=False)
            delay = interval
        else:
            status, failures = "failed", failures + 1
            delay = self._policy.after_page_failure(failures, reason)
        due = None if delay is None else due_at(now, delay)
        row = (status, now, interval, due, failures, before, target.key)
        self._leases.write_with_end(request, tables.END_PAGE, [row])

    async def judge(self, article: Article, url: str, text: bytes) -> Verdict | None:
        """Return what *article* of the page at *url* is to the output, and write it down.

        *text*: the hash of its body (:func:`newscrawl.crawl.history.revisit_policy.body_hash`). None for a page
        that no crawl of a site list has fetched.
        """
        visit = self._visits.get(url)
        if visit is None:
            return None
        urls = _urls(visit, article)
        before = await self._delivered(visit, urls)
        verdict = judge(visit.key, text, before) if self._asks else "new"
        if verdict in ("new", "updated"):
            self._deliver(visit, urls, text, changed=verdict == "updated")
        elif verdict == "unchanged":
            self._keep(visit)
        else:
            row = ("known", clock.now().timestamp(), None, None, 0, None, visit.key)
            self._leases.write_with_end(visit.request, tables.END_PAGE, [row])
        return verdict

    def not_extracted(self, url: str, reason: str) -> None:
        """Write down that the page at *url* could not be made an article of."""
        if visit := self._visits.get(url):
            self.failed(visit.target, visit.request, reason)

    async def _delivered(self, visit: Visit, urls: dict[str, bool]) -> list[Delivered]:
        """Return what was put out before under one of *urls*."""
        past = visit.target.past
        found = [Delivered(visit.key, bytes.fromhex(past["hash"]))] if "hash" in past else []
        found += [
            Delivered(key, bytes.fromhex(text), same_url=False)
            for key, text in past.get("twins", ())
        ]
        rows = await self._look_up(urls)
        found += [
            Delivered(row.key, row.body_hash, same_url=bool(row.same_url))
            for row in chain.from_iterable(rows.values())
            if row.body_hash
        ]
        # What the file does not have yet: no await from here to the decision.
        return found + [self._recent[key] for key in (visit.key, *urls) if key in self._recent]

    def _deliver(self, visit: Visit, urls: dict[str, bool], text: bytes, *, changed: bool) -> None:
        self._remember(visit.key, Delivered(visit.key, text))
        aliases = []
        for key, same_url in urls.items():
            self._remember(key, Delivered(visit.key, text, same_url))
            aliases.append((key, visit.key, same_url))
        if aliases:
            self._leases.write_with_end(visit.request, tables.ALIAS, aliases)
        now, interval, due = self._next(visit.target, changed=changed)
        found = visit.validators
        values = (now, found.get("etag"), found.get("last_modified"), text, interval, due)
        self._write(visit, tables.DELIVER_PAGE, *values)

    def _remember(self, key: str, delivered: Delivered) -> None:
        self._recent[key] = delivered
        self._recent.move_to_end(key)
        if len(self._recent) > _RECENT:
            self._recent.popitem(last=False)

    def _keep(self, visit: Visit) -> None:
        now, interval, due = self._next(visit.target, changed=False)
        found = visit.validators
        values = (now, found.get("etag"), found.get("last_modified"), interval, due)
        self._write(visit, tables.KEEP_PAGE, *values)

    def _next(self, target: Target, *, changed: bool) -> tuple[float, float | None, float | None]:
        """Return now, the interval until the next visit, and when that is due."""
        now, past = clock.now().timestamp(), target.past
        since = past.get("since", min(target.when or now, now))
        interval = self._policy.after_page(past.get("interval"), now - since, changed=changed)
        return now, interval, None if interval is None else due_at(now, interval)

    def _write(self, visit: Visit, sql: str, *values: Any) -> None:
        self._leases.write_with_end(visit.request, sql, [(*values, visit.key)])

    def item_done(self, response: Response | Any) -> None:
        """Forget a visit whose item is through the pipelines, or dropped."""
        self._visits.pop(getattr(response, "url", ""), None)

    def item_error(self, response: Response | Any) -> None:
        """Take back that an article was put out which a pipeline has lost."""
        if visit := self._visits.pop(getattr(response, "url", ""), None):
            self._recent.pop(visit.key, None)
            self.failed(visit.target, visit.request, "item_error")


def _entry(row: PageRow) -> Entry:
    """Return *row* in the form that listings have."""
    return {
        "url": row.url,
        "key": row.key,
        "when": row.published,
        "changed": row.changed,
        "hints": json.loads(row.hints),
        "depth": row.depth,
        "certain": bool(row.certain),
        "past": row.past,
    }


def _urls(visit: Visit, article: Article) -> dict[str, bool]:
    """Return the keys of the article's other URLs; True for those that led to its page."""
    urls: dict[str, bool] = {}
    canonical, key_of = article.canonical_url, visit.target.key_of
    if canonical and owner(site_key(canonical)) == owner(site_key(visit.url)):
        urls[key_of(canonical)] = False
    urls[key_of(visit.url)] = True
    urls.pop(visit.key, None)
    return urls
