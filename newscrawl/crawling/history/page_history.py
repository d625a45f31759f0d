"""History of article pages: which are known, which are due, which articles are new."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from scrapy.utils.datatypes import LocalCache

from newscrawl import clock
from newscrawl.crawling.article_filters import ArticleFilters
from newscrawl.crawling.discovery.entries import Entry
from newscrawl.crawling.history import schema
from newscrawl.crawling.history.change_rates import ChangeRates
from newscrawl.crawling.history.conditional_requests import validators
from newscrawl.crawling.history.revisit_policy import (
    DAY,
    LATE_VISIT,
    EmittedArticle,
    article_status,
    due_at,
)
from newscrawl.crawling.history.schema import PageRow
from newscrawl.crawling.urls import page_key, registered_domain, site_key
from newscrawl.defaults import setting
from newscrawl.fields.kind.link_classifier import MIN_ARTICLE_POINTS, url_points
from newscrawl.items import parse_iso
from newscrawl.sqlite import checksum
from newscrawl.text import body_hash, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from newscrawl.crawling.discovery.target import Target
    from newscrawl.crawling.history.revisit_policy import ArticleStatus
    from newscrawl.items import Article

_MAX_RECENT: Final = 4096
#: name in the memory of sites
_RATES: Final = "change_rates"
#: characters of a page that says that a story is gone, with status 200
_MAX_SOFT_404: Final = 600
#: words of a link, and the largest share of them on a page that is about something else
_MIN_LINK_WORDS: Final = 5
_MAX_LINK_SHARE: Final = 0.2
#: share of its former text that an update has at least
_MIN_LENGTH: Final = 0.5
DELETED: Final = ("http_404", "http_410")
"""Failures of an emitted article that the site has deleted."""
GONE: Final = (*DELETED, "redirected_home", "soft_404")


@dataclass(slots=True)
class ClassifiedEntries:
    """The entries of a listing, compared with the history."""

    #: entries never listed before
    new: list[Entry] = field(default_factory=list)
    #: entries to fetch: new ones and known pages that are due, these with their ``history``
    due: list[Entry] = field(default_factory=list)
    #: whether the first entry was never listed before
    is_first_new: bool = False
    #: number of known pages that were first listed after the last poll, by another source
    shared: int = 0
    #: number of entries of the last day, None if none is dated
    recent: int | None = None
    #: keys of the other pages
    known: list[str] = field(default_factory=list)
    #: rows for ``COPY_PAGE``: pages that another query has given to the output
    copies: list[tuple[Any, ...]] = field(default_factory=list)
    #: rows for ``PAGE_SEEN``
    seen: list[tuple[Any, ...]] = field(default_factory=list)
    #: rows for ``PAGE_CHANGE_SIGNALLED``
    signals: list[tuple[Any, ...]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Visit:
    """An article page that was fetched and is in the pipelines."""

    target: Target
    request: Request | None
    final_url: str
    validators: tuple[str | None, ...]

    @classmethod
    def of(cls, target: Target, response: Response) -> Visit:
        """Return the visit of *target* with *response*, which is not kept."""
        return cls(target, response.request, response.url, validators(response))


class PageHistory(schema.History):
    """The tables ``page`` and ``alias``."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        #: by site
        self._rates: defaultdict[str, ChangeRates] = defaultdict(ChangeRates)
        self._visits: dict[str, Visit] = {}
        # Articles of this crawl, by URL key: their rows may not be committed yet.
        self._recent: LocalCache[str, EmittedArticle] = LocalCache(_MAX_RECENT)
        self._texts: LocalCache[tuple[str, bytes], str] = LocalCache(_MAX_RECENT)
        #: raw pages are wanted all the same
        self._reads_facts = not (
            self._queries.keeps_pages or setting(crawler.settings, "NEWSCRAWL_ALL_DUE")
        )
        self._filters = ArticleFilters.read(crawler.settings)
        #: keys of the further pages in stories of this crawl, and of stories read as a whole
        self.joined: set[str] = set()

    async def due(self, site: str, *, since: float, limit: int) -> list[Entry]:
        """Return the due pages of *site*: first those never emitted, then revisits.

        *since*: seconds, older pages are ignored; *limit*: maximum number of pages of each kind.
        """
        entries: list[Entry] = []
        if rates := await self._recall(_RATES, site):
            self._rates[site] = ChangeRates(**rates)
        if self._only_new:
            now = clock.now().timestamp()
            window = LATE_VISIT * self._policy.update_window
            for new, oldest in ((1, since), (0, now - window)):
                args = (site, self._queries.of(site).id, now, new, oldest, limit)
                rows = await self._store.read(schema.SELECT_DUE_PAGES, args)
                entries += [_entry(PageRow(*row)) for row in rows]
        return entries

    async def classify(
        self, entries: list[Entry], site: str = "", *, since: float | None = None
    ) -> ClassifiedEntries:
        """Compare *entries* of *site* with the history of its query.

        *since*: time of the last poll of their source in seconds.
        """
        result, query = ClassifiedEntries(), self._queries.of(site)
        pages = await self._read_pages(entry.key for entry in entries)
        known = self._known(pages, site)
        others = (entry for entry in entries if entry.key not in known)
        known |= await self._find_by_path(others, site)
        result.is_first_new = bool(entries) and entries[0].key not in known
        now = clock.now().timestamp()
        if dates := [entry.timestamp for entry in entries if entry.timestamp is not None]:
            result.recent = sum(now - DAY < date <= now for date in dates)
        for entry in entries:
            rows = known.get(entry.key, [])
            page = next((row for row in rows if row.same_url), None)
            if page and page.query != query.id and self._queries.keeps_pages:
                page = None  # its article is known, its raw page is wanted
            if page is None and any(map(self._is_settled, pages.get(entry.key, ()))):
                result.known.append(entry.key)
            elif page is None:
                result.new.append(entry)
                result.due.append(entry)
            elif not self._only_new:
                result.due.append(entry)
            else:
                if page.query != query.id:
                    result.copies.append((query.id, page.query, page.key))
                result.shared += since is not None and page.first_seen > since
                self._classify_known(result, entry, page, now, site)
        return result

    async def emitted(self, keys: Sequence[str], site: str = "") -> set[str]:
        """Return those of the page *keys* of *site* that were emitted as articles."""
        known = await self._find_pages(keys, site) if self._only_new else {}
        return {
            key
            for key, rows in known.items()
            if any(row.same_url and row.body_hash for row in rows)
        }

    def _classify_known(
        self, result: ClassifiedEntries, entry: Entry, page: PageRow, now: float, site: str
    ) -> None:
        changed = max(filter(None, (entry.changed, page.changed)), default=None)
        row = self._queries.of(site).id, page.key
        is_trusted = self._rates[site].trusts_announcements or _is_sampled(page.key)
        if is_trusted and self._signals_change(entry, page, now):
            result.signals.append((now, changed, now, *row))
            result.due.append(replace(entry, history={**page.history, "signalled": 1}))
            return
        if now - page.last_seen > DAY or changed != page.changed:
            result.seen.append((now, changed, *row))
        if page.key == entry.key and self._is_due(page, now):
            result.due.append(replace(entry, history=page.history))
        else:
            result.known.append(entry.key)

    def _is_due(self, page: PageRow, now: float) -> bool:
        if page.next_due is None or page.next_due > now:
            return False
        window = LATE_VISIT * self._policy.update_window
        return page.body_hash is None or now - page.since <= window

    def _signals_change(self, entry: Entry, page: PageRow, now: float) -> bool:
        """Return True if the listing announces a change that should be checked."""
        changed = entry.changed
        if changed is None or page.body_hash is None or page.vain or page.key != entry.key:
            return False
        before = page.changed if page.changed is not None else page.fetched_at
        return changed > (before or 0) and now - page.since <= self._policy.update_window

    async def _find_pages(self, keys: Iterable[str], site: str) -> dict[str, list[PageRow]]:
        """Return the pages with *keys* that the query of *site* knows, its own rows first.

        Of other queries these are the articles that they have given to the same output.
        """
        return self._known(await self._read_pages(keys), site)

    def _known(self, pages: dict[str, list[PageRow]], site: str) -> dict[str, list[PageRow]]:
        return {key: found for key, rows in pages.items() if (found := self._of_output(rows, site))}

    async def _read_pages(self, keys: Iterable[str]) -> dict[str, list[PageRow]]:
        """Return the pages with *keys*, of all queries."""
        found: dict[str, list[PageRow]] = {}
        if unique := list(dict.fromkeys(keys)):
            for row in await self._store.read(schema.SELECT_PAGES, (json.dumps(unique),)):
                found.setdefault(row[0], []).append(PageRow(*row))
        return found

    def _is_settled(self, page: PageRow) -> bool:
        """Return whether what another query has learned of *page* excludes it from this one."""
        if not page.same_url or not self._reads_facts:
            return False
        if page.status == "gone":
            return page.next_due is None or page.next_due > clock.now().timestamp()
        return bool(page.dated and self._filters.reason_by_date(parse_iso(page.dated)))

    def _of_output(self, pages: Iterable[PageRow], site: str) -> list[PageRow]:
        query = self._queries.of(site)
        shared = (
            page
            for page in pages
            if page.query == query.id
            or (page.body_hash and self._queries.is_given(query, page.query, page.output))
        )
        return sorted(shared, key=lambda page: page.query != query.id)

    async def _find_by_path(self, entries: Iterable[Entry], site: str) -> dict[str, list[PageRow]]:
        """Return emitted articles whose URLs differ from those of *entries* in parameters only.

        Their headlines are the same, too: the parameters state the place of a link.
        """
        by_headline: defaultdict[tuple[str, str], list[Entry]] = defaultdict(list)
        for entry in entries:
            path, mark, _ = entry.key.partition("?")
            if mark and url_points(f"http://{path}") >= MIN_ARTICLE_POINTS:
                for headline in _headlines(entry.hints):
                    by_headline[path, headline].append(entry)
        args = (json.dumps(list({path for path, _ in by_headline})),)
        rows = await self._store.read(schema.SELECT_BY_PATH, args) if by_headline else ()
        return {
            entry.key: [page]
            for page in self._of_output((PageRow(*row) for row in rows), site)
            for headline in _headlines(json.loads(page.hints))
            for entry in by_headline.pop((page.query_key, headline), ())
        }

    def record_entries(
        self, site: str, entries: ClassifiedEntries, *, depth: int = 0, certain: bool = False
    ) -> None:
        """Record the entries of a listing."""
        now, query = clock.now().timestamp(), self._queries.of(site).id
        rows = [
            (
                *(entry.key, query, site, entry.url, depth, certain, json.dumps(entry.hints)),
                *(now, now, entry.timestamp, entry.changed, now),
            )
            for entry in entries.new
        ]
        statements = {
            schema.COPY_PAGE: entries.copies,
            schema.INSERT_PAGE: rows,
            schema.PAGE_SEEN: entries.seen,
            schema.PAGE_CHANGE_SIGNALLED: entries.signals,
        }
        for sql, changes in statements.items():
            if changes:
                self._store.write(sql, changes)

    async def add_page(self, site: str, target: Target) -> dict[str, Any] | None:
        """Record *target* as an article page; return its history, None if it is not due."""
        page = Entry(target.url, target.key, hints=target.hints)
        entries = await self.classify([page], site)
        self.record_entries(site, entries, depth=target.depth)
        return entries.due[0].history if entries.due else None

    def record_fetch(self, target: Target, response: Response) -> None:
        """Record that *target* was passed to the pipelines: without article until they emit one."""
        visit = self._visits[response.url] = Visit.of(target, response)
        self._write(visit, schema.PAGE_FETCHED, *self._next_visit(target, response.request))

    def record_date(self, url: str, date: date | None) -> None:
        """Record the *date* of the article on the page at *url*, for other queries."""
        if date and (visit := self._visits.get(url)):
            self._write(visit, schema.PAGE_DATED, date.isoformat())

    def record_unchanged(self, target: Target, response: Response) -> None:
        """Record that *target* has not changed since it was emitted."""
        self._record_unchanged(Visit.of(target, response))

    def record_failure(self, target: Target, request: Request | None, reason: str) -> None:
        """Record that *target* could not be fetched, or that its page has no article."""
        now, history = clock.now().timestamp(), target.history
        digest = bytes.fromhex(history["hash"]) if target.is_revisit else None
        failures, due = history.get("failures", 0), None
        if target.is_revisit and reason in GONE:
            status = "gone"
        elif target.is_revisit:  # no retry: the next revisit follows
            status, (_, due) = "article", self._next_visit(target, request)
        else:
            status, failures = "gone" if reason in DELETED else "failed", failures + 1
            delay = self._policy.after_page_failure(failures, reason)
            due = None if delay is None else due_at(now, delay)
        row = (status, now, due, failures, digest, self._queries.of(_site_of(request)).id)
        self._leases.write_with_end(request, schema.PAGE_ENDED, [(*row, target.key)])

    def _status_of_copy(
        self, visit: Visit, article: Article, digest: bytes, *, emitted: bool
    ) -> ArticleStatus | None:
        """Return the status of a page whose text another page of the site had in this crawl.

        A short text is also that of a page that is gone if it has hardly a word of the link to it.
        *emitted*: an earlier crawl has emitted the text for another page.
        """
        is_short = len(article.body) <= _MAX_SOFT_404
        site = site_key(article.url or "")
        text = (registered_domain(site) if is_short else site, digest)
        if text not in self._texts:
            self._texts[text] = visit.target.key
        if self._texts[text] != visit.target.key:
            return "soft_404" if is_short else "known"
        if is_short and _lacks_words_of_link(article, visit):
            return "soft_404"
        return "known" if emitted else None

    async def judge(
        self, article: Article, url: str, parts: Sequence[str] | None = ()
    ) -> ArticleStatus | None:
        """Return the status of *article*, extracted from the page at *url*, and record it.

        *parts*: URLs of the further pages in it, None if some could not be read, so that it is no
        update. Returns None if the page was not fetched for a site list.
        """
        visit = self._visits.get(url)
        if visit is None:
            return None
        urls = _other_urls(visit, article)
        key, digest = visit.target.key, body_hash(article.body)
        status: ArticleStatus = "new"
        query = self._queries.of(_site_of(visit.request))
        found = await self._store.read(schema.SELECT_COPIES, (key, digest))
        copies = any(self._queries.is_given(query, *row) for row in found)
        emitted = await self._emitted_before(visit, urls, article)
        if self._only_new:
            status = article_status(key, digest, emitted)
        if status == "updated" and parts is None:
            self.record_failure(visit.target, visit.request, "further_page")
            return "unchanged"
        if status in ("new", "updated"):
            is_copy = copies and self._only_new
            status = self._status_of_copy(visit, article, digest, emitted=is_copy) or status
        length = len(article.body)
        if status == "updated" and length < _MIN_LENGTH * visit.target.history.get("length", 0):
            status = "shrunk"
        if status in ("new", "updated"):
            self._record_emitted(visit, urls, digest, length, changed=status == "updated")
            if parts:
                keys = [page_key(part) for part in parts]
                # A view of the whole story has its other pages, too.
                self.joined.update(keys if article.pages > 1 else [*keys, key])
                self.record_parts(_site_of(visit.request), key, keys, visit.request)
        elif status == "unchanged":
            self._record_unchanged(visit)
            self._add_aliases(visit.target.key, urls, visit.request)
        elif visit.target.is_revisit:  # the old text stays, and is compared with the next one
            self.record_failure(visit.target, visit.request, status)
        else:
            row = ("known", clock.now().timestamp(), None, 0, None, query.id, key)
            self._leases.write_with_end(visit.request, schema.PAGE_ENDED, [row])
        return status

    def record_parts(
        self, site: str, story: str, keys: Iterable[str], request: Request | None = None
    ) -> None:
        """Record that the pages *keys* of *site* are further pages of the *story*, a page key."""
        parts = [key for key in keys if key != story]
        now, query = clock.now().timestamp(), self._queries.of(site).id
        rows = [("known", now, None, 0, None, query, key) for key in parts]
        self._leases.write_with_end(request, schema.PAGE_ENDED, rows)
        self._add_aliases(story, dict.fromkeys(parts, True), request)

    def is_revisit(self, url: str) -> bool:
        """Return whether the page at *url*, in the pipelines, was emitted as an article before."""
        return url in self._visits and self._visits[url].target.is_revisit

    def record_extraction_failure(self, url: str, reason: str) -> None:
        """Record that the extraction of the page at *url* failed."""
        if visit := self._visits.get(url):
            self.record_failure(visit.target, visit.request, reason)

    async def _emitted_before(
        self, visit: Visit, urls: dict[str, bool], article: Article
    ) -> list[EmittedArticle]:
        """Return the articles emitted under the URL of *visit* or one of *urls*.

        A canonical URL that is that of another story is removed from *article* and *urls*.
        """
        history = visit.target.history
        emitted: list[EmittedArticle] = []
        if "hash" in history:
            emitted.append(EmittedArticle(visit.target.key, bytes.fromhex(history["hash"])))
        rows = await self._find_pages([visit.target.key, *urls], _site_of(visit.request))
        for key in [key for key, same_url in urls.items() if not same_url]:
            if any(row.key == key and _is_other_story(article, row) for row in rows.get(key, ())):
                del urls[key], rows[key]
                article.canonical_url = None
        emitted += [
            EmittedArticle(row.key, row.body_hash, same_url=bool(row.same_url))
            for row in chain.from_iterable(rows.values())
            if row.body_hash
        ]
        # No await from here until the status is recorded.
        return emitted + [
            self._recent[key] for key in (visit.target.key, *urls) if key in self._recent
        ]

    def _record_emitted(
        self, visit: Visit, urls: dict[str, bool], digest: bytes, length: int, *, changed: bool
    ) -> None:
        for key, same_url in {visit.target.key: True, **urls}.items():
            self._recent[key] = EmittedArticle(visit.target.key, digest, same_url)
        self._add_aliases(visit.target.key, urls, visit.request)
        self._learn(visit, changed=changed)
        now, due = self._next_visit(visit.target, visit.request, changed=changed)
        output = self._queries.output
        row = (now, *visit.validators, digest, output, length, due)
        self._write(visit, schema.PAGE_EMITTED, *row)

    def _add_aliases(self, page: str, urls: dict[str, bool], request: Request | None) -> None:
        if rows := [(key, page, same_url) for key, same_url in urls.items()]:
            self._leases.write_with_end(request, schema.INSERT_ALIAS, rows)

    def _record_unchanged(self, visit: Visit) -> None:
        self._learn(visit, changed=False)
        now, due = self._next_visit(visit.target, visit.request)
        self._write(visit, schema.PAGE_UNCHANGED, now, *visit.validators, due)

    def _learn(self, visit: Visit, *, changed: bool) -> None:
        """Add a visit to what is known of the changes of its site."""
        history = visit.target.history
        if not visit.target.is_revisit or "fetched_at" not in history:
            return
        rates, since = self._rates[_site_of(visit.request)], history["since"]
        age = clock.now().timestamp() - since
        if history.get("signalled"):
            rates.record_announcement(age, changed=changed)
        else:
            rates.record_visit(max(0.0, history["fetched_at"] - since), age, changed=changed)

    def _next_visit(
        self, target: Target, request: Request | None, *, changed: bool = False
    ) -> tuple[float, float | None]:
        """Return the current time, and when the next visit is due."""
        now, history = clock.now().timestamp(), target.history
        since = history.get("since", schema.birth(target.timestamp, now))
        rates, sampled = self._rates[_site_of(request)], _is_sampled(target.key)
        # An article that has changed is likely to change again, as live blogs do.
        last = max(0.0, history.get("fetched_at", since) - since) if changed else None
        delay = self._policy.after_page(rates, now - since, last, sampled=sampled)
        return now, None if delay is None else now + delay

    def save(self) -> None:
        """Store what is known of the changes of each site."""
        for site, rates in self._rates.items():
            self._remember(_RATES, site, asdict(rates))

    def _write(self, visit: Visit, sql: str, *values: Any) -> None:
        query = self._queries.of(_site_of(visit.request)).id
        self._leases.write_with_end(visit.request, sql, [(*values, query, visit.target.key)])

    def item_done(self, response: Response | Any) -> None:
        """Remove the visit of an item that was scraped or dropped."""
        self._visits.pop(getattr(response, "url", ""), None)

    def item_error(self, response: Response | Any) -> None:
        """Record that a pipeline failed: the article was not emitted."""
        if visit := self._visits.pop(getattr(response, "url", ""), None):
            self._recent.pop(visit.target.key, None)
            self.record_failure(visit.target, visit.request, "item_error")


