"""Grammars of the fuzzer: random sequences of the tags, names and values of a kind of input."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from newscrawl.settings.base import USER_AGENT

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

_TAGS = (
    "p", "div", "span", "a", "b", "i", "h1", "h2", "ul", "li", "table", "tr", "td", "th", "article",
    "section", "main", "header", "footer", "nav", "aside", "figure", "figcaption", "img", "br",
    "pre", "blockquote", "time", "meta", "title", "script", "style", "form", "input", "select",
    "option", "iframe", "object", "svg", "math", "template", "noscript", "dl", "dt", "dd",
    "details", "summary", "button", "label",
)  # fmt: skip
_ATTRIBUTES = (
    "class", "id", "style", "href", "src", "alt", "itemprop", "itemtype", "itemscope", "datetime",
    "content", "name", "property", "rel", "lang", "hidden", "aria-hidden", "aria-controls", "width",
    "height", "title", "role",
)  # fmt: skip
_VALUES = (
    "", "a", "headline", "datePublished", "author", "https://schema.org/NewsArticle", "display:none",
    "font-size:1e9px", "article", "byline", "comments", "caption", "/2026/05/04/a.html", "http://[",
    "article:published_time", "og:title", "2026-05-04", "2026-05-04T12:00:00+02:00", "canonical",
    "stylesheet", "\u0627\u0644\u0639", "\u65b0\u805e", "1" * 400, "a b c d e f", "&amp;&quot;",
)  # fmt: skip
_WORDS = (
    "The", "council", "decided", "on", "the", "budget", ".", ",", "2026", "May", "4", "May", "2026",
    "12:30", "yesterday", "By", "Jane", "Doe", "updated", "港の新聞", "новости", "أخبار", "Straße",
    "5.", "Mai", "copyright", "Reuters", "comment(s)", "17", "٣١", "2", "hours", "ago",
)  # fmt: skip
_CSS = (
    "a", ".b", "#c", "d[e='f']", ":not(.a)", ":is(a,b)", ":has(>p)", ":nth-child(2n+1)", "::before",
    "*", ">", "+", "~", ",", "{", "}", ";", ":", "@media", "@import", "@layer", "@supports",
    "@property", "--x", "@font-face", "screen", "(width<900px)", "and", "not", "display", "none",
    "block", "color", "red", "#fff", "rgb(1,2,3)", "font", "12px/1.2", "serif", "bold", "var(--x)",
    "calc(1em+2px)", "!important", "url(a.css)", "'s'", "/*c*/", "\\66", "U+26", "-1e9", "50%",
    "hidden", "visibility",
)  # fmt: skip
_ROBOTS = (
    "User-agent:", "Disallow:", "Allow:", "Crawl-delay:", "Sitemap:", "Host:", "Request-rate:", "*",
    "/", "/a", "/*.html$", "newscrawl", "Googlebot", "#", "comment", "1", "1e9", "-1", "1/5s",
    "https://news.example/s.xml", ":", "\n", "\n", "\n", "\r", "\u2028", "\ufeff",
)  # fmt: skip


def _html(rng: random.Random) -> str:
    parts = []
    for _ in range(rng.randrange(1, 300)):
        kind = rng.random()
        if kind < 0.4:
            names = rng.choices(_ATTRIBUTES, k=rng.randrange(4))
            attributes = "".join(f' {name}="{rng.choice(_VALUES)}"' for name in names)
            parts.append(f"<{rng.choice(_TAGS)}{attributes}>")
        elif kind < 0.6:
            parts.append(f"</{rng.choice(_TAGS)}>")
        else:
            parts.append(" ".join(rng.choices(_WORDS, k=rng.randrange(1, 40))))
    return "".join(parts)


def _sitemap(rng: random.Random) -> str:
    root = rng.choice(("urlset", "sitemapindex", "rss", "a:urlset"))
    names = ("loc", "lastmod", "news:title", "news:publication_date", "news:language", "changefreq")
    entries = "".join(
        f"<url>{''.join(f'<{n}>{rng.choice(_VALUES)}</{n}>' for n in rng.choices(names, k=3))}</url>"
        for _ in range(rng.randrange(30))
    )
    return f"<?xml version='1.0'?><{root} xmlns:news='n' xmlns:a='b'>{entries}</{root}>"


def _feed(rng: random.Random) -> str:
    if rng.random() < 0.3:
        values = [*_VALUES, None, 1, [], {}, -1e300, ["a"], {"url": "b"}]
        names = ["url", "title", "date_published", "id", "language", "summary", "external_url"]
        items = [{rng.choice(names): rng.choice(values) for _ in names} for _ in range(5)]
        return json.dumps({"version": rng.choice(values), "items": rng.choice((items, 1, {}))})
    names = [
        "title",
        "link",
        "pubDate",
        "guid",
        "updated",
        "published",
        "dc:date",
        "id",
        "language",
    ]
    entries = "".join(
        f"<{tag}>{''.join(f'<{n}>{rng.choice(_VALUES)}</{n}>' for n in rng.choices(names, k=4))}</{tag}>"
        for tag in rng.choices(("item", "entry"), k=rng.randrange(20))
    )
    return f"<{(root := rng.choice(('rss', 'feed', 'rdf:RDF')))}>{entries}</{root}>"


def _rules(rng: random.Random) -> str:
    """Return groups of many user agents and rules, in any order, up to the size limit."""
    if rng.random() < 0.2:
        words = _words(_ROBOTS)(rng)
        return json.dumps([{"location": words[:50], "tdm-reservation": n % 2} for n in range(2000)])
    agents = [USER_AGENT[rng.randrange(50) :][: rng.randrange(1, 50)], "*", "newscrawl", "b{}"]
    names = ("User-agent: ", "user-agent:", "USER AGENT ")
    rules = (
        "allow:{}$",
        "Disallow: /{}",
        "Disallow:/*{}*a",
        "Allow: /" + "*a" * 99,
        "Disallow: $$$$",
    )
    patterns = ("Disallow: /*" + "a" * rng.randrange(200) + "{}", "Allow: /é{}ü$", "Disallow:")
    others = ("Crawl-delay: {}", "Sitemap: /{}", "# {}", "", "Unknown: {}", "Host: {}", "\u2028")
    lines = []
    for _ in range(rng.randrange(1, 30)):
        kind = rng.choice(([rng.choice(names) + name for name in agents], rules, patterns, others))
        lines += [rng.choice(kind).replace("{}", str(n)) for n in range(rng.choice((1, 9, 4000)))]
    return rng.choice(("\n", "\n", "\r\n", "\r")).join(lines)


def _words(words: Sequence[str]) -> Callable[[random.Random], str]:
    return lambda rng: " ".join(rng.choices(words, k=rng.randrange(1, 400)))


GRAMMARS: dict[str, Callable[[random.Random], str]] = {
    "page": _html,
    "links": _html,
    "sitemap": _sitemap,
    "feed": _feed,
    "robots": lambda rng: rng.choice((_words(_ROBOTS), _rules))(rng),
    "css": _words(_CSS),
}
"""Kind of input -> function that generates a text."""
