"""Causes of body errors of the default method, out of fold.

1 - F1 = (extra words + missing words) / (extracted words + labelled words), so each word has a
share of the error. Extra blocks are classified by class, id and element, missing blocks by element.
Printed are means over pages, in points of F1.

    python benchmarks/body_errors.py [--corpora DIR...] [--suspects]

Without ``--suspects`` pages with suspect labels are left out.
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
from newscrawl.document.document import parse_document
from newscrawl.extraction.methods import DEFAULT_METHOD, METHODS
from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.lab.corpora.folds import FOLDS, extra_site
from newscrawl.lab.corpora.tables import Table, print_tables
from newscrawl.lab.training.block_labels import label_blocks
from newscrawl.lab.training.block_training import fit_body_models, read_labelled
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.body.blocks import Blocks
    from newscrawl.body.classifier import BodyModels
    from newscrawl.document.document import Document
    from newscrawl.lab.corpora.corpus import LabelledPage

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
"""Patterns of classes and ids that identify extra blocks."""
_NAME = {cause: re.compile(pattern) for cause, pattern in NAMES.items()}
_TAGS = {"figcaption": "captions", "figure": "captions", "aside": "asides", "footer": "footers"}
EXTRA = (*NAMES, "asides", "footers", "second article", "lists of links", "tables", "headings",
            "other text")  # fmt: skip
MISSING = ("no block has it", "no candidate", "short text", "list items", "quotes", "table cells",
           "headlines", "paragraphs")  # fmt: skip
_LINKS = 0.5
_SHORT = 80


class Errors(NamedTuple):
    """Errors of a page: number of words by cause."""

    page: LabelledPage
    extra: Counter[str]
    missing: Counter[str]
    #: extracted words plus labelled words
    size: int


def main() -> None:
    """Print the tables."""
    options = _parser().parse_args()
    pages = [page for folder in options.corpora for page in load_corpus(folder).pages if page.body]
    errors = list(errors_in_folds(pages))
    if not options.suspects:
        errors = [one for one in errors if not one.page.body_suspect]
    print_tables(list(tables(errors)), sys.stdout)


def errors_in_folds(pages: Sequence[LabelledPage]) -> Iterator[Errors]:
    """Yield the errors of each page with the models of the other folds."""
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
    """Return the errors of the body extracted from *page* with *models*."""
    document = METHODS[DEFAULT_METHOD].prepare(parse_document(page.html()))
    candidates = body_candidates(document, find_region(document).forest)
    chosen = set(choose_blocks(candidates, models).rows)
    blocks = find_blocks(document)
    bags = [words(" ".join(document.text[row] for row in rows)) for rows in blocks.rows]
    gold = words(page.body or "")
    labels = label_blocks(bags, gold)
    extra: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    is_candidate, heading = set(candidates.places), heading_row(document)
    output = found = 0
    for index, (bag, label) in enumerate(zip(bags, labels, strict=True)):
        is_output = blocks.rows[index][0] in chosen
        output += is_output * len(bag)
        found += label * len(bag)
        if is_output and not label:
            extra[extra_cause(document, blocks, index, heading)] += len(bag)
        elif label and not is_output:
            cause = (
                missing_cause(document, blocks, index) if index in is_candidate else "no candidate"
            )
            missing[cause] += len(bag)
    missing["no block has it"] += max(0, len(gold) - found)
    return Errors(page, extra, missing, output + len(gold))


def extra_cause(document: Document, blocks: Blocks, index: int, heading: int | None) -> str:
    """Return the cause of an extra block, by its closest ancestor with a known tag or name."""
    owner = blocks.owner[index]
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


def missing_cause(document: Document, blocks: Blocks, index: int) -> str:
    """Return the kind of a missing block."""
    owner = blocks.owner[index]
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
    """Yield the share of the error of each cause, by corpus."""
    errors = list(errors)
    corpora = list(dict.fromkeys(one.page.corpus for one in errors))
    by_corpus = {name: [one for one in errors if one.page.corpus == name] for name in corpora}
    for title, causes, kind in (
        ("Extra words, points of F1", EXTRA, "extra"),
        ("Words missing, points of F1", MISSING, "missing"),
    ):
        shares = {name: _shares(members, kind) for name, members in by_corpus.items()}
        rows = [
            [cause, *(f"{100 * shares[name][cause]:.2f}" for name in corpora)] for cause in causes
        ]
        rows.append(["all", *(f"{100 * sum(shares[name].values()):.2f}" for name in corpora)])
        yield Table(title, ("cause", *corpora), rows)


def _shares(errors: Sequence[Errors], kind: str) -> dict[str, float]:
    """Return the mean share of the error of each cause."""
    shares = dict.fromkeys((*EXTRA, *MISSING), 0.0)
    for one in errors:
        for cause, count in getattr(one, kind).items():
            shares[cause] += count / one.size / len(errors)
    return shares


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--corpora", type=Path, nargs="+", default=CORPORA, metavar="DIR")
    parser.add_argument("--suspects", action="store_true", help="include suspect labels")
    return parser


if __name__ == "__main__":
    main()
