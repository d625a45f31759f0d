"""Fields on request that pages state of themselves; each is read when it is requested."""

from __future__ import annotations

import json
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any

from newscrawl.fields.metadata.jsonld import person_names, types
from newscrawl.fields.metadata.media import merged_media, stated_media
from newscrawl.fields.metadata.metadata import language_tag
from newscrawl.fields.metadata.structured_data import (
    MAX_VALUES,
    StructuredData,
    clean_text,
    stated_texts,
    whole_number,
    without_unprintable,
)
from newscrawl.items import AuthorProfile, Comment, Publisher
from newscrawl.patterns import lazy_regex
from newscrawl.text import tokens, without_controls, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from collections.abc import Set as AbstractSet

    from newscrawl.items import Article

_LICENCE_META = ("dcterms.license", "dc.rights.license", "license", "licence")
_PLACE_META = ("geo.placename", "dcterms.spatial", "icbm:placename")
_MAX_LINKS = 2000
_MAX_LANGUAGES = 300
_MAX_DATA = 200_000
"""Characters of the JSON-LD of an article; scripts beyond them are left out."""
_MAX_DATA_DEPTH = 50
_COMMENT_FRAGMENT = lazy_regex(r"comm|koment|komm|coment|reacties|respond|disqus")
_COMMENT_NUMBER = lazy_regex(r"\D*+(\d++(?:[.,\s]\d{3})*+)\D*+")
_USER_COMMENTS = lazy_regex(r"(?i)UserComments:\s*(\d+)")
# PARIS (AFP) —, Berlin – Die, МОСКВА, 4 мая. /ТАСС/., Madrid, 4 may (EFE).-
_DATELINE = lazy_regex(
    r"(?P<line>(?P<place>[^\W\d_][^\n.!?:;()/–—]{1,40}?)(?P<day>,\s*(?:\d|[^\W\d_]{3,9}\.?\s\d)[^\n.!?:;()/–—]{0,15}?)?"
    r"\s?(?P<agency>\.?\s?\([^()\n]{2,30}\)|\.?\s?/[^/\n]{2,20}/)?)"
    r"\s?(?P<mark>\.?\s?[–—-]{1,2}|[.:])\s++(?P<start>\S)"
)
_AFTER_PLACE = lazy_regex(r",\s*+\d|(?<!\s)\s*+[(/–—]")
_AGENCY_AFTER = lazy_regex(r"[^\W\d_][\w ]{1,20}(?=\.\s)")
_MAX_PLACE_WORDS = 3
_MAX_DATELINE_PARAGRAPHS = 3


def set_page_fields(article: Article, data: StructuredData, names: AbstractSet[str]) -> None:
    """Set the fields *names* of *article* that the page states, or that follow from others."""
    for name, read in _READERS.items():
        if name in names:
            setattr(article, name, read(data, article))


def _author_profiles(data: StructuredData, article: Article) -> list[AuthorProfile]:
    """Return a profile for each author: of the structured data, and the link with their name."""
    stated: dict[str, AuthorProfile] = {}
    for value in data.values("author", "creator"):
        if isinstance(value, dict):
            for name in person_names(value, data.resolved):
                profile = AuthorProfile(
                    clean_text(name),
                    _address(data, value, "url", "sameAs"),
                    _image(data, value.get("image")),
                    next(iter(data.json_ld_names(value.get("jobTitle"))), None),
                )
                stated.setdefault(_folded(name), profile)
    links = _links_by_text(data, set(map(_folded, article.authors)))
    profiles = []
    for name in article.authors:
        found, link = stated.get(_folded(name)), links.get(_folded(name))
        found = found or AuthorProfile(name)
        profiles.append(AuthorProfile(name, found.url or link, found.image, found.job_title))
    return profiles


def _folded(name: str) -> str:
    return "".join(words(clean_text(name)))


def _links_by_text(data: StructuredData, texts: set[str]) -> dict[str, str]:
    """Return the addresses of the first links with *texts*, folded."""
    document, found = data.document, dict[str, str]()
    longest = 2 * max(map(len, texts), default=0)
    for row in document.rows_of("a")[:_MAX_LINKS] if texts else ():
        if 0 < document.chars(row) <= longest:
            text = _folded(document.shown_text(row))
            url = data.absolute(document.attributes["href"].get(row, ""))
            if text in texts and url:
                found.setdefault(text, url)
    return found


