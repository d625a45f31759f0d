"""Site name, section, tags and breadcrumbs of an article."""

from __future__ import annotations

from bisect import bisect_left
from functools import cache, lru_cache, partial
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from newscrawl.document.document import rows_between
from newscrawl.document.rows import HEADINGS
from newscrawl.fields.metadata.jsonld import JsonObject, as_list
from newscrawl.fields.metadata.structured_data import (
    MAX_VALUES,
    StatedText,
    StructuredData,
    clean_text,
    stated_texts,
)
from newscrawl.items import Breadcrumb
from newscrawl.language_words import words as words_of
from newscrawl.patterns import lazy_regex
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from newscrawl.document.document import Document

_SECTION_META = (
    "og:article:section", "og:section", "parsely-section", "articlesection", "prism.section",
    "section", "sailthru.section",
)  # fmt: skip
# Of services, with many marks that are no tags.
_MACHINE_TAGS = ("parsely-tags", "sailthru.tags")
_TAG_META = (
    "article:tag", "og:article:tag", "article.tag", "news_keywords", "keywords", *_MACHINE_TAGS,
)  # fmt: skip
_SITE_META = ("application-name", "dc.publisher", "dcterms.publisher")

# Between the name of a site and its slogan, or the title of a page and the site.
_PARTS = lazy_regex(r"(?<!\s)\s++[|·•:»–—-]++\s++|:\s+")
_SEPARATORS = (",", ";", "|", "、", "，", "،")
# "type:story", "section/news", "urn:x": marks of advertising and publishing systems.
_MACHINE_TAG = lazy_regex(r"[@_].*|(?>[\w.-]+?[:=_/][^ ]).*|[^{}<>\[\]\"]*+[{}<>\[\]\"].*|\d+")
# Elements of links to tags, parents and sections, by one of their classes, with parts that these
# have.
_MARKED = {
    "tags": lazy_regex(
        r"(?:[a-z_-]*[-_])?(?:tags|tag[-_]?(?:list|links)|keywords)(?:[-_](?:list|links|items|container|wrapper))?"
        r"|(?:entry|post|article|story)[-_]?tag"
    ),
    "breadcrumbs": lazy_regex(
        r"[a-z_-]*bread-?crumbs?(?:[-_](?:list|nav|trail|container|wrapper))?"
    ),
    "section": lazy_regex(
        r"cat-links|(?:entry|post|article|story)[-_](?:category|categories|section|kicker)"
    ),
}
_PARTS_OF_MARKS = {
    "tags": ("tag", "keywords"),
    "breadcrumbs": ("crumb",),
    "section": ("cat-links", "categor", "section", "kicker"),
}
_TRAIL_MARKS = frozenset(("›", "»", ">", ">>", "→", "/", "❯", "::"))
# Pages of a tag.
_TAG_PATH = lazy_regex(
    r"/(?=[ehklmt])(?:tag|topic|theme|thema|themen|keyword|hashtag|etiqueta|tema|tagi|mot-cle"
    r"|etiket|label)s?/"
)
_HEADINGS = HEADINGS - {"h1"}
_SITE_PARTS = frozenset({"aside", "footer", "nav"})
_MAX_TAG_LEVELS = 3
_MAX_SHOWN_TAGS = 20
_MAX_TAG_WORDS = 10
_MAX_LEVELS = 20
# Characters of such an element.
_MAX_MARKED = 600
# The default of WordPress.
_NO_SECTION = frozenset({"uncategorized", "uncategorised", "home", "homepage", "startseite"})
_MAX_TAG_LENGTH = 80
_MAX_SECTION_LENGTH = 60
_MAX_TAGS = 100
_MIN_TITLE_WORDS = 3
_MAX_SECTION_WORDS = 6


def site_name(names: Iterable[StatedText], title: str, url: str | None) -> StatedText | None:
    """Return the first of *names* of the publication, without a slogan that follows it.

    Without one, the part of the page *title* that names the host.
    """
    host, title = _host_letters(url), clean_text(title)
    for stated in names:
        if "://" not in stated.text:
            return stated._replace(text=_part_of_host(stated.text, host) or stated.text)
    found = _part_of_host(title, host)
    return StatedText(found, "title") if found and found != title else None


def stated_site_names(data: StructuredData) -> Iterator[StatedText]:
    """Yield the names of the publication, the most trusted first."""
    values = (data.article.get("publisher"), data.nodes_of("WebSite"))
    yield from filter(itemgetter(0), data.meta_texts(["og:site_name"]))
    yield from (StatedText(it, "json-ld") for value in values for it in data.json_ld_names(value))
    yield from filter(itemgetter(0), data.meta_texts(_SITE_META))


