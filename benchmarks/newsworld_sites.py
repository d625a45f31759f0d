"""Simulated news sites for :mod:`benchmarks.newsworld`: stories by a clock of all crawls."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from hashlib import blake2b
from html import escape
from random import Random
from typing import TYPE_CHECKING, Final

from tests.servers import LoggedRequest, LoopbackServer, Request, response
from tests.servers.pages import paragraphs

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterable, Mapping

HOUR: Final = 3600.0
START: Final = datetime(2026, 3, 27, tzinfo=UTC).timestamp()
HISTORY: Final = 24
"""Hours of stories before the first crawl."""
LISTINGS: Final[dict[str, tuple[str, ...]]] = {
    "feed": ("/feed.xml", "/"),
    "atom": ("/feed.xml", "/"),
    "news sitemap": ("/news.xml", "/"),
    "sitemap": ("/sitemap.xml", "/"),
    "front page": ("/",),
    "sections": ("/", "/world/", "/sport/"),
}
"""Listings that a poller reads, by kind of the site."""


@dataclass(frozen=True, slots=True)
class World:
    """How sites publish, and how they fail."""

    #: kind, stories an hour
    sites: tuple[tuple[str, float], ...]
    #: faults, each of a site with a feed
    faults: tuple[str, ...]
    #: stories an hour of the sites with a fault
    fault_rate: float = 2
    #: stories in a feed, on a front page, in a section
    feed: int = 20
    page: int = 20
    section: int = 20
    #: stories by hours of the day: until 5, from 5 to 19, after
    hours: tuple[float, float, float] = (0.25, 1.3, 0.8)
    #: share of stories that change, first and last hour of the change
    changes: tuple[tuple[float, float, float], ...] = ((0.15, 0.5, 6), (0.05, 8, 20))
    has_tags: bool = True
    #: hour from which the sites with a fault show it, and hours of sites that are down
    broken: int = 26
    outage: range = range(14, 20)


WORLDS: Final = {
    "mixed": World(
        sites=(
            *(("feed", rate) for rate in (5, 2, 1, 0.3, 0.05)),
            *(("atom", rate) for rate in (1, 0.3)),
            *(("news sitemap", rate) for rate in (4, 1, 0.3)),
            *(("sitemap", rate) for rate in (1, 0.2)),
            *(("front page", rate) for rate in (1, 0.3, 0.05)),
        ),
        faults=("paywall", "scripts only", "challenge", "unavailable", "Retry-After"),
    ),
    # Day and night, short feeds that roll over, no validators, many corrections.
    "agencies": World(
        sites=(
            *(("feed", rate) for rate in (12, 6, 3)),
            *(("atom", rate) for rate in (6, 1)),
            *(("news sitemap", rate) for rate in (10, 2)),
            *(("sections", rate) for rate in (4, 1)),
        ),
        faults=("consent", "challenge", "unavailable"),
        fault_rate=4,
        feed=10,
        page=30,
        hours=(0.9, 1.3, 1.1),
        changes=((0.3, 0.2, 3),),
        has_tags=False,
        broken=30,
        outage=range(33, 38),
    ),
    # Few stories, most of them at night, changed long after.
    "weeklies": World(
        sites=(
            *(("feed", rate) for rate in (0.2, 0.05)),
            *(("sitemap", rate) for rate in (0.3, 0.1, 0.03)),
            *(("sections", rate) for rate in (0.4, 0.1)),
            *(("front page", rate) for rate in (0.2, 0.05)),
        ),
        faults=("paywall", "Retry-After"),
        fault_rate=1,
        section=8,
        hours=(1.3, 0.2, 0.6),
        changes=((0.1, 1, 6), (0.3, 8, 22)),
        broken=20,
        outage=range(24, 31),
    ),
}
"""Worlds by name; no constant of the crawler was chosen by the last two."""
_WORDS = sorted(
    {
        word
        for number in range(49)
        for text in paragraphs(number)
        for word in re.findall(r"[A-Za-z]+", text)
    }
)
_CHALLENGE = """<title>Just a moment...</title><h1>Checking your browser</h1><p>Please enable JavaScript
and cookies to continue. Your browser will redirect to your requested content shortly.</p>"""
_SCRIPTS = """<div id=root></div><noscript>Please enable JavaScript to read this site.</noscript>
<script src=/app.js></script>"""
_CONSENT = """<title>Before you continue</title><h1>We value your privacy</h1><p>We and our partners
store cookies on your device. Accept all cookies to continue to the site, or subscribe.</p>
<button>Accept all</button><button>Subscribe</button>"""
_HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Story:
    """A story; times are seconds since 1970."""

    path: str
    published: float
    title: str
    texts: tuple[str, ...]
    #: times at which a paragraph is added
    changes: tuple[float, ...]

    def changed(self, now: float) -> float:
        """Return the time of the last change until *now*."""
        return max((time for time in self.changes if time <= now), default=self.published)


@dataclass(slots=True)
class Site:
    """A site with its stories, newest first."""

    host: str
    kind: str
    fault: str | None = None
    stories: list[Story] = field(default_factory=list)

    def listed(self, now: float) -> list[Story]:
        """Return the stories that are published at *now*."""
        return [story for story in self.stories if story.published <= now]


def _sentence(random: Random) -> str:
    return " ".join(random.choices(_WORDS, k=random.randint(9, 22))).capitalize() + "."


def _story(random: Random, published: float, world: World) -> Story:
    title = " ".join(random.choices(_WORDS, k=7)).capitalize()
    name = "-".join(title.lower().split())
    day = f"{datetime.fromtimestamp(published, UTC):%Y/%m/%d}"
    texts = tuple(
        " ".join(_sentence(random) for _ in range(random.randint(2, 4)))
        for _ in range(random.randint(6, 10))
    )
    chance, age = random.random(), 0.0
    for share, first, last in world.changes:
        if not age and chance < share:
            age = random.uniform(first, last)
        chance -= share
    changes = (published + age * HOUR,) if age else ()
    return Story(f"/{day}/{name}.html", published, title, texts, changes)


def make_sites(world: World, hours: int, seed: int) -> list[Site]:
    """Return the sites with their stories from :data:`HISTORY` hours before the start on."""
    kinds = [
        *((kind, rate, None) for kind, rate in world.sites),
        *(("feed", world.fault_rate, name) for name in world.faults),
    ]
    night, day, evening = world.hours
    peak, sites = max(world.hours), []
    for number, (kind, rate, fault) in enumerate(kinds):
        random, site = Random(1000 * seed + number), Site(f"127.0.3.{number + 1}", kind, fault)
        time = START - HISTORY * HOUR
        while (time := time + random.expovariate(peak * rate) * HOUR) < START + hours * HOUR:
            of_day = time / HOUR % 24
            if peak * random.random() < (night if of_day < 5 else day if of_day < 19 else evening):
                site.stories.insert(0, _story(random, time, world))
        sites.append(site)
    return sites


class WorldServer(LoopbackServer):
    """Serves *sites* as they are at :attr:`now`, and lists the requests in :attr:`entries`.

    Each site has a loopback address of its own, which Linux needs no set-up for.
    """

    address = "0.0.0.0"

    def __init__(self, world: World, sites: Iterable[Site]) -> None:
        super().__init__()
        self._world = world
        self._sites = {site.host: site for site in sites}
        self._stories = {
            (site.host, story.path): story
            for site in self._sites.values()
            for story in site.stories
        }
        self.now = START
        self.entries: list[LoggedRequest] = []

    def front_page(self, site: Site) -> str:
        """Return the URL of the front page of *site*."""
        return f"http://{site.host}:{self._port}/"

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Send the document."""
        host = request.headers.get("host", request.host).partition(":")[0]
        status, kind, text, headers = self._document(self._sites[host], request.target)
        body = text.encode()
        tag = f'"{blake2b(body, digest_size=8).hexdigest()}"'
        if self._world.has_tags:
            headers = {"ETag": tag, **headers}
        if "ETag" in headers and request.headers.get("if-none-match") == tag and status == 200:
            status, body = 304, b""
        self.entries.append(LoggedRequest(host, request.target, status))
        writer.write(response(body, status, {"Content-Type": kind, **headers}))
        return True

    def _document(self, site: Site, target: str) -> tuple[int, str, str, Mapping[str, str]]:
        """Return status, media type, text and headers."""
        hour, outage = (self.now - START) / HOUR, self._world.outage
        if site.fault in {"unavailable", "Retry-After"} and outage.start <= hour < outage.stop:
            seconds = {"Retry-After": str(int((outage.stop - hour) * HOUR))}
            return 503, _HTML, "", seconds if site.fault == "Retry-After" else {}
        barriers = {"challenge": _CHALLENGE, "consent": _CONSENT}
        if hour >= self._world.broken and (barrier := barriers.get(site.fault or "")):
            return 200, _HTML, barrier, {}
        stories, base = site.listed(self.now), f"http://{site.host}:{self._port}"
        story = self._stories.get((site.host, target))
        status, kind, text = 404, _HTML, "<h1>Not found</h1>"
        if target == "/robots.txt":
            named = {"news sitemap": "news.xml", "sitemap": "sitemap.xml"}.get(site.kind)
            line = f"Sitemap: {base}/{named}\n" if named else ""
            status, kind, text = 200, "text/plain", f"User-agent: *\nDisallow: /admin/\n{line}"
        elif target == "/":
            shown = [] if site.kind == "sections" else stories[: self._world.page]
            status, text = 200, _front_page(site, shown)
        elif target in LISTINGS[site.kind] and site.kind == "sections":
            shown = [story for story in stories if _section(story) == target]
            status, text = 200, _front_page(site, shown[: self._world.section])
        elif target in LISTINGS[site.kind]:
            status, kind, text = 200, "application/xml", self._listing(site, stories, base)
        elif story and story.published <= self.now:
            status, text = 200, self._page(site, story, base)
        return status, kind, text, {}

    def _listing(self, site: Site, stories: list[Story], base: str) -> str:
        """Return the feed or sitemap of *site*."""
        if site.kind in {"feed", "atom"}:
            make, frame = (
                (
                    _rss_item,
                    "<rss version='2.0'><channel><title>{title}</title>{items}</channel></rss>",
                )
                if site.kind == "feed"
                else (_atom_entry, "<feed xmlns='http://www.w3.org/2005/Atom'>{items}</feed>")
            )
            items = "".join(make(story, base, self.now) for story in stories[: self._world.feed])
            return frame.format(title=site.host, items=items)
        if site.kind == "news sitemap":
            stories = [story for story in stories if story.published > self.now - 48 * HOUR]
        entries = "".join(
            f"<url><loc>{base}{story.path}</loc><lastmod>{_iso(story.changed(self.now))}</lastmod>"
            f"{_news(story) if site.kind == 'news sitemap' else ''}</url>"
            for story in stories
        )
        spaces = (
            "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' "
            "xmlns:news='http://www.google.com/schemas/sitemap-news/0.9'"
        )
        return f"<urlset {spaces}>{entries}</urlset>"

    def _page(self, site: Site, story: Story, base: str) -> str:
        is_broken = self.now >= START + self._world.broken * HOUR
        if site.fault == "scripts only" and is_broken:
            return f"<title>{story.title}</title>{_SCRIPTS}"
        texts = list(story.texts)
        texts += [f"Update: {story.texts[0][::-1]}" for time in story.changes if time <= self.now]
        if site.fault == "paywall" and is_broken:
            texts = [
                texts[0],
                "Subscribe now to read on. Four weeks for one euro, cancel at any time.",
            ]
        data = {
            "@context": "https://schema.org",
            "@type": "NewsArticle",
            "headline": story.title,
            "datePublished": _iso(story.published),
            "dateModified": _iso(story.changed(self.now)),
            "mainEntityOfPage": base + story.path,
        }
        body = "".join(f"<p>{escape(text)}</p>" for text in texts)
        return (
            f"<!doctype html><html lang=en><title>{story.title}</title>"
            f"<script type='application/ld+json'>{json.dumps(data)}</script>"
            f"<header><a href=/>{site.host}</a></header><main><article><h1>{story.title}</h1>"
            f"<time datetime={_iso(story.published)}></time>{body}</article></main>"
            f"<footer>All rights reserved.</footer></html>"
        )