def _site_of(request: Request | None) -> str:
    return request.meta.get("newscrawl_site", "") if request else ""


def _is_sampled(key: str) -> bool:
    """Return whether the page is visited although its site's do not change: one in eight."""
    return not checksum(key) % 8


def _entry(row: PageRow) -> Entry:
    return Entry(
        row.url,
        row.key,
        row.published,
        row.changed,
        json.loads(row.hints),
        depth=row.depth,
        certain=bool(row.certain),
        history=row.history,
    )


def _headlines(hints: dict[str, str]) -> set[str]:
    texts = (hints.get(name, "") for name in ("title", "link_text"))
    return {text for text in texts if len(words(text)) >= _MIN_LINK_WORDS}


def _is_other_story(article: Article, page: PageRow) -> bool:
    """Return whether the title of *article* has at most half the words of the links to *page*."""
    title, headlines = set(words(article.title or "")), _headlines(json.loads(page.hints))
    return bool(headlines) and all(
        2 * len(title.intersection(words(text))) <= min(len(title), len(set(words(text))))
        for text in headlines
    )


def _lacks_words_of_link(article: Article, visit: Visit) -> bool:
    """Return whether *article*, with no date on its page, is about something else than the link."""
    date, title = article.evidence.get("date"), article.evidence.get("title")
    hints = visit.target.hints
    listed = frozenset(words(hints.get("link_text") or hints.get("title") or ""))
    if len(listed) < _MIN_LINK_WORDS or (
        date and date.source not in ("hint", "hint:updated", "url")
    ):
        return False
    own_title = "" if title and title.source == "hint" else article.title or ""
    shown = listed.intersection(words(f"{own_title} {article.body}"))
    return len(shown) <= _MAX_LINK_SHARE * len(listed)


def _other_urls(visit: Visit, article: Article) -> dict[str, bool]:
    """Return the keys of the article's other URLs: True for the final, False for the canonical."""
    urls: dict[str, bool] = {}
    canonical = article.canonical_url
    domain = registered_domain(site_key(visit.final_url))
    if canonical and registered_domain(site_key(canonical)) == domain:
        urls[page_key(canonical)] = False
    urls[page_key(visit.final_url)] = True
    urls.pop(visit.target.key, None)
    return urls
