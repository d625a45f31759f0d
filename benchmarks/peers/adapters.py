"""Adapters of the compared tools, each called as its documentation recommends for articles.

Tools that take text get the decoded page. A tool is imported when it is loaded, so that only the
selected ones must be installed.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lxml.html

from benchmarks.peers.options import RESILIPARSE
from benchmarks.peers.tool_types import Output, PageInput
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.lab.corpora.metadata_match import MetadataValues

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


def load_newscrawl(method: str, models: str | None = None) -> Callable[[PageInput], Output]:
    """Return a method of newscrawl, with the models of the folder *models* if given."""
    options = ExtractOptions(models=Path(models) if models else None)

    def run(page: PageInput) -> Output:
        article = extract(
            page.data, page.url, fetched_at=page.fetched_at, method=method, options=options
        )
        return Output(
            article.title,
            _iso(article.date),
            _iso(article.date_modified),
            article.body,
            **MetadataValues.of(article)._asdict(),
        )

    return run


def load_trafilatura(**options: bool) -> Callable[[PageInput], Output]:
    """Return trafilatura with metadata; *options* of ``bare_extraction()``."""
    from trafilatura import bare_extraction
    from trafilatura.metadata import extract_metadata

    def run(page: PageInput) -> Output:
        found = bare_extraction(
            page.html, url=page.url, with_metadata=True, include_comments=False, **options
        ) or extract_metadata(page.html, page.url)
        return _trafilatura_output(found, found.text)

    return run


def _trafilatura_output(found: Any, body: str | None = None) -> Output:
    return Output(
        found.title,
        found.date,
        body=body,
        authors=_split(found.author, ";"),
        description=found.description,
        site_name=found.sitename,
        section=next(iter(found.categories or ()), None),
        tags=_split(",".join(found.tags or ()), ","),
        image=found.image,
    )


def load_trafilatura_metadata() -> Callable[[PageInput], Output]:
    """Return the metadata extraction of trafilatura."""
    from trafilatura.metadata import extract_metadata

    def run(page: PageInput) -> Output:
        return _trafilatura_output(extract_metadata(page.html, page.url))

    return run


def load_htmldate(*, original: bool, extensive: bool) -> Callable[[PageInput], str | None]:
    """Return htmldate: a function that finds the date of publication or modification."""
    from htmldate import find_date

    return lambda page: find_date(
        page.html, url=page.url, original_date=original, extensive_search=extensive
    )


def load_newspaper4k() -> Callable[[PageInput], Output]:
    """Return newspaper4k."""
    from newspaper import Article

    def run(page: PageInput) -> Output:
        article = Article(page.url, fetch_images=False)
        article.download(input_html=page.html)
        article.parse()
        return Output(
            article.title,
            _iso(article.publish_date),
            body=article.text,
            authors=article.authors,
            description=article.meta_description,
            site_name=article.meta_site_name,
            tags=_split(",".join(sorted(article.tags or ()) or article.meta_keywords), ","),
            image=article.top_image,
        )

    return run


def load_extruct() -> Callable[[PageInput], Output]:
    """Return extruct: the properties of articles in structured data."""
    import extruct

    def run(page: PageInput) -> Output:
        data = extruct.extract(
            page.html,
            base_url=page.url,
            syntaxes=["json-ld", "microdata", "opengraph"],
            uniform=True,
            errors="ignore",
        )
        items = list(_items([data.get(name) for name in ("json-ld", "microdata", "opengraph")]))
        articles = [item for item in items if item.get("headline")]
        return Output(
            _first(items, "headline", "og:title"),
            _first(items, "datePublished", "article:published_time"),
            _first(items, "dateModified", "article:modified_time"),
            authors=_texts(items, "author", "article:author"),
            description=_first(articles, "description") or _first(items, "og:description"),
            site_name=_first(items, "og:site_name"),
            section=_first(items, "articleSection", "article:section"),
            tags=_split(",".join(_texts(items, "keywords", "article:tag")), ","),
            image=next(iter(_texts(articles, "image", key="url")), _first(items, "og:image")),
        )

    return run


def _items(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield all objects in *value*, outer ones first."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _items(item)


def _first(items: list[Mapping[str, Any]], *names: str) -> str | None:
    """Return the first non-empty text of a property in *items*, by the order of *names*."""
    texts = (item[name] for name in names for item in items if isinstance(item.get(name), str))
    return next((text for text in texts if text.strip()), None)


def _texts(items: Iterable[Mapping[str, Any]], *names: str, key: str = "name") -> list[str]:
    """Return the texts of the first property of *names* that *items* have.

    The text of an object is its property *key*.
    """
    for name in names:
        for item in items:
            value = item.get(name)
            values = value if isinstance(value, list) else [value]
            found = [one.get(key) if isinstance(one, dict) else one for one in values]
            if texts := [one for one in found if isinstance(one, str) and one.strip()]:
                return texts
    return []


def _split(text: str | None, separator: str) -> list[str]:
    """Return the stripped parts of *text* that are not empty."""
    return [stripped for part in (text or "").split(separator) if (stripped := part.strip())]


def load_readability() -> Callable[[PageInput], Output]:
    """Return readability-lxml."""
    from html_text import extract_text
    from readability import Document

    def run(page: PageInput) -> Output:
        document = Document(page.html, url=page.url)
        author = document.author()
        return Output(
            document.short_title(),
            body=extract_text(document.summary()),
            authors=[] if author == "[no-author]" else [author],
        )

    return run


def load_goose3() -> Callable[[PageInput], Output]:
    """Return goose3."""
    from goose3 import Goose

    goose = Goose({"enable_image_fetching": False})

    def run(page: PageInput) -> Output:
        article = goose.extract(url=page.url, raw_html=page.html)
        published = article.publish_date
        if isinstance(published, list):  # from JSON-LD
            published = published[0]
        published = published or _iso(article.publish_datetime_utc)
        return Output(
            article.title,
            published,
            body=article.cleaned_text,
            authors=list(_strings(article.authors)),
            description=article.meta_description,
            site_name=next(_strings(article.opengraph.get("site_name")), None),
            tags=article.tags or _split(article.meta_keywords, ","),
            image=next(_strings(article.opengraph.get("image")), None),
        )

    return run


def _strings(value: Any) -> Iterator[str]:
    """Yield the texts in *value*, a text or nested lists of texts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def load_resiliparse() -> Callable[[PageInput], Output]:
    """Return resiliparse."""
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    def run(page: PageInput) -> Output:
        tree = HTMLTree.parse(page.html)
        body = extract_plain_text(tree, **RESILIPARSE)
        return Output(tree.title, body=body)

    return run


