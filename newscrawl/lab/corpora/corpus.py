"""Labelled pages on disk: ``NAME/truth.jsonl`` and ``NAME/pages/ID.html.gz``."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from newscrawl.fields.dates.decide import site_zones, to_local_zone
from newscrawl.items import Day, parse_iso

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tldextract import TLDExtract

_METADATA = ("authors", "description", "site_name", "section", "tags", "image")
_TAG_SEPARATOR = re.compile(r"[,;]")
# The time is local, as the day of an article is.
_ZONE_NAME = re.compile(r" [A-Z]{3,4} (?=\d)")
_NAME_SEPARATOR = re.compile(r"[,;|]|\s(?:and|&)\s", re.IGNORECASE)

Half = Literal["tune", "test"]
HALVES: tuple[Half, ...] = get_args(Half)


class CorpusError(ValueError):
    """Invalid corpus; the message names the file and the line."""


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """A page and its labels; ``None`` for a field that is not labelled."""

    corpus: str
    id: str
    #: gzipped file of the page
    path: Path
    url: str | None
    #: site in averages over sites: ``publisher`` if given, else ``site``
    site: str
    #: constants may be tuned on ``tune`` pages; ``test`` pages are only scored
    half: Half
    title: str | None = None
    #: publication date or instant
    date: Day | datetime | None = None
    body: str | None = None
    authors: tuple[str, ...] = ()
    #: description or standfirst
    description: str | None = None
    site_name: str | None = None
    section: str | None = None
    tags: tuple[str, ...] = ()
    #: URL of the main image
    image: str | None = None
    #: two extractors agree with each other but not with the label
    body_suspect: bool = False
    #: the labelled date matches nothing on the page; scored separately
    date_doubtful: bool = False
    #: time of the download (aware), the reference of relative dates
    fetched_at: datetime | None = None
    #: such as ``en``
    language: str | None = None
    #: type of a page that is not an article: ``collection``, ``listing``, ``forum``, ``product``...
    page_type: str | None = None

    @property
    def relevant_content(self) -> str | None:
        """Title and body (NCE, "Our Metric"), if both are labelled."""
        if self.title is None or self.body is None:
            return None
        return f"{self.title}\n{self.body}"

    @property
    def day_counts(self) -> bool:
        """Whether the date is labelled and not doubtful."""
        return self.date is not None and not self.date_doubtful

    @property
    def labelled(self) -> bool:
        """Whether a field of the article is labelled."""
        texts = self.title is not None or self.body is not None
        return texts or self.date is not None or self.metadata_labelled

    @property
    def metadata_labelled(self) -> bool:
        """Whether authors or other metadata are labelled."""
        return any(getattr(self, name) for name in _METADATA)

    def html(self) -> bytes:
        """Return the bytes of the page. Raises ``OSError``, ``EOFError`` or ``zlib.error``."""
        return gzip.decompress(self.path.read_bytes())

    def to_plain(self) -> dict[str, Any]:
        """Return the page as JSON values."""
        date = self.date.isoformat() if self.date else None
        fetched_at = self.fetched_at.isoformat() if self.fetched_at else None
        return asdict(self) | {"path": str(self.path), "date": date, "fetched_at": fetched_at}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> LabelledPage:
        """Convert the result of :meth:`to_plain`."""
        moments = {
            name: parse_iso(plain[name]) if plain[name] else None for name in ("date", "fetched_at")
        }
        values = {**plain, **moments, "path": Path(plain["path"])}
        return cls(**values | {name: tuple(plain[name]) for name in ("authors", "tags")})


@dataclass(frozen=True, slots=True)
class Corpus:
    """The labelled pages of one folder."""

    name: str
    pages: list[LabelledPage] = field(default_factory=list)
    #: pages that are not articles, with their type
    typed: list[LabelledPage] = field(default_factory=list)
    #: number of skipped pages without labels
    unlabelled: int = 0


def load_corpus(folder: Path) -> Corpus:
    """Return the labelled pages of *folder*.

    Raises :exc:`CorpusError` if the folder, a page or a line of ``truth.jsonl`` is missing or
    invalid.
    """
    truth = folder / "truth.jsonl"
    if not truth.is_file():
        raise CorpusError(f"no corpus at {folder}: there is no file {truth}")
    name = folder.resolve().name
    suspects = _body_suspects(folder.resolve().parent / "body-suspects.json", name)
    pages = []
    for number, row in _rows(truth):
        try:
            pages.append(_page(row, folder, name, suspects))
        except (KeyError, TypeError, ValueError) as error:
            message = f"{truth}, line {number}: {_explain(error)}"
            raise CorpusError(message) from error
    typed = [page for page in pages if page.page_type]
    labelled = [page for page in pages if page.labelled and not page.page_type]
    return Corpus(name, labelled, typed, unlabelled=len(pages) - len(labelled) - len(typed))


def half_of(host: str) -> Half:
    """Return the half of *host*: the parity of the MD5 of its registered domain.

    All pages of a domain are in the same half.
    """
    digest = hashlib.md5(registered_domain(host).encode(), usedforsecurity=False).hexdigest()
    return "test" if int(digest, 16) % 2 else "tune"


def registered_domain(host: str) -> str:
    """Return the registered domain of *host* (``bbc.co.uk`` of ``www.bbc.co.uk``), or *host*."""
    return _public_suffixes()(host).top_domain_under_public_suffix or host


@cache
def _public_suffixes() -> TLDExtract:
    from tldextract import TLDExtract  # noqa: PLC0415  # slow to import

    return TLDExtract(suffix_list_urls=())  # the packaged list: no network, stable halves


def _rows(truth: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with truth.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise CorpusError(f"{truth}, line {number}: not JSON: {error}") from error
            if not isinstance(row, dict):
                raise CorpusError(f"{truth}, line {number}: not a JSON object")
            yield number, row


def _page(row: dict[str, Any], folder: Path, corpus: str, suspects: frozenset[str]) -> LabelledPage:
    path = folder / row.get("page", f"pages/{row['id']}.html.gz")
    if not path.is_file():
        raise ValueError(f"no page at {path}")
    url, written = row.get("url") or None, row.get("date")
    return LabelledPage(
        corpus=corpus,
        id=row["id"],
        path=path,
        url=url,
        site=row.get("publisher") or row["site"],
        half=half_of(row["site"]),
        title=_text(row, "title"),
        date=_local_date(parse_iso(_ZONE_NAME.sub(" ", written)), url) if written else None,
        body=_text(row, "body"),
        authors=_texts(row.get("authors"), _NAME_SEPARATOR),
        # standfirsts have a key of their own in some corpora
        description=_text(row, "description") or _text(row, "dek"),
        site_name=_text(row, "site_name"),
        section=_text(row, "section"),
        tags=_texts(row.get("tags"), _TAG_SEPARATOR),
        image=_text(row, "image"),
        body_suspect=row["id"] in suspects,
        date_doubtful=bool(row.get("date_doubtful")),
        fetched_at=_instant(row["crawled"]) if row.get("crawled") else None,
        language=_text(row, "language"),
        page_type=_text(row, "page_type"),
    )


def _local_date(date: Day | datetime, url: str | None) -> Day | datetime:
    """Convert an instant in UTC to the zone of the domain's country, where the day may differ."""
    return to_local_zone(date, (), (), site_zones(url))


def _instant(text: str) -> datetime:
    instant = datetime.fromisoformat(text)
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def _text(row: dict[str, Any], name: str) -> str | None:
    value = row.get(name)
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name!r} is not a string")
    return value or None


def _texts(value: str | list[str] | None, separator: re.Pattern[str]) -> tuple[str, ...]:
    """Return the texts in a list or in one string with separators."""
    texts = separator.split(value) if isinstance(value, str) else value or []
    return tuple(text.strip() for text in texts if text.strip())


def _body_suspects(path: Path, corpus: str) -> frozenset[str]:
    if not path.is_file():
        return frozenset()
    try:
        return frozenset(json.loads(path.read_text(encoding="utf-8")).get(corpus, ()))
    except (ValueError, AttributeError, TypeError) as error:
        raise CorpusError(f"{path}: not an object of lists of page ids: {error}") from error


def _explain(error: Exception) -> str:
    return f"no {error}" if isinstance(error, KeyError) else str(error)
