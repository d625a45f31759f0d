"""Geometry of a rendered page: boxes and styles of its elements and text nodes."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from newscrawl.document.document import TEXT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from newscrawl.document.document import Document


class GeometryError(ValueError):
    """The geometry of a page is missing, invalid or that of another page."""


class Box(NamedTuple):
    """A rectangle on the page, in CSS pixels from its top left corner."""

    left: float
    top: float
    width: float
    height: float


class Look(NamedTuple):
    """Style of a text node as rendered."""

    font_size: float
    font_weight: float
    italic: bool
    underlined: bool
    color: str
    family: str
    #: colour of the nearest background
    background: str


@dataclass(frozen=True, slots=True)
class PageGeometry:
    """Geometry of a rendered page, by the rows of its ``Document``."""

    #: number of rows of the document
    rows: int
    width: float
    height: float
    #: boxes of elements and text nodes; those that are not rendered or not visible have none
    boxes: Mapping[int, Box]
    #: elements that are displayed as blocks
    blocks: frozenset[int]
    #: styles of the text nodes that have a box
    looks: Mapping[int, Look]
    #: text nodes with the same text at the same place in Chromium's tree
    matched: int
    #: shown text nodes that are missing from Chromium's tree, or differ there
    unmatched: int
    #: style sheets that the page requested and that are not stored
    missing_sheets: int

    def check(self, document: Document) -> None:
        """Raise :class:`GeometryError` if this is not the geometry of *document*."""
        if self.rows != len(document):
            raise GeometryError(
                f"the geometry is that of another page: {self.rows} rows instead of {len(document)}"
            )

    def save(self, path: Path) -> None:
        """Write the geometry to *path*. Raises ``OSError``."""
        plain = asdict(self) | {
            "boxes": [[row, *box] for row, box in self.boxes.items()],
            "looks": [[row, *look] for row, look in self.looks.items()],
            "blocks": sorted(self.blocks),
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(json.dumps(plain).encode(), 6))

    @classmethod
    def load(cls, path: Path) -> PageGeometry:
        """Read a geometry from *path*. Raises :class:`GeometryError`."""
        try:
            plain: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
            return cls(
                **plain
                | {
                    "boxes": {row: Box(*box) for row, *box in plain["boxes"]},
                    "looks": {row: Look(*look) for row, *look in plain["looks"]},
                    "blocks": frozenset(plain["blocks"]),
                }
            )
        except FileNotFoundError as error:
            raise GeometryError(
                f"no geometry of the rendered page: there is no file {path}"
            ) from error
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            raise GeometryError(f"{path} is not the geometry of a page: {error}") from error


def text_places(document: Document) -> dict[int, int]:
    """Return the text node at each place of the tree.

    A place is the row of the element before the text, or ``~row`` of the parent if there is none.
    """
    places, latest = {}, dict[int, int]()
    for row, (tag, parent) in enumerate(zip(document.tag, document.parent, strict=True)):
        if tag == TEXT:
            places[latest.get(parent, ~parent)] = row
        else:
            latest[parent] = row
    return places
