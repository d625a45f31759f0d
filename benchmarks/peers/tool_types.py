"""Types of the comparison: a tool, its input and its output."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from newscrawl.lab.corpora.metadata_match import METADATA_FIELDS, MetadataField, MetadataValues

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

CoreField = Literal["title", "date", "body"]
CORE_FIELDS: tuple[CoreField, ...] = get_args(CoreField)
Field = CoreField | MetadataField
FIELDS: tuple[Field, ...] = (*CORE_FIELDS, *METADATA_FIELDS)


class PageInput(NamedTuple):
    """Page as it is passed to the tools."""

    data: bytes
    #: *data* decoded
    html: str
    #: None if unknown
    url: str | None
    #: language declared by the page, such as ``de-AT``
    language: str | None = None
    #: time of the fetch, None if unknown
    fetched_at: datetime | None = None


class Output(NamedTuple):
    """Fields that a tool extracts from a page, None if missing."""

    title: str | None = None
    #: date of publication, as ISO 8601 or other text
    date: str | None = None
    #: date of modification, for tools that distinguish it from publication
    modified: str | None = None
    body: str | None = None
    authors: Sequence[str] = ()
    description: str | None = None
    site_name: str | None = None
    section: str | None = None
    tags: Sequence[str] = ()
    #: URL
    image: str | None = None

    @property
    def metadata(self) -> MetadataValues:
        """Authors and other metadata."""
        return MetadataValues(*(getattr(self, name) for name in METADATA_FIELDS))


@dataclass(frozen=True, slots=True)
class Tool:
    """Fields and functions of a tool."""

    #: extracted fields
    fields: tuple[Field, ...]
    #: imports the tool and returns the timed function
    load: Callable[..., Callable[[PageInput], Output]]
    #: description of the call in the report
    call: str
    #: name of the distribution; None if it needs none
    package: str | None = None
    #: loads the function for the date of modification, if separate; it is not timed
    load_modified: Callable[[], Callable[[PageInput], str | None]] | None = None
    #: method of newscrawl with fitted models
    learned: bool = False

    @property
    def version(self) -> str | None:
        """Installed version; None if not installed."""
        try:
            return version(self.package or "newscrawl")
        except PackageNotFoundError:
            return None
