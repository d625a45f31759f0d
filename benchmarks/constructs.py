"""Constructs inserted into labelled pages: kinds that were kept out of training, and stability.

For the first table, the block classifier is fitted to the pages of two folds without the
transplants of two of each five kinds. Each of these kinds is inserted into pages of the third fold;
it is handled rightly if at least :data:`MIN_RIGHT` of its words are kept (those of the story) or
left out (others). The second table is that of the models of the package: how often the body has the
same other lines with a construct as without it.

    python -m benchmarks.constructs [--corpora DIR] [--step N] [--pages N] [--stability]
"""

from __future__ import annotations

import argparse
import sys
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from newscrawl.document.document import parse_document
from newscrawl.extraction.extract import extract
from newscrawl.extraction.method import ExtractOptions
from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.lab.corpora.folds import extra_site
from newscrawl.lab.corpora.metrics import mean
from newscrawl.lab.corpora.tables import Table, print_tables, share
from newscrawl.lab.training.block_training import (
    Labelled,
    body_example,
    fit_body_models,
    variant_examples,
)
from newscrawl.lab.training.made_pages import corpus_stories
from newscrawl.lab.training.model_writer import save_models
from newscrawl.lab.training.transplants import NOT_OF_STORY, OF_STORY, transplant
from newscrawl.text import squeeze, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.training.transplants import Transplanted

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
TRAINED = ("news212", "fundus", "css-sites", "wcxb", "fundus-history", "postlight")
FAMILIES = (*TRAINED, "l3sgn1", "daniel", "dragnet", "mkwebs")
KINDS = (*OF_STORY, *NOT_OF_STORY)
KEPT_OUT = tuple([kind for n, kind in enumerate(KINDS) if n % 5 in {first, (first + 1) % 5}]
                 for first in (0, 2, 4))  # fmt: skip
"""Two of each five kinds; all together are all kinds."""
STABLE = ("list", "quotation", "post", "code", "panel", "note", "read also", "label", "controls",
          "sign-up")  # fmt: skip
"""Constructs within a story that change nothing else."""
MIN_RIGHT = 0.8
_NUMBER = 100  # of a transplant; those of training are smaller


def inserted(page: LabelledPage, kind: str) -> Transplanted | None:
    """Return *page* with one construct of a *kind*."""
    others = set(KINDS) - {kind}
    stories = corpus_stories(page.path.parent.parent)
    return transplant(page, page.html(), stories, _NUMBER, without=others)


def unchanged(page: LabelledPage) -> bytes | None:
    """Return *page* as pages with constructs are written."""
    made = transplant(page, page.html(), [], _NUMBER, without=KINDS)
    return made.html if made else None


def lines_of(html: bytes, page: LabelledPage, models: Path | None = None) -> list[str]:
    """Return the lines of the body of *page* with the bytes *html*."""
    body = extract(html, page.url, options=ExtractOptions(models=models)).body
    return [line for line in body.splitlines() if line]


def is_right(page: LabelledPage, kind: str, models: Path, before: str) -> bool | None:
    """Return whether a construct of a *kind* in *page* is handled rightly, None without one.

    *before* is the body without it.
    """
    made = inserted(page, kind)
    if made is None:
        return None
    document = parse_document(made.html)
    shown = {squeeze(document.text[row]) for row in document.text_nodes()}
    in_story = kind in OF_STORY
    body = squeeze(" ".join(lines_of(made.html, page, models)))
    sizes = {
        text: len(words(text))
        for text, label in made.labels.items()
        if label == in_story and text in shown
    }
    kept = sum(size for text, size in sizes.items() if body.count(text) > before.count(text))
    whole = sum(sizes.values())
    return (kept if in_story else whole - kept) >= MIN_RIGHT * whole if whole else None


def fit(pages: Sequence[LabelledPage], without: Collection[str], folder: Path) -> None:
    """Write the models of *pages*, *without* transplants of some kinds, to *folder*."""
    labelled = []
    for page in pages:
        html = page.html()
        example = body_example(parse_document(html), page.body or "")
        labelled.append(Labelled(page, example, variant_examples(page, html, without)))
    for model in (files("newscrawl") / "models").iterdir():
        (folder / model.name).write_bytes(model.read_bytes())
    save_models(fit_body_models(labelled), folder)


