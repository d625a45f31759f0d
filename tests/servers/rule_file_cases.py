"""Fault cases of robots.txt and of the files with opt-outs."""

import asyncio
import gzip
import json
import random
from collections.abc import Callable
from functools import cache
from typing import Final

from newscrawl.settings.base import USER_AGENT
from tests.servers.discovery_cases import FEED_LINK, feed
from tests.servers.faulty_pages import FAILED, MIB, Case, Send, Visit, good_article
from tests.servers.site import TEXT, XML, Answer, redirect

KIB: Final = 1024


async def _hang(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(3600)


def _robots_case(
    description: str,
    reply: Callable[[Visit], Answer | Send | None],
    *outcomes: str,
    healthy: bool = True,
) -> Case:
    # robots.txt does not list the sitemap here, so the articles are listed in a feed.
    def reply_or_feed(visit: Visit) -> Answer | Send | None:
        if visit.target == "/feed.xml":
            return Answer(feed(visit, ""), headers=XML)
        return reply(visit) if visit.target.startswith("/robots") else None

    return Case(
        description, reply_or_feed, outcomes or ("read",), "/robots.txt", healthy, FEED_LINK
    )


@cache
def _long_robots() -> bytes:
    rules = "".join(f"Disallow: /nicht/{n}\n" for n in range(500_000))
    return f"User-agent: *\n{rules}".encode()


async def _endless_robots(writer: asyncio.StreamWriter) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {64 * MIB}\r\n\r\n"
    writer.write(head.encode() + _long_robots())
    await writer.drain()


def _parts_of_agent() -> list[str]:
    """Return all user-agent lines whose name occurs in our agent string."""
    agent = USER_AGENT.lower()
    ends = range(len(agent) + 1)
    names = {agent[start:end] for start in ends for end in ends if start < end}
    return [f"User-agent: {name}" for name in sorted(names) if name == name.strip(" \t*")]


@cache
def _agents_times_rules(size: int) -> bytes:
    """Return a robots.txt of *size* bytes with as many agents as rules."""
    names = "\n".join([*_parts_of_agent(), "User-agent: *", ""])[: size // 2]
    names = names[: names.rindex("\n") + 1] + "User-agent: newscrawl\n"
    return (names + "allow:$\n" * size).encode()[:size]


@cache
def _distinct_rules(size: int) -> bytes:
    """Return a robots.txt of *size* bytes, one rule in as few bytes as possible."""
    return ("User-agent: *\n" + "".join(f"allow:{n:x}$\n" for n in range(size // 8))).encode()[
        :size
    ]


@cache
def _packed(body: bytes) -> Answer:
    return Answer(gzip.compress(body), headers=TEXT | {"Content-Encoding": "gzip"})


def _other_groups(size: int) -> bytes:
    """Return a robots.txt of *size* bytes with a group of one line for each of many crawlers."""
    groups = "".join(f"User-agent:b{n}\nallow:/\n" for n in range(size // 20))
    return f"User-agent: *\nDisallow: /nicht/\n{groups}".encode()[:size]


@cache
def _slow_patterns() -> bytes:
    """Return rules that a search of Python compares with each position of a long URL."""
    rules = "".join(f"Disallow: /*{'a' * 98}{n:04}\n" for n in range(4_000))
    return f"User-agent: *\n{rules}".encode()


def _on_subdomains(visit: Visit, number: int, path: str) -> str:
    """Return a feed entry for each of *number* subdomains."""
    return "".join(
        f"<item><title>Teil {n}</title><link>http://s{n}.{visit.site.host}{path}</link></item>"
        for n in range(number)
    )


def _subdomains_case(description: str, size: int, number: int) -> Case:
    """Return the case of a site that links to subdomains with a robots.txt of *size* bytes each."""

    def reply(visit: Visit) -> Answer | None:
        if visit.target == "/feed.xml":
            return Answer(
                feed(visit, "", after=_on_subdomains(visit, number, "/a-b.html")), headers=XML
            )
        return _packed(_agents_times_rules(size)) if visit.target == "/robots.txt" else None

    return Case(description, reply, ("read",), "/robots.txt", front=FEED_LINK)


def _long_url_case(description: str, body: Callable[[], bytes]) -> Case:
    """Return the case of a robots.txt and of articles with the longest URLs that are requested."""

    def reply(visit: Visit) -> Answer | None:
        if visit.target == "/feed.xml":
            items = "".join(
                f"<item><title>Teil</title><link>{visit.base}/{'a' * 1_900}-{n}.html</link></item>"
                for n in range(20)
            )
            return Answer(feed(visit, "", after=items), headers=XML)
        return Answer(body(), headers=TEXT) if visit.target == "/robots.txt" else None

    return Case(description, reply, ("read",), "/robots.txt", front=FEED_LINK)


def _opt_out_case(description: str, path: str, body: Callable[[], bytes]) -> Case:
    return Case(
        description, lambda visit: Answer(body(), headers=TEXT) if visit.target == path else None
    )


def _wildcards() -> Answer:
    rules = "".join(f"Disallow: /{'*a' * 200}{n}$\n" for n in range(200))
    return Answer(f"User-agent: *\n{rules}".encode(), headers=TEXT)


ROBOTS: dict[str, Case] = {
    "robots-500": _robots_case("500", lambda _: Answer(b"", 500, TEXT), *FAILED, healthy=False),
    "robots-hang": _robots_case("no answer", lambda _: _hang, *FAILED, healthy=False),
    "robots-loop": _robots_case(
        "endless redirects", lambda visit: redirect(f"{visit.target}x"), *FAILED
    ),
    "robots-10-mb": _robots_case("500,000 rules", lambda _: Answer(_long_robots(), headers=TEXT)),
    "robots-64-mb": _robots_case("a Content-Length of 64 MB", lambda _: _endless_robots),
    "robots-html": _robots_case("a page", lambda _: good_article()),
    "robots-binary": _robots_case(
        "random bytes", lambda _: Answer(random.Random(4).randbytes(200_000), headers=TEXT)
    ),
    "robots-wildcards": _robots_case("200 rules of 200 wildcards", lambda _: _wildcards()),
    "robots-inside": _robots_case(
        "redirect to loopback",
        lambda visit: redirect(f"{visit.internal_url}/robots.txt"),
        *FAILED,
        healthy=False,
    ),
    "robots-agents": _robots_case(
        "4 KB that decompress to all parts of our agent string times 60,000 rules",
        lambda _: _packed(_agents_times_rules(512 * KIB)),
    ),
    "robots-agents-16-kb": _robots_case(
        "16 KB of agents and rules", lambda _: Answer(_agents_times_rules(16 * KIB), headers=TEXT)
    ),
    "robots-rules": _robots_case(
        "60,000 rules in 512 KB", lambda _: _packed(_distinct_rules(512 * KIB))
    ),
    "robots-groups": _robots_case(
        "25,000 groups of other crawlers", lambda _: _packed(_other_groups(512 * KIB))
    ),
    "robots-bomb": _robots_case(
        "64 KB that decompress to 64 MB", lambda _: _packed(bytes(64 * MIB))
    ),
    "robots-subdomains": _subdomains_case(
        "16 KB of agents and rules on each of 30 subdomains", 16 * KIB, 30
    ),
    "robots-subdomains-512-kb": _subdomains_case(
        "512 KB of rules on each of 30 subdomains", 512 * KIB, 30
    ),
    "robots-slow-patterns": _long_url_case(
        "4,000 patterns that are almost found in URLs of 1,900 characters", _slow_patterns
    ),
}


def _locations() -> bytes:
    entries = [{"location": f"/{n:x}$", "tdm-reservation": 0} for n in range(1_500)]
    return json.dumps(entries, separators=(",", ":")).encode()[: 64 * KIB]


OPT_OUTS: dict[str, Case] = {
    "ai-txt": _opt_out_case(
        "64 KB of agents and rules", "/ai.txt", lambda: _agents_times_rules(64 * KIB)
    ),
    "ai-txt-rules": _opt_out_case("64 KB of rules", "/ai.txt", lambda: _distinct_rules(64 * KIB)),
    "tdmrep": _opt_out_case("64 KB of locations", "/.well-known/tdmrep.json", _locations),
    "tdmrep-nested": _opt_out_case(
        "64 KB of brackets", "/.well-known/tdmrep.json", lambda: b"[" * (64 * KIB)
    ),
}
