"""Rules of robots.txt, ai.txt and tdmrep.json for one crawler."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from protego import Protego

from newscrawl.crawling.network.rule_files import (
    MAX_RULES,
    MAX_RULES_SIZE,
    product_token,
    read_rules,
)
from newscrawl.settings.base import USER_AGENT

AGENT = "newscrawl"
SITE = "https://news.example"


def read(data: bytes, file: str = "robots", token: str = AGENT) -> dict[str, Any]:
    return read_rules(data, url=f"{SITE}/robots.txt", file=file, token=token)


def parsed(data: bytes | str, file: str = "robots", agent: str = USER_AGENT) -> Protego:
    data = data.encode() if isinstance(data, str) else data
    return Protego.parse(read(data, file, product_token(agent))["text"])


def forbidden(robots: str, agent: str = USER_AGENT) -> set[str]:
    rules = parsed(robots, agent=agent)
    return {path for path in ("/", "/a", "/a/b", "/x") if not rules.can_fetch(SITE + path, AGENT)}


@pytest.mark.parametrize(
    ("agent", "token"),
    [
        (USER_AGENT, "newscrawl"),
        ("newscrawl", "newscrawl"),
        ("My-Bot_2/1.0 (compatible with nothing; x)", "my-bot_2"),
        ("Mozilla/5.0 (compatible; Foobot/2.1; +https://foo.example/bot)", "foobot"),
        (
            "Mozilla/5.0 AppleWebKit/537.36 (KHTML; compatible; Foobot/2) Chrome/1 Safari/2",
            "foobot",
        ),
        ("Mozilla/5.0 (X11; Linux) AppleWebKit/537.36 (KHTML) Foobot/1.0", "foobot"),
        ("", ""),
        ("(+https://a.example)", ""),
        ("((((", ""),
    ],
)
def test_product_token(agent: str, token: str):
    assert product_token(agent) == token


@pytest.mark.parametrize(
    ("robots", "expected"),
    [
        # A group for a part of the agent string is that of another crawler.
        ("User-agent: pypi\nUser-agent: org\nUser-agent: news\nDisallow: /", set()),
        ("User-agent: newscrawl-images\nDisallow: /", set()),
        ("User-agent: news*\nDisallow: /", set()),
        # Version and case do not matter.
        ("User-agent: newscrawl/1.0\nDisallow: /", {"/", "/a", "/a/b", "/x"}),
        ("user-agent : NEWSCRAWL (all)\nDisallow: /a", {"/a", "/a/b"}),
        ("User-agent: newscrawl*\nDisallow: /a", {"/a", "/a/b"}),
        # Unknown lines and delays do not end the list of user agents.
        ("User-agent: newscrawl\nNoindex: /x\nUser-agent: b\nDisallow: /a", {"/a", "/a/b"}),
        ("User-agent: newscrawl\nCrawl-delay: 5\nUser-agent: b\nDisallow: /a", {"/a", "/a/b"}),
        ("User-agent: newscrawl\nSitemap: /s.xml\nUser-agent: b\nDisallow: /a", {"/a", "/a/b"}),
        ("User-agent: newscrawl\n\n# x\n\nUser-agent: b\nDisallow: /a", {"/a", "/a/b"}),
        # A rule does, even an empty one.
        ("User-agent: newscrawl\nDisallow:\nUser-agent: *\nDisallow: /a", set()),
        ("User-agent: newscrawl\nAllow: /\nUser-agent: b\nDisallow: /a", set()),
        # All groups of a crawler are one; the group of all crawlers is not added.
        (("User-agent: newscrawl\nDisallow: /x\nUser-agent: b\nDisallow: /a\n"
         "User-agent: newscrawl\nDisallow: /a/b\nUser-agent: *\nDisallow: /"), {"/x", "/a/b"}),
        ("User-agent: *\nDisallow: /x\nUser-agent: b\nDisallow: /\nUser-agent: *\nDisallow: /a",
         {"/x", "/a", "/a/b"}),
        # Lines as servers write them.
        ("\ufeffUser-agent: *\r\nDisallow: /a # private\r\n", {"/a", "/a/b"}),
        ("user agent *\nDissalow /a", {"/a", "/a/b"}),
        ("Disallow: /", set()),
        ("User-agent: *\nDisallow: /\nAllow: /a$", {"/", "/a/b", "/x"}),
        ("User-agent: *\nDisallow: /x\u2028User-agent: newscrawl\u2028Disallow: /a", {"/a", "/a/b"}),
        ("", set()),
    ],
)  # fmt: skip
def test_group_of_the_crawler(robots: str, expected: set[str]):
    assert forbidden(robots) == expected


def test_group_of_a_configured_agent():
    robots = "User-agent: foobot\nDisallow: /a\n\nUser-agent: newscrawl\nDisallow: /x"
    assert forbidden(robots, "Mozilla/5.0 (compatible; Foobot/1.0)") == {"/a", "/a/b"}
    assert forbidden(robots, "") == set()


@pytest.mark.parametrize(
    ("robots", "delay"),
    [
        ("User-agent: *\nCrawl-delay: 3", 3),
        ("User-agent: *\nDisallow: /a\nCrawl-delay: 0.5", 0.5),
        ("User-agent: newscrawl\nCrawl-delay: 3\nUser-agent: b\nCrawl-delay: 9\nDisallow: /a", 3),
        ("User-agent: newscrawl\nCrawl-delay: 3\nUser-agent: newscrawl\nCrawl-delay: 2", 3),
        ("User-agent: b\nCrawl-delay: 3\nUser-agent: newscrawl\nDisallow: /a", None),
        ("User-agent: *\nCrawl-delay: 1e999", None),
        ("User-agent: *\nCrawl-delay: -1", None),
        ("User-agent: *\nCrawl-delay: soon", None),
    ],
)
def test_crawl_delay(robots: str, delay: float | None):
    assert parsed(robots).crawl_delay(AGENT) == delay


_LINES = st.lists(
    st.sampled_from(
        [
            "User-agent: *", "User-agent: newscrawl", "User-agent: other # x", "Disallow: /a",
            "Disallow: /", "Allow: /a/b", "Disallow:", "Sitemap: https://a.example/s.xml",
            "# a comment", "", "Host: a.example",
        ]
    ),
    max_size=30,
)  # fmt: skip


@given(_LINES)
@example(["User-agent: *", "", "User-agent: other # x", "Disallow: /a"])
def test_same_rules_as_protego(lines: list[str]):
    robots = "\n".join(lines)
    whole, own = Protego.parse(robots), parsed(robots)
    for path in ("/", "/a", "/a/b", "/x"):
        assert whole.can_fetch(SITE + path, AGENT) == own.can_fetch(SITE + path, USER_AGENT)


def test_rules_are_limited():
    """The result is small whatever the file contains, and what is left out is counted."""
    agents = "".join(f"User-agent: {USER_AGENT[n:]}\n" for n in range(len(USER_AGENT)))
    many = "".join(f"allow:{n:x}$\n" for n in range(30_000))
    stars = "".join(f"Disallow: /*{'a' * 90}{n}*\n" for n in range(5_000))
    for rules in (many, stars, f"Disallow: /{'x' * 500_000}\n", "allow:$\n" * 60_000):
        found = read(f"{agents}{rules}".encode())
        lines = found["text"].splitlines()
        assert lines[0] == "User-agent: *"
        assert len(lines) <= MAX_RULES + 1
        assert len(found["text"]) <= MAX_RULES_SIZE + 14 + len(lines)
        assert len(lines) - 1 + found["left_out"] == len(set(rules.splitlines()))


def test_reads_sitemaps_of_robots_txt():
    data = (
        b"\xef\xbb\xbfUser-agent: *\r\nDisallow: /\r\nSitemap: https://news.example/a.xml\r\n"
        b"sitemap:/b.xml # old\nSITEMAP : https://cdn.example/c.xml.gz\nSitemap: /b.xml\n"
        b"# Sitemap: https://news.example/no.xml\nSitemap: ftp://news.example/d.xml\n"
    )
    assert read(data)["sitemaps"] == [
        "https://news.example/a.xml",
        "https://news.example/b.xml",
        "https://cdn.example/c.xml.gz",
    ]


def test_limits_the_sitemaps_of_robots_txt():
    line = b"Sitemap: https://news.example/%d.xml\n"
    assert len(read(b"".join(line % number for number in range(100_000)))["sitemaps"]) == 100


@pytest.mark.parametrize(
    ("entries", "reserved"),
    [
        ([{"location": "/", "tdm-reservation": 1}], {"/", "/a", "/b/c"}),
        ([{"location": "/b*", "tdm-reservation": 1, "tdm-policy": "https://a.example/"}], {"/b/c"}),
        (
            [{"location": "/", "tdm-reservation": 1}, {"location": "/a$", "tdm-reservation": 0}],
            {"/", "/b/c"},
        ),
        ([{"location": "/", "tdm-reservation": 0}], set()),
        ([{"location": "/\nDisallow: /a", "tdm-reservation": 0}, 3, {"location": 4}], set()),
        ({"location": "/", "tdm-reservation": 1}, set()),
    ],
)
def test_tdmrep(entries: Any, reserved: set[str]):
    """Patterns are those of robots.txt; invalid entries have no effect."""
    rules = parsed(json.dumps(entries).encode(), "tdmrep")
    paths = ("/", "/a", "/b/c")
    found = {path for path in paths if not rules.can_fetch(f"https://x.example{path}", AGENT)}
    assert found == reserved


@pytest.mark.parametrize(
    ("body", "allowed"),
    [
        (b"User-Agent: *\nDisallow: /", False),
        (b"\xef\xbb\xbfUser-Agent: *\nDisallow: *.html", False),
        (b"User-Agent: *\nAllow: /", True),
        (b"# Acme\n\nAcme sells maps.", True),
        (b"<html>\nUser-Agent: *\nDisallow: /", True),
        (b"\xff\xfe\x00", True),
        (b"[" * 100_000, True),
    ],
)
def test_ai_txt(body: bytes, allowed: bool):
    """The syntax of robots.txt; prose and error pages have no effect."""
    rules = parsed(body, "ai_txt")
    assert rules.can_fetch("https://x.example/a.html", AGENT) is allowed


@pytest.mark.parametrize("body", [b"[" * 100_000, b"{", b"", b"\xff", b'[{"location": "/"}]'])
def test_invalid_tdmrep(body: bytes):
    assert parsed(body, "tdmrep").can_fetch("https://x.example/", AGENT)
