"""Images, videos and recordings that a page states, and what it shows of its images."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from itertools import takewhile, zip_longest
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import unquote

from newscrawl.document.document import rows_between
from newscrawl.fields.metadata.jsonld import JsonObject, types
from newscrawl.fields.metadata.structured_data import (
    MAX_VALUES,
    StructuredData,
    clean_text,
    stated_texts,
    whole_number,
)
from newscrawl.items import Media

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from newscrawl.document.document import Document
    from newscrawl.document.rows import Statement

MediaKind = Literal["image", "video", "audio"]


class _Names(NamedTuple):
    """Names of a kind of media."""

    #: meta elements with an address
    meta: tuple[str, ...]
    #: properties of the article
    properties: tuple[str, ...]
    #: keys of a caption
    captions: tuple[str, ...]
    #: keys of an address, which all stand for one medium
    addresses: tuple[str, ...]


_KINDS: dict[MediaKind, _Names] = {
    "image": _Names(
        (
            "og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src",
            "parsely-image-url", "sailthru.image.full", "thumbnailurl", "thumbnail", "image",
        ),
        ("image", "thumbnailUrl"), ("caption", "description"), ("url", "contentUrl"),
    ),
    "video": _Names(
        ("og:video", "og:video:url", "og:video:secure_url"),
        ("video",), ("name", "caption"), ("contentUrl", "embedUrl", "url"),
    ),
    "audio": _Names(
        ("og:audio", "og:audio:url", "og:audio:secure_url"),
        ("audio",), ("name", "caption"), ("contentUrl", "embedUrl", "url"),
    ),
}  # fmt: skip
_CREDIT_KEYS = ("creditText", "creator", "author", "copyrightHolder")
# Class of the element of a caption that names the photographer or agency.
_CREDIT = re.compile(r"credit|copyright|source|photographer|attribution|author", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W_]{6,}")
_SIZE = re.compile(r"\d+x\d+")
# The size in the name of a file.
_SIZED = re.compile(
    r"[-_](?:\d+x\d+|scaled|x?[sml]|xl|small|medium|large|thumb(?:nail)?)(?=\.\w+$)", re.IGNORECASE
)
# Names of files, which need no query; those of programs do.
_FILE = re.compile(
    r"[^/]\.(?:jpe?g|png|webp|gif|avif|svg|mp4|webm|m3u8|mp3|m4a|ogg|wav)$", re.IGNORECASE
)
_NOTHING = Media("")
_MAX_LEVELS = 8
_MAX_NODES = 50
_MAX_MEDIA = 100
# Characters of a name with a number that no other file of a page has.
_MIN_OWN_NAME = 16
# Addresses of one image, and stated images whose captions are searched.
_MAX_SOURCES = 20
# Images of the site, which pages without an image of their own state.
_SITE_IMAGE = re.compile(
    r"(?<![a-z])(?:logos?|favicon|no[-_]?image)(?![a-z])"
    r"|^(?:default|fallback|placeholder|blank)|(?:default|placeholder)$",
    re.IGNORECASE,
)


def main_image(data: StructuredData) -> tuple[Media, str] | None:
    """Return the first stated image, with all that is stated and shown of it, and its source."""
    found, first = None, ""
    for addresses, medium, source in _statements(data, "image"):
        if found is not None and medium is _NOTHING:
            continue
        for url in _urls(data, addresses, "image")[:1]:
            stated = replace(medium, url=url)
            if found is None:
                found, first = stated, source
            elif url == found.url:
                found = with_parts(found, stated)
    if found is None:
        return None
    return with_shown_parts(_without_file_name(found), data), first


def stated_media(data: StructuredData, kind: MediaKind) -> list[Media]:
    """Return the media of *kind* that the page states, each with what all sources state."""
    found = _Collection()
    for addresses, medium, _ in _statements(data, kind):
        if urls := _urls(data, addresses, kind):
            found.add(urls, _without_file_name(replace(medium, url=urls[0])))
    media = found.media
    if kind == "image":
        media[:_MAX_SOURCES] = [with_shown_parts(it, data) for it in media[:_MAX_SOURCES]]
    return media


def merged_media(*groups: Iterable[Media]) -> list[Media]:
    """Return the distinct media of *groups*, each with what all groups have, first ones first."""
    found = _Collection()
    for medium in (medium for group in groups for medium in group):
        found.add([medium.url], medium)
    return found.media


def _urls(data: StructuredData, addresses: list[str], kind: MediaKind) -> list[str]:
    """Return the web addresses among *addresses*, without those of images of the site."""
    cleaned = filter(None, map(clean_text, addresses))
    urls = [url for it in cleaned if (url := data.absolute(it)) and url != data.base]
    is_image = kind == "image"
    return [url for url in urls if not (is_image and _SITE_IMAGE.search(_file_name(url)))]


@dataclass
class _Collection:
    """Media without doubles."""

    media: list[Media] = field(default_factory=list)
    #: URL -> index in ``media``
    _by_url: dict[str, int] = field(default_factory=dict)
    #: name of a file -> parts of its path and index in ``media``
    _by_name: dict[str, list[tuple[list[str], int]]] = field(default_factory=dict)

    def add(self, urls: list[str], medium: Media) -> None:
        """Add *medium*, which has the addresses *urls*, or what it adds to one of the same file."""
        index = next((it for url in urls if (it := self._find(url)) is not None), None)
        if index is None:
            if len(self.media) == _MAX_MEDIA:
                return
            index = len(self.media)
            self.media.append(medium)
        else:
            self.media[index] = with_parts(self.media[index], medium)
        for url in urls[:_MAX_SOURCES]:
            self._by_url.setdefault(url, index)
            if parts := file_path(url):
                self._by_name.setdefault(parts[-1], []).append((parts, index))

    def _find(self, url: str) -> int | None:
        if url in self._by_url:
            return self._by_url[url]
        parts = file_path(url)
        known = self._by_name.get(parts[-1], ())[:_MAX_SOURCES] if parts else ()
        return next((index for other, index in known if is_same_file(parts, other)), None)


def file_path(url: str) -> list[str]:
    """Return the parts of the path of a file without its size; nothing for other addresses."""
    path = unquote(url.partition("#")[0].partition("?")[0])
    if not _FILE.search(path):
        return []
    return _SIZED.sub("", path.partition("://")[2] or path).strip("/").split("/")


def is_same_file(parts: list[str], other: list[str]) -> bool:
    """Return whether paths are of one file in two sizes.

    Its name is the same, and long and with a number, or one path has the parts of the other in
    order: ``/files/styles/large/a.jpg``. The hosts may differ.
    """
    short, long = sorted((parts, other), key=len)
    if not short:
        return False
    name, rest = short[-1], iter(long)
    is_own = len(name) >= _MIN_OWN_NAME and any(map(str.isdigit, name.rpartition(".")[0]))
    return name == long[-1] and (is_own or all(part in rest for part in short[1:]))


def with_parts(medium: Media, other: Media) -> Media:
    """Return *medium* with the parts of *other* that it lacks; the width is that of the address."""
    names = (it.name for it in fields(Media) if it.name != "width" or medium.url == other.url)
    return replace(medium, **{
        name: getattr(other, name) for name in names if getattr(medium, name) is None
    })  # fmt: skip


def _statements(data: StructuredData, kind: MediaKind) -> Iterator[tuple[list[str], Media, str]]:
    """Yield addresses, properties and source of the stated media of *kind*."""
    names = _KINDS[kind]
    values = [*data.ld_values(*names.properties)]
    attached = [it for it in data.ld_values("associatedMedia") if _is_of_kind(it, kind)]
    if kind != "image":
        values += map(data.resolved, data.nodes_of(f"{kind.title()}Object")[:MAX_VALUES])
    for value in values:
        yield *_read(data, value, names), "json-ld"
    for name in filter(data.meta.__contains__, names.meta):
        addresses, key = data.meta[name][:MAX_VALUES], f"{name.partition(':')[0]}:{kind}"
        parts = (data.meta.get(f"{key}:{part}", ()) for part in ("alt", "width"))
        alts, widths = (it if len(it) == len(addresses) else it[:1] for it in parts)
        for address, alt, width in zip_longest(addresses, alts, widths):
            medium = _NOTHING
            if alt or width:
                medium = Media("", alt=clean_text(alt or "") or None, width=whole_number(width))
            yield [address], medium, f"meta:{name}"
    for value in data.item_values(*names.properties):
        yield *_read(data, value, names), "microdata"
    for value in attached:
        yield *_read(data, value, names), "json-ld"


def _is_of_kind(value: Any, kind: str) -> bool:
    return isinstance(value, dict) and f"{kind.title()}Object" in types(value)


def _read(data: StructuredData, value: Any, names: _Names) -> tuple[list[str], Media]:
    """Return the addresses of an object, or the address that it is, and its properties."""
    if not isinstance(value, dict):
        return [value] if isinstance(value, str) else [], _NOTHING
    addresses = [it for name in names.addresses for it in stated_texts(value.get(name))]
    caption, credit = (_name(data, value, keys) for keys in (names.captions, _CREDIT_KEYS))
    return addresses, Media("", caption, credit, width=whole_number(value.get("width")))


def _name(data: StructuredData, node: JsonObject, keys: tuple[str, ...]) -> str | None:
    stated = (node[key] for key in keys if key in node)
    return next((name for value in stated for name in data.json_ld_names(value)), None)


def _without_file_name(image: Media) -> Media:
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


def with_shown_parts(image: Media, data: StructuredData) -> Media:
    """Return *image* with what the page shows of it: caption, credit, alternative text, width.

    The caption may be that of a file of another name with the same long word.
    """
    caption, shown = ("", ""), None
    for found, is_exact in _shown(image.url, data):
        shown = shown or (found if is_exact else None)
        own = shown_caption(data.document, found.row)
        if any(own) and (is_exact or not any(caption)):
            caption = own
            if is_exact:
                break
    alt = clean_text(shown.get("alt")) if shown else ""
    is_of_address = shown is not None and data.absolute(shown.get("src")) == image.url
    return Media(
        image.url,
        caption[0] or image.caption,
        caption[1] or image.credit,
        alt or image.alt,
        image.width or (whole_number(shown.get("width")) if shown and is_of_address else None),
    )


def _shown(url: str, data: StructuredData) -> Iterator[tuple[Statement, bool]]:
    """Yield the images in figures with the address *url* or a similar one; whether it is equal."""
    name = _SIZED.sub("", url.partition("?")[0].rpartition("/")[2]).partition(".")[0]
    key, path = _key(url), file_path(url)
    for shown in data.images:
        values = [value for value in shown.attributes.values() if name and name in value]
        sources = (it for value in values for it in value.split(maxsplit=_MAX_SOURCES))
        if any(_is_address_of(it.strip(","), url, path, data) for it in sources):
            yield shown, True
        elif key and key in "\0".join(shown.attributes.values()):
            yield shown, False


def _is_address_of(source: str, url: str, path: list[str], data: StructuredData) -> bool:
    address = data.absolute(source)
    if address is None or address == url:
        return address is not None
    return bool(path) and is_same_file(path, file_path(address))


def _key(url: str) -> str:
    """Return the part of *url* that identifies a file in all of its sizes and formats."""
    path = unquote(url).partition("?")[0]
    name = _file_name(path)
    tokens = [part for part in _TOKEN.findall(name) if not _SIZE.fullmatch(part)]
    return max(tokens, key=lambda part: (not part.isalpha(), len(part)), default="")


def shown_caption(document: Document, medium: int) -> tuple[str, str]:
    """Return the caption of the figure around a row without the credit, and the credit."""
    if not document.rows_of("figcaption"):
        return "", ""
    above = document.ancestors(medium)
    figure = next((row for row in above if document.tag[row] == "figure"), None)
    if figure is None:
        return "", ""
    captions = rows_between(document.rows_of("figcaption"), figure, document.end[figure])
    return next((_caption_parts(document, row) for row in captions), ("", ""))


def _caption_parts(document: Document, caption: int) -> tuple[str, str]:
    parts: tuple[list[str], list[str]] = ([], [])
    classes = document.attributes["class"]
    for row in document.text_nodes(caption)[:_MAX_NODES]:
        above = takewhile(caption.__lt__, document.closest_ancestors(row, _MAX_LEVELS))
        is_credit = any(_CREDIT.search(classes.get(ancestor, "")) for ancestor in above)
        parts[is_credit].append(document.text[row])
    return clean_text(" ".join(parts[False])).rstrip(" /|"), clean_text(" ".join(parts[True]))
