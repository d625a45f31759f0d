"""Retry-After, back-off, Crawl-delay and request budgets of registered domains."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import Response

from newscrawl import clock
from newscrawl.middlewares.politeness import (
    FAILURE_THRESHOLD,
    MIN_BACKOFF,
    REFUSAL_LIMIT,
    Pace,
    _wait,
    retry_after,
)
from tests.helpers.crawls import Crawl, crawl_pages
from tests.servers.pages import article_page
from tests.servers.site import HTML, Answer, SiteServer, html, redirect, text

NOW = datetime(2026, 11, 22, 7, 0, tzinfo=UTC)
#: seconds; more than the delay from which waiting requests do not count as active
WAIT = 6


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (b"120", 120),
        (b" 0 ", 0),
        (b"Sun, 22 Nov 2026 07:01:30 GMT", 90),
        (b"Sunday, 22-Nov-26 07:01:30 GMT", 90),
        (b"Sun, 22 Nov 2026 06:00:00 GMT", 0),
        (b"Sun Nov 22 07:00:05 2026", 5),
        (b"99999999999999999999999", 9999999999),
        (None, None),
        (b"", None),
        (b"-5", None),
        (b"1.5", None),
        (b"soon", None),
        (b"\xb2", None),
    ],
)
def test_parses_retry_after(header: bytes | None, seconds: float | None):
    assert retry_after(header, NOW) == seconds


@pytest.mark.parametrize("hours", [-5, 0, 5])
def test_retry_after_counts_from_the_date_of_the_response(hours: int):
    """A clock that is wrong by hours neither shortens the pause nor closes the domain."""
    sent = datetime.now(UTC) + timedelta(hours=hours)
    dates = {"Date": sent, "Retry-After": sent + timedelta(seconds=90)}
    headers = {name: format_datetime(moment, usegmt=True) for name, moment in dates.items()}
    assert _wait(Response("https://x.example/", 429, headers)) == 90


def test_closed_domain_ignores_the_system_clock():
    """It is closed for its time, whatever the clock is set to, and in the state by the new one."""
    pace = Pace(1.0, max_delay=60)
    try:
        for hours in (-5, 5):
            clock.set_clock(lambda: NOW)
            end = pace.close(clock.steady(), 3600)
            system = NOW + timedelta(hours=hours)
            clock.set_clock(lambda now=system: now, lambda: NOW + timedelta(minutes=59))
            assert pace.is_closed(clock.steady())
            assert clock.on_system_clock(end) == system + timedelta(minutes=1)
            assert clock.on_steady_clock(clock.on_system_clock(end)) == end
            clock.set_clock(lambda now=system: now, lambda: NOW + timedelta(minutes=60))
            assert not pace.is_closed(clock.steady())
    finally:
        clock.set_clock()


@given(st.binary(max_size=60))
def test_any_retry_after_is_no_error(header: bytes):
    seconds = retry_after(header, NOW)
    assert seconds is None or seconds >= 0
    Pace(1, 60).close(NOW, seconds or 0)


def test_refusals_double_delay_and_successes_reduce_it():
    pace = Pace(1.0, max_delay=60)
    for expected in (2, 4, 8, 16, 32, 60, 60):
        pace.record_refusal(NOW, None)
        assert pace.delay == expected
    for _ in range(12):
        pace.record_success()
    assert pace.delay == pace.base == 1.0
    assert pace.refusals == 0
    pace = Pace(0, max_delay=60)
    pace.record_refusal(NOW, None)
    assert pace.delay == MIN_BACKOFF


def test_only_consecutive_failures_slow_down():
    pace = Pace(1.0, max_delay=60)
    for _ in range(FAILURE_THRESHOLD - 1):
        pace.record_failure()
    pace.record_success()
    for _ in range(FAILURE_THRESHOLD - 1):
        pace.record_failure()
    assert pace.delay == 1.0
    pace.record_failure()
    assert pace.delay == 2.0


def test_counts_concurrent_refusals_once():
    pace = Pace(1.0, max_delay=60)
    for _ in range(10):
        pace.record_refusal(NOW, 30.0)
    assert pace.refusals == 1
    for number in range(REFUSAL_LIMIT):
        pace.record_refusal(NOW + timedelta(minutes=number + 1), 30.0)
    assert pace.gives_up


@pytest.fixture
def web() -> Iterator[SiteServer]:
    with SiteServer() as served:
        yield served


def crawl_all(folder: Path, web: SiteServer, *pages: str, **settings: object) -> Crawl:
    """Crawl *pages* (URLs without scheme and port) of *web*."""
    given = {"ROBOTSTXT_OBEY": False, "DOWNLOAD_TIMEOUT": 60}
    done = crawl_pages(folder, web.urls(*pages), **{**given, **settings})
    assert done.returncode == 0, done.output[-5000:]
    assert done.errors() == []
    return done


def busy(wait: int, status: int = 429) -> Answer:
    """Return a response that refuses the request for *wait* seconds."""
    return replace(html("wait", status, Retry_After=str(wait)), pause=wait)


class DatedWeb(SiteServer):
    """Sets the Retry-After of date.example at its first request, since crawls start slowly."""

    status = 429

    async def answer(self, request: Any, writer: asyncio.StreamWriter) -> bool:
        """Send what there is for the URL at this turn."""
        url = f"{request.host}{request.target}"
        if url == "date.example/1" and url not in self.requested:
            soon = format_datetime(datetime.now(UTC) + timedelta(seconds=WAIT + 2), usegmt=True)
            refusal = html("wait", self.status, Retry_After=soon)
            self.put(url, replace(refusal, pause=WAIT), html("1"))
        return await super().answer(request, writer)


@pytest.mark.slow
@pytest.mark.parametrize("status", [429, 503])
def test_all_hosts_of_domain_wait(tmp_path: Path, status: int):
    later = ["www.busy.example/2", "img.busy.example/3", "busy.example/4"]
    pages = ["www.busy.example/1", "date.example/1", *later]
    with DatedWeb(dict.fromkeys(later, html("later"))) as web:
        web.status = status
        web.put("www.busy.example/1", busy(WAIT, status), html("1"))
        crawl = crawl_all(tmp_path, web, *pages, CONCURRENT_REQUESTS=6, RETRY_TIMES=0)
    assert web.early == []
    assert crawl.stats["downloader/response_status_count/200"] == 5
    assert crawl.stats["newscrawl/politeness/paused_count"] == 2


class JammedWeb(SiteServer):
    """Refuses requests to ``busy-*.example`` until all other pages were requested."""

    async def answer(self, request: Any, writer: asyncio.StreamWriter) -> bool:
        """Send the page or the refusal."""
        if request.host.startswith("busy-"):
            waiting = self.answers.keys() - set(self.requested)
            jammed = any(not url.startswith("busy-") for url in waiting)
            self.put(f"{request.host}{request.target}", busy(WAIT) if jammed else html("x"))
        return await super().answer(request, writer)


@pytest.mark.slow
def test_waiting_domains_do_not_block_others(tmp_path: Path):
    waiting = [f"busy-{n}.example/{page}" for n in range(4) for page in range(2)]
    others = [f"other-{n}.example/" for n in range(20)]
    with JammedWeb(dict.fromkeys([*waiting, *others], html("x"))) as web:
        crawl = crawl_all(tmp_path, web, *waiting, *others, CONCURRENT_REQUESTS=4)
    assert web.early == []
    assert crawl.stats["downloader/response_status_count/200"] == 28
    assert crawl.stats["newscrawl/politeness/paused_count"] >= 4


@pytest.mark.slow
def test_disabled_middleware_ignores_retry_after(tmp_path: Path, web: SiteServer):
    web.put("busy.example/1", busy(86400), html("x"))
    crawl = crawl_all(tmp_path, web, "busy.example/1", NEWSCRAWL_POLITENESS_ENABLED=False)
    assert web.request_counts() == {"busy.example/1": 2}
    assert not [name for name in crawl.stats if name.startswith("newscrawl/politeness/")]


@pytest.mark.slow
def test_skips_domain_with_long_retry_after(tmp_path: Path, web: SiteServer):
    web.put("busy.example/1", busy(86400))
    pages = [f"busy.example/{n}" for n in range(1, 6)]
    crawl = crawl_all(tmp_path, web, *pages, RETRY_TIMES=2)
    assert web.request_counts() == {"busy.example/1": 1}
    assert crawl.stats["newscrawl/politeness/closed_count"] == 1
    refused = "downloader/exception_type_count/newscrawl.crawling.network.RefusedError"
    assert crawl.stats[refused] == 4
    crawl = crawl_all(tmp_path, web, *pages)  # the next crawl waits as well
    assert web.request_counts() == {"busy.example/1": 1}
    assert crawl.stats[refused] == 5


@pytest.mark.slow
def test_gives_up_after_repeated_retry_after(tmp_path: Path, web: SiteServer):
    pages = [f"busy.example/{n}" for n in range(8)]
    for page in pages:
        web.put(page, busy(1))
    crawl = crawl_all(tmp_path, web, *pages, RETRY_TIMES=2)
    requested = web.request_counts()
    assert sum(requested.values()) <= 2 * REFUSAL_LIMIT
    assert crawl.stats["newscrawl/politeness/closed_count"] == 1


@pytest.mark.slow
def test_backs_off_without_retry_after(tmp_path: Path, web: SiteServer):
    for n in range(3):
        web.put(f"slow.example/{n}", replace(text("wait", 503), pause=0.4), html("x"))
    crawl = crawl_all(tmp_path, web, *(f"slow.example/{n}" for n in range(3)), RETRY_TIMES=3)
    assert web.early == []
    assert crawl.stats["downloader/response_status_count/200"] == 3


@pytest.mark.slow
def test_obeys_crawl_delay(tmp_path: Path, web: SiteServer):
    web.put("a.slow.example/robots.txt", text("User-agent: *\nCrawl-delay: 1\n"))
    pages = ["a.slow.example/1", "a.slow.example/2", "b.slow.example/3"]
    for page in pages:
        web.put(page, replace(html("x"), pause=0.9))
    crawl = crawl_all(tmp_path, web, *pages, ROBOTSTXT_OBEY=True, DOWNLOAD_DELAY_JITTER=0)
    assert [url for url in web.early if not url.endswith("/robots.txt")] == []
    assert set(web.requested) >= set(pages)
    assert crawl.stats["newscrawl/politeness/crawl_delay_count"] == 1


@pytest.mark.slow
def test_budget_counts_redirects_and_retries(tmp_path: Path, web: SiteServer):
    links = "".join(
        f'<a href="/2026/11/20/a-story-of-the-day-number-{n}.html">A story of the day with a long '
        f"headline, number {n}</a>"
        for n in range(40)
    )
    web.put("127.0.0.1/", html(links))
    for n in range(40):
        path = f"/2026/11/20/a-story-of-the-day-number-{n}.html"
        web.put(f"127.0.0.1{path}", redirect(f"/hop-{n}"))
        web.put(f"127.0.0.1/hop-{n}", redirect(f"/end-{n}"))
        web.put(f"127.0.0.1/end-{n}", text("", 500))
    crawl = web.crawl(tmp_path, NEWSCRAWL_SITE_REQUESTS=30,
        NEWSCRAWL_BACKOFF_DELAY=0, RETRY_TIMES=1,
    )  # fmt: skip
    assert crawl.returncode == 1
    assert crawl.stats["finish_reason"] == "finished"
    assert 20 <= sum(web.request_counts().values()) <= 30
    counts = crawl.site_counts(web.site)
    assert counts["skipped_count/over_budget"] > 20
    assert counts["discovered_count"] == 40


@pytest.mark.slow
def test_sitelist_fetches_all_pages_after_wait(tmp_path: Path, web: SiteServer):
    base = web.url
    stories = [f"/2026/11/20/a-story-of-the-day-number-{n}.html" for n in range(3)]
    entries = "".join(f"<url><loc>{base}{path}</loc></url>" for path in stories)
    web.put("127.0.0.1/robots.txt", busy(1, 503), text(f"Sitemap: {base}/map.xml\n"))
    web.put("127.0.0.1/map.xml", busy(1), text(f"<urlset>{entries}</urlset>"))
    web.put("127.0.0.1/", html("front"))
    for number, path in enumerate(stories):
        page = Answer(article_page(number).encode(), headers=HTML)
        web.put(f"127.0.0.1{path}", *([busy(1)] if number else []), page)
    crawl = web.crawl(tmp_path, NEWSCRAWL_MAX_AGE=0)
    assert crawl.returncode == 0
    assert crawl.errors() == []
    counts = crawl.site_counts(web.site)
    assert counts["discovered_count"] == counts["fetched_count"] == counts["article_count"] == 3
    assert not any("failed" in name for name in counts)
    assert crawl.stats["newscrawl/politeness/paused_count"] == 4


def test_recovery_ends_at_the_base():
    """After overload the delay falls by steps; below half a second it is the base again."""
    pace = Pace(0.1, max_delay=60)
    for _ in range(3):
        pace.record_failure()
    assert pace.delay == 1.0
    delays = []
    for _ in range(3):
        pace.record_success()
        delays.append(round(pace.delay, 2))
    assert delays == [0.7, 0.1, 0.1]


def test_refusal_counts_from_the_end_of_the_wait():
    """A refusal at the very end of a Retry-After counts; one before does not."""
    pace = Pace(0.1, max_delay=60)
    pace.record_refusal(NOW, 10)
    pace.record_refusal(NOW + timedelta(seconds=9), 1)
    assert pace.refusals == 1
    pace.record_refusal(NOW + timedelta(seconds=10), None)
    assert pace.refusals == 2