def load_justext() -> Callable[[PageInput], Output]:
    """Return jusText with the stop words of the page's language."""
    import justext
    from babel import Locale, UnknownLocaleError

    languages = justext.get_stoplists()
    all_stop_words = frozenset(word for name in languages for word in justext.get_stoplist(name))

    def stoplist(page: PageInput) -> frozenset[str]:
        try:
            language = Locale((page.language or "")[:2].lower()).get_language_name("en")
        except (UnknownLocaleError, ValueError):
            return all_stop_words
        return justext.get_stoplist(language) if language in languages else all_stop_words

    def run(page: PageInput) -> Output:
        paragraphs = justext.justext(page.html, stoplist(page))
        return Output(body="\n".join(p.text for p in paragraphs if not p.is_boilerplate))

    return run


def load_boilerpy3() -> Callable[[PageInput], Output]:
    """Return boilerpy3."""
    from boilerpy3.extractors import ArticleExtractor

    extractor = ArticleExtractor()

    def run(page: PageInput) -> Output:
        document = extractor.get_doc(page.html)
        return Output(document.title, body=document.content)

    return run


def load_markup() -> Callable[[PageInput], Output]:
    """Return a baseline: elements and meta elements, without a tool."""

    def run(page: PageInput) -> Output:
        root = lxml.html.document_fromstring(page.data, lxml.html.HTMLParser(encoding="utf-8"))
        return Output(
            _text(root, "//h1") or _text(root, "//title"),
            _content(root, "article:published_time") or _first_time(root),
            _content(root, "article:modified_time"),
            "\n".join(text for p in root.iter("p") if len(text := str(p.xpath("string()"))) > 60),
            _contents(root, "author"),
            _content(root, "og:description"),
            _content(root, "og:site_name"),
            _content(root, "article:section"),
            _contents(root, "article:tag"),
            _content(root, "og:image"),
        )

    return run


def _text(root: lxml.html.HtmlElement, path: str) -> str | None:
    return next((" ".join(element.itertext()) for element in root.xpath(path)), None)


def _content(root: lxml.html.HtmlElement, name: str) -> str | None:
    return next(iter(_contents(root, name)), None)


def _contents(root: lxml.html.HtmlElement, name: str) -> list[str]:
    contents = root.xpath("//meta[@property=$name or @name=$name]/@content", name=name)
    return list(map(str, contents))


def _first_time(root: lxml.html.HtmlElement) -> str | None:
    return next(iter(root.xpath("//time/@datetime")), None)


def _iso(moment: date | None) -> str | None:
    return moment.isoformat() if isinstance(moment, date) else None
