"""Accuracy of the link classifier of ``scrapy crawl sitelist``.

Scored on the URLs of labelled pages, without and with their titles as the link text, on URLs of
other page types, and on 217 links of 110 sites labelled by hand (``gate_links.json``: page id ->
hash of the URL -> is an article). ``--fit`` compares the points with a logistic regression on the
same features, trained on other domains, at the same number of rejected links.

    python -m benchmarks.gate [--corpora DIR] [--fit]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

import numpy as np

from newscrawl.crawling.discovery.page_links import extract_links
from newscrawl.document.document import parse_document
from newscrawl.fields.kind import link_classifier
from newscrawl.lab.corpora.corpus import load_corpus, registered_domain
from newscrawl.lab.corpora.tables import Table, print_tables
from newscrawl.text import weighted_length

if TYPE_CHECKING:
    from collections.abc import Iterator

    from newscrawl.lab.corpora.corpus import LabelledPage

REPOSITORY = Path(__file__).resolve().parents[1]
CORPORA = REPOSITORY.parent / "shared" / "corpora"
LINKS = Path(__file__).parent / "gate_links.json"
TRAINED = ("news212", "fundus", "fundus-history", "css-sites", "wcxb", "postlight")
HELD_OUT = ("l3sgn1", "dragnet")
TYPED = "wcxb-kinds"
FITTED_TYPES = ("collection", "listing", "product")
FOLDS = 5


class Link(NamedTuple):
    """A labelled link."""

    group: str
    domain: str
    url: str
    text: str
    is_article: bool


def main() -> None:
    """Print the scores."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--fit", action="store_true", help="compare with a logistic regression")
    options = parser.parse_args()
    links = list(labelled_urls(options.corpora))
    passed = {
        "points": np.array(
            [link_classifier.link_kind(link.url, link.text) == "article" for link in links]
        )
    }
    if options.fit:
        passed["logistic regression"] = _at_same_rejections(
            _logistic(links), links, passed["points"]
        )
    print_tables([_table(links, passed)], sys.stdout)


def labelled_urls(folder: Path) -> Iterator[Link]:
    """Yield the URLs of pages with a known type, and the links labelled by hand."""
    for name in (*TRAINED, *HELD_OUT):
        for page in load_corpus(folder / name).pages:
            if page.url:
                yield _link(name, page, page.url, "", is_article=True)
                if page.title:
                    yield _link(f"{name}, title", page, page.url, page.title, is_article=True)
    for page in load_corpus(folder / TYPED).typed:
        if page.url:
            yield _link(page.page_type or "", page, page.url, "", is_article=False)
    yield from _links_by_hand(folder)


def _links_by_hand(folder: Path) -> Iterator[Link]:
    labels = json.loads(LINKS.read_text())
    for name in ("news212", "fundus"):
        for page in load_corpus(folder / name).pages:
            remaining = dict(labels.get(page.id, {}))
            for url, text in (
                extract_links(parse_document(page.html()), page.url) if remaining else ()
            ):
                label = remaining.pop(hashlib.sha256(url.encode()).hexdigest()[:12], None)
                if label is not None:
                    yield _link("links", page, url, text, is_article=label)


def _link(group: str, page: LabelledPage, url: str, text: str, *, is_article: bool) -> Link:
    domain = registered_domain(urlsplit(page.url or "").hostname or page.site)
    return Link(group, domain, url, text, is_article)


def _features(link: Link) -> list[float]:
    """Return the features whose weighted sum are the points."""
    parts = urlsplit(link.url)
    segments = [segment.lower() for segment in unquote(parts.path).split("/") if segment]
    slug = link_classifier._HTML.sub("", segments[-1]) if segments else ""  # noqa: SLF001
    pieces = len([piece for piece in re.split(r"[-_+., ]", slug) if piece])
    date = link_classifier._find_date(parts.path)  # noqa: SLF001
    length = weighted_length(link.text)
    follows = date is not None and bool(parts.path[date.end() :].strip("/"))
    return [
        min(max(pieces - 1, 0), 5) // 2 + (pieces >= 5),
        weighted_length(slug) >= 40,
        link_classifier._query_points(parts.query),  # noqa: SLF001
        any(map(link_classifier._ARTICLE_ID.search, (*segments[-2:-1], slug))),  # noqa: SLF001
        follows,
        date is not None and not follows,
        len(segments) > 2,
        not segments,
        bool(segments) and slug != segments[-1],
        any(segment in link_classifier._NON_ARTICLE_SEGMENTS for segment in segments),  # noqa: SLF001
        0 < length < 20 and date is None,
        length >= 30,
        length >= 45,
        length == 0,
    ]


def _logistic(links: list[Link]) -> np.ndarray:
    """Return out-of-fold probabilities of a logistic regression, by domain."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  # an extra

    rows = np.array([_features(link) for link in links], dtype=float)
    truth = np.array([link.is_article for link in links])
    digests = (hashlib.md5(link.domain.encode(), usedforsecurity=False) for link in links)
    folds = np.array([int(digest.hexdigest(), 16) % FOLDS for digest in digests])
    groups = np.array([link.group.split(",")[0] for link in links])
    fitted = np.isin(groups, (*TRAINED, *FITTED_TYPES, "links"))
    weights = np.array([1 / np.sqrt((groups == group).sum()) for group in groups])
    for is_article in (True, False):
        own = fitted & (truth == is_article)
        weights[own] *= len(links) / weights[own].sum()
    probabilities = np.zeros(len(links))
    for fold in range(FOLDS):
        own = fitted & (folds != fold)
        model = LogisticRegression().fit(rows[own], truth[own], sample_weight=weights[own])
        probabilities[folds == fold] = model.predict_proba(rows[folds == fold])[:, 1]
    return probabilities


def _at_same_rejections(
    probabilities: np.ndarray, links: list[Link], passed: np.ndarray
) -> np.ndarray:
    counted = np.array(
        [not link.is_article and link.group in {"links", *FITTED_TYPES} for link in links]
    )
    return probabilities >= np.quantile(probabilities[counted], 1 - passed[counted].mean())


def _table(links: list[Link], passed: dict[str, np.ndarray]) -> Table:
    rows = []
    for group, is_article in dict.fromkeys((link.group, link.is_article) for link in links):
        own = np.array([(link.group, link.is_article) == (group, is_article) for link in links])
        shares = (f"{mask[own].mean():.3f}" for mask in passed.values())
        rows.append([group, "yes" if is_article else "no", str(own.sum()), *shares])
    columns = ("URLs", "articles", "number", *passed)
    return Table("Link classifier: share classified as article", columns, rows)


if __name__ == "__main__":
    main()
