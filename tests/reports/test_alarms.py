"""Alarms over days of hourly crawls: each is opened once and closed when its cause is gone."""

from collections.abc import Callable
from datetime import UTC, datetime
from random import Random

import pytest

from newscrawl.crawling.site_stats import SiteCounts
from newscrawl.reports.alarms import AlarmBook
from newscrawl.reports.crawl_records import CrawlRecord, SiteRecord
from newscrawl.reports.drift import find_alarms
from tests.reports.test_drift import article

HOUR = 3600.0
BROKEN = range(40, 64)
"""Hours in which a site is broken."""
SITES = [f"site-{number}.example" for number in range(3)]
SITE = SITES[1]


def hourly_crawl(hour: int, random: Random, change: Callable[[SiteRecord], None]) -> CrawlRecord:
    """Return the crawl of *hour*, with two articles of each site and two that are checked again."""
    now = hour * HOUR
    crawl = CrawlRecord(now, now + 60, "finished")
    for name in SITES:
        record = crawl.site(name)
        published = datetime.fromtimestamp(now, UTC).isoformat()
        numbers = (2 * hour, 2 * hour + 1)
        record.articles = [article(n, now, random, published=published) for n in numbers]
        record.counts = SiteCounts(
            {"fetched": 3, "article": 2, "dropped/unchanged": 1, "known": 20}
        )
        if name == SITE and hour in BROKEN:
            change(record)
    return crawl


def history(crawls: list[CrawlRecord], book: AlarmBook) -> list[tuple[str, str, int | None]]:
    """Report each of *crawls*; return hour, "opened" or "closed", and site of each message."""
    messages = []
    for number in range(18, len(crawls)):
        crawl = crawls[number]
        changes = book.update(find_alarms(crawls[: number + 1], book.past), crawl.ended)
        book.mark_sent(crawl.ended)
        for name, found in zip(("opened", "closed"), changes, strict=True):
            messages += [(name, alarm.site, int(crawl.ended // HOUR)) for alarm in found]
    return messages


def lose_text(record: SiteRecord) -> None:
    record.articles = [one._replace(length=one.length // 8) for one in record.articles]


def lose_a_third(record: SiteRecord) -> None:
    if record.articles[0].url.endswith(("0", "4", "8")):
        del record.articles[0]
        record.counts += SiteCounts({"article": -1, "dropped/not_article": 1})


def shrink(record: SiteRecord) -> None:
    record.counts = SiteCounts({"fetched": 6, "article": 2, "dropped/shrunk": 4})


def show_consent(record: SiteRecord) -> None:
    record.articles, record.counts = [], SiteCounts({"fetched": 4, "dropped/consent": 4})


def close_down(record: SiteRecord) -> None:
    record.articles, record.counts = [], SiteCounts({"failed/connection": 2})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "hours"),
    [(lose_text, 12), (lose_a_third, 20), (shrink, 4), (show_consent, 4), (close_down, 0)],
)
def test_broken_site(change: Callable[[SiteRecord], None], hours: int):
    """It raises one alarm, in time, which is closed once after the repair; no other does."""
    random = Random(1)
    crawls = [hourly_crawl(hour, random, change) for hour in range(88)]
    with AlarmBook("") as book:
        opened, closed = history(crawls, book)
        assert (opened[:2], closed[:2]) == (("opened", SITE), ("closed", SITE))
        assert BROKEN.start <= opened[2] <= BROKEN.start + hours
        assert BROKEN.stop <= closed[2] <= BROKEN.stop + 24


def be_unreachable(record: SiteRecord) -> None:
    counts = {"discovery_failed/http_503": 2, "unreachable/http_503": 1}
    record.articles, record.counts = [], SiteCounts(counts)


def be_slow(record: SiteRecord) -> None:
    record.articles, record.counts = (
        [],
        SiteCounts({"fetched": 1, "failed/timeout": 2, "known": 20}),
    )


def put_off(record: SiteRecord) -> None:
    record.articles, record.counts = [], SiteCounts({"failed/retry_after": 2, "known": 20})


def give_nothing(record: SiteRecord) -> None:
    record.articles, record.counts = [], SiteCounts({"fetched": 8, "dropped/not_article": 8})


@pytest.mark.parametrize(
    "symptoms",
    [
        (be_unreachable, put_off),
        (be_slow, be_unreachable, be_slow),
        (give_nothing, be_unreachable, put_off),
    ],
)
def test_outage_with_several_symptoms(symptoms: tuple[Callable[[SiteRecord], None], ...]):
    """It is one alarm until the site is well; the next outage is another one."""
    random = Random(7)
    crawls = [hourly_crawl(hour, random, lambda _: None) for hour in range(104)]
    for start in (30, 66):
        for number, change in enumerate(symptoms):
            for crawl in crawls[start + 4 * number : start + 4 * number + 4]:
                change(crawl.sites[SITE])
    with AlarmBook("") as book:
        messages = [(name, site) for name, site, _ in history(crawls, book)]
        assert messages == 2 * [("opened", SITE), ("closed", SITE)]


def test_lost_network():
    """One alarm for all sites, which stays open while backed-off sites are not requested."""
    random = Random(2)
    crawls = [hourly_crawl(hour, random, close_down) for hour in range(40)]
    for crawl in crawls[20:32]:
        for number, record in enumerate(crawl.sites.values()):
            record.articles, record.counts = [], SiteCounts({"not_due/feed": 1})
            if crawl is crawls[20] or (crawl is crawls[25] and number < 2):
                record.counts = SiteCounts({"discovery_failed/dns": 2, "unreachable/dns": 1})
            elif crawl is crawls[26] and number < 2:
                record.counts += SiteCounts({"failed/timeout": 2, "skipped/unreachable": 1})
    # One site is not due when the network is there again.
    crawls[32].sites[SITE].articles, crawls[32].sites[SITE].counts = [], SiteCounts()
    with AlarmBook("") as book:
        assert history(crawls, book) == [("opened", "all sites", 20), ("closed", "all sites", 32)]


def test_listings_that_roll_over():
    """Their alarm is one of its own: the site may break meanwhile."""
    random = Random(5)
    crawls = [hourly_crawl(hour, random, close_down) for hour in range(42)]
    for crawl in crawls[30:]:
        crawl.sites[SITE].counts["rolled_over"] = int(crawl is not crawls[40])
    with AlarmBook("") as book:
        opened = [("opened", SITE, 32), ("opened", SITE, 40)]
        assert history(crawls, book) == opened
        assert {alarm.measure for alarm in book.past} == {"rolled_over", "unreachable"}


def test_gap_of_a_week_raises_no_alarm():
    """Nor does what was found after it, in the first crawls."""
    random = Random(4)
    hours = [*range(30), *range(198, 204)]
    crawls = [hourly_crawl(hour, random, close_down) for hour in hours]
    with AlarmBook("") as book:
        assert history(crawls, book) == []


def test_unsent_alarm_is_sent_by_the_next_report():
    """As after a webhook that failed; one that is closed before is not mentioned."""
    random = Random(3)
    crawls = [hourly_crawl(hour, random, close_down) for hour in range(42)]
    with AlarmBook("") as book:
        for _ in range(2):
            alarms = find_alarms(crawls, book.past)
            ((unsent,), closed) = book.update(alarms, crawls[-1].ended)
            assert (unsent.site, unsent.measure, closed) == (SITE, "unreachable", [])
        assert alarms[0].since == crawls[-1].ended
        assert book.update([], crawls[-1].ended + HOUR) == ([], [])
