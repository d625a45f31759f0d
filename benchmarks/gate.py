"""How well the URL gate of ``scrapy crawl sitelist`` separates links to articles from others.

Scored on the URLs of the labelled pages, without and with their titles as the link text, on those
of pages that are no articles, by type, and on 217 links drawn from 110 sites and labelled by hand
(``gate_links.json``: page id -> hash of the link's URL -> leads to an article). With ``--fit`` the
points are compared with a logistic regression on their parts, fitted to the corpora that may train
models and scored on domains that it has not seen; where the pages refused are as many.

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

from newscrawl.corpora.corpus import load_corpus, registered_domain
from newscrawl.corpora.tables import Table, print_tables
from newscrawl.crawl.discovery import link_classifier as gate
from newscrawl.crawl.discovery.page_links import extract_links
from newscrawl.document.document import parse_document
from newscrawl.text import weighted_length

if TYPE_CHECKING:
    from collections.abc import Iterator

    from newscrawl.corpora.corpus import LabelledPage

REPOSITORY = Path(__file__).resolve().parents[1]
CORPORA = REPOSITORY.parent / "shared" / "corpora"
LINKS = Path(__file__).parent / "gate_links.json"
TRAINED = ("news212", "fundus", "fundus-history", "css-sites", "wcxb", "postlight")
HELD_OUT = ("l3sgn1", "dragnet")
TYPED = "wcxb-kinds"
FITTED_TYPES = ("collection", "listing", "product")
FOLDS = 5


class Link(NamedTuple):
    """A link, and whether it leads to an article."""

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
    passed = {"points": np.array([gate.link_kind(one.url, one.text) == "article" for one in links])}
    if options.fit:
        passed["logistic regression"] = _refusing_as_many(_logistic(links), links, passed["points"])
    print_tables([_table(links, passed)], sys.stdout)


def labelled_urls(folder: Path) -> Iterator[Link]:
    """Yield the URLs of pages whose kind is known, and the links labelled by hand."""
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
            wanted = dict(labels.get(page.id, {}))
            for url, text in extract_links(parse_document(page.html()), page.url) if wanted else ():
                label = wanted.pop(hashlib.sha256(url.encode()).hexdigest()[:12], None)
                if label is not None:
                    yield _link("links", page, url, text, is_article=label)


def _link(group: str, page: LabelledPage, url: str, text: str, *, is_article: bool) -> Link:
    domain = registered_domain(urlsplit(page.url or "").hostname or page.site)
    return Link(group, domain, url, text, is_article)


def _features(link: Link) -> list[float]:
    """Return the parts that the points are the weighted sum of."""
    parts = urlsplit(link.url)
    segments = [segment.lower() for segment in unquote(parts.path).split("/") if segment]
    slug = gate._HTML.sub("", segments[-1]) if segments else ""  # noqa: SLF001
    pieces = len([piece for piece in re.split(r"[-_+., ]", slug) if piece])
    date = gate._find_date(parts.path)  # noqa: SLF001
    length = weighted_length(link.text)
    follows = date is not None and bool(parts.path[date.end() :].strip("/"))
    return [
        min(max(pieces - 1, 0), 5) // 2 + (pieces >= 5),
        weighted_length(slug) >= 40,
        gate._query_points(parts.query),  # noqa: SLF001
        any(map(gate._ARTICLE_ID.search, (*segments[-2:-1], slug))),  # noqa: SLF001
        follows,
        date is not None and not follows,
        len(segments) > 2,
        not segments,
        bool(segments) and slug != segments[-1],
        any(segment in gate._NON_ARTICLE_SEGMENTS for segment in segments),  # noqa: SLF001
        0 < length < 20 and date is None,
        length >= 30,
        length >= 45,
        length == 0,
    ]


def _logistic(links: list[Link]) -> np.ndarray:
    """Return the probability of each link by a regression on the links of other domains."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  # an extra

    rows = np.array([_features(one) for one in links], dtype=float)
    truth = np.array([one.is_article for one in links])
    digests = (hashlib.md5(one.domain.encode(), usedforsecurity=False) for one in links)
    folds = np.array([int(digest.hexdigest(), 16) % FOLDS for digest in digests])
    groups = np.array([one.group.split(",")[0] for one in links])
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


def _refusing_as_many(
    probabilities: np.ndarray, links: list[Link], passed: np.ndarray
) -> np.ndarray:
    counted = np.array(
        [not one.is_article and one.group in {"links", *FITTED_TYPES} for one in links]
    )
    return probabilities >= np.quantile(probabilities[counted], 1 - passed[counted].mean())


def _table(links: list[Link], passed: dict[str, np.ndarray]) -> Table:
    rows = []
    for group, is_article in dict.fromkeys((one.group, one.is_article) for one in links):
        own = np.array([(one.group, one.is_article) == (group, is_article) for one in links])
        shares = (f"{those[own].mean():.3f}" for those in passed.values())
        rows.append([group, "yes" if is_article else "no", str(own.sum()), *shares])
    return Table("URL gate: share let through", ("URLs", "articles", "number", *passed), rows)


if __name__ == "__main__":
    main()
