"""The compared tools, each called as its documentation recommends for articles.

Tools that take text get the decoded page. A tool is imported when it is loaded, so that only the
selected ones must be installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import lxml.html

from benchmarks.peers.options import RESILIPARSE
from newscrawl.corpora.metadata_match import METADATA_FIELDS, MetadataField, MetadataValues
from newscrawl.extraction.extract import DEFAULT_METHOD, ExtractOptions, extract
from newscrawl.extraction.methods import PAGE_METHODS, TRAINED_METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

CoreField = Literal["title", "date", "body"]
CORE_FIELDS: tuple[CoreField, ...] = get_args(CoreField)
Field = CoreField | MetadataField
FIELDS: tuple[Field, ...] = (*CORE_FIELDS, *METADATA_FIELDS)


class PageInput(NamedTuple):
    """Page as it is passed to the tools."""

    data: bytes
    #: *data* decoded
    html: str
    #: None if unknown
    url: str | None
    #: language declared by the page, such as ``de-AT``
    language: str | None = None
    #: time of the fetch, None if unknown
    fetched_at: datetime | None = None


class Output(NamedTuple):
    """Fields that a tool extracts from a page, None if missing."""

    title: str | None = None
    #: date of publication, as ISO 8601 or other text
    date: str | None = None
    #: date of modification, for tools that distinguish it from publication
    modified: str | None = None
    body: str | None = None
    authors: Sequence[str] = ()
    description: str | None = None
    site_name: str | None = None
    section: str | None = None
    tags: Sequence[str] = ()
    #: URL
    image: str | None = None

    @property
    def metadata(self) -> MetadataValues:
        """Authors and other metadata."""
        return MetadataValues(*(getattr(self, name) for name in METADATA_FIELDS))


@dataclass(frozen=True, slots=True)
class Tool:
    """Fields and functions of a tool."""

    #: extracted fields
    fields: tuple[Field, ...]
    #: imports the tool and returns the timed function
    load: Callable[..., Callable[[PageInput], Output]]
    #: description of the call in the report
    call: str
    #: name of the distribution; None if it needs none
    package: str | None = None
    #: loads the function for the date of modification, if separate; it is not timed
    load_modified: Callable[[], Callable[[PageInput], str | None]] | None = None
    #: method of newscrawl with fitted models
    learned: bool = False

    @property
    def version(self) -> str | None:
        """Installed version; None if not installed."""
        try:
            return version(self.package or "newscrawl")
        except PackageNotFoundError:
            return None


_OUR_FIELDS: dict[str, tuple[Field, ...]] = {
    DEFAULT_METHOD: FIELDS,
    "metadata": ("title", "date", *METADATA_FIELDS),
}
"""Fields of methods that do not extract title, date and body only.

