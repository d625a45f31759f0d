"""``from_response()``: extraction from the response objects of Scrapy and other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newscrawl.document.encoding import header_charset
from newscrawl.extraction.extract import extract

if TYPE_CHECKING:
    from newscrawl.items import Article


def from_response(response: Any, **options: Any) -> Article:
    """Return the article of a response of Scrapy, web-poet, requests or httpx.

    The response has ``url``, ``headers`` and ``body`` or ``content``, as bytes without content
    encoding. *options* are those of :func:`newscrawl.extract`, for example ``method``.

    Extraction runs in the calling thread, without a deadline. In a crawl, prefer a component that
    uses worker processes: ``NewsExtractPipeline`` or ``FillMiddleware``.

    Raises :class:`~newscrawl.document.document.DocumentError` if the response is not an HTML page.
    """
    body = response.body if hasattr(response, "body") else response.content
    content_type = response.headers.get("Content-Type")
    if isinstance(content_type, str):
        content_type = content_type.encode("latin-1", "replace")
    declared = header_charset(content_type)
    return extract(body, str(response.url), **{"encoding": declared, **options})
