"""Changes of sites: found if they are large, and none in unchanged sites."""

from collections.abc import Callable
from random import Random

import pytest

from newscrawl.crawling.reporting.crawl_recorder import RecordedArticle
from newscrawl.crawling.site_stats import SiteCounts
from newscrawl.reports.crawl_records import CrawlRecord
from newscrawl.reports.drift import find_alarms

DAY = 86400.0


def article(number: int, when: float, random: Random, **fields: object) -> RecordedArticle:
    """Return an article with the scatter of an unchanged site."""
    plain = RecordedArticle(
        url=f"https://a.example/{number}",
        title="Title",
        kind="article",
        published="2026-11-20T10:00:00+00:00",
        fetched_at=when,
        confidence=min(1.0, random.gauss(0.93, 0.04)),
        length=int(random.lognormvariate(8, 0.6)),
        authors=int(random.random() < 0.8),
        cluster=None,
    )
    return plain._replace(**fields)  # type: ignore[arg-type]


def crawls(
    seed: int, sites: int = 20, change: Callable[[RecordedArticle], RecordedArticle] | None = None
) -> list[CrawlRecord]:
    """Return five crawls with 12 articles a site; *change* applies to a site of the last."""
    random = Random(seed)
    found = []
    for number in range(5):
        record = CrawlRecord(number * DAY, number * DAY + 600)
        for site in range(sites):
            articles = [article(1000 * number + k, number * DAY, random) for k in range(12)]
            if change is not None and number == 4 and site == 3:
                articles = [change(one) for one in articles]
            record.site(f"site-{site}.example").articles = articles
        found.append(record)
    return found


@pytest.mark.parametrize("seed", range(10))
def test_unchanged_sites_raise_no_alarm(seed: int):
    """Twenty unchanged sites, ten seeds."""
    assert find_alarms(crawls(seed)) == []


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    ("measure", "change"),
    [
        ("confidence", lambda a: a._replace(confidence=(a.confidence or 0) - 0.2)),
        ("length", lambda a: a._replace(length=a.length // 8)),
        ("length", lambda a: a._replace(length=a.length * 8)),
        ("date", lambda a: a._replace(published=None)),
        ("authors", lambda a: a._replace(authors=0)),
    ],
)
def test_changed_site_raises_an_alarm(
    seed: int, measure: str, change: Callable[[RecordedArticle], RecordedArticle]
):
    """A change of one site of twenty is found, and no other."""
    (alarm,) = find_alarms(crawls(seed, change=change))
    assert (alarm.site, alarm.measure) == ("site-3.example", measure)


def test_small_changes_raise_no_alarm():
    """A significant change below the minimum is not reported."""
    slightly = crawls(0, change=lambda a: a._replace(confidence=0.91))
    for record in slightly[:-1]:
        record.sites["site-3.example"].articles = [
            one._replace(confidence=0.93) for one in record.sites["site-3.example"].articles
        ]
    assert find_alarms(slightly) == []


def test_yield():
    """A site whose pages give no articles any more is reported; known articles are no losses."""
    first, last = CrawlRecord(0, 600), CrawlRecord(DAY, DAY + 600)
    first.site("a.example").counts = SiteCounts(
        {"article": 20, "fetched": 22, "failed/http_404": 2}
    )
    counts = {"fetched": 22, "dropped/not_article": 20, "dropped/known": 2}
    last.site("a.example").counts = SiteCounts(counts)
    (alarm,) = find_alarms([first, last])
    assert (alarm.measure, alarm.message) == (
        "yield",
        "Pages that gave an article: 0 of 20, before 20 of 22.",
    )
    last.site("a.example").counts = SiteCounts({"fetched": 22, "dropped/known": 22})
    assert find_alarms([first, last]) == []


def test_unreachable():
    """A site of which all requests fail is reported; one that forbids them if it had articles."""
    first, last = CrawlRecord(0, 600), CrawlRecord(DAY, DAY + 600)
    first.site("a.example").counts = SiteCounts({"article": 1, "fetched": 1})
    last.site("a.example").counts = SiteCounts({"failed/dns": 1})
    new = SiteCounts({"discovery_failed/connection": 2, "unreachable/connection": 1})
    last.site("new.example").counts = new
    forbidden = SiteCounts({"discovery_failed/robots": 1, "unreachable/robots": 1})
    last.site("forbidden.example").counts = forbidden
    missing = SiteCounts({"discovery_failed/http_404": 1, "known": 3})
    last.site("missing-feed.example").counts = missing
    assert [(alarm.site, alarm.measure, alarm.message) for alarm in find_alarms([first, last])] == [
        ("a.example", "unreachable", "All requests failed: 1 dns."),
        ("new.example", "unreachable", "All requests failed: 2 connection."),
    ]


@pytest.mark.parametrize(("days", "silent"), [(2, False), (4, True)])
def test_silence(days: int, silent: bool):
    """A site with an article an hour is silent after three days; nothing new today is no alarm."""
    random = Random(0)
    history = [
        article(
            number,
            0.0,
            random,
            published=f"2026-11-{1 + number // 24:02}T{number % 24:02}:00:00+00:00",
        )
        for number in range(100)
    ]
    start = 1793491200.0 + 100 * 3600  # 2026-11-01, then the last article
    first, last = CrawlRecord(start, start), CrawlRecord(start + days * DAY, start + days * DAY)
    first.site("a.example").articles = history
    last.site("a.example")
    alarms = find_alarms([first, last])
    assert [alarm.measure for alarm in alarms] == ["silence"] * silent


def test_one_crawl_raises_no_alarm():
    """Without an earlier crawl there is nothing to compare with."""
    assert find_alarms(crawls(0)[:1]) == []
