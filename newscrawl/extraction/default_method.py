"""The default method: NCE's region, the title model and the block classifier."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.body.blocks import find_roots
from newscrawl.body.classifier import BodyModels, body_candidates, choose_blocks, load_body_models
from newscrawl.body.comments import comment_rows
from newscrawl.body.hidden_text import elements_around_some, little_hidden_text
from newscrawl.body.nce import find_region
from newscrawl.body.nce import find_title as find_nce_title
from newscrawl.extraction.embedded_article import find_embedded_article
from newscrawl.extraction.method import MethodResult
from newscrawl.extraction.published_methods import nce_evidence, nce_headline
from newscrawl.fields import (
    find_candidates,
    find_headline,
    headline_by_style,
    load_title_model,
    without_byline,
    without_consent,
)
from newscrawl.items import Evidence

if TYPE_CHECKING:
    from pathlib import Path

    from newscrawl.ensemble.ensemble import Model
    from newscrawl.extraction.method import ExtractOptions, PageContext
    from newscrawl.fields import Headline

PAGE_DATA_CONFIDENCE = 0.9
"""Confidence in a body from the embedded data of a page; an estimate."""


class DefaultModels(NamedTuple):
    """Models of the default method."""

    title: Model
    body: BodyModels

    @property
    def sites(self) -> frozenset[str]:
        """Sites whose pages the models were trained on."""
        return self.title.sites | self.body.sites


@cache
def load_default_models(folder: Path | None) -> DefaultModels:
    """Load the models from *folder*, or from the package; cached."""
    return DefaultModels(load_title_model(folder), load_body_models(folder))


def find_by_models(page: PageContext, options: ExtractOptions) -> MethodResult:
    """Find the region by NCE, the title by its model, the body by the block classifier."""
    document = page.document
    models = load_default_models(options.models)
    found = find_region(document, options.nce)
    region = found.forest
    if page.trace is not None:
        page.trace.region = found
    title = _find_title_by_model(page, options, region, models.title)
    if not options.remove_boilerplate:
        return MethodResult(region, nce_evidence(found.fallback), title)
    candidates = body_candidates(document, region)
    url = page.url or page.metadata.canonical_url
    choice = choose_blocks(candidates, models.body, url)
    if page.trace is not None:
        page.trace.block_candidates, page.trace.block_choice = candidates, choice
    body_rows = without_byline(document, without_consent(document, choice.rows))
    styles = page.styles
    if styles.may_hide(elements_around_some(document, body_rows)):
        hidden = little_hidden_text(document, body_rows, lambda row: styles.style_of(row).hidden)
        body_rows = [row for row in body_rows if row not in hidden]
    evidence = Evidence("blocks", models.body.context.ensemble.calibrated(choice.expected))
    title_text = title.text if title is not None else ""
    text = find_embedded_article(document, body_rows, page.metadata, title_text, page.url)
    if text is not None:
        evidence = Evidence("page-data", PAGE_DATA_CONFIDENCE)
    elif not body_rows:  # the whole page is in excluded regions
        return MethodResult(region, nce_evidence("whole_tree"), title)
    rows = set(body_rows)
    if not options.remove_comments:
        for comments in comment_rows(document):
            rows.update(row for row in document.text_nodes() if row in comments)
    roots = find_roots(document, sorted(rows))
    return MethodResult(roots, evidence, title, region=region, text=text)


def _find_title_by_model(
    page: PageContext, options: ExtractOptions, region: list[int], model: Model
) -> Headline | None:
    document = page.document
    candidates = find_candidates(
        document, page.metadata, page.url, region, needed=page.trace is None
    )
    styles = page.styles
    if not candidates.stated and styles.complete:
        styled = headline_by_style(document, region, styles.style_of)
        if styled is not None:
            return styled
    if page.trace is not None:
        page.trace.title_candidates = candidates
        page.trace.title_probabilities = model.ensemble.predict(candidates.features)
    fallback = None
    if not candidates.stated:
        fallback = nce_headline(document, find_nce_title(document, region, options.nce))
        # All stated titles are names of the site.
        if fallback and fallback.text in {title.text for title in page.metadata.titles}:
            fallback = None
    return find_headline(document, candidates, model, fallback)
