"""The structured data of a page, and the plain text of its values."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from newscrawl.document.document import rows_between
from newscrawl.fields.metadata.jsonld import (
    ARTICLE_TYPES,
    JsonObject,
    as_list,
    person_names,
    types,
)
from newscrawl.fields.metadata.markup import Markup, text_of
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from newscrawl.document.document import Document
    from newscrawl.document.rows import Statement

_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_MARKUP = re.compile(r"</?[a-z][^<>]*>", re.IGNORECASE)
# Limits the cost of hostile pages; real ones stay far below.
MAX_VALUES = 50
MAX_TEXT_LENGTH = 5000
_MAX_LEVELS = 100
# Share of the text of a page that its article has.
_MIN_SCOPE = 0.2


class StatedText(NamedTuple):
    """A text stated by one source."""

    text: str
    #: ``json-ld``, ``meta:NAME``, ``microdata``, ...
    source: str


@dataclass
class StructuredData:
    """The machine-readable statements of a page."""

    document: Document
    markup: Markup
    #: top-level objects of JSON-LD
    nodes: list[JsonObject]
    #: the object of the article, possibly empty
    article: JsonObject = field(default_factory=dict)

    def meta(self, name: str) -> str | None:
        """Return the first content of the meta elements *name*."""
        return self.markup.meta.get(name, [None])[0]

    def metas(self, names: Iterable[str]) -> Iterator[StatedText]:
        """Yield the first content of the meta elements of each of *names*, as plain text."""
        for name in names:
            if name in self.markup.meta:
                yield StatedText(clean_text(self.markup.meta[name][0]), f"meta:{name}")

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

    def json_ld_names(self, value: Any) -> list[str]:
        """Return the names in *value* of JSON-LD: texts, objects with a name, references."""
        return [name for text in person_names(value, self.nodes) if (name := clean_text(text))]

    def items(self, name: str) -> list[Statement]:
        """Return the elements with the property *name* of the article in microdata."""
        statements = self.markup.items.get(name, ())
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
        # A cited work has no title of the page and little of its text.
        least, headings = self.document.chars(0) * _MIN_SCOPE, self.document.rows_of("h1")
        scopes = [
            row
            for row, name in itemtypes.items()
            if name.rpartition("/")[2] in ARTICLE_TYPES
            and (
                self.document.chars(row) >= least
                or rows_between(headings, row, self.document.end[row])
            )
        ]
        return max(scopes, key=self.document.chars, default=None)

    def item_text(self, item: Statement) -> str:
        """Return the text of an element with a property."""
        return clean_text(item.get("content")) or clean_text(text_of(self.document, item))


def plain_text(text: str) -> str:
    """Return *text* with character references resolved, as they are often escaped twice.

    Control characters and lone surrogates, which feeds cannot contain, are removed.
    """
    if "&" in text:
        text = html.unescape(text)
    return squeeze(text if text.isprintable() else _CONTROL.sub("", text))


def clean_text(text: str) -> str:
    """Return :func:`plain_text` without markup; a long text is truncated."""
    text = plain_text(text[:MAX_TEXT_LENGTH])
    return squeeze(_MARKUP.sub(" ", text)) if "<" in text else text


def stated_texts(value: Any) -> list[str]:
    """Return the texts in *value*, a text or a list."""
    return [text for text in as_list(value)[:MAX_VALUES] if isinstance(text, str)]
