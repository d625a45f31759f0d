"""Stories on several pages, joined into one article."""

from __future__ import annotations

from itertools import dropwhile
from typing import TYPE_CHECKING, Final

from newscrawl.extraction.rule_fields import WHOLE_STORY
from newscrawl.fields import BARRIERS
from newscrawl.items import MAX_BODY
from newscrawl.text import folded_words, weighted_length

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from newscrawl.items import Article

MAX_PAGES: Final = 20
"""Pages of a story that are joined."""
MIN_NEW_TEXT: Final = 40
"""Weighted characters that a further page adds at least."""
MIN_COMMON_WORDS: Final = 0.6
"""Share of the words of the shorter title that both pages have."""


async def join_pages(
    article: Article, read: Callable[[str], Awaitable[Article | None]]
) -> list[str]:
    """Append the further pages of the story *article*, in order; return their URLs.

    *read* returns the article of a URL, None if it cannot be read: then the URL stays in
    ``next_pages``. A page with another title, or without new text, ends the story.
    """
    seen, joined = {article.url}, []
    while article.next_pages and article.pages < MAX_PAGES:
        for url in article.next_pages:
            page = None if url in seen else await read(url)
            seen.add(url)
            if page is not None and append_page(article, page):
                joined.append(url)
                break
        else:
            article.next_pages = article.next_pages if page is None else ()
            break
    return joined


def append_page(article: Article, page: Article) -> bool:
    """Append *page* to *article*; return False if it is no further page of the story."""
    is_story = page.kind != "index" and page.evidence["kind"].source not in BARRIERS
    is_full = len(article.body) > MAX_BODY
    is_whole = article.evidence.get("next_pages") == WHOLE_STORY
    if is_full or not is_story or not _is_same_story(article, page):
        return False
    own, other = article.body.split("\n\n"), page.body.split("\n\n")
    seen = set(own)
    new = [part for part in other if part not in seen]
    if weighted_length("".join(new)) < MIN_NEW_TEXT:
        return False
    article.next_pages = page.next_pages
    article.evidence.pop("next_pages", None)
    is_view = seen <= set(other) and not page.next_pages
    if is_whole or is_view:  # a view of the whole story
        article.body = page.body
        for name in ("body_markdown", "body_html", "links", "images"):
            setattr(article, name, getattr(page, name))
        return True
    article.pages += 1
    article.body = "\n\n".join([*own, *new])
    for name, separator in (("body_markdown", "\n\n"), ("body_html", "\n")):
        first, following = getattr(article, name), getattr(page, name)
        if first and following:
            parts = first.split(separator)
            later = dropwhile(set(parts).__contains__, following.split(separator))
            setattr(article, name, separator.join([*parts, *later]))
    for name in ("links", "images"):
        first, following = getattr(article, name), getattr(page, name)
        if first is not None:
            first.extend(value for value in following or () if value not in first)
    return True


def _is_same_story(article: Article, page: Article) -> bool:
    if page.canonical_url and page.canonical_url in (article.canonical_url, article.url):
        return True
    own, other = (
        {w for w in folded_words(a.title or "") if not w.isdigit()} for a in (article, page)
    )
    return len(own & other) >= MIN_COMMON_WORDS * min(len(own), len(other))
