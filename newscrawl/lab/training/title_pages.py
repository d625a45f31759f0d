"""Pages made from labelled pages, as training data for the title ensemble.

They add what the corpora lack: headlines outside of ``h1``, headings and ``title`` elements with
the name of the site or the section, pages without structured data. They are generated for each
training, the same for the same page.
"""

from __future__ import annotations

from html import escape
from random import Random
from typing import TYPE_CHECKING

from lxml import etree

from newscrawl.document.document import parse_document
from newscrawl.lab.corpora.labels import align
from newscrawl.lab.training.made_pages import element_of, remove_elements
from newscrawl.lab.training.page_templates import LabelledStory, PageTemplates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from newscrawl.lab.corpora.corpus import LabelledPage

_PAGES = 2
_HEADLINE_TAGS = ("h1", "h1", "h2", "h2", "h3", "b", "strong", "div", "span", "p", "font")
_HEADINGS = frozenset({"h1", "h2", "h3"})
_INLINE = frozenset({"a", "b", "em", "font", "i", "span", "strong"})
_SEPARATORS = (" - ", " | ", ": ", " :: ", " \u00bb ", " \u2013 ", " \u2022 ", " \u00ab ")


def made_title_pages(
    page: LabelledPage, html: bytes, stories: Sequence[LabelledStory]
) -> list[bytes]:
    """Return *page* with other headings and titles, and its article in an old layout."""
    if not (page.title and page.body and stories):
        return []
    templates = PageTemplates(Random(f"title {page.corpus} {page.id}"), stories)  # noqa: S311
    made = [_with_other_titles(page, html, templates) for _ in range(_PAGES)]
    article = templates.article(LabelledStory.of(page))
    return [*filter(None, made), templates.page(article, page.title)]


def _with_other_titles(page: LabelledPage, html: bytes, templates: PageTemplates) -> bytes | None:
    """Return *page* without structured data, None if its title is not shown."""
    document = parse_document(html)
    rows = align(document, page).title
    if not rows:
        return None
    root, headline = document.root, document.element(rows[0])
    while headline.tag in _INLINE and (parent := headline.getparent()) is not None:
        headline = parent
    remove_elements(root, lambda node: node.tag in {"script", "meta", "title"})
    for element in root.iter():
        element.attrib.pop("itemprop", "")
    headline.tag = templates.random.choice(_HEADLINE_TAGS)
    if templates.chance(0.5):
        for name in ("class", "id"):
            headline.attrib.pop(name, "")
    if headline.tag in _HEADINGS:
        _add_to_headline(headline, templates)
    site = " ".join(templates.story().title.split()[: templates.random.randint(1, 4)])
    section = templates.label()
    head, body = root.find("head"), root.find("body")
    if head is not None:
        head_title = _head_title(templates, page.title or "", site, section)
        etree.SubElement(head, "title").text = head_title
    if body is not None:
        _add_masthead(body, templates, site, section)
    return etree.tostring(root, encoding="utf-8", method="html")


def _head_title(templates: PageTemplates, title: str, site: str, section: str) -> str:
    """Return *title* with names before or after it, or names alone."""
    tagline = " ".join(templates.sentences(1)).rstrip(".")
    parts = templates.random.choice(
        (
            (title,), (site,), (section,), (), (site, section), (site, tagline), (title, site),
            (title, section, site), (title, site, tagline), (title, tagline), (site, title),
            (site, section, title), (tagline, title),
        )
    )  # fmt: skip
    return templates.random.choice(_SEPARATORS).join(parts)


def _add_masthead(body: etree._Element, templates: PageTemplates, site: str, section: str) -> None:
    """Add the names of the site and of the section before the page, and a copyright line."""
    tag = templates.random.choice(("h1", "h1", "h2", "b", "div"))
    name = escape(templates.random.choice((site, site, section)))
    content = f"<a href='/'>{name}</a>" if templates.chance(0.5) else name
    if templates.chance(0.6):
        body.insert(0, element_of(f"<{tag}>{content}</{tag}>"))
    if templates.chance(0.3):
        body.insert(1, element_of(f"<h1>{escape(section)}</h1>"))
    if templates.chance(0.3):
        body.append(element_of(f"<p>&copy; 2008 {escape(site)}</p>"))


def _add_to_headline(headline: etree._Element, templates: PageTemplates) -> None:
    """Add a kicker or a date to some headlines."""
    if templates.chance(0.15):
        kicker = etree.Element("span")
        kicker.text = templates.label() + templates.random.choice(("", ":", " -"))
        kicker.tail, headline.text = headline.text, None
        headline.insert(0, kicker)
    elif templates.chance(0.15):
        date = etree.SubElement(headline, templates.random.choice(("span", "small", "em")))
        date.text = templates.random.choice(("({})", "{}")).format(templates.story().day)
