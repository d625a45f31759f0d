"""Pages made from labelled pages, as training data for the block and kind classifiers.

They add what the corpora lack: articles in old layouts (tables, link columns, no structured data,
short stories among teasers), home pages and section pages. Texts and, for half of the pages, the
surrounding page are real. They are generated for each training, the same for the same page.
"""

from __future__ import annotations

from functools import cache
from html import escape
from random import Random
from typing import TYPE_CHECKING

from lxml import etree
from lxml.html import fragment_fromstring

from newscrawl.body.blocks import find_blocks
from newscrawl.document.document import Document, parse_document
from newscrawl.document.flatten import flatten
from newscrawl.fields.kind.kind_features import longest_runs
from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.lab.training.block_labels import label_blocks
from newscrawl.lab.training.page_templates import LabelledStory, PageTemplates, stories_of
from newscrawl.text import words, xml_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from newscrawl.lab.corpora.corpus import LabelledPage


_MIN_FOUND = 0.8
"""Minimum share of the body that must be found to replace it."""
_MAX_OTHER_PROSE = 0.2
"""Maximum length of other prose relative to the body; more may be a second article."""

_MAX_DATE = 80
"""Maximum number of characters of a text with a date."""

Made = tuple[str, bytes]
"""Group of a made page, and its HTML."""


@cache
def corpus_stories(folder: Path) -> list[LabelledStory]:
    """Return the texts of the labelled pages of the corpus in *folder*."""
    return stories_of(load_corpus(folder).pages)


def made_articles(page: LabelledPage, html: bytes, stories: Sequence[LabelledStory]) -> list[Made]:
    """Return the article of *page* in other layouts, surrounded by teasers of *stories*.

    Groups: ``made article`` for generated layouts, ``old style`` for the original page without
    structured data, ``undated`` for the original page or its beginning without dates.
    """
    random = Random(f"article {page.corpus} {page.id}")  # noqa: S311  # reproducible
    templates = PageTemplates(random, stories)
    story = LabelledStory.of(page)
    made = [
        ("made article", templates.page(templates.article(story), story.title)) for _ in range(2)
    ]
    made.append(("old style", _old_style(html, page.body or "", templates)))
    return [*made, ("undated", _undated(html, page.body or "", templates))]


def made_indexes(page: LabelledPage, html: bytes, stories: Sequence[LabelledStory]) -> list[Made]:
    """Return home and section pages with teasers of *stories*.

    Groups: ``made index`` for generated layouts, ``index in place`` for *page* with teasers
    instead of its body; in one of the two ways ``made other`` for an imprint, ``made section`` for
    the section page of a small site; ``made other`` for a notice.
    """
    random = Random(f"index {page.corpus} {page.id}")  # noqa: S311
    templates = PageTemplates(random, stories)
    body = page.body or ""
    made = [("made index", templates.page(templates.index(), ""))]
    if replaced := _replace_body(html, body, templates, templates.index()):
        made.append(("index in place", replaced))
    for group, make in (("made other", templates.imprint), ("made section", templates.section)):
        name = templates.label()
        content = make(name)
        if templates.chance(0.5):
            made.append((group, templates.page(content, name)))
        elif replaced := _replace_body(html, body, templates, content, name):
            made.append((group, replaced))
    headline = templates.story().title
    made.append(("made other", templates.page(templates.notice(headline), headline, alone=0.5)))
    return made


def body_elements(html: bytes, body: str) -> tuple[etree._Element, list[etree._Element]]:
    """Return the root of a page and the outermost elements of its labelled *body*."""
    document = parse_document(html)
    blocks = find_blocks(document)
    bags = [words(" ".join(document.text[row] for row in rows)) for rows in blocks.rows]
    labels = label_blocks(bags, words(body))
    word_counts: dict[int, list[int]] = {}
    for owner, bag, label in zip(blocks.owner, bags, labels, strict=True):
        word_counts.setdefault(owner, [0, 0])[label] += len(bag)
    rows = [owner for owner, (other, own) in word_counts.items() if own > other and owner > 0]
    outermost: list[int] = []
    for row in sorted(rows):
        if not outermost or row >= document.end[outermost[-1]]:
            outermost.append(row)
    return document.root, [document.element(row) for row in outermost]


def _clear(element: etree._Element) -> None:
    tail = element.tail
    element.clear()
    element.tail = tail


_SEMANTIC = frozenset({"article", "main", "section", "header", "footer", "nav", "aside", "figure",
                       "figcaption", "hgroup"})  # fmt: skip


def _old_style(html: bytes, body: str, templates: PageTemplates) -> bytes:
    """Return a page without structured data and semantic elements."""
    root, elements = body_elements(html, body)
    if templates.chance(0.4):
        for element in elements[templates.random.randint(1, 4) :]:
            _clear(element)
    _remove_semantics(root, templates)
    if templates.chance(0.4):
        for element in elements:
            if element.tag == "p":
                element.tag = "span"
                element.append(etree.Element("br"))
                element.append(etree.Element("br"))
    if templates.chance(0.6):
        _add_columns(root, templates)
    return etree.tostring(root, encoding="utf-8", method="html")


