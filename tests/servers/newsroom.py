"""Sites that publish and update stories over the hours of a simulated day."""

import asyncio
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from typing import Literal

from tests.servers import LoopbackServer, Request, pages, response

START = datetime(2026, 3, 14, 6, 0, tzinfo=UTC)
"""Start of the simulated hour 0."""

CLOCK = "clock.example"
"""Control host: a request for ``/5`` sets the hour to 5."""

Listing = Literal["news", "sitemap", "rss", "section"]
HTML = "text/html; charset=utf-8"
XML = "application/xml"


def instant(hour: float) -> datetime:
    """Return the start of the simulated *hour*."""
    return START + timedelta(hours=hour)


@dataclass(frozen=True, slots=True)
class Story:
    """An article and its changes over time, in simulated hours."""

    number: int
    #: hour of publication
    published: int
    #: hours in which the text changes
    updates: tuple[int, ...] = ()
    #: hour -> error status of the server
    errors: dict[int, int] = field(default_factory=dict)
    #: hour from which the page is gone (410)
    gone: int = 10_000

    @property
    def path(self) -> str:
        """Path of the page."""
        return f"/2026/03/14/story-{self.number}-of-the-town-and-its-bridge.html"

    def version(self, hour: int) -> int:
        """Return the number of text changes up to *hour*."""
        return sum(update <= hour for update in self.updates)

    def changed(self, hour: int) -> datetime:
        """Return the time of the last text change up to *hour*."""
        past = [update for update in self.updates if update <= hour]
        return instant(max([self.published, *past]))

    def text(self, version: int) -> list[str]:
        """Return the paragraphs of the article."""
        addenda = [
            f"Nachtrag {n} zu Teil {self.number}: Der Stadtrat hat seine Meinung geändert."
            for n in range(1, version + 1)
        ]
        return [*pages.paragraphs(self.number), *addenda]

    def page(self, hour: int) -> bytes:
        """Return the page. The footer changes every hour, the text does not."""
        html = pages.dress(
            pages.title(self.number), self.text(self.version(hour)), meta_charset="utf-8"
        )
        html = html.replace(pages.PUBLISHED.isoformat(), instant(self.published).isoformat())
        return html.replace("</footer>", f" <span>Stand: Stunde {hour}</span></footer>").encode()


@dataclass(frozen=True, slots=True)
class Newsroom:
    """Site with its stories, the kind of its listing, and the HTTP validators that it sends."""

    host: str
    listing: Listing
    stories: tuple[Story, ...]
    etags: bool = False
    dates: bool = False
    #: the sitemap gives the current hour as lastmod of every page
    wrong_lastmod: bool = False

    @property
    def url(self) -> str:
        """URL of the front page."""
        return f"http://{self.host}/"

    def published(self, hour: int) -> list[Story]:
        """Return the stories published up to *hour*, newest first."""
        published = [story for story in self.stories if story.published <= hour]
        return sorted(published, key=lambda story: -story.published)

    def answer(self, target: str, hour: int) -> tuple[int, str, bytes, datetime]:
        """Return status, content type, body and last modification of *target*."""
        story = next((story for story in self.published(hour) if story.path == target), None)
        if story:
            status = 410 if hour >= story.gone else story.errors.get(hour, 200)
            return status, HTML, story.page(hour), story.changed(hour)
        listings = {
            "/robots.txt": ("text/plain", self._robots()),
            "/": (HTML, self._front(hour)),
            "/news.xml": (XML, self._sitemap(hour)),
            "/feed.xml": ("application/rss+xml", self._feed(hour)),
        }
        if target not in listings:
            return 404, HTML, b"<p>Not found</p>", START
        content_type, body = listings[target]
        changes = [story.changed(hour) for story in self.published(hour)]
        return 200, content_type, body.encode(), max(changes, default=START)

    def _robots(self) -> str:
        has_sitemap = self.listing in ("news", "sitemap")
        return "User-agent: *\nAllow: /\n" + f"Sitemap: {self.url}news.xml\n" * has_sitemap

    def _front(self, hour: int) -> str:
        head = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
        links = [
            f'<li><a href="{story.path}">{pages.title(story.number)}</a></li>'
            for story in self.published(hour)[:20]
        ]
        return (
            f"<html><head><title>Nachrichten</title>{head * (self.listing == 'rss')}</head>"
            f"<body><ul>{''.join(links) * (self.listing == 'section')}</ul></body></html>"
        )

    def _sitemap(self, hour: int) -> str:
        return (
            "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'"
            " xmlns:news='http://www.google.com/schemas/sitemap-news/0.9'>"
            f"{''.join(self._sitemap_entries(hour))}</urlset>"
        )

    def _sitemap_entries(self, hour: int) -> Iterator[str]:
        for story in self.published(hour)[:50]:
            changed = instant(hour) if self.wrong_lastmod else story.changed(hour)
            news = (
                f"<news:news><news:publication_date>{instant(story.published).isoformat()}"
                f"</news:publication_date><news:title>{pages.title(story.number)}</news:title>"
                "</news:news>"
            )
            yield (
                f"<url><loc>{self.url[:-1]}{story.path}</loc><lastmod>{changed.isoformat()}</lastmod>"
                f"{news * (self.listing == 'news')}</url>"
            )

    def _feed(self, hour: int) -> str:
        entries = [
            f"<item><title>{pages.title(story.number)}</title>"
            f"<link>{self.url[:-1]}{story.path}</link>"
            f"<pubDate>{format_datetime(instant(story.published))}</pubDate></item>"
            for story in self.published(hour)[:10]
        ]
        return f"<rss version='2.0'><channel><title>N</title>{''.join(entries)}</channel></rss>"


@dataclass(frozen=True, slots=True)
class HourlyRequest:
    """Request and the hour in which it was answered."""

    hour: int
    host: str
    target: str
    status: int


class NewsServer(LoopbackServer):
    """Serves newsrooms in their state at :attr:`hour`."""

    def __init__(self, rooms: list[Newsroom]) -> None:
        super().__init__()
        self.rooms = {room.host: room for room in rooms}
        self.hour = 0
        self.requests: list[HourlyRequest] = []

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Send the page, or 304 if the validators of the request match."""
        if request.host == CLOCK:
            self.hour = int(request.target.removeprefix("/"))
            writer.write(response(b""))
            return True
        room = self.rooms[request.host]
        status, content_type, body, changed = room.answer(request.target, self.hour)
        headers = {"Content-Type": content_type}
        if room.etags and status == 200:
            # Derived from the story, not from the bytes: the footer changes every hour.
            version = f"{request.target} {changed}".encode()
            headers["ETag"] = f'"{hashlib.sha256(version).hexdigest()[:16]}"'
        if room.dates and status == 200:
            headers["Last-Modified"] = format_datetime(changed, usegmt=True)
        if status == 200 and _is_current(request, headers, changed):
            status, body = 304, b""
        self.requests.append(HourlyRequest(self.hour, request.host, request.target, status))
        self.record(request, status)
        writer.write(response(body, status, headers, content_length=status != 304))
        return True


def _is_current(request: Request, headers: dict[str, str], changed: datetime) -> bool:
    if "ETag" in headers and (tag := request.headers.get("if-none-match")):
        return tag == headers["ETag"]
    since = request.headers.get("if-modified-since")
    return bool("Last-Modified" in headers and since) and parsedate_to_datetime(since) >= changed