def _address(data: StructuredData, value: Any, *names: str) -> str | None:
    """Return the first web address in the properties *names* of an object."""
    stated = (it for name in names for it in stated_texts(value.get(name)))
    return next((url for it in stated if it and (url := data.absolute(clean_text(it)))), None)


def _image(data: StructuredData, value: Any) -> str | None:
    """Return the address of the first image in *value*, an address, an object or a list."""
    for image in (value if isinstance(value, list) else [value])[:MAX_VALUES]:
        node = data.resolved(image) if isinstance(image, dict) else {"url": image}
        if url := _address(data, node, "url", "contentUrl"):
            return url
    return None


def _publisher(data: StructuredData, _: Article) -> Publisher | None:
    for value in data.values("publisher"):
        node = value if isinstance(value, dict) else {"name": value}
        for name in data.json_ld_names(node.get("name")):
            return Publisher(name, _address(data, node, "url"), _image(data, node.get("logo")))
    return None


def _amp_url(data: StructuredData, _: Article) -> str | None:
    return next((data.absolute(href) for href, _ in _head_links(data, "amphtml")), None)


def _alternates(data: StructuredData, _: Article) -> dict[str, str]:
    found: dict[str, str] = {}
    for href, language in islice(_head_links(data, "alternate"), _MAX_LANGUAGES):
        tag = language_tag(language) or language.strip().lower()
        url = data.absolute(href)
        if url and (tag == "x-default" or language_tag(tag)):
            found.setdefault(tag, url)
    return found


def _head_links(data: StructuredData, relation: str) -> Iterator[tuple[str, str]]:
    """Yield address and language of the link elements with a *relation*."""
    for link in data.document.statements:
        if link.tag == "link" and relation in link.get("rel").lower().split():
            yield link.get("href"), link.get("hreflang")


def _licence(data: StructuredData, _: Article) -> str | None:
    texts: list[str] = []
    for value in data.values("license"):
        if isinstance(value, dict):
            texts += stated_texts(value.get("url")) + stated_texts(value.get("@id"))
            texts += stated_texts(value.get("name"))
        else:
            texts += stated_texts(value)
    texts += (href for href, _ in _head_links(data, "license"))
    texts += (link.get("href") for link in data.links.get("license", ()))
    texts += (stated.text for stated in data.meta_texts(_LICENCE_META))
    cleaned = list(filter(None, map(clean_text, texts)))
    urls = (url for it in cleaned if "/" in it and " " not in it and (url := data.absolute(it)))
    return next(urls, None) or next((it for it in cleaned if ":" not in it), None)


def _comment_count(data: StructuredData, _: Article) -> int | None:
    stated = [*data.values("commentCount"), *data.meta.get("commentcount", ())]
    old_form = [*data.values("interactionCount"), *data.meta.get("interactioncount", ())]
    for counter in data.values("interactionStatistic"):
        if isinstance(counter, dict):
            kind = counter.get("interactionType")
            names = types(kind) if isinstance(kind, dict) else stated_texts(kind)
            if any("Comment" in name for name in names):
                stated.append(counter.get("userInteractionCount"))
    old = filter(None, map(_USER_COMMENTS.search, map(str, old_form)))
    stated += (found[1] for found in old)
    numbers = (number for it in stated if (number := whole_number(it)) is not None)
    return next(numbers, None) if stated else _linked_count(data)


def _linked_count(data: StructuredData) -> int | None:
    """Return the number in the first link to the comments of this page: "3 Kommentare"."""
    document = data.document
    for row, href in document.attributes["href"].items():
        address, _, fragment = href.partition("#")
        if fragment and _COMMENT_FRAGMENT.search(fragment.lower()) and document.tag[row] == "a":
            is_own = not address or data.is_own(data.absolute(address))
            number = _COMMENT_NUMBER.fullmatch(document.shown_text(row)) if is_own else None
            if number:
                return whole_number(number[1])
    return None