def _undated(html: bytes, body: str, templates: PageTemplates) -> bytes:
    """Return a page, or its beginning, without dates and most of its metadata."""
    root, elements = body_elements(html, body)
    for element in elements[templates.random.choice((1, 2, 3, 4, 6, 1000, 1000)) :]:
        _clear(element)
    _remove_article_metadata(root, templates)
    remove_elements(root, lambda node: node.tag == "time")
    story = {node for element in elements for node in element.iter()}
    for node in root.iter(etree.Element):
        node.attrib.pop("datetime", "")
        if node not in story:
            node.text = _without_number(node.text)
            node.tail = _without_number(node.tail)
    return etree.tostring(root, encoding="utf-8", method="html")


def _without_number(text: str | None) -> str | None:
    """Return *text* unless it is as short as a date and has a digit."""
    is_date = text and len(text) <= _MAX_DATE and any(map(str.isdigit, text))
    return None if is_date or text is None else xml_text(text)


def _remove_semantics(root: etree._Element, templates: PageTemplates) -> None:
    """Remove structured data, semantic elements and, in half of the pages, classes and ids."""
    heading = templates.random.choice(("h1", "h1", "h2", "b", "div", "p"))
    nameless = templates.chance(0.5)
    for element in list(root.iter()):
        if element.tag in _SEMANTIC:
            element.tag = "div"
        elif element.tag == "h1":
            element.tag = heading
        elif element.tag == "time":
            element.tag = "span"
        names = ("itemprop", "itemtype", "itemscope", "datetime", *(("class", "id") * nameless))
        for name in names:
            element.attrib.pop(name, "")
    remove_elements(
        root,
        lambda node: node.tag == "script" or (node.tag == "meta" and "property" in node.attrib),
    )
    head, body = root.find("head"), root.find("body")
    if head is not None and templates.chance(0.2):
        etree.SubElement(head, "meta", property="og:type", content="website")
    if body is not None and templates.chance(0.3):
        body.insert(0, element_of(f"<h1><a href='/'>{escape(templates.label())}</a></h1>"))


def remove_elements(root: etree._Element, unwanted: Callable[[etree._Element], bool]) -> None:
    """Remove the *unwanted* elements below *root*, but not the text after them."""
    for element in [node for node in root.iter() if node is not root and unwanted(node)]:
        _remove(element)


def _remove(element: etree._Element) -> None:
    parent, before = element.getparent(), element.getprevious()
    if parent is None:
        return
    if element.tail and before is not None:
        before.tail = (before.tail or "") + element.tail
    elif element.tail:
        parent.text = (parent.text or "") + element.tail
    parent.remove(element)


def _add_columns(root: etree._Element, templates: PageTemplates) -> None:
    """Wrap the page in a table, between a column of links and a column of boxes."""
    body = root.find("body")
    if body is None:
        return
    middle = etree.Element("td")
    middle.text, body.text = body.text, None
    for child in list(body):
        middle.append(child)
    left, right = etree.Element("td"), etree.Element("td")
    left.append(element_of(templates.links(templates.random.randint(8, 40))))
    boxes = [templates.box() for _ in range(templates.random.randint(1, 3))]
    right.append(element_of("".join(boxes)))
    row = etree.SubElement(etree.SubElement(body, "table"), "tr")
    row.extend((left, middle, right))


def _replace_body(
    html: bytes, body: str, templates: PageTemplates, content: str, name: str | None = None
) -> bytes | None:
    """Return a page with *content* instead of its *body*, None if other prose would remain.

    With *name* the page gets this title and loses date and author.
    """
    root, elements = body_elements(html, body)
    removed = sum(len(" ".join(map(str, element.itertext()))) for element in elements)
    if removed < _MIN_FOUND * len(body):
        return None
    for element in elements:
        _clear(element)
    if (
        longest_runs(Document(flatten(root), "utf-8", [], root=root))[0]
        > _MAX_OTHER_PROSE * removed
    ):
        return None
    elements[0].tag = "div"
    elements[0].append(element_of(content))
    metadata = templates.random.choice(("keep", "remove", "remove", "remove", "list"))
    if name is not None or metadata != "keep":
        _remove_article_metadata(root, templates)
        if name is None and metadata == "list":
            _add_list_metadata(root)
    if name is not None:
        _set_title(root, name)
    if name is not None or templates.chance(0.8):
        remove_elements(root, lambda node: node.tag in {"time", "h1"})
    return etree.tostring(root, encoding="utf-8", method="html")


def _set_title(root: etree._Element, name: str) -> None:
    for title in root.iter("title"):
        title.text = name
    for meta in root.iter("meta"):
        if meta.get("property", meta.get("name")) in {"og:title", "twitter:title"}:
            meta.set("content", name)


def _remove_article_metadata(root: etree._Element, templates: PageTemplates) -> None:
    remove_elements(
        root,
        lambda node: node.tag == "script" or (node.tag == "meta" and _is_article_metadata(node)),
    )
    if templates.chance(0.5):
        for meta in root.iter("meta"):
            if meta.get("property") == "og:type":
                meta.set("content", "website")


def _add_list_metadata(root: etree._Element) -> None:
    head = root.find("head")
    if head is not None:
        script = etree.SubElement(head, "script", type="application/ld+json")
        script.text = '{"@type": "CollectionPage"}'


def _is_article_metadata(meta: etree._Element) -> bool:
    names = " ".join(str(meta.attrib.get(name, "")) for name in ("property", "name", "itemprop"))
    return any(
        part in names.lower() for part in ("article", "date", "author", "publ", "modif", "time")
    )


def element_of(html: str) -> etree._Element:
    """Return the content *html* in a ``div``."""
    element: etree._Element = fragment_fromstring(html, create_parent="div")
    return element
