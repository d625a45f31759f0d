"""Near-duplicates of a corpus: its stories, from raw pages through extraction.

``truth.jsonl`` of such a corpus gives ``cluster`` and ``kind`` beside the labels of every page: the
pages of a cluster tell one story, *kind* says how it was edited. They may be pages of other corpora
(``page`` leads there), whose other pages the models learn from.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args
from urllib.parse import urlsplit

from newscrawl.corpora.corpus import (
    CorpusError,
    Half,
    LabelledPage,
    load_corpus,
    registered_domain,
)
from newscrawl.corpora.map_pages import PageOutcome, map_pages
from newscrawl.document.document import parse_document
from newscrawl.evaluation.out_of_fold import map_folds
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.extraction.methods import TRAINED_METHODS
from newscrawl.neardup import Story

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


Input = Literal["page", "body", "gold"]
INPUTS: tuple[Input, ...] = get_args(Input)
"""What is compared: all text that a page shows, the body extracted, the body labelled."""

UNEDITED = ("original", "natural", "single-host")
"""Kinds of page that are no edited copy of another."""


@dataclass(frozen=True, slots=True)
class Member:
    """A page, the cluster it is labelled with, and how its story was edited."""

    page: LabelledPage
    cluster: str
    kind: str

    @property
    def half(self) -> Half:
        """The half that the cluster belongs to, by the parity of its MD5."""
        digest = hashlib.md5(self.cluster.encode(), usedforsecurity=False).hexdigest()
        return "test" if int(digest, 16) % 2 else "tune"


class Texts(NamedTuple):
    """What extraction gives of a page."""

    page: str
    body: str

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Texts:
        """Return the texts that :func:`read_texts` gave."""
        return cls(**plain)


def load_members(folder: Path) -> list[Member]:
    """Return the pages of the corpus in *folder*, in order. Raises :exc:`CorpusError`."""
    pages = load_corpus(folder).pages
    with (folder / "truth.jsonl").open(encoding="utf-8") as lines:
        rows = {row["id"]: row for line in lines if line.strip() for row in [json.loads(line)]}
    try:
        return [
            Member(page, *(rows[page.id][key] for key in ("cluster", "kind"))) for page in pages
        ]
    except KeyError as error:
        raise CorpusError(f"{folder} has no clusters: a page without {error}") from error


def neighbours(members: Sequence[Member]) -> list[LabelledPage]:
    """Return the labelled pages of the other corpora that *members* come from."""
    own = {member.page.path.parent.parent.resolve() for member in members}
    folders = sorted(path for path in own if path.name != members[0].page.corpus)
    return [page for folder in folders for page in load_corpus(folder).pages]


def extract_texts(
    members: Sequence[Member],
    method: str,
    *,
    workers: int,
    advance: Callable[[], object] | None = None,
) -> list[PageOutcome[Texts]]:
    """Return what *method* extracts of each of *members*, in order; nothing of those that fail.

    A learned method's models have seen no page of the member's site. *advance* is called after
    each page that is learned from or read.
    """

    def measure(
        pages: Sequence[LabelledPage], models: Path | None = None
    ) -> list[PageOutcome[Texts]]:
        return map_pages(
            "newscrawl.evaluation.near_duplicate_corpus:read_texts",
            pages,
            Texts.from_plain,
            lambda _page: Texts("", ""),
            workers=workers,
            advance=advance,
            method=method,
            models=str(models) if models else None,
        )

    pages = [member.page for member in members]
    if method not in TRAINED_METHODS:
        return measure(pages)
    return map_folds(
        pages,
        "extra-site",
        measure,
        learn_from=neighbours(members),
        workers=workers,
        advance=advance,
    )


def read_texts(
    html: bytes, *, page: dict[str, Any], method: str, models: str | None
) -> dict[str, str]:
    """Return :class:`Texts` of a page as JSON values; *page* is a :class:`LabelledPage` in them."""
    options = ExtractOptions(models=Path(models) if models else None)
    article = extract(html, page["url"], method=method, options=options)
    return Texts(parse_document(html).subtree_text(0), article.body)._asdict()


def stories(
    members: Sequence[Member], outcomes: Sequence[PageOutcome[Texts]], source: Input, seed: int = 0
) -> list[Story]:
    """Return the *source* text of each of *members*, in order, as stories to be clustered.

    The corpus has no dates that mean anything (a story keeps its host's), so they come a minute
    apart in an order drawn with *seed*.
    """
    minutes = list(range(len(members)))
    Random(seed).shuffle(minutes)  # noqa: S311
    start = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        Story(
            url=member.page.url or "",
            text=_text(member, outcome.value, source),
            when=start + timedelta(minutes=minute),
            site=registered_domain(urlsplit(member.page.url or "").hostname or ""),
        )
        for member, outcome, minute in zip(members, outcomes, minutes, strict=True)
    ]


def _text(member: Member, texts: Texts, source: Input) -> str:
    if source == "gold":
        return member.page.body or ""
    return texts.page if source == "page" else texts.body
