"""The static site of a report: an index and a page for each site."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from newscrawl.reports.crawl_records import SiteRecord, as_time, mean
from newscrawl.templates import render_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from newscrawl.crawling.reporting.crawl_recorder import RecordedArticle
    from newscrawl.crawling.site_stats import DroppedPage
    from newscrawl.reports.crawl_records import CrawlRecord
    from newscrawl.reports.drift import Alarm

MAX_ARTICLES = 500
"""Articles that a page lists, the least confident ones."""
MAX_CLUSTERS = 100
MAX_CRAWLS = 100
"""Crawls that plots and tables show, the last ones."""
_SCRIPTS = ("theme.js", "report.js")
_COLUMNS = ("Found", "Fetched", "Articles", "Failed", "Dropped", "Confidence")
_OUTCOMES = ("dropped", "failed", "skipped", "rendering", "stale_rule")


def write_report(crawls: Sequence[CrawlRecord], alarms: Sequence[Alarm], folder: Path) -> None:
    """Write the report of the last of *crawls* with a result to *folder*, which is created."""
    while len(crawls) > 1 and crawls[-1].is_idle:
        crawls = crawls[:-1]
    crawls = crawls[-MAX_CRAWLS:]
    last = crawls[-1]
    (folder / "sites").mkdir(parents=True, exist_ok=True)
    _write(folder / "index.html", _index(crawls, alarms))
    for site in last.sites:
        _write(folder / _page_of(site), _site_page(site, crawls, alarms))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="replace")


def _index(crawls: Sequence[CrawlRecord], alarms: Sequence[Alarm]) -> str:
    last = crawls[-1]
    sections = ("alarms", "plots", "sites", "articles", "clusters", "dropped")
    names = ("Alarms", "Crawls", "Sites", "Articles", "Clusters", "Dropped pages")
    found = [(site, article) for site, record in last.sites.items() for article in record.articles]
    by_site = Counter(alarm.site for alarm in alarms)
    return render_page(
        "report.html",
        scripts=_SCRIPTS,
        sections=list(zip(sections, names, strict=True)),
        crawl={"date": _date(last.ended), "note": _note(crawls)},
        totals=list(_totals(last, alarms)),
        alarms=[_alarm(alarm) for alarm in alarms],
        calm=_calm(crawls),
        plots=_crawl_plots(crawls),
        columns=_COLUMNS,
        sites=[
            {
                "name": site,
                "page": _page_of(site),
                "alarms": _count(by_site[site], "alarm") if by_site[site] else "",
                "cells": _cells(record),
                "reasons": _reasons(record),
            }
            for site, record in sorted(last.sites.items())
        ],
        articles=_article_rows(found),
        article_total=sum(record.article_count for record in last.sites.values()),
        clusters=list(_clusters(found)),
        dropped=_dropped(
            page for _, record in sorted(last.sites.items()) for page in record.dropped
        ),
    )


def _site_page(site: str, crawls: Sequence[CrawlRecord], alarms: Sequence[Alarm]) -> str:
    crawled = [(crawl.ended, crawl.sites[site]) for crawl in crawls if site in crawl.sites]
    record = crawls[-1].sites[site]
    return render_page(
        "report_site.html",
        scripts=_SCRIPTS,
        site=site,
        alarms=[_alarm(alarm) for alarm in alarms if alarm.site == site],
        calm=_calm(crawls),
        plots=_site_plots(crawled),
        columns=_COLUMNS,
        rows=[
            {"date": _date(ended), "cells": _cells(one), "reasons": _reasons(one)}
            for ended, one in reversed(crawled)
        ],
        articles=_article_rows((site, article) for article in record.articles),
        article_total=record.article_count,
        dropped=_dropped(record.dropped),
    )


def _page_of(site: str) -> str:
    """Return the path of the page of *site*: readable, unique and safe."""
    name = re.sub(r"[^a-z0-9]+", "-", site.lower()).strip("-")[:60]
    digest = hashlib.sha256(site.encode("utf-8", "replace")).hexdigest()[:8]
    return f"sites/{name}-{digest}.html"


def _date(seconds: float) -> str:
    return as_time(seconds).strftime("%Y-%m-%d %H:%M UTC")


def _day(seconds: float) -> str:
    return as_time(seconds).strftime("%d %b %H:%M")


def _count(number: int, name: str) -> str:
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


def _note(crawls: Sequence[CrawlRecord]) -> str:
    last = crawls[-1]
    took = f"Took {last.ended - last.started:.0f} s. " if last.ended >= last.started + 1 else ""
    ended = f"Ended: {last.reason}. " if last.reason else ""
    earlier = _count(len(crawls) - 1, "earlier crawl")
    return f"{took}{ended}Compared with {earlier}."


def _calm(crawls: Sequence[CrawlRecord]) -> str:
    if len(crawls) == 1:
        return "No alarm: there is no earlier crawl to compare with."
    return "No alarm: no site changed or went silent."


def _totals(crawl: CrawlRecord, alarms: Sequence[Alarm]) -> Iterator[tuple[str, object]]:
    records = crawl.sites.values()
    yield "Sites", len(crawl.sites)
    yield "Found", sum(record.counts["discovered"] for record in records)
    yield "Fetched", sum(record.counts["fetched"] for record in records)
    yield "Articles", sum(record.article_count for record in records)
    yield "Failed", sum(record.failures.total() for record in records)
    yield "Alarms", len(alarms)


def _alarm(alarm: Alarm) -> dict[str, Any]:
    return {
        "site": alarm.site,
        "page": _page_of(alarm.site),
        "measure": alarm.measure,
        "message": alarm.message + (f" Open since {_date(alarm.since)}." if alarm.since else ""),
    }


def _cells(record: SiteRecord) -> list[str]:
    counts = record.counts
    return [
        str(counts["discovered"]),
        str(counts["fetched"]),
        str(record.article_count),
        str(record.failures.total()),
        str(counts.reasons("dropped").total()),
        _confidence(mean(_confidences(record.articles))),
    ]


def _confidences(articles: Iterable[RecordedArticle]) -> list[float]:
    return [article.confidence for article in articles if article.confidence is not None]


def _confidence(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _reasons(record: SiteRecord) -> str:
    """Return "failed: 2 http_404; dropped: 1 too_short"."""
    parts = (
        (outcome, ", ".join(f"{number} {reason}" for reason, number in found.most_common()))
        for outcome in _OUTCOMES
        if (found := record.failures if outcome == "failed" else record.counts.reasons(outcome))
    )
    return "; ".join(f"{outcome}: {listed}" for outcome, listed in parts)


def _crawl_plots(crawls: Sequence[CrawlRecord]) -> list[Plot]:
    dates = [_day(crawl.ended) for crawl in crawls]
    records = [list(crawl.sites.values()) for crawl in crawls]
    numbers = [float(sum(one.article_count for one in found)) for found in records]
    scores = [mean(s for one in found for s in _confidences(one.articles)) for found in records]
    plots = (
        line_plot("Articles", dates, numbers, _integer),
        line_plot("Mean confidence in the body", dates, scores, "{:.2f}".format, highest=1.0),
    )
    return [plot for plot in plots if plot is not None]


def _integer(value: float) -> str:
    return f"{value:.0f}"


def _site_plots(crawled: Sequence[tuple[float, SiteRecord]]) -> list[Plot]:
    dates = [_day(ended) for ended, _ in crawled]
    found = [record.articles for _, record in crawled]

    def share(has: Callable[[RecordedArticle], bool]) -> list[float | None]:
        return [mean(float(has(article)) for article in articles) for articles in found]

    numbers = [float(record.article_count) for _, record in crawled]
    lengths = [fmean(a.length for a in articles) if articles else None for articles in found]
    scores = [mean(_confidences(articles)) for articles in found]
    plots = (
        line_plot("Articles", dates, numbers, _integer),
        line_plot("Mean confidence in the body", dates, scores, "{:.2f}".format, highest=1.0),
        line_plot("Mean characters of the body", dates, lengths, _integer),
        line_plot(
            "Articles with a date", dates, share(lambda a: a.published is not None),
            "{:.0%}".format, highest=1.0,
        ),
        line_plot(
            "Articles with authors", dates, share(lambda a: a.authors > 0),
            "{:.0%}".format, highest=1.0,
        ),
    )  # fmt: skip
    return [plot for plot in plots if plot is not None]


def _article_rows(found: Iterable[tuple[str, RecordedArticle]]) -> list[dict[str, Any]]:
    ranked = sorted(found, key=lambda item: (item[1].confidence or 0.0, item[1].url))
    return [_article_row(site, article) for site, article in ranked[:MAX_ARTICLES]]


def _article_row(site: str, article: RecordedArticle) -> dict[str, Any]:
    return {
        "site": site,
        "title": article.title or article.url,
        "link": _link(article.url),
        "kind": article.kind,
        "date": (article.published or "–")[:16].replace("T", " "),
        "authors": article.authors,
        "length": article.length,
        "confidence": _confidence(article.confidence),
    }


def _link(url: str) -> str | None:
    """Return *url* if it is a web address: others may run scripts."""
    return url if url.lower().startswith(("http://", "https://")) else None


def _clusters(found: Iterable[tuple[str, RecordedArticle]]) -> Iterator[dict[str, Any]]:
    members: dict[str, list[tuple[str, RecordedArticle]]] = {}
    for site, article in found:
        if article.cluster is not None:
            members.setdefault(article.cluster, []).append((site, article))
    ranked = sorted(members.values(), key=len, reverse=True)
    for group in ranked[:MAX_CLUSTERS]:
        if len(group) > 1:
            rows = [_article_row(site, article) for site, article in group]
            sites = len({site for site, _ in group})
            yield {"title": rows[0]["title"], "size": len(rows), "sites": sites, "articles": rows}


def _dropped(pages: Iterable[DroppedPage]) -> list[dict[str, Any]]:
    return [
        {
            "url": page.url,
            "link": _link(page.url),
            "kind": page.kind,
            "confidence": _confidence(page.confidence),
        }
        for page in pages
    ]


# Of a plot, in a drawing of 320 by 150.
_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 312.0, 10.0, 125.0


class Point(NamedTuple):
    """A point of a line."""

    x: float
    y: float
    label: str


class Plot(NamedTuple):
    """A line plot; its texts are labels of the axes."""

    title: str
    #: description for screen readers
    label: str
    top: str
    first: str
    last: str
    points: list[Point]


def line_plot(
    title: str,
    dates: Sequence[str],
    values: Sequence[float | None],
    show: Callable[[float], str],
    *,
    highest: float | None = None,
) -> Plot | None:
    """Return the plot of *values* by crawl, from 0; None without two of them."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return None
    top = highest or max(known) or 1.0
    step = (_RIGHT - _LEFT - 16) / (len(values) - 1)
    points = [
        Point(
            round(_LEFT + 8 + place * step, 1),
            round(_BOTTOM - (_BOTTOM - _TOP) * min(1.0, value / top), 1),
            f"{date}: {show(value)}",
        )
        for place, (date, value) in enumerate(zip(dates, values, strict=True))
        if value is not None
    ]
    label = f"{title} by crawl: {', '.join(point.label for point in points[-12:])}"
    return Plot(title, label, show(top), dates[0], dates[-1], points)
