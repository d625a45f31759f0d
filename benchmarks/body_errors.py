"""What the error of the default's body is made of, by cause, on sites that its models have not seen.

1 - F1 of a page is (words too many + words missing) / (words chosen + words labelled), so that each
word's share of the error is known. A block too many is put down to what its markup says it is, one
that is missing to its element. Printed are the means over pages, in points of F1.

    python benchmarks/body_errors.py [--corpora DIR...] [--suspects]

Without ``--suspects`` pages whose label is doubted are left out.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.body.blocks import find_blocks
from newscrawl.body.classifier import body_candidates, choose_blocks
from newscrawl.body.excluded_regions import heading_row
from newscrawl.body.nce import find_region
from newscrawl.corpora.corpus import load_corpus
from newscrawl.corpora.folds import FOLDS, extra_site
from newscrawl.corpora.tables import Table, print_tables
from newscrawl.document.document import parse_document
from newscrawl.extraction.methods import DEFAULT_METHOD, METHODS
from newscrawl.text import words
from newscrawl.training.block_labels import label_blocks
from newscrawl.training.block_training import fit_body_models, read_labelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.body.blocks import Blocks
    from newscrawl.body.classifier import BodyModels
    from newscrawl.corpora.corpus import LabelledPage
    from newscrawl.document.document import Document

SHARED = Path(__file__).resolve().parents[2] / "shared" / "corpora"
CORPORA = [SHARED / "news212", SHARED / "fundus"]

NAMES = {
    "comments": r"comment|disqus|repl(?:y|ies)\b|forum|kommentar",
    "cookie walls": r"cookie|consent|gdpr|privacy|onetrust",
    "captions": r"caption|credit|gallery|slide|photo|\bmedia\b",
    "newsletters, pleas": r"newsletter|subscri|sign-?up|donat|support|paywall|promo|\bcta\b",
    "biographies, bylines": r"author|byline|\bbio\b|contributor|writer",
    "teasers": r"relat|recommend|teaser|trending|popular|most-|latest|card|read-?(?:more|next|also)",
}
"""Words of classes and ids by which a block too many is told."""
_NAME = {cause: re.compile(pattern) for cause, pattern in NAMES.items()}
_TAGS = {"figcaption": "captions", "figure": "captions", "aside": "asides", "footer": "footers"}
TOO_MANY = (*NAMES, "asides", "footers", "second article", "lists of links", "tables", "headings",
            "other text")  # fmt: skip
MISSING = ("no block has it", "no candidate", "short text", "list items", "quotes", "table cells",
           "headlines", "paragraphs")  # fmt: skip
_LINKS = 0.5
_SHORT = 80


class Errors(NamedTuple):
    """The errors of a page, in words, by cause, and what they are shares of."""

    page: LabelledPage
    too_many: Counter[str]
    missing: Counter[str]
    #: words chosen and words labelled
    size: int


def main() -> None:
    """Fit the models of the folds, choose the bodies, print the tables."""
    options = _parser().parse_args()
    pages = [page for folder in options.corpora for page in load_corpus(folder).pages if page.body]
    errors = list(errors_in_folds(pages))
    if not options.suspects:
        errors = [one for one in errors if not one.page.body_suspect]
    print_tables(list(tables(errors)), sys.stdout)


def errors_in_folds(pages: Sequence[LabelledPage]) -> Iterator[Errors]:
    """Yield the errors of each page by the model that was fitted to those of other folds."""
    labelled = list(map(read_labelled, pages))
    fold_of = extra_site(pages)
    for fold in range(FOLDS):
        models = fit_body_models(
            [one for one, f in zip(labelled, fold_of, strict=True) if f != fold]
        )
        for page, other in zip(pages, fold_of, strict=True):
            if other == fold:
                yield errors_of(page, models)


def errors_of(page: LabelledPage, models: BodyModels) -> Errors:
    """Return the errors of the body that *models* choose on *page*."""
    document = METHODS[DEFAULT_METHOD].prepare(parse_document(page.html()))
    candidates = body_candidates(document, find_region(document).forest)
    chosen = set(choose_blocks(candidates, models).rows)
    blocks = find_blocks(document)
    bags = [words(" ".join(document.text[row] for row in rows)) for rows in blocks.rows]
    gold = words(page.body or "")
    labels = label_blocks(bags, gold)
    too_many: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    places, heading = set(candidates.places), heading_row(document)
    output = found = 0
    for place, (bag, label) in enumerate(zip(bags, labels, strict=True)):
        taken = blocks.rows[place][0] in chosen
        output += taken * len(bag)
        found += label * len(bag)
        if taken and not label:
            too_many[cause_of(document, blocks, place, heading)] += len(bag)
        elif label and not taken:
            cause = kind_of(document, blocks, place) if place in places else "no candidate"
            missing[cause] += len(bag)
    missing["no block has it"] += max(0, len(gold) - found)
    return Errors(page, too_many, missing, output + len(gold))


def cause_of(document: Document, blocks: Blocks, place: int, heading: int | None) -> str:
    """Return what a block is that is no body: what its closest telling element says."""
    owner = blocks.owner[place]
    for row in (owner, *document.ancestors(owner)):
        if document.tag[row] in ("body", "main") or (
            heading is not None and row <= heading < document.end[row]
        ):
            break
        if document.tag[row] in _TAGS:
            return _TAGS[document.tag[row]]
        element = document.element(row)
        names = f"{element.get('class', '')} {element.get('id', '')}".lower()
        for cause, pattern in _NAME.items():
            if pattern.search(names):
                return cause
    return _cause_by_shape(document, owner, heading)


def _cause_by_shape(document: Document, owner: int, heading: int | None) -> str:
    tags = {document.tag[row] for row in (owner, *document.ancestors(owner))}
    if "table" in tags:
        return "tables"
    if document.tag[owner] in ("h2", "h3", "h4"):
        return "headings"
    if document.link_density(owner) > _LINKS:
        return "lists of links"
    later = (
        row for row, tag in enumerate(document.tag[:owner]) if tag == "h1" and document.chars(row)
    )
    return "second article" if any(row > (heading or 0) for row in later) else "other text"


def kind_of(document: Document, blocks: Blocks, place: int) -> str:
    """Return what a labelled block is that was not chosen."""
    owner = blocks.owner[place]
    tags = {document.tag[row] for row in (owner, document.parent[owner])}
    for names, kind in (
        ({"li"}, "list items"),
        ({"blockquote"}, "quotes"),
        ({"td", "th"}, "table cells"),
        ({"h1", "h2", "h3", "h4"}, "headlines"),
    ):
        if names & tags:
            return kind
    return "short text" if document.chars(owner) < _SHORT else "paragraphs"


def tables(errors: Iterable[Errors]) -> Iterator[Table]:
    """Yield the share that each cause has of the error, by corpus."""
    errors = list(errors)
    corpora = list(dict.fromkeys(one.page.corpus for one in errors))
    by_corpus = {name: [one for one in errors if one.page.corpus == name] for name in corpora}
    for title, causes, kind in (
        ("Words too many, points of F1", TOO_MANY, "too_many"),
        ("Words missing, points of F1", MISSING, "missing"),
    ):
        shares = {name: _shares(members, kind) for name, members in by_corpus.items()}
        rows = [
            [cause, *(f"{100 * shares[name][cause]:.2f}" for name in corpora)] for cause in causes
        ]
        rows.append(["all", *(f"{100 * sum(shares[name].values()):.2f}" for name in corpora)])
        yield Table(title, ("cause", *corpora), rows)


def _shares(errors: Sequence[Errors], kind: str) -> dict[str, float]:
    """Return the mean over pages of each cause's words over those chosen and labelled."""
    shares = dict.fromkeys((*TOO_MANY, *MISSING), 0.0)
    for one in errors:
        for cause, count in getattr(one, kind).items():
            shares[cause] += count / one.size / len(errors)
    return shares


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--corpora", type=Path, nargs="+", default=CORPORA, metavar="DIR")
    parser.add_argument("--suspects", action="store_true", help="pages of doubted labels, too")
    return parser


if __name__ == "__main__":
    main()
