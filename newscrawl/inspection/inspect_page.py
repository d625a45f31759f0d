"""``inspect_page()``: a page without active content, with marks on what extraction saw."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin

from lxml import etree

from newscrawl.document.document import TEXT
from newscrawl.extraction.extract import DEFAULT_METHOD, ExtractOptions, extract
from newscrawl.extraction.method import Trace
from newscrawl.inspection.findings import KIND_NAMES, find_all
from newscrawl.site_rules import SiteRules
from newscrawl.templates import render_page

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from newscrawl.css import Sheet
    from newscrawl.document.document import Document
    from newscrawl.inspection.findings import Finding
    from newscrawl.items import Article

_FIELDS = ("title", "date", "authors")


ASSETS = "img-src * data:; style-src * 'unsafe-inline'; font-src * data:; media-src * data:"
"""Directives of a Content-Security-Policy that loads the assets of pages."""
NO_ASSETS = "img-src data:; style-src 'unsafe-inline'; font-src data:"
"""Directives that load nothing."""

# Active or nested content.
_REMOVED = frozenset(
    {
        "applet", "base", "embed", "fencedframe", "frame", "frameset", "iframe", "object", "portal",
        "script",
    }
)  # fmt: skip
# Others set policies of referrers, of prefetching and the like.
_META_NAMES = frozenset({"color-scheme", "theme-color", "viewport"})
_REMOVED_ATTRIBUTES = frozenset(
    (  # noqa: SIM905
        "accesskey attributionsrc autofocus autoplay browsingtopics contenteditable crossorigin "
        "integrity nonce ping referrerpolicy sharedstoragewritable srcdoc target"
    ).split()
)
# In styles of SVG and MathML, browsers read tags where libxml2 reads text.
_TAG_IN_STYLE = re.compile("<(?=[A-Za-z/!?])")
_DOCTYPE = re.compile(r"<!DOCTYPE [^<>]*>", re.IGNORECASE)
_ADDRESSES = frozenset({"action", "data", "formaction", "href", "src", "to", "values"})
_ACTIVE_ADDRESS = re.compile(r"(?:java|vb)script:|data:(?!image/)", re.IGNORECASE)
_IGNORED_IN_ADDRESSES = re.compile(r"[\x00-\x20]+")
_FOCUSABLE = frozenset(
    "a area audio button details input select summary textarea video".split()  # noqa: SIM905
)
_MARK = "newscrawl-text"


def marked_page(
    document: Document, findings: Sequence[Finding], url: str | None, *, assets: bool = True
) -> str:
    """Return the HTML of *document*, changing its tree.

    Each place of a finding has its number in ``data-nc`` and its kind in ``data-nc-kind``; text
    nodes are wrapped. Scripts, frames, plug-ins, event handlers, comments, and links and ``meta``
    elements that the page does not show are removed, addresses are relative to *url*. Without
    *assets*, the page connects to nothing.
    """
    root = document.root
    doctype = root.getroottree().docinfo.doctype  # type: ignore[attr-defined]  # lxml-stubs
    base = next((element.get("href") for element in root.iter("base")), None) or ""
    for row, marks in sorted(_marks(findings).items(), reverse=True):
        element = _wrap_text(document, row) if document.tag[row] == TEXT else document.element(row)
        element.set("data-nc", " ".join(str(number) for number, _ in marks))
        element.set("data-nc-kind", " ".join(kind for _, kind in marks))
    for element in list(root.iter()):
        # A comment may end earlier in browsers than in libxml2.
        if callable(element.tag) or _is_removed(element, assets=assets):
            _remove(element)
        else:
            _disarm(element)
    _add_head(root, _address(url, base), ASSETS if assets else NO_ASSETS)
    html: str = etree.tostring(root, method="html", encoding="unicode", with_tail=False)
    return f"{doctype}\n{html}" if _DOCTYPE.fullmatch(doctype or "") else html


class _Mark(NamedTuple):
    number: int
    kind: str


def _marks(findings: Sequence[Finding]) -> dict[int, list[_Mark]]:
    marks: dict[int, list[_Mark]] = {}
    for number, finding in enumerate(findings):
        for row in finding.places:
            marks.setdefault(row, []).append(_Mark(number, finding.kind))
    return marks


def _wrap_text(document: Document, row: int) -> etree._Element:
    """Return a new element around the text node *row*."""
    wrapper = etree.Element(_MARK)
    parent, previous = document.parent[row], row - 1
    if previous == parent:
        element = document.element(parent)
        wrapper.text, element.text = element.text, None
        element.insert(0, wrapper)
        return wrapper
    while document.parent[previous] != parent:
        previous = document.parent[previous]
    sibling = document.element(previous)
    wrapper.text, sibling.tail = sibling.tail, None
    sibling.addnext(wrapper)
    return wrapper


def _is_removed(element: etree._Element, *, assets: bool) -> bool:
    if element.tag == "link":
        words = (element.get("rel") or "").lower().split()
        return not assets or "stylesheet" not in words or "alternate" in words
    if element.tag == "meta":
        return "http-equiv" in element.attrib or element.get("name", "").lower() not in _META_NAMES
    return element.tag in _REMOVED


def _remove(element: etree._Element) -> None:
    """Remove *element* and keep the text after it."""
    parent, tail = element.getparent(), element.tail
    if parent is None:
        return
    previous = element.getprevious()
    if tail and previous is not None:
        previous.tail = (previous.tail or "") + tail
    elif tail:
        parent.text = (parent.text or "") + tail
    element.tail = None
    parent.remove(element)


def _disarm(element: etree._Element) -> None:
    """Remove handlers and active addresses; take links and controls out of the tab order."""
    for name, value in element.attrib.items():
        local = str(name).rpartition("}")[2].rpartition(":")[2].lower()
        if (
            local.startswith("on")
            or local in _REMOVED_ATTRIBUTES
            or (
                local in _ADDRESSES
                and _ACTIVE_ADDRESS.match(_IGNORED_IN_ADDRESSES.sub("", str(value)))
            )
            # Browsers refuse images in other files here, with an error each.
            or (element.tag == "use" and local == "href" and not str(value).startswith("#"))
        ):
            del element.attrib[name]
    if element.tag == "link":
        element.set("rel", "stylesheet")  # without other words: each may connect
    if element.tag == "style" and element.text:
        element.text = _TAG_IN_STYLE.sub(r"\\3c ", element.text)
    if element.tag in _FOCUSABLE or "tabindex" in element.attrib:
        element.set("tabindex", "-1")


def _address(url: str | None, base: str) -> str | None:
    """Return the absolute address that those of the page are relative to, None if it is unknown."""
    for stated in (base, ""):
        try:
            address = urljoin(url or "", stated)
        except ValueError:
            continue
        if address.lower().startswith(("http://", "https://")):
            return address
    return None


def _add_head(root: etree._Element, address: str | None, sources: str) -> None:
    """Insert encoding, policy, base address and the style of the marks at the start of the head."""
    head = root.find("head")
    if head is None:
        head = etree.Element("head")
        root.insert(0, head)
    policy = f"default-src 'none'; script-src 'none'; form-action 'none'; {sources}"
    added = [
        etree.Element("meta", {"charset": "utf-8"}),
        etree.Element("meta", {"http-equiv": "Content-Security-Policy", "content": policy}),
        etree.Element("meta", {"name": "referrer", "content": "no-referrer"}),
    ]
    if address is not None:
        added.append(etree.Element("base", {"href": address}))
    style = etree.Element("style")
    style.text = files("newscrawl.templates").joinpath("marks.css").read_text(encoding="utf-8")
    for place, element in enumerate([*added, style]):
        head.insert(place, element)


def inspect_page(
    html: bytes | str,
    url: str | None = None,
    *,
    encoding: str | None = None,
    fetched_at: datetime | None = None,
    stylesheets: Mapping[str, str | Sheet] | None = None,
    method: str = DEFAULT_METHOD,
    options: ExtractOptions | None = None,
    assets: bool = True,
    site_rules: str = "",
) -> str:
    """Return a self-contained HTML page that shows what :func:`extract` saw in a page.

    It contains the page without scripts, with marks on fields, body, removed comments, rejected
    candidates and the separator node, and a list of these with source, probability and reason.
    Without *assets*, images and style sheets of the page are not loaded. *site_rules* is a folder
    of rules. The other arguments and errors are those of
    :func:`~newscrawl.extraction.extract.extract`.
    """
    trace = Trace()
    if site_rules:
        options = replace(options or ExtractOptions(), site_rules=SiteRules(site_rules))
    article = extract(
        html,
        url,
        encoding=encoding,
        fetched_at=fetched_at,
        stylesheets=stylesheets,
        method=method,
        options=options,
        trace=trace,
    )
    findings = find_all(article, trace)
    assert trace.parsed is not None  # noqa: S101  # by find_all
    groups = [
        {
            "kind": kind,
            "name": name,
            "measure": "confidence" if kind in _FIELDS else "probability",
            "findings": [item for item in enumerate(findings) if item[1].kind == kind],
        }
        for kind, name in KIND_NAMES.items()
    ]
    return render_page(
        "inspect.html",
        scripts=("theme.js", "inspect.js"),
        sources=ASSETS if assets else NO_ASSETS,
        article=article,
        facts=list(_facts(article, method)),
        groups=groups,
        page=marked_page(trace.parsed, findings, url, assets=assets),
    )


def _facts(article: Article, method: str) -> Iterator[tuple[str, Any]]:
    """Yield name and value of the fields that have no place in the page."""
    if article.url:
        yield "URL", article.url
    yield "Kind", f"{article.kind} ({article.evidence['kind'].confidence:.2f})"
    if (body := article.evidence.get("body")) is not None:
        yield "Body", f"{len(article.body)} characters, {body.source} ({body.confidence:.2f})"
    else:
        yield "Body", "none"
    if article.language:
        yield "Language", article.language
    if article.paywalled is not None:
        yield "Paywall", "yes" if article.paywalled else "no"
    if article.flags:
        yield "Flags", ", ".join(article.flags)
    yield "Method", method
