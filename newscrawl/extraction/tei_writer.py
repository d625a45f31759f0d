"""Articles as TEI P5, for linguists: https://tei-c.org/release/doc/tei-p5-doc/en/html/."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from lxml import etree, html
from lxml.builder import ElementMaker  # type: ignore[import-not-found]  # not in the stubs

from newscrawl.text import xml_text

if TYPE_CHECKING:
    from newscrawl.items import Article

_TEI: Final = "http://www.tei-c.org/ns/1.0"
_XML_LANG: Final = "{http://www.w3.org/XML/1998/namespace}lang"
_HEADINGS: Final = {
    name: ("ab", {"type": "head", "rend": name}) for name in ("h1", "h2", "h3", "h4", "h5", "h6")
}
_MARKS: Final = {name: ("hi", {"rend": name}) for name in ("code", "sub", "sup")}
_ELEMENTS: Final[dict[str, tuple[str, dict[str, str]]]] = {
    **_HEADINGS,
    **_MARKS,
    "blockquote": ("quote", {}),
    "br": ("lb", {}),
    "em": ("hi", {"rend": "italic"}),
    "figcaption": ("ab", {"type": "caption"}),
    "li": ("item", {}),
    "ol": ("list", {"rend": "numbered"}),
    "p": ("p", {}),
    "pre": ("ab", {"rend": "preformatted"}),
    "strong": ("hi", {"rend": "bold"}),
    "table": ("table", {}),
    "td": ("cell", {}),
    "th": ("cell", {"role": "label"}),
    "tr": ("row", {}),
    "ul": ("list", {"rend": "bulleted"}),
}
"""Element of ``body_html`` -> element of TEI; others, such as ``figure``, leave their content."""


def write_tei(article: Article) -> str:
    """Return *article*, which has ``body_html``, as a TEI document."""
    article = replace(
        article,
        authors=list(map(_clean, article.authors)),
        body_html=_clean(article.body_html),
        canonical_url=_clean(article.canonical_url),
        description=_clean(article.description),
        language=_clean(article.language),
        site_name=_clean(article.site_name),
        tags=tuple(map(_clean, article.tags)),
        title=_clean(article.title),
        url=_clean(article.url),
    )
    make = ElementMaker(namespace=_TEI, nsmap={None: _TEI})
    title = make.title(article.title or "")
    authors = [make.author(name) for name in article.authors]
    source = make.bibl(make.title(article.title or ""), *(make.author(n) for n in article.authors))
    if article.site_name:
        source.append(make.publisher(article.site_name))
    if article.date:
        source.append(make.date(article.date.isoformat(), when=article.date.isoformat()))
    if url := article.canonical_url or article.url:
        source.append(make.ptr(target=url))
    profile = make.profileDesc()
    if article.description:
        profile.append(make.abstract(make.p(article.description)))
    if article.language:
        profile.append(make.langUsage(make.language(article.language, ident=article.language)))
    if article.tags:
        profile.append(make.textClass(make.keywords(*map(make.term, article.tags))))
    file = make.fileDesc(
        make.titleStmt(title, *authors),
        make.publicationStmt(make.p("Extracted by newscrawl.")),
        make.sourceDesc(source),
    )
    body = make.div()
    _convert(html.fragment_fromstring(article.body_html or "", create_parent="div"), body)
    if not len(body):
        body.append(make.p())
    text = make.text(make.body(body))
    if article.language:
        text.set(_XML_LANG, article.language)
    header = make.teiHeader(file, *([profile] if len(profile) else []))
    document = make.TEI(header, text)
    return etree.tostring(document, encoding="unicode") + "\n"


def _clean(text: str | None) -> str:
    return xml_text(text or "")


def _convert(element: html.HtmlElement, target: etree._Element) -> None:
    _append_text(target, element.text)
    for child in element:
        if child.tag == "a":
            into = etree.SubElement(target, f"{{{_TEI}}}ref", target=child.get("href", ""))
        elif child.tag == "img":
            into = etree.SubElement(target, f"{{{_TEI}}}graphic", url=child.get("src", ""))
        elif child.tag in _ELEMENTS:
            name, attributes = _ELEMENTS[child.tag]
            into = etree.SubElement(target, f"{{{_TEI}}}{name}", attributes)
        else:
            into = target
        _convert(child, into)
        _append_text(target, " " if child.tag in {"td", "th"} else child.tail)  # between words


def _append_text(target: etree._Element, text: str | None) -> None:
    if not text:
        return
    if len(target):
        target[-1].tail = (target[-1].tail or "") + text
    else:
        target.text = (target.text or "") + text
