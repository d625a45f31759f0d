"""Sites that publish and update stories as the hours of a simulated day go by."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from typing import TYPE_CHECKING, Literal

from tests.servers import LoopbackServer, Request, pages, response

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator

START = datetime(2026, 3, 14, 6, 0, tzinfo=UTC)
"""The simulated hour 0."""

CLOCK = "clock.example"
"""A request for /5 here sets the hour to 5."""

Listing = Literal["news", "sitemap", "rss", "section"]
HTML = "text/html; charset=utf-8"
XML = "application/xml"


def instant(hour: float) -> datetime:
    """Return when the simulated *hour* begins."""
    return START + timedelta(hours=hour)


@dataclass(frozen=True, slots=True)
class Story:
    """An article, and what becomes of it."""

    number: int
    #: hour of publication
    published: int
    #: hours in which its text changes
    updates: tuple[int, ...] = ()
    #: hours in which the server has trouble with it -> status
    trouble: dict[int, int] = field(default_factory=dict)
    #: the hour from which it is gone (410)
    gone: int = 10_000

    @property
    def path(self) -> str:
        """Path of its page."""
        return f"/2026/03/14/story-{self.number}-of-the-town-and-its-bridge.html"

    def version(self, hour: int) -> int:
        """Return how often its text has changed until *hour*."""
        return sum(update <= hour for update in self.updates)

    def changed(self, hour: int) -> datetime:
        """Return when its text last changed."""
        past = [update for update in self.updates if update <= hour]
        return instant(max([self.published, *past]))

    def text(self, version: int) -> list[str]:
        """Return its paragraphs."""
        more = [
            f"Nachtrag {n} zu Teil {self.number}: Der Stadtrat hat seine Meinung geändert."
            for n in range(1, version + 1)
        ]
        return [*pages.paragraphs(self.number), *more]

    def page(self, hour: int) -> bytes:
        """Return its page; what is around the text differs each hour."""
        html = pages.dress(
            pages.title(self.number), self.text(self.version(hour)), meta_charset="utf-8"
        )
        return html.replace("</footer>", f" <span>Stand: Stunde {hour}</span></footer>").encode()


@dataclass(frozen=True, slots=True)
class Newsroom:
    """A site: how it lists its stories, and which validators it sends."""

    host: str
    listing: Listing
    stories: tuple[Story, ...]
    etags: bool = False
    dates: bool = False
    #: the sitemap says of each page that it has just changed
    lies: bool = False

    @property
    def url(self) -> str:
        """The front page."""
        return f"http://{self.host}/"

    def published(self, hour: int) -> list[Story]:
        """Return the stories that are out, newest first."""
        out = [story for story in self.stories if story.published <= hour]
        return sorted(out, key=lambda story: -story.published)

    def answer(self, target: str, hour: int) -> tuple[int, str, bytes, datetime]:
        """Return status, content type, body and date of last change for *target*."""
        story = next((story for story in self.published(hour) if story.path == target), None)
        if story:
            status = 410 if hour >= story.gone else story.trouble.get(hour, 200)
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
        named = self.listing in ("news", "sitemap")
        return "User-agent: *\nAllow: /\n" + f"Sitemap: {self.url}news.xml\n" * named

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
            changed = instant(hour) if self.lies else story.changed(hour)
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
class Line:
    """One line of the log."""

    hour: int
    host: str
    target: str
    status: int


class NewsServer(LoopbackServer):
    """Serves newsrooms as they are at :attr:`hour`."""

    def __init__(self, rooms: list[Newsroom]) -> None:
        super().__init__()
        self.rooms = {room.host: room for room in rooms}
        self.hour = 0
        self.lines: list[Line] = []

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Answer as an honest server does: 304 where the client has the same."""
        if request.host == CLOCK:
            self.hour = int(request.target.removeprefix("/"))
            writer.write(response(b""))
            return True
        room = self.rooms[request.host]
        status, content_type, body, changed = room.answer(request.target, self.hour)
        headers = {"Content-Type": content_type}
        if room.etags and status == 200:
            # Of the story, not of the bytes: what is around it does not count.
            version = f"{request.target} {changed}".encode()
            headers["ETag"] = f'"{hashlib.sha256(version).hexdigest()[:16]}"'
        if room.dates and status == 200:
            headers["Last-Modified"] = format_datetime(changed, usegmt=True)
        if status == 200 and _has(request, headers, changed):
            status, body = 304, b""
        self.lines.append(Line(self.hour, request.host, request.target, status))
        self.record(request, status)
        writer.write(response(body, status, headers, framed=status != 304))
        return True


def _has(request: Request, headers: dict[str, str], changed: datetime) -> bool:
    if "ETag" in headers and (tag := request.headers.get("if-none-match")):
        return tag == headers["ETag"]
    since = request.headers.get("if-modified-since")
    return bool("Last-Modified" in headers and since) and parsedate_to_datetime(since) >= changed