def _front_page(site: Site, stories: Iterable[Story]) -> str:
    feed = "<link rel=alternate type='application/rss+xml' href=/feed.xml>"
    teasers = "".join(
        f"<div><h2><a href='{story.path}'>{story.title}</a></h2><p>{story.texts[0][:160]}</p></div>"
        for story in stories
    )
    link = feed if site.kind in {"feed", "atom"} else ""
    if site.kind == "sections":
        teasers = f"<nav><a href=/world/>World</a> <a href=/sport/>Sport</a></nav>{teasers}"
    return f"<!doctype html><html lang=en><title>{site.host}</title>{link}<main>{teasers}</main></html>"


def _section(story: Story) -> str:
    return "/sport/" if len(story.title) % 3 == 0 else "/world/"


def _rss_item(story: Story, base: str, _: float) -> str:
    date = format_datetime(datetime.fromtimestamp(story.published, UTC))
    return (
        f"<item><title>{story.title}</title><link>{base}{story.path}</link>"
        f"<pubDate>{date}</pubDate></item>"
    )


def _atom_entry(story: Story, base: str, now: float) -> str:
    return (
        f"<entry><title>{story.title}</title><link href='{base}{story.path}'/><id>{story.path}</id>"
        f"<published>{_iso(story.published)}</published>"
        f"<updated>{_iso(story.changed(now))}</updated></entry>"
    )


def _news(story: Story) -> str:
    return (
        f"<news:news><news:publication_date>{_iso(story.published)}</news:publication_date>"
        f"<news:title>{story.title}</news:title></news:news>"
    )


def _iso(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="seconds")
