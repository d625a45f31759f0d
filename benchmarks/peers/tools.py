"""The compared tools."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchmarks.peers import adapters
from benchmarks.peers.tool_types import CORE_FIELDS, FIELDS, Field, Output, PageInput, Tool
from newscrawl.extraction.extract import DEFAULT_METHOD
from newscrawl.extraction.methods import METHODS
from newscrawl.lab.corpora.metadata_match import METADATA_FIELDS
from newscrawl.lab.paper_methods import TRAINED_METHODS

if TYPE_CHECKING:
    from collections.abc import Callable

_OUR_FIELDS: dict[str, tuple[Field, ...]] = {
    DEFAULT_METHOD: FIELDS,
    "metadata": ("title", "date", *METADATA_FIELDS),
}
"""Fields of methods that do not extract title, date and body only.

Few pages have their body in metadata. The methods of the papers add metadata as the default does.
"""


def _ours(method: str) -> Tool:
    call = f'extract(html, url, fetched_at=fetched_at, method="{method}")'
    return Tool(
        _OUR_FIELDS.get(method, CORE_FIELDS),
        partial(adapters.load_newscrawl, method),
        call,
        learned=method in TRAINED_METHODS,
    )


def _htmldate_tool(*, extensive: bool) -> Tool:
    def load() -> Callable[[PageInput], Output]:
        find = adapters.load_htmldate(original=True, extensive=extensive)
        return lambda page: Output(date=find(page))

    return Tool(
        ("date",),
        load,
        f"find_date(html, url=url, original_date=True, extensive_search={extensive}); "
        "modified: original_date=False",
        "htmldate",
        partial(adapters.load_htmldate, original=False, extensive=extensive),
    )


OURS = DEFAULT_METHOD
"""Method of newscrawl that the other tools are compared with."""

TOOLS: dict[str, Tool] = {
    # Variants ("nce:...") are reported with their papers.
    **{name: _ours(name) for name in METHODS},
    "trafilatura": Tool(
        FIELDS,
        adapters.load_trafilatura,
        "bare_extraction(html, url=url, with_metadata=True, include_comments=False)",
        "trafilatura",
    ),
    "trafilatura fast": Tool(
        FIELDS,
        partial(adapters.load_trafilatura, fast=True),
        "the same with fast=True",
        "trafilatura",
    ),
    "trafilatura metadata": Tool(
        ("title", "date", *METADATA_FIELDS),
        adapters.load_trafilatura_metadata,
        "extract_metadata(html, url)",
        "trafilatura",
    ),
    "htmldate": _htmldate_tool(extensive=True),
    "htmldate fast": _htmldate_tool(extensive=False),
    "newspaper4k": Tool(
        (*CORE_FIELDS, "authors", "description", "site_name", "tags", "image"),
        adapters.load_newspaper4k,
        "Article(url, fetch_images=False), download(input_html=html), parse(); "
        "it takes the page's language where it knows it; tags or meta_keywords, top_image",
        "newspaper4k",
    ),
    "extruct": Tool(
        ("title", "date", *METADATA_FIELDS),
        adapters.load_extruct,
        "extract(html, base_url=url, uniform=True) of JSON-LD, microdata, OpenGraph, in this "
        "order: headline or og:title, datePublished or article:published_time, and so on",
        "extruct",
    ),
    "readability-lxml": Tool(
        ("title", "body", "authors"),
        adapters.load_readability,
        "Document(html, url=url): short_title(), author(), and summary() as text by html-text",
        "readability-lxml",
    ),
    "goose3": Tool(
        (*CORE_FIELDS, "authors", "description", "site_name", "tags", "image"),
        adapters.load_goose3,
        "Goose({'enable_image_fetching': False}).extract(url=url, raw_html=html); "
        "tags or meta_keywords, opengraph for site_name and image",
        "goose3",
    ),
    "resiliparse": Tool(
        ("title", "body"),
        adapters.load_resiliparse,
        "extract_plain_text(tree, main_content=True, comments=False, post_meta=False, "
        "alt_texts=False, list_bullets=False), tree.title",
        "resiliparse",
    ),
    "justext": Tool(
        ("body",),
        adapters.load_justext,
        "justext(html, stop words of the page's language, or of all languages)",
        "justext",
    ),
    "boilerpy3": Tool(
        ("title", "body"), adapters.load_boilerpy3, "ArticleExtractor().get_doc(html)", "boilerpy3"
    ),
    "markup": Tool(
        FIELDS,
        adapters.load_markup,
        "no tool: first h1, else title; article:published_time, else the first time[datetime]; "
        "all p of more than 60 characters; meta elements author, article:... and og:...",
    ),
}
"""All tools by name, newscrawl first."""