def is_host(name: str, url: str | None) -> bool:
    """Return whether the host of *url* contains *name*: "Port News" of ``port-news.example``."""
    return _part_of_host(name, _host_letters(url)) == name


def _part_of_host(text: str, host: str) -> str | None:
    """Return the last part of *text*, between separators, that occurs in *host*."""
    parts = _PARTS.split(text)
    named = (part for part in reversed(parts) if len(_letters(part)) > 2 and _letters(part) in host)
    return next(named, None)


def is_home_page(url: str) -> bool:
    """Return whether *url* has neither a path nor parameters."""
    parts = urlsplit(url)
    return parts.path in {"", "/"} and not parts.query


@lru_cache(maxsize=8)
def _host_letters(url: str | None) -> str:
    return _letters(urlsplit(url or "").hostname or "")


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def breadcrumbs(
    data: StructuredData, titles: Iterable[str]
) -> tuple[tuple[Breadcrumb, ...], str] | None:
    """Return the first trail of breadcrumbs without the page itself, and its source.

    *titles* are the titles that the page states.
    """
    shown = (Breadcrumb(text, address) for text, address in _marked_links(data, "breadcrumbs"))
    for source, trail in (
        ("json-ld", _json_ld_trail(data)),
        ("microdata", _microdata_trail(data)),
        ("links", shown),
        ("links", _separated_trail(data)),
    ):
        crumbs = list(islice(trail, MAX_VALUES))
        last = crumbs[-1] if crumbs else None
        url = last.url.partition("?")[0] if last and last.url else None
        if last and (data.is_own(last.url) or data.is_own(url) or _is_title(last, titles)):
            del crumbs[-1]
        if crumbs:
            return tuple(crumbs), source
    return None


def _is_title(crumb: Breadcrumb, titles: Iterable[str]) -> bool:
    """Return whether the name of *crumb* is a title of the page, or a part of it."""
    name = crumb.name.rstrip(".… ").casefold()
    length = len(words(name))
    folded = (title.casefold() for title in titles)
    return (crumb.url is None and length > _MAX_SECTION_WORDS) or any(
        name == title or (length >= _MIN_TITLE_WORDS and name in title) for title in folded
    )


def section(
    data: StructuredData, trail: Sequence[Breadcrumb], url: str | None
) -> StatedText | None:
    """Return the section of the site; the outermost of the breadcrumbs *trail*."""
    names = data.json_ld_names(data.article.get("articleSection"))
    stated = [
        *data.meta_texts(["article:section"]),
        *(StatedText(name, "json-ld") for name in names),
        *data.meta_texts(_SECTION_META),
        *(StatedText(data.item_text(item), "microdata") for item in data.items("articlesection")),
        *(StatedText(crumb.name, "breadcrumbs") for crumb in _below_home(trail, url)),
        *(StatedText(data.item_text(link), "rel") for link in data.links.get("category", ())[:1]),
    ]
    shown = (StatedText(text, "links") for text, _ in _marked_links(data, "section"))
    return next((name for name in chain(stated, shown) if _is_section(name.text)), None)


def _separated_trail(data: StructuredData) -> Iterator[Breadcrumb]:
    """Yield the links above the headline that marks such as ``›`` separate from the front page."""
    document, address_of = data.document, data.document.attributes["href"].get
    headline = next(iter(document.rows_of("h1")), 0)
    links = rows_between(document.rows_of("a"), 0, headline)
    above = rows_between(document.shown_rows, 0, headline)
    for mark in [row for row in above if document.text[row] in _TRAIL_MARKS]:
        for home in links[: bisect_left(links, mark)][-1:]:
            end = document.end[document.parent[home]]
            shown = rows_between(document.shown_rows, document.end[home], end)
            address = _absolute(data, address_of(home)) if mark in shown[:1] else None
            if address and is_home_page(address):
                for link in (home, *_linked_run(document, shown, _TRAIL_MARKS.__contains__)):
                    if name := document.shown_text(link):
                        yield Breadcrumb(name, _absolute(data, address_of(link)))
                return


def _linked_run(
    document: Document, rows: Iterable[int], is_mark: Callable[[str], bool]
) -> Iterator[int]:
    """Yield the links of the text nodes *rows*, until one that is neither a link nor a mark."""
    last = -1
    for row in rows:
        above = document.closest_ancestors(row, _MAX_TAG_LEVELS)
        link = next((it for it in above if document.tag[it] == "a"), None)
        if link is None and not is_mark(document.text[row].strip()):
            return
        if link is not None and link != last:
            yield (last := link)


