"""Elements and texts of a page that the rule of its site names."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urldefrag, urljoin, urlsplit

from lxml import etree

from newscrawl.document.document import TEXT
from newscrawl.document.repeats import outermost
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from newscrawl.document.document import Document
    from newscrawl.site_rules.rule_file import SiteRule

MAX_NODES: Final = 10_000
"""Results of an expression that are read."""
_MAX_TEXT: Final = 2000
_ATTRIBUTES: Final = ("datetime", "content")
"""Attributes with the value of an element, whose text is for people or empty."""


class MatchedText(NamedTuple):
    """A text that an expression found."""

    text: str
    #: row of its element, None for an attribute and for a computed text
    row: int | None = None


class RuleMatches(NamedTuple):
    """What the rule of a site found in a page."""

    #: the page without what the rule strips; if its body was hidden, with the body shown
    document: Document
    #: rows of elements and text nodes, in document order, none in another
    body: Sequence[int] = ()
    #: ``title``, ``author``, ``date`` -> the texts of the first expression that found any
    texts: Mapping[str, list[MatchedText]] = MappingProxyType({})
    #: absolute URL of a page with the whole story
    whole: str | None = None
    #: absolute URL of the next page of the story
    following: str | None = None


def with_replacements(
    document: Document, rule: SiteRule | None, *, scripts: bool = False
) -> Document:
    """Return the page after the replacements of *rule* in its source; with *scripts*, in theirs."""
    source = document.source
    for old, new in rule.replacements if rule else ():
        source = source.replace(old.encode(), new.encode())
    return document.with_source(source, scripts=scripts)


def match_rule(
    rule: SiteRule, parsed: Document, document: Document, url: str | None
) -> RuleMatches:
    """Return what *rule* finds in the page at *url*.

    *document* is the page without what a method leaves out, such as comments; *parsed* is the page
    with it, in which a body is searched that is not in *document*.
    """
    root = document.root
    texts = {
        name: found
        for name in ("title", "author", "date")
        if (found := _first_texts(document, rule.patterns.get(name, ())))
    }
    whole = next(
        (
            link
            for expression, condition in rule.single_pages
            if condition is None or _result(condition, root)
            if (link := _link(document, expression, rule.host, url))
        ),
        None,
    )
    links = (_link(document, it, rule.host, url) for it in rule.patterns.get("next_page_link", ()))
    following = next(filter(None, links), None)
    stripped = _stripped(document, rule)
    shorn = document.with_hidden(stripped)
    body = _body(shorn, rule, shown=True)
    if not body and (body := _body(parsed, rule, shown=False)):
        rows = {above for row in body for above in (row, *parsed.ancestors(row))}
        shorn = parsed.with_shown(rows).with_hidden(_stripped(parsed, rule))
        body = [row for row in body if shorn.chars(row)]
    return RuleMatches(shorn, body, texts, whole, following)


def _nodes(expression: etree.XPath, root: etree._Element) -> list[Any]:
    """Return the elements and texts that *expression* finds; none if it fails, as by a function."""
    found = _result(expression, root)
    if isinstance(found, str):
        return [found]
    return found[:MAX_NODES] if isinstance(found, list) else []


def _result(expression: etree.XPath, root: etree._Element) -> Any:
    try:
        return expression(root)
    except etree.XPathError:  # an argument may only be evaluated for some pages
        return None


def _row(document: Document, node: Any) -> int | None:
    """Return the row of an element or a text node, None for an attribute or a computed text."""
    if not isinstance(node, str):
        return document.row_of(node)
    if getattr(node, "is_text", False):
        row = document.row_of(node.getparent()) + 1  # type: ignore[attr-defined]  # of lxml
    elif getattr(node, "is_tail", False):
        row = document.end[document.row_of(node.getparent())]  # type: ignore[attr-defined]
    else:
        return None
    return row if row < len(document) and document.tag[row] == TEXT else None


def _first_texts(document: Document, expressions: Iterable[etree.XPath]) -> list[MatchedText]:
    for expression in expressions:
        found = [
            MatchedText(text[:_MAX_TEXT], _row(document, node))
            for node in _nodes(expression, document.root)
            for text in _texts(document, node)
        ]
        if found:
            return found
    return []


def _texts(document: Document, node: Any) -> Iterator[str]:
    """Yield the values of :data:`_ATTRIBUTES` of an element, then its text; or a text."""
    if isinstance(node, str):
        texts = [str(node)]
    else:
        row = document.row_of(node)
        texts = [node.get(name, "") for name in _ATTRIBUTES]
        texts.append(document.shown_text(row) or "".join(map(str, node.itertext())))
    yield from filter(None, map(squeeze, texts))


def _body(document: Document, rule: SiteRule, *, shown: bool) -> list[int]:
    """Return the roots of the body, of the first expression that finds *shown* text, or any."""
    for expression in rule.patterns.get("body", ()):
        found = (_row(document, node) for node in _nodes(expression, document.root))
        roots = list(outermost(document, {row for row in found if row is not None}))
        if any(map(document.chars, roots)) if shown else roots:
            return [row for row in roots if not shown or document.chars(row)]
    return []


def _stripped(document: Document, rule: SiteRule) -> list[range]:
    """Return the rows that *rule* strips; never the whole page."""
    rows = {
        row
        for expression in rule.patterns.get("strip", ())
        for node in _nodes(expression, document.root)
        if (row := _row(document, node)) is not None
    }
    if rule.strip_names:
        for column in ("class", "id"):
            values = document.attributes[column].items()
            rows |= {r for r, value in values if any(it in value for it in rule.strip_names)}
    rows = {row for row in rows if document.tag[row] not in ("html", "body")}
    return [range(row, document.end[row]) for row in outermost(document, rows)]


def _link(document: Document, expression: etree.XPath, host: str, url: str | None) -> str | None:
    """Return the first address that *expression* finds, of another page of *host*."""
    bases = (link.get("href") for link in document.statements if link.tag == "base")
    base = next(bases, "")
    for node in _nodes(expression, document.root):
        address = node if isinstance(node, str) else node.get("href")
        try:
            target = urldefrag(urljoin(urljoin(url or "", base), (address or "").strip())).url
            parts = urlsplit(target)
        except ValueError:
            continue
        is_own = f".{parts.hostname or ''}".endswith(f".{host}")
        if address and parts.scheme in ("http", "https") and is_own:
            return None if target == urldefrag(url or "").url else target
    return None
