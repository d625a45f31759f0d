"""Corpora of near-duplicates: labelled clusters, and the texts extracted from their pages.

Each line of ``truth.jsonl`` has two more labels: ``cluster``, the same for pages with the same
story, and ``kind``, how the story was edited. Pages may be in other corpora (``page`` is a path);
models are trained on the other pages of these corpora.
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

from newscrawl.document.document import parse_document
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.lab.corpora.corpus import (
    CorpusError,
    Half,
    LabelledPage,
    load_corpus,
    registered_domain,
)
from newscrawl.lab.corpora.map_pages import PageOutcome, map_pages
from newscrawl.lab.evaluation.out_of_fold import map_folds
from newscrawl.lab.paper_methods import TRAINED_METHODS
from newscrawl.neardup import Story

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


Input = Literal["page", "body", "gold"]
INPUTS: tuple[Input, ...] = get_args(Input)
"""Texts that are clustered: visible text of the page, extracted body, labelled body."""

UNEDITED = ("original", "natural", "single-host")
"""Kinds of pages that are not edited copies."""


@dataclass(frozen=True, slots=True)
class Member:
    """A page with its labelled cluster and the kind of edit."""

    page: LabelledPage
    cluster: str
    kind: str

    @property
    def half(self) -> Half:
        """Half of the cluster, by the parity of its MD5."""
        digest = hashlib.md5(self.cluster.encode(), usedforsecurity=False).hexdigest()
        return "test" if int(digest, 16) % 2 else "tune"


class Texts(NamedTuple):
    """Texts of a page: all visible text and the extracted body."""

    page: str
    body: str

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Texts:
        """Convert the result of :func:`read_texts`."""
        return cls(**plain)


def load_members(folder: Path) -> list[Member]:
    """Return the pages of the corpus in *folder* in order. Raises :exc:`CorpusError`."""
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
    """Return the texts of *members* in order; empty for failed pages.

    Models of learned methods are trained on other sites. *advance* is called after each page that
    is read for training or extracted.
    """

    def measure(
        pages: Sequence[LabelledPage], models: Path | None = None
    ) -> list[PageOutcome[Texts]]:
        return map_pages(
            "newscrawl.lab.evaluation.near_duplicate_corpus:read_texts",
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
        measure,
        learn_from=neighbours(members),
        workers=workers,
        advance=advance,
    )


def read_texts(
    html: bytes, *, page: dict[str, Any], method: str, models: str | None
) -> dict[str, str]:
    """Return the :class:`Texts` of a :class:`LabelledPage`, both as JSON values."""
    options = ExtractOptions(models=Path(models) if models else None)
    article = extract(html, page["url"], method=method, options=options)
    return Texts(parse_document(html).subtree_text(0), article.body)._asdict()


def stories(
    members: Sequence[Member], outcomes: Sequence[PageOutcome[Texts]], source: Input, seed: int = 0
) -> list[Story]:
    """Return the *source* texts of *members* in order, as input of the index.

    Dates of the corpus are meaningless (a story has the date of the page it was inserted into), so
    times are a minute apart in a random order given by *seed*.
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