def kept_out_table(pages: Sequence[LabelledPage], number: int) -> Table:
    """Return the share of constructs handled rightly, by models that did and did not learn them."""
    folds = extra_site(pages)
    learned = [page for page, fold in zip(pages, folds, strict=True) if fold]
    tested = [page for page, fold in zip(pages, folds, strict=True) if not fold]
    tested = tested[:: max(1, len(tested) // number)]
    others = [(page, html) for page in tested if (html := unchanged(page))]
    rows: dict[str, list[float]] = {}
    for without in ((), *KEPT_OUT):
        with TemporaryDirectory() as folder:
            fit(learned, without, Path(folder))
            bodies = [
                squeeze(" ".join(lines_of(html, page, Path(folder)))) for page, html in others
            ]
            for kind in without or KINDS:
                tried = zip(others, bodies, strict=True)
                found = [is_right(page, kind, Path(folder), body) for (page, _), body in tried]
                rows.setdefault(kind, []).append(mean([it for it in found if it is not None]))
    return Table(
        f"Kinds kept out of training: handled rightly, {len(others)} pages",
        ("kind", "belongs to the story", "learned", "kept out"),
        [[kind, "yes" if kind in OF_STORY else "no", *map(share, row[:2])] for kind, row in rows.items()]
        + [["all", "", *(share(mean([row[place] for row in rows.values()])) for place in (0, 1))]],
    )  # fmt: skip


def is_stable(page: LabelledPage, kind: str, before: Sequence[str]) -> bool | None:
    """Return whether the body of *page* has the lines *before* and others of a construct only."""
    made = inserted(page, kind)
    if made is None:
        return None
    own, own_letters = set(words(" ".join(made.labels))), _letters("".join(made.labels))
    known = set(before)
    rest = [
        line
        for line in lines_of(made.html, page)
        if line in known or not (own.issuperset(words(line)) or _letters(line) in own_letters)
    ]
    return rest == list(before)


def _letters(text: str) -> str:
    """Return letters and digits only: spans without spaces between them are one word."""
    return "".join(filter(str.isalnum, text))


def stability_table(pages: Sequence[LabelledPage]) -> Table:
    """Return the share of pages whose other text is the same with a construct as without it."""
    found: dict[str, list[bool]] = {kind: [] for kind in STABLE}
    for page in pages:
        html = unchanged(page)
        before = lines_of(html, page) if html else []
        for kind in STABLE if before else ():
            stable = is_stable(page, kind, before)
            if stable is not None:
                found[kind].append(stable)
    rows = [[kind, str(len(it)), share(mean(it))] for kind, it in found.items()]
    everything = [it for stable in found.values() for it in stable]
    return Table(
        "Stability: the rest of the body is the same",
        ("construct", "pages", "same"),
        [*rows, ["all", str(len(everything)), share(mean(everything))]],
    )


def _pages(corpora: Path, names: Sequence[str]) -> Iterator[LabelledPage]:
    for name in names:
        yield from (it for it in load_corpus(corpora / name).pages if it.body and it.title)


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--step", type=int, default=3, help="learn from every n-th page")
    parser.add_argument("--pages", type=int, default=200, help="number of pages with constructs")
    parser.add_argument("--stability", action="store_true", help="measure the stability instead")
    options = parser.parse_args()
    if options.stability:
        pages = list(_pages(options.corpora, FAMILIES))
        chosen = [page for page, fold in zip(pages, extra_site(pages), strict=True) if not fold]
        table = stability_table(chosen[:: max(1, len(chosen) // options.pages)][: options.pages])
    else:
        pages = list(_pages(options.corpora, TRAINED))[:: options.step]
        table = kept_out_table(pages, options.pages)
    print_tables([table], sys.stdout)


if __name__ == "__main__":
    main()
