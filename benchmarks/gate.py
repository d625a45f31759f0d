"""How well the gates of ``scrapy crawl sitelist`` tell articles from index pages.

The URL gate is scored on the labelled pages' own URLs, without and with their titles as the link
text, and on 217 links drawn from 110 sites and labelled by hand (``gate_links.json``: page id ->
hash of the link's URL -> leads to an article). The page gate is scored on the labelled pages, on
the same pages with the article's text cut out (what is left is navigation and teasers), and, with
``--home-pages``, on the pages of the `formasaurus` source distribution (PyPI; its ``data`` folder)
whose URL has no path. Sites are split in halves; weights were fitted on ``tune`` alone.

    python benchmarks/gate.py [--corpora DIR] [--home-pages DIR] [--fit]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections import Counter, defaultdict
from math import exp, log1p
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from lxml import etree

from newscrawl.crawl.gate import link_kind
from newscrawl.crawl.links import links_of
from newscrawl.document import DocumentError, parse_document
from newscrawl.evaluation.corpora import HALVES, Half, LabelledPage, half_of, load_corpus
from newscrawl.fields.kind import PageShape, article_probability, measure_shape

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).resolve().parents[1]
CORPORA = REPOSITORY.parent / "shared" / "corpora"
LINKS = Path(__file__).parent / "gate_links.json"
NAMES = ("news212", "fundus", "css-sites")
_SHORTEST_CUT = 20  # letters: shorter texts also stand in navigation


class Shaped(NamedTuple):
    """A page of the page gate's data."""

    group: str
    half: Half
    shape: PageShape
    is_article: bool


def main() -> None:
    """Print the scores."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--home-pages", type=Path, metavar="DIR")
    parser.add_argument("--fit", action="store_true", help="print the weights that tune gives")
    options = parser.parse_args()
    pages = [page for name in NAMES for page in load_corpus(options.corpora / name).pages]
    print_url_gate([page for page in pages if page.corpus != "css-sites"])
    shapes = list(shapes_of(pages))
    if options.home_pages:
        shapes += home_pages(options.home_pages)
    print_page_gate(shapes)
    if options.fit:
        print("weights:", [round(weight, 2) for weight in fit(shapes)])


def print_url_gate(pages: list[LabelledPage]) -> None:
    """Print the share of article URLs let through, and precision and recall on labelled links."""
    for half in HALVES:
        own = [page for page in pages if page.half == half]
        bare = sum(link_kind(page.url) == "article" for page in own)
        titled = sum(link_kind(page.url, page.title or "") == "article" for page in own)
        print(f"URL gate, {half}: recall {bare / len(own):.3f}, with title {titled / len(own):.3f}")
    ends = Counter(labelled_links(pages))
    precision = ends[True, True] / (ends[True, True] + ends[False, True])
    recall = ends[True, True] / (ends[True, True] + ends[True, False])
    print(f"URL gate, links labelled by hand: precision {precision:.3f}, recall {recall:.3f}")
    print(f"  ({sum(ends.values())} links, test)")


def labelled_links(pages: list[LabelledPage]) -> Iterator[tuple[bool, bool]]:
    """Yield (is an article, passes the gate) of each link in ``gate_links.json``."""
    labels = json.loads(LINKS.read_text())
    for page in pages:
        wanted = dict(labels.get(page.id, {}))
        for url, text in links_of(parse_document(page.html()), page.url) if wanted else ():
            label = wanted.pop(hashlib.sha256(url.encode()).hexdigest()[:12], None)
            if label is not None:
                yield label, link_kind(url, text) == "article"


def shapes_of(pages: list[LabelledPage]) -> Iterator[Shaped]:
    """Yield each page that has a body, and what is left of it without."""
    for page in pages:
        if page.body:
            yield Shaped(
                page.corpus, page.half, measure_shape(parse_document(page.html())), is_article=True
            )
            if page.corpus != "css-sites":
                yield Shaped("cut out", page.half, cut_shape(page), is_article=False)


def cut_shape(page: LabelledPage) -> PageShape:
    """Return the shape of *page* without the article's text and what structured data says of it."""
    root = parse_document(page.html()).root
    body = _letters(page.body or "")
    for element in root.iter():
        for place in ("text", "tail"):
            letters = _letters(getattr(element, place) or "")
            if len(letters) >= _SHORTEST_CUT and letters in body:
                setattr(element, place, None)
    shape = measure_shape(parse_document(etree.tostring(root, encoding="utf-8", method="html")))
    return PageShape(shape.longest_run, shape.link_density, 0, article_data=False, list_data=False)


def _letters(text: str) -> str:
    return re.sub(r"\W", "", text).lower()


def home_pages(folder: Path) -> Iterator[Shaped]:
    """Yield the home pages that formasaurus was trained on."""
    for name, about in json.loads((folder / "index.json").read_text()).items():
        url = urlsplit(about["url"])
        if url.path.strip("/") or url.query:
            continue
        try:
            shape = measure_shape(parse_document((folder / name).read_bytes()))
        except DocumentError:
            continue
        yield Shaped("home pages", half_of(url.hostname or ""), shape, is_article=False)


def print_page_gate(shapes: list[Shaped]) -> None:
    """Print the share of pages judged right, by group and half."""
    right: dict[tuple[str, Half], list[bool]] = defaultdict(list)
    for page in shapes:
        judged = article_probability(page.shape) >= 0.5
        right[page.group, page.half].append(judged == page.is_article)
    for (group, half), answers in sorted(right.items()):
        share = sum(answers) / len(answers)
        print(f"page gate, {group}, {half}: {share:.3f} of {len(answers)} right")


def fit(shapes: list[Shaped], rounds: int = 3_000) -> list[float]:
    """Return bias and weights of run and link density: logistic regression on tune, by descent.

    Articles weigh as much as all other pages together, and those by group.
    """
    rows = [page for page in shapes if page.half == "tune"]
    sizes = Counter(page.group if not page.is_article else "article" for page in rows)
    groups = len(sizes) - 1
    data = []
    for page in rows:
        size = sizes["article"] if page.is_article else sizes[page.group] * groups
        run = log1p(page.shape.longest_run) - 6.0  # centred, for speed
        data.append(((1.0, run, page.shape.link_density), page.is_article, 1 / size))
    weights = [0.0, 0.0, 0.0]
    for _ in range(rounds):
        slope = [0.0, 0.0, 0.0]
        for values, is_article, share in data:
            score = sum(w * v for w, v in zip(weights, values, strict=True))
            error = (is_article - 1 / (1 + exp(-score))) * share
            slope = [s + error * v for s, v in zip(slope, values, strict=True)]
        weights = [w + 2 * s for w, s in zip(weights, slope, strict=True)]
    return [weights[0] - 6.0 * weights[1], *weights[1:]]


if __name__ == "__main__":
    main()
