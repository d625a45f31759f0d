"""Removal of reader comments from the body, and the loss of body text.

On pages with comments, of the samples (``tests.pages.commented_pages``) and of the corpora
(``comments.json``: page id -> XPath of the comments): *removed* is the share of comment words that
are not in the body, *loss* the share of labelled word trigrams that the body loses by comment
removal, *in words* the same in single words, *kept* the recall of the labelled words.

On all labelled pages: the share of the body that ``comment_rows`` classifies as comments.

    python benchmarks/comments.py [--corpora DIR] [--half tune|report|all] [--pages]
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from newscrawl.body.comments import comment_rows
from newscrawl.corpora.corpus import LabelledPage, load_corpus
from newscrawl.corpora.metrics import bag_score, mean
from newscrawl.corpora.tables import Table, print_tables
from newscrawl.document.document import parse_document
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.text import words
from tests.pages.commented_pages import commented_pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

REPOSITORY = Path(__file__).resolve().parents[1]
CORPORA = REPOSITORY.parent / "shared" / "corpora"
LABELS = Path(__file__).parent / "comments.json"
NAMES = ("news212", "fundus", "css-sites")
METHODS = ("nce", "cardoso", "newscrawl")
_MIN_LETTERS = 20  # shorter texts may occur several times on a page


@dataclass(frozen=True)
class Commented:
    """A page with labelled comments."""

    name: str
    group: str
    html: bytes
    body: str
    #: one text node per line
    comments: str


@dataclass(frozen=True)
class CommentScores:
    """Scores of a method on one page."""

    page: Commented
    removed: float
    loss: float
    loss_in_words: float
    kept: float
    f1: float


def sample_pages(half: str) -> Iterator[Commented]:
    """Yield the sample pages of a *half*: ``tune``, ``report`` or ``all``."""
    for page in commented_pages(None if half == "all" else half):
        group = f"samples, {page.half}"
        yield Commented(page.page, group, page.html, page.body, page.comments)


def corpus_pages(folder: Path) -> Iterator[Commented]:
    """Yield the pages of the corpora with labelled comments."""
    for name, labels in json.loads(LABELS.read_text()).items():
        for page in load_corpus(folder / name).pages:
            if page.id in labels:
                html = page.html()
                yield Commented(
                    page.id, "corpora", html, page.body or "", comments_at(html, labels[page.id])
                )


def comments_at(html: bytes, path: str) -> str:
    """Return the visible text nodes below the elements at XPath *path*, one per line."""
    document = parse_document(html)
    roots = set(document.root.xpath(path))
    rows = [row for row, tag in enumerate(document.tag) if tag != "#text"]
    elements = zip(rows, document.root.iter(), strict=True)
    texts = [
        document.text[text]
        for row, element in elements
        if element in roots
        for text in document.text_nodes(row)
    ]
    return "\n".join(" ".join(text.split()) for text in texts)


def score(page: Commented, method: str) -> CommentScores:
    """Compare the bodies of *method* with and without comment removal."""
    bodies = [
        words(extract(page.html, method=method, options=ExtractOptions(remove_comments=on)).body)
        for on in (False, True)
    ]
    gold = words(page.body)
    recalls = [bag_score(trigrams(body), trigrams(gold)).recall for body in bodies]
    with_comments, without = (bag_score(body, gold) for body in bodies)
    return CommentScores(
        page,
        1 - share_contained(bodies[1], page.comments),
        max(0.0, recalls[0] - recalls[1]),
        max(0.0, with_comments.recall - without.recall),
        without.recall,
        without.f1,
    )


def trigrams(text: Sequence[str]) -> list[str]:
    """Return the word trigrams of *text*."""
    return [" ".join(three) for three in zip(text, text[1:], text[2:], strict=False)]


def share_contained(body: Sequence[str], comments: str) -> float:
    """Return the share of the words of *comments* in lines that *body* contains."""
    text = f" {' '.join(body)} "
    sizes: Counter[bool] = Counter()
    for line in comments.splitlines():
        found = words(line)
        sizes[f" {' '.join(found)} " in text] += len(found)
    return sizes[True] / sizes.total() if sizes else 0.0


def tables(pages: Sequence[Commented], *, each: bool) -> Iterator[Table]:
    """Yield the table of groups and, with *each*, of pages."""
    found = {method: [score(page, method) for page in pages] for method in METHODS}
    groups = dict.fromkeys(page.group for page in pages)
    rows = [
        row_of(method, group, [it for it in found[method] if it.page.group == group])
        for group in groups
        for method in METHODS
    ]
    head = ("pages", "method", "number", "removed", "under 90 %", "loss, mean", "loss, max",
            "in words", "kept", "F1")  # fmt: skip
    yield Table("Comment words removed", head, rows)
    if each:
        cells = [
            [
                it.page.name,
                it.page.group,
                *(f"{share:.3f}" for share in astuple(it)[1:]),
            ]
            for it in found["newscrawl"]
        ]
        columns = ("page", "pages", "removed", "loss", "in words", "kept", "F1")
        yield Table("newscrawl, page by page", columns, cells)


def row_of(method: str, group: str, found: Sequence[CommentScores]) -> list[str]:
    """Return a row of the table of groups."""
    return [
        group,
        method,
        str(len(found)),
        f"{mean([it.removed for it in found]):.3f}",
        str(sum(it.removed < 0.9 for it in found)),
        f"{mean([it.loss for it in found]):.3f}",
        f"{max(it.loss for it in found):.3f}",
        f"{max(it.loss_in_words for it in found):.3f}",
        f"{mean([it.kept for it in found]):.3f}",
        f"{mean([it.f1 for it in found]):.3f}",
    ]


def precision_table(pages: Iterable[LabelledPage], names: Sequence[str] = NAMES) -> Table:
    """Return the share of the labelled bodies that ``comment_rows`` classifies as comments."""
    shares = {(page.corpus, page.id): share_removed(page) for page in pages if page.body}
    rows = []
    for name in names:
        own = [share for (corpus, _), share in shares.items() if corpus == name]
        if own:
            over = [str(sum(share > bound for share in own)) for bound in (0, 0.01, 0.05)]
            rows.append([name, str(len(own)), *over, f"{max(own):.3f}"])
    head = ("corpus", "pages", "any", "over 1 %", "over 5 %", "max")
    return Table("Pages with parts of the labelled body classified as comments", head, rows)


def share_removed(page: LabelledPage) -> float:
    """Return the share of letters of the labelled body in comment rows."""
    document, body = parse_document(page.html()), letters(page.body or "")
    removed = 0
    for rows in comment_rows(document):
        for row in rows:
            text = "" if document.hidden[row] else letters(document.text[row])
            removed += len(text) if len(text) >= _MIN_LETTERS and text in body else 0
    return removed / len(body) if body else 0.0


def letters(text: str) -> str:
    """Return the letters and digits of *text* in lower case."""
    return re.sub(r"\W", "", text).lower()


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--half", choices=("tune", "report", "all"), default="all")
    parser.add_argument("--pages", action="store_true", help="print each page's figures, too")
    options = parser.parse_args()
    pages = list(sample_pages(options.half))
    if options.corpora.is_dir():
        pages += corpus_pages(options.corpora)
    print_tables(tables(pages, each=options.pages), sys.stdout)
    if options.corpora.is_dir():
        labelled = (page for name in NAMES for page in load_corpus(options.corpora / name).pages)
        print_tables([precision_table(labelled)], sys.stdout)


if __name__ == "__main__":
    main()