Few pages have their body in metadata. The methods of the papers add metadata as the default does.
"""


def _ours(method: str) -> Tool:
    def load(models: str | None = None) -> Callable[[PageInput], Output]:
        options = ExtractOptions(models=Path(models) if models else None)

        def run(page: PageInput) -> Output:
            article = extract(
                page.data,
                page.url,
                fetched_at=page.fetched_at,
                method=method,
                options=options,
            )
            return Output(
                article.title,
                _iso(article.date),
                _iso(article.date_modified),
                article.body,
                **MetadataValues.of(article)._asdict(),
            )

        return run

    call = f'extract(html, url, fetched_at=fetched_at, method="{method}")'
    return Tool(_OUR_FIELDS.get(method, CORE_FIELDS), load, call, learned=method in TRAINED_METHODS)


def _trafilatura(**options: bool) -> Callable[[], Callable[[PageInput], Output]]:
    def load() -> Callable[[PageInput], Output]:
        from trafilatura import bare_extraction
        from trafilatura.metadata import extract_metadata

        def run(page: PageInput) -> Output:
            found = bare_extraction(
                page.html, url=page.url, with_metadata=True, include_comments=False, **options
            ) or extract_metadata(page.html, page.url)
            return _trafilatura_output(found, found.text)

        return run

    return load


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


def _trafilatura_metadata() -> Callable[[PageInput], Output]:
    from trafilatura.metadata import extract_metadata

    def run(page: PageInput) -> Output:
        return _trafilatura_output(extract_metadata(page.html, page.url))

    return run


def _htmldate(
    *, original: bool, extensive: bool
) -> Callable[[], Callable[[PageInput], str | None]]:
    def load() -> Callable[[PageInput], str | None]:
        from htmldate import find_date

        return lambda page: find_date(
            page.html, url=page.url, original_date=original, extensive_search=extensive
        )

    return load


def _htmldate_tool(*, extensive: bool) -> Tool:
    def load() -> Callable[[PageInput], Output]:
        find = _htmldate(original=True, extensive=extensive)()
        return lambda page: Output(date=find(page))

    return Tool(
        ("date",),
        load,
        f"find_date(html, url=url, original_date=True, extensive_search={extensive}); "
        "modified: original_date=False",
        "htmldate",
        _htmldate(original=False, extensive=extensive),
    )


def _newspaper4k() -> Callable[[PageInput], Output]:
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


def _extruct() -> Callable[[PageInput], Output]:
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


def _readability() -> Callable[[PageInput], Output]:
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


def _goose3() -> Callable[[PageInput], Output]:
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


def _resiliparse() -> Callable[[PageInput], Output]:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    def run(page: PageInput) -> Output:
        tree = HTMLTree.parse(page.html)
        body = extract_plain_text(tree, **RESILIPARSE)
        return Output(tree.title, body=body)

    return run


def _justext() -> Callable[[PageInput], Output]:
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


def _boilerpy3() -> Callable[[PageInput], Output]:
    from boilerpy3.extractors import ArticleExtractor

    extractor = ArticleExtractor()

    def run(page: PageInput) -> Output:
        document = extractor.get_doc(page.html)
        return Output(document.title, body=document.content)

    return run


def _markup() -> Callable[[PageInput], Output]:
    def run(page: PageInput) -> Output:
        root = lxml.html.document_fromstring(page.data, lxml.html.HTMLParser(encoding="utf-8"))
        return Output(
            _text(root, "//h1") or _text(root, "//title"),
            _content(root, "article:published_time") or _first_time(root),
            _content(root, "article:modified_time"),
            "\n".join(text for p in root.iter("p") if len(text := p.text_content()) > 60),
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


OURS = DEFAULT_METHOD
"""Method of newscrawl that the other tools are compared with."""

TOOLS: dict[str, Tool] = {
    # Variants ("nce:...") are reported with their papers.
    **{name: _ours(name) for name in PAGE_METHODS if ":" not in name},
    "trafilatura": Tool(
        FIELDS,
        _trafilatura(),
        "bare_extraction(html, url=url, with_metadata=True, include_comments=False)",
        "trafilatura",
    ),
    "trafilatura fast": Tool(
        FIELDS, _trafilatura(fast=True), "the same with fast=True", "trafilatura"
    ),
    "trafilatura metadata": Tool(
        ("title", "date", *METADATA_FIELDS),
        _trafilatura_metadata,
        "extract_metadata(html, url)",
        "trafilatura",
    ),
    "htmldate": _htmldate_tool(extensive=True),
    "htmldate fast": _htmldate_tool(extensive=False),
    "newspaper4k": Tool(
        (*CORE_FIELDS, "authors", "description", "site_name", "tags", "image"),
        _newspaper4k,
        "Article(url, fetch_images=False), download(input_html=html), parse(); "
        "it takes the page's language where it knows it; tags or meta_keywords, top_image",
        "newspaper4k",
    ),
    "extruct": Tool(
        ("title", "date", *METADATA_FIELDS),
        _extruct,
        "extract(html, base_url=url, uniform=True) of JSON-LD, microdata, OpenGraph, in this "
        "order: headline or og:title, datePublished or article:published_time, and so on",
        "extruct",
    ),
    "readability-lxml": Tool(
        ("title", "body", "authors"),
        _readability,
        "Document(html, url=url): short_title(), author(), and summary() as text by html-text",
        "readability-lxml",
    ),
    "goose3": Tool(
        (*CORE_FIELDS, "authors", "description", "site_name", "tags", "image"),
        _goose3,
        "Goose({'enable_image_fetching': False}).extract(url=url, raw_html=html); "
        "tags or meta_keywords, opengraph for site_name and image",
        "goose3",
    ),
    "resiliparse": Tool(
        ("title", "body"),
        _resiliparse,
        "extract_plain_text(tree, main_content=True, comments=False, post_meta=False, "
        "alt_texts=False, list_bullets=False), tree.title",
        "resiliparse",
    ),
    "justext": Tool(
        ("body",),
        _justext,
        "justext(html, stop words of the page's language, or of all languages)",
        "justext",
    ),
    "boilerpy3": Tool(
        ("title", "body"), _boilerpy3, "ArticleExtractor().get_doc(html)", "boilerpy3"
    ),
    "markup": Tool(
        FIELDS,
        _markup,
        "no tool: first h1, else title; article:published_time, else the first time[datetime]; "
        "all p of more than 60 characters; meta elements author, article:... and og:...",
    ),
}
"""All tools by name, newscrawl first."""