def _is_mark(text: str) -> bool:
    return not any(map(str.isalnum, text))


def tags(data: StructuredData) -> tuple[tuple[str, ...], str] | None:
    """Return the keywords of all sources and the first of these; of equal ones, with capitals."""
    found: dict[str, str] = {}
    sources = []
    for source, texts in _tag_statements(data, found):
        for tag in _clean_tags(texts):
            key = tag.casefold().replace("-", " ").replace("_", " ")
            found[key] = tag if found.get(key, "").islower() else found.get(key, tag)
            sources.append(source)
    return (tuple(found.values())[:_MAX_TAGS], sources[0]) if found else None


def _tag_statements(
    data: StructuredData, found: Mapping[str, str]
) -> Iterator[tuple[str, list[str]]]:
    """Yield source and texts of keywords; unmarked links and services while none are *found*."""
    for name in _TAG_META:
        if name == "keywords":
            yield "json-ld", data.json_ld_names(data.article.get("keywords"))
            yield "microdata", [data.item_text(item) for item in data.items("keywords")]
            yield "rel", [data.text_of(link) for link in data.links.get("tag", ())]
            yield "links", [text for text, _ in _marked_links(data, "tags")]
            if not found:
                yield "links", _shown_tags(data.document)
        if name in data.meta and not (found and name in _MACHINE_TAGS):
            yield f"meta:{name}", data.meta[name]


def _shown_tags(document: Document) -> list[str]:
    """Return the tags below the headline after a label, or else those to pages of tags."""
    start = next(iter(document.rows_of("h1")), 0)
    anchors = rows_between(document.rows_of("a"), start, len(document))
    shown = rows_between(document.shown_rows, start, len(document))
    text = document.text
    starts = _label_starts()
    for row in [row for row in shown[:-1] if text[row][:2] in starts]:
        label, colon, rest = text[row].replace("：", ":").partition(":")
        word = label.rstrip().lower()
        is_label = word in words_of("tags") or (colon and word in words_of("subjects"))
        if is_label and _is_of_story(document, row):
            following = shown[bisect_left(shown, row) + 1]
            rest = rest.lstrip()
            if not rest and document.parent[following] == document.parent[document.parent[row]]:
                rest = document.text[following].lstrip(":： ")
            if any(mark in rest for mark in _SEPARATORS):
                return [rest]
            for link in anchors[bisect_left(anchors, row) :][:1]:
                if not rest and (found := _links_from(document, link, row)):
                    return found
    return _linked_tags(document, anchors)


@cache
def _label_starts() -> frozenset[str]:
    """Return the first two letters of labels of tags, in lower case, title case and capitals."""
    starts = {label[:2] for label in words_of("tags") | words_of("subjects")}
    return frozenset(it for start in starts for it in (start, start.title(), start.upper()))


def _linked_tags(document: Document, anchors: Sequence[int]) -> list[str]:
    """Return the texts of the first links to pages of tags, without one of their heading."""
    hrefs = document.attributes["href"]
    if not _TAG_PATH.search("\0".join([hrefs.get(link, "") for link in anchors])):  # faster
        return []
    of_tags = (link for link in anchors if _TAG_PATH.search(hrefs.get(link, "")))
    for link in islice(of_tags, 1):
        around = (it for it in document.ancestors(link) if len(_links(document, it)) > 1)
        links = _links(document, next(around, link))
        before = document.text_rows[: bisect_left(document.text_rows, links[0])][-1:]
        above = {document.tag[it] for row in before for it in document.ancestors(row)}
        if (
            all(_TAG_PATH.search(hrefs.get(it, "")) for it in links)
            and above.isdisjoint(_HEADINGS)
            and _is_of_story(document, link)
        ):
            return [document.shown_text(it) for it in links]
    return []


def _links(document: Document, row: int) -> Sequence[int]:
    return rows_between(document.rows_of("a"), row, document.end[row])


def _is_of_story(document: Document, row: int) -> bool:
    above = {document.tag[it] for it in document.closest_ancestors(row, _MAX_LEVELS)}
    return above.isdisjoint(_SITE_PARTS) and "a" not in above


