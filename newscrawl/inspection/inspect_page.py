"""``inspect_page()``: a page with marks on what extraction saw, as one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newscrawl.extraction.extract import DEFAULT_METHOD, extract
from newscrawl.extraction.trace import Trace
from newscrawl.inspection.findings import KIND_NAMES, find_all
from newscrawl.inspection.marked_page import ASSETS, NO_ASSETS, marked_page
from newscrawl.templates import render_page

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from newscrawl.css import Sheet
    from newscrawl.extraction.extract import ExtractOptions
    from newscrawl.items import Article

_FIELDS = ("title", "date", "authors")


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
) -> str:
    """Return a self-contained HTML page that shows what :func:`extract` saw in a page.

    It contains the page without scripts, with marks on fields, body, removed comments, rejected
    candidates and the separator node, and a list of these with source, probability and reason.
    Without *assets*, images and style sheets of the page are not loaded. The other arguments and
    errors are those of :func:`~newscrawl.extraction.extract.extract`.
    """
    trace = Trace()
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
