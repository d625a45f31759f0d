"""The structured data of a page: JSON-LD, meta elements, microdata, links; as plain text."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from newscrawl.document.document import rows_between
from newscrawl.fields.metadata.jsonld import (
    ARTICLE_TYPES,
    JsonObject,
    addresses,
    as_list,
    flat,
    page_nodes,
    parse_json_ld,
    person_names,
    types,
    unescaped,
)
from newscrawl.text import squeeze, unescape, word_f1

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from newscrawl.document.document import Document
    from newscrawl.document.rows import Statement

# With separators of thousands, or without.
_NUMBER = re.compile(r"\d{1,3}(?:[.,\s]\d{3})+(?!\d)|\d{1,10}(?!\d)")
# Control characters, lone surrogates, and characters that are not seen: soft hyphens, marks of
# direction, the private use of icon fonts; not the joiners, which change the letters of some
# scripts.
_CONTROL = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ud800-\udfff\ue000-\uf8ff\ufeff\ufff9-\uffff]"
)
_ESCAPED = re.compile(r"\\u[0-9a-fA-F]{4}")
_MARKUP = re.compile(r"</?[a-z][^<>]*>", re.IGNORECASE)
_NAMES = frozenset({"property", "name", "itemprop", "http-equiv"})
_RELATIONS = ("author", "category", "license", "tag")
# URLs that need no resolution.
_ABSOLUTE = re.compile(r"https?://[a-z0-9.-]+(?:/[!-\"$-:<->@-~]*)?(?:\?[!-\"$-:<-~]+)?")
# Properties whose values are other works, with authors and dates of their own.
_OTHER_WORKS = frozenset({"citation", "comment", "haspart", "isbasedon", "mentions", "review"})
# Limits the cost of hostile pages; real ones stay far below.
_MAX_ITEMS = 300
_MAX_INSIDE = 100
_MAX_TEXTS = 100
_MAX_ROWS = 1000
MAX_VALUES = 50
MAX_TEXT_LENGTH = 5000
_MAX_LEVELS = 100
_MAX_NESTING = 3
_MAX_NUMBER = 10**9
# Share of the text of a page that its article has.
_MIN_SCOPE = 0.2
# F1 of the words of two titles of one page.
_MIN_OVERLAP = 0.5
_MAX_HEADINGS = 3


class StatedText(NamedTuple):
    """A text stated by one source."""

    text: str
    #: ``json-ld``, ``meta:NAME``, ``microdata``, ...
    source: str


@dataclass
class StructuredData:
    """The machine-readable statements of a page, read in one pass; lists are in document order."""

    document: Document
    #: URL of the page, then the base of relative addresses
    base: str | None
    #: contents of the meta elements by lower-case ``property``, ``name``, ``itemprop``,
    #: ``http-equiv``
    meta: dict[str, list[str]] = field(default_factory=dict)
    #: ``href`` of the canonical link elements
    canonical: list[str] = field(default_factory=list)
    #: values of the JSON-LD scripts
    json_ld: list[Any] = field(default_factory=list)
    #: elements with a ``datetime``, and ``abbr`` elements with the class of a date and a ``title``
    times: list[Statement] = field(default_factory=list)
    #: elements other than meta elements by each token of their ``itemprop``
    properties: dict[str, list[Statement]] = field(default_factory=dict)
    #: links by the first of :data:`_RELATIONS` in their ``rel``
    links: dict[str, list[Statement]] = field(default_factory=dict)
    #: images in ``figure`` elements, or with an ``itemprop``
    images: list[Statement] = field(default_factory=list)
    #: text of the title element
    title: str = ""
    #: ``lang`` of the html element
    lang: str = ""

    def __post_init__(self) -> None:
        url, items, cited = self.base, 0, 0
        metas = []
        for statement in self.document.statements:
            row, tag, attributes, _ = statement
            if row < cited:
                continue
            if tag == "meta":
                metas.append(attributes)
                continue
            self._read_element(statement)
            if "itemprop" in attributes and items < _MAX_ITEMS:
                names = attributes["itemprop"].lower()
                if names in _OTHER_WORKS:
                    cited = self.document.end[row]
                items += 1
                for name in names.split():
                    self.properties.setdefault(name, []).append(statement)
        self._read_meta(metas)
        #: top-level objects of JSON-LD
        self.nodes = page_nodes(self.json_ld)
        #: keys of the addresses of the page
        self._keys = {_key(address) for address in (url, *self.canonical[:1]) if address}
        found = (node for node in self.nodes if not ARTICLE_TYPES.isdisjoint(types(node)))
        articles = list(islice(found, MAX_VALUES))
        #: the object of the article, possibly empty: of several the one that agrees most with the
        #: page
        self.article = articles[0] if articles else {}
        if len(articles) > 1:
            self.article = max(articles, key=self._node_agrees)

    def _node_agrees(self, node: JsonObject) -> float:
        headline = node.get("headline") or node.get("name")
        return self._agreement(addresses(node), headline, node.get("description"))

    def _agreement(self, urls: Iterable[str], headline: Any, description: Any = None) -> float:
        """Return how far an article is the page's, by its address, headline and description."""
        own = [self.is_own(url) for url in urls if not url.startswith("#")]
        return (
            any(own)
            + _overlap(headline, self._titles)
            + _overlap(description, self.meta.get("description", ()))
        )

    def is_own(self, address: str | None) -> bool:
        """Return whether *address* is that of the page, or its canonical one."""
        return address is not None and _key(address) in self._keys

    @cached_property
    def _titles(self) -> list[str]:
        """The titles of the page: of its first headings, and those that it states."""
        headings = map(self.document.shown_text, self.document.rows_of("h1")[:_MAX_HEADINGS])
        return [*headings, *self.meta.get("og:title", ())[:1], self.title]

    def _read_meta(self, metas: Iterable[Mapping[str, str]]) -> None:
        for attributes in metas:
            get = attributes.get
            content = (get("content") or get("value") or get("datetime") or "").strip()
            for attribute, value in attributes.items() if content else ():
                name = value.strip().lower() if attribute in _NAMES else ""
                if name and name.isprintable():  # it becomes evidence
                    self.meta.setdefault(name, []).append(content)

    def _read_element(self, element: Statement) -> None:
        match element.tag:
            case "html" if element.row == 0:
                self.lang = element.get("lang") or element.get("xml:lang")
            case "link" if "canonical" in element.get("rel").lower() and element.get("href"):
                self.canonical.append(element.get("href"))
            case "script" if "ld+json" in element.get("type").lower():
                self.json_ld.extend(parse_json_ld(element.script))
            # "relative-time": the element of GitHub's library.
            case "time" | "relative-time" | "abbr" if (
                instant_of(element) and len(self.times) < _MAX_ITEMS
            ):
                self.times.append(element)
            case "a":
                relations = element.get("rel").lower().split()
                relation = next(filter(relations.__contains__, _RELATIONS), None)
                if relation and len(self.links.setdefault(relation, [])) < _MAX_ITEMS:
                    self.links[relation].append(element)
            case "img" if len(self.images) < _MAX_ITEMS:
                self.images.append(element)
            # An svg element may have a title, too.
            case "title" if self._parent_tag(element) in {"head", "html", "body"}:
                self.title = self.title or self.text_of(element)
            case "base":
                self.base = self.absolute(element.get("href")) or self.base

    def _parent_tag(self, element: Statement) -> str:
        return self.document.tag[self.document.parent[element.row]]

    def absolute(self, address: str) -> str | None:
        """Return *address* as an absolute HTTP URL, or None for other and invalid URLs."""
        if _ABSOLUTE.fullmatch(address):
            return address
        try:
            absolute = urljoin(self.base or "", address.strip())
            parts = urlsplit(absolute)
        except ValueError:  # for example "http://[broken"
            return None
        return absolute if parts.scheme in {"http", "https"} and parts.netloc else None

    def first_meta(self, name: str) -> str | None:
        """Return the first content of the meta elements *name*."""
        return self.meta.get(name, [None])[0]

    def meta_texts(self, names: Iterable[str]) -> Iterator[StatedText]:
        """Yield the first content of the meta elements of each of *names*, as plain text."""
        for name in names:
            if name in self.meta:
                yield StatedText(clean_text(self.meta[name][0]), f"meta:{name}")

    def nodes_of(self, *names: str) -> list[JsonObject]:
        """Return the top-level objects of JSON-LD of the types *names*."""
        return [node for name in names for node in self._nodes_by_type.get(name, ())]

    @cached_property
    def _nodes_by_type(self) -> dict[str, list[JsonObject]]:
        found: dict[str, list[JsonObject]] = {}
        for node in self.nodes:
            for name in types(node):
                found.setdefault(name, []).append(node)
        return found

    def resolved(self, value: Any) -> Any:
        """Return *value* of JSON-LD with what the objects with its ``@id`` have."""
        reference = value.get("@id") if isinstance(value, dict) else None
        same = self._nodes_by_id.get(reference) if isinstance(reference, str) else None
        return same | value if same else value

    @cached_property
    def _nodes_by_id(self) -> dict[str, JsonObject]:
        found: dict[str, JsonObject] = {}
        for node in self.nodes:
            if isinstance(reference := node.get("@id"), str):
                found[reference] = node | found.get(reference, {})
        return found

    def ld_values(self, *names: str) -> Iterator[Any]:
        """Yield the values of the properties *names* of the article in JSON-LD."""
        for name in names:
            for value in flat(self.article.get(name))[:MAX_VALUES]:
                yield self.resolved(value)

    def item_values(self, *names: str) -> Iterator[Any]:
        """Yield the values of the properties *names* of the article in microdata, as in JSON-LD."""
        for name in names:
            for item in self.items(name.lower())[:MAX_VALUES]:
                yield self._item_value(item, _MAX_NESTING)

    def values(self, *names: str) -> Iterator[Any]:
        """Yield the values of the properties *names* of the article, of JSON-LD first."""
        yield from self.ld_values(*names)
        yield from self.item_values(*names)

    def _item_value(self, item: Statement, depth: int) -> Any:
        """Return an element with a property as an object, an address or a text."""
        if "itemscope" not in item.attributes or not depth:
            stated = filter(None, map(item.get, ("content", "datetime", "src", "href")))
            return next(stated, None) or self.text_of(item)
        kind = item.get("itemtype")
        found: JsonObject = {"@type": kind} if kind else {}
        end = 0
        for part in self.inside(item):
            if part.row >= end and "itemprop" in part.attributes:
                if "itemscope" in part.attributes:
                    end = self.document.end[part.row]
                for name in part.get("itemprop").split():
                    found.setdefault(name, []).append(self._item_value(part, depth - 1))
        return found

    def json_ld_names(self, value: Any) -> list[str]:
        """Return the names in *value* of JSON-LD: texts, objects with a name, references."""
        return [name for text in person_names(value, self.resolved) if (name := clean_text(text))]

    def items(self, name: str) -> list[Statement]:
        """Return the elements with the property *name* of the article in microdata."""
        if name not in self.properties:  # the common case
            return []
        statements = self.properties[name]
        return [item for item in statements if self.scope(item.row) == self._article_scope]

    def scope(self, row: int) -> int | None:
        """Return the row of the microdata item that contains *row*, None if there is none."""
        itemtypes = self.document.attributes["itemtype"]
        above = islice(self.document.ancestors(row), _MAX_LEVELS)
        return next(filter(itemtypes.__contains__, above), None)

    @cached_property
    def _article_scope(self) -> int | None:
        """Row of the longest article in microdata."""
        itemtypes = self.document.attributes["itemtype"]
        scopes = [
            row for row, name in itemtypes.items() if name.rpartition("/")[2] in ARTICLE_TYPES
        ]
        if len(scopes) == 1 and not self.document.chars(scopes[0]):  # <meta> elements alone
            return scopes[0]
        # A cited work has no title of the page and little of its text.
        least, headings = self.document.chars(0) * _MIN_SCOPE, self.document.rows_of("h1")
        scopes = [
            row
            for row in scopes[:MAX_VALUES]
            if self.document.chars(row) >= least
            or rows_between(headings, row, self.document.end[row])
        ]
        return max(scopes, key=self._scope_agrees) if len(scopes) > 1 else next(iter(scopes), None)

    def _scope_agrees(self, row: int) -> tuple[float, float]:
        """Return how far the item at *row* is the article of the page, and its length."""

        def stated(*names: str) -> Iterator[str]:
            for item in (item for name in names for item in self.properties.get(name, ())):
                if self.scope(item.row) == row:
                    yield item.get("content") or item.get("href") or self.text_of(item)

        headline = next(stated("headline", "name"), None)
        urls = stated("url", "mainentityofpage")
        return self._agreement(urls, headline), self.document.chars(row)

    def inside(self, item: Statement) -> Iterator[Statement]:
        """Yield the first statements in the subtree of *item*."""
        statements, end = self.document.statements, self.document.end[item.row]
        start = bisect_left(statements, item) + 1
        for place in range(start, min(start + _MAX_INSIDE, len(statements))):
            if statements[place].row >= end:
                return
            yield statements[place]

    def text_of(self, element: Statement) -> str:
        """Return the text of an element with white space collapsed; a long text is truncated."""
        end = min(self.document.end[element.row], element.row + _MAX_ROWS)
        texts = (row for row in range(element.row, end) if self.document.text[row])
        return self.document.join_texts(islice(texts, _MAX_TEXTS))

    def item_text(self, item: Statement) -> str:
        """Return the text of an element with a property."""
        return clean_text(item.get("content")) or clean_text(self.text_of(item))


