"""Main image of an article, with its caption and credit."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice, takewhile
from typing import TYPE_CHECKING
from urllib.parse import unquote

from newscrawl.document.document import rows_between
from newscrawl.fields.metadata.jsonld import JsonObject, as_list
from newscrawl.fields.metadata.structured_data import (
    MAX_VALUES,
    StructuredData,
    clean_text,
    stated_texts,
)
from newscrawl.items import Image

if TYPE_CHECKING:
    from collections.abc import Iterator

    from newscrawl.document.document import Document

_IMAGE_META = (
    "og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src",
    "parsely-image-url", "sailthru.image.full", "thumbnailurl", "thumbnail", "image",
)  # fmt: skip
_CAPTION_KEYS = ("caption", "description")
# Class of the element of a caption that names the photographer or agency.
_CREDIT = re.compile(r"credit|copyright|source|photographer|attribution|author", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W_]{6,}")
_SIZE = re.compile(r"\d+x\d+")
_MAX_LEVELS = 8
_MAX_NODES = 50
_CREDIT_KEYS = ("creditText", "creator", "author", "copyrightHolder")
# Images of the site, which pages without an image of their own state.
_SITE_IMAGE = re.compile(
    r"(?<![a-z])(?:logos?|favicon|no[-_]?image)(?![a-z])"
    r"|^(?:default|fallback|placeholder|blank)|(?:default|placeholder)$",
    re.IGNORECASE,
)


def main_image(data: StructuredData) -> tuple[Image, str] | None:
    """Return the first stated image that is not an image of the site, and its source."""
    for address, source, node in _statements(data):
        url = data.absolute(clean_text(address))
        if url and not _SITE_IMAGE.search(_file_name(url)):
            caption, credit = (_name(data, node, keys) for keys in (_CAPTION_KEYS, _CREDIT_KEYS))
            stated = _without_file_name(Image(url, caption, credit))
            return _with_shown_caption(stated, data), source
    return None


def _statements(data: StructuredData) -> Iterator[tuple[str, str, JsonObject]]:
    """Yield address, source and object of JSON-LD of the stated images."""
    for name in ("image", "thumbnailUrl"):
        for image in as_list(data.article.get(name))[:MAX_VALUES]:
            node = _resolved(image, data.nodes) if isinstance(image, dict) else {"url": image}
            for address in _addresses(node):
                yield address, "json-ld", node
    for name in _IMAGE_META:
        for address in data.meta.get(name, ())[:MAX_VALUES]:
            yield address, f"meta:{name}", {}
    for item in data.items("image"):
        address = item.get("content") or item.get("src") or item.get("href")
        if address:
            yield address, "microdata", {}


def _addresses(image: JsonObject) -> list[str]:
    return stated_texts(image.get("url") or image.get("contentUrl"))


def _resolved(image: JsonObject, nodes: list[JsonObject]) -> JsonObject:
    if _addresses(image) or "@id" not in image:
        return image
    same = (node for node in nodes if node.get("@id") == image["@id"] and _addresses(node))
    return next(same, image)


def _name(data: StructuredData, node: JsonObject, keys: tuple[str, ...]) -> str | None:
    stated = (node[key] for key in keys if key in node)
    return next((name for value in stated for name in data.json_ld_names(value)), None)


def _without_file_name(image: Image) -> Image:
    """Return *image* without a caption that repeats the name of the file."""
    if not image.caption:
        return image
    caption = "".join(filter(str.isalnum, image.caption)).casefold()
    name = "".join(filter(str.isalnum, _file_name(unquote(image.url)))).casefold()
    return replace(image, caption=None) if caption and caption in name else image


def _file_name(url: str) -> str:
    """Return the last part of the path of *url*, without the extension."""
    name = url.partition("?")[0].rstrip("/").rpartition("/")[2]
    return name.rpartition(".")[0] or name


def _with_shown_caption(image: Image, data: StructuredData) -> Image:
    """Return *image* with the caption and the credit of the figure that shows it."""
    key = _key(image.url)
    if not key or not data.document.rows_of("figcaption"):
        return image
    for shown in data.images:
        if any(key in value for value in shown.attributes.values()):
            caption = _caption_row(data.document, shown.row)
            if caption is not None:
                text, credit = _caption_parts(data.document, caption)
                return replace(image, caption=text or image.caption, credit=credit or image.credit)
    return image


def _caption_row(document: Document, image: int) -> int | None:
    above = document.ancestors(image)
    figure = next((row for row in above if document.tag[row] == "figure"), None)
    if figure is None:
        return None
    captions = rows_between(document.rows_of("figcaption"), figure, document.end[figure])
    return next(iter(captions), None)


def _key(url: str) -> str:
    """Return the part of *url* that identifies a file in all of its sizes and formats."""
    path = unquote(url).partition("?")[0]
    name = _file_name(path)
    tokens = [part for part in _TOKEN.findall(name) if not _SIZE.fullmatch(part)]
    return max(tokens, key=lambda part: (not part.isalpha(), len(part)), default="")


def _caption_parts(document: Document, caption: int) -> tuple[str, str]:
    """Return the text of a ``figcaption`` without the credit, and the credit."""
    parts: tuple[list[str], list[str]] = ([], [])
    classes = document.attributes["class"]
    for row in document.text_nodes(caption)[:_MAX_NODES]:
        above = takewhile(caption.__lt__, islice(document.ancestors(row), _MAX_LEVELS))
        is_credit = any(_CREDIT.search(classes.get(ancestor, "")) for ancestor in above)
        parts[is_credit].append(document.text[row])
    return clean_text(" ".join(parts[False])).rstrip(" /|"), clean_text(" ".join(parts[True]))
