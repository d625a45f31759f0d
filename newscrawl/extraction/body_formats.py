"""Formats of the body besides plain text: :data:`BODY_FORMATS`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from newscrawl.extraction.body_structure import body_blocks, text_blocks
from newscrawl.extraction.html_writer import write_html
from newscrawl.extraction.markdown_writer import write_markdown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from newscrawl.document.document import Document
    from newscrawl.items import Article

BodyFormat = Literal["html", "markdown"]
BODY_FORMATS: tuple[BodyFormat, ...] = get_args(BodyFormat)
"""Names of the formats."""


class UnknownFormatError(ValueError):
    """The name is not in :data:`BODY_FORMATS`."""


def parse_formats(names: Iterable[str]) -> frozenset[BodyFormat]:
    """Return the formats with these *names*. Raises :class:`UnknownFormatError`."""
    wanted = {name.strip() for name in names} - {""}
    if unknown := wanted.difference(BODY_FORMATS):
        raise UnknownFormatError(
            f"unknown body format {min(unknown)!r}; expected one of: {', '.join(BODY_FORMATS)}"
        )
    return frozenset(name for name in BODY_FORMATS if name in wanted)


def set_formats(
    article: Article,
    document: Document,
    roots: Sequence[int],
    skip: AbstractSet[int],
    *,
    formats: Collection[BodyFormat],
    from_page: bool,
) -> None:
    """Set the body of *article* in *formats*: from the rows of its text, or from the text alone."""
    if from_page:
        blocks = body_blocks(document, roots, skip, article.url)
    else:
        blocks = text_blocks(article.body)
    if "markdown" in formats:
        article.body_markdown = write_markdown(blocks)
    if "html" in formats:
        article.body_html = write_html(blocks)