def whole_number(value: Any) -> int | None:
    """Return the number in *value*: a number, a text such as ``1200px``, an object or a list."""
    for stated in as_list(value)[:1]:
        inner = stated.get("value") if isinstance(stated, dict) else stated
        digits = _NUMBER.match(str(inner)) if isinstance(inner, (int, float, str)) else None
        number = int("".join(filter(str.isdigit, digits[0]))) if digits else -1
        if 0 <= number <= _MAX_NUMBER and not isinstance(inner, bool):
            return number
    return None


def _key(address: str) -> str:
    """Return *address* without what differs between addresses of one page."""
    return address.partition("://")[2].partition("#")[0].removeprefix("www.").rstrip("/")


def _overlap(stated: Any, shown: Iterable[str]) -> float:
    """Return the best F1 of the words of a stated text and texts of the page, 0 below a half."""
    own = stated[:MAX_TEXT_LENGTH] if isinstance(stated, str) else ""
    best = max((word_f1(own, text[:MAX_TEXT_LENGTH]) for text in shown if own), default=0.0)
    return best if best > _MIN_OVERLAP else 0


def instant_of(element: Statement) -> str:
    """Return the ``datetime`` of an element, or the ``title`` that it has in the hAtom format."""
    return element.get("title" if element.tag == "abbr" else "datetime")


def plain_text(text: str) -> str:
    r"""Return *text* with resolved escapes, as many are escaped twice: ``&amp;amp;``, ``\u00e9``.

    Control characters and lone surrogates, which feeds cannot contain, and characters that are not
    seen are removed.
    """
    if "&" in text:
        text = unescape(unescape(text))
    if "\\u" in text and _ESCAPED.search(text):
        text = unescaped(text)
    return " ".join((text if text.isprintable() else _CONTROL.sub("", text)).split())


def without_unprintable(text: str) -> str:
    """Return *text* without control characters, lone surrogates and invisible characters."""
    return text if text.isprintable() else _CONTROL.sub("", text)


def clean_text(text: str) -> str:
    """Return :func:`plain_text` without markup; a long text is truncated."""
    text = plain_text(text[:MAX_TEXT_LENGTH])
    return squeeze(_MARKUP.sub(" ", text)) if "<" in text else text


def stated_texts(value: Any) -> list[str]:
    """Return the texts in *value*, a text or a list."""
    return [text for text in as_list(value)[:MAX_VALUES] if isinstance(text, str)]