def _dateline(data: StructuredData, article: Article) -> str | None:
    stated = (clean_text(it) for value in data.values("dateline") for it in stated_texts(value))
    named = (line for line in stated if line[:1].isalpha())
    return next(named, None) or _shown_dateline(article.body)


def _shown_dateline(body: str) -> str | None:
    """Return the place, day and agency before the first sentence of *body*."""
    paragraphs = body.split("\n\n", _MAX_DATELINE_PARAGRAPHS)[:_MAX_DATELINE_PARAGRAPHS]
    for number, paragraph in enumerate(paragraphs):
        if found := _DATELINE.match(paragraph):
            mark, names = found["mark"], found["place"].partition(",")[0].split()
            is_name = len(names) <= _MAX_PLACE_WORDS and all(it[0].isupper() for it in names)
            is_marked = found["agency"] or (
                mark[-1] not in ".:" and (found["day"] or " ".join(names).isupper())
            )
            is_first = not number and mark.strip() in {"–", "—"} and found["start"].isupper()
            if is_name and (is_marked or is_first):
                line = found["line"] + "." * (mark[0] == "." and not found["agency"])
                after = _AGENCY_AFTER.match(paragraph, found.start("start"))
                if found["day"] and after and not found["agency"]:
                    line = paragraph[: after.end()]
                return line.strip()
    return None


def _place(data: StructuredData, article: Article) -> str | None:
    stated = (
        name
        for value in data.values("contentLocation", "locationCreated")
        for name in data.json_ld_names(value)
    )
    metas = (found.text for found in data.meta_texts(_PLACE_META))
    if place := next(filter(None, (*stated, *metas)), None):
        return place
    line = _dateline(data, article)
    return (line and _AFTER_PLACE.split(line)[0].strip(" .,")) or None


def _comments(data: StructuredData, _: Article) -> list[Comment]:
    """Return the comments in the structured data."""
    found = []
    for value in data.values("comment"):
        if isinstance(value, dict):
            text = next(iter(stated_texts(value.get("text") or value.get("description"))), "")
            names = data.json_ld_names(value.get("author") or value.get("creator"))
            dates = stated_texts(value.get("dateCreated") or value.get("datePublished"))
            if text := clean_text(text):
                found.append(Comment(text, *(next(iter(it), None) for it in (names, dates))))
    return found


def _data(data: StructuredData, _: Article) -> list[Any]:
    """Return the values of JSON-LD that feeds can write, within limits of size and depth."""
    found: list[Any] = []
    size = 0
    for value in data.json_ld[:MAX_VALUES]:
        try:
            plain = _plain(value, _MAX_DATA_DEPTH)
        except ValueError:
            continue
        length = len(json.dumps(plain, ensure_ascii=False))
        if size + length <= _MAX_DATA:
            size += length
            found.append(plain)
    return found


def _plain(value: Any, depth: int) -> Any:
    """Return *value* without control characters; raise ``ValueError`` if JSON excludes it."""
    if isinstance(value, str):
        return without_controls(without_unprintable(value))
    if isinstance(value, float) and not isfinite(value):
        raise ValueError
    if not isinstance(value, dict | list):
        return value
    if not depth:
        raise ValueError
    if isinstance(value, list):
        return [_plain(inner, depth - 1) for inner in value]
    return {_plain(key, 0): _plain(it, depth - 1) for key, it in value.items()}


_READERS: dict[str, Callable[[StructuredData, Article], Any]] = {
    "author_profiles": _author_profiles,
    "images": lambda data, article: merged_media(
        [article.image] if article.image else [], stated_media(data, "image"), article.images or ()
    ),
    "videos": lambda data, article: merged_media(stated_media(data, "video"), article.videos or ()),
    "audio": lambda data, article: merged_media(stated_media(data, "audio"), article.audio or ()),
    "publisher": _publisher,
    "word_count": lambda _, article: sum(any(map(str.isalnum, it)) for it in tokens(article.body)),
    "amp_url": _amp_url,
    "alternates": _alternates,
    "licence": _licence,
    "dateline": _dateline,
    "place": _place,
    "comment_count": _comment_count,
    "comments": _comments,
    "data": _data,
}
"""Field -> function of the structured data and the article, whose other fields are set."""