def _links_from(document: Document, link: int, start: int) -> list[str]:
    """Return the texts of *link* and those after it, inside the element that begins before *start*.

    Only marks are between them.
    """
    inside = next(it for it in document.ancestors(link) if it <= start)
    rows = rows_between(document.shown_rows, start + 1, document.end[inside])
    texts = [document.shown_text(it) for it in _linked_run(document, rows, _is_mark)]
    # The links to the stories before and after have longer texts.
    is_list = all(len(words(text)) <= _MAX_TAG_WORDS for text in texts)
    return texts if is_list and len(texts) <= _MAX_SHOWN_TAGS else []


def _marked_links(data: StructuredData, name: str) -> Iterator[tuple[str, str | None]]:
    """Yield text and address of the links in the first element with a class of *name*."""
    document, address_of = data.document, data.document.attributes["href"].get
    parts, is_marked = _PARTS_OF_MARKS[name], partial(_is_marked, name)
    for row in document.rows_named(parts, ("class",), is_marked):
        if not 0 < document.chars(row) <= _MAX_MARKED:
            continue
        above = (document.tag[it] for it in document.closest_ancestors(row, _MAX_LEVELS))
        links = rows_between(document.rows_of("a"), row, document.end[row])[:MAX_VALUES]
        if links and (name == "breadcrumbs" or _SITE_PARTS.isdisjoint(above)):
            for link in links:
                if text := clean_text(document.shown_text(link)):
                    yield text, _absolute(data, address_of(link))
            return


@lru_cache(maxsize=1024)
def _is_marked(name: str, classes: str) -> bool:
    return any(map(_MARKED[name].fullmatch, classes.lower().split()))


def _clean_tags(texts: list[str]) -> tuple[str, ...]:
    texts = list(dict.fromkeys(texts))
    if len(texts) == 1:
        separator = next((mark for mark in _SEPARATORS if mark in texts[0]), None)
        texts = texts[0].split(separator) if separator else texts
    found: dict[str, str] = {}
    for text in texts[:_MAX_TAGS]:
        tag = clean_text(text).strip(" #,;")
        is_plain = tag.replace(" ", "").isalpha()
        if (is_plain or (tag and not _MACHINE_TAG.fullmatch(tag))) and len(tag) <= _MAX_TAG_LENGTH:
            found.setdefault(tag.casefold(), tag)
    return tuple(found.values())


def _is_section(name: str) -> bool:
    return (
        bool(name)
        and len(name) <= _MAX_SECTION_LENGTH
        and name.casefold() not in _NO_SECTION
        and not name.isdigit()
        and "://" not in name
    )


def _below_home(trail: Sequence[Breadcrumb], url: str | None) -> Sequence[Breadcrumb]:
    """Return *trail* without the home page, which is named after the host or has no path."""
    if not trail:
        return ()
    first, host = trail[0], _host_letters(url)
    is_home = first.url is not None and is_home_page(first.url)
    named_so = len(trail) > 1 and _letters(first.name) in host
    return trail[1:] if is_home or named_so else trail


def _json_ld_trail(data: StructuredData) -> Iterator[Breadcrumb]:
    lists = data.nodes_of("BreadcrumbList")
    inside = (node.get("breadcrumb") for node in data.nodes)
    lists += [node for node in inside if isinstance(node, dict) and "itemListElement" in node]
    elements = [as_list(node.get("itemListElement")) for node in lists]
    first = next((entries for entries in elements if entries), [])
    for entry in sorted((it for it in first if isinstance(it, dict)), key=_position):
        item = entry.get("item")
        target = item if isinstance(item, dict) else entry
        names = stated_texts(entry.get("name")) or stated_texts(target.get("name"))
        address = item if isinstance(item, str) else target.get("@id") or target.get("url")
        if names and (name := clean_text(names[0])):
            yield Breadcrumb(name, _absolute(data, address))


def _position(entry: JsonObject) -> int:
    try:
        return int(entry.get("position") or 0)
    except (TypeError, ValueError, OverflowError):
        return 0


def _microdata_trail(data: StructuredData) -> Iterator[Breadcrumb]:
    types = data.document.attributes["itemtype"]
    for item in data.properties.get("itemlistelement", ()):
        scope = data.scope(item.row)
        if scope is None or not types[scope].endswith("/BreadcrumbList"):
            continue
        inner = list(data.inside(item))
        name = next((part for part in inner if part.get("itemprop") == "name"), item)
        address = next((part.get("href") for part in (*inner, item) if part.get("href")), None)
        if text := data.item_text(name):
            yield Breadcrumb(text, _absolute(data, address))


def _absolute(data: StructuredData, address: Any) -> str | None:
    return data.absolute(clean_text(address)) if isinstance(address, str) else None
