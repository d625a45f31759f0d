"""Decoding of pages: bytes to UTF-8.

The order: byte order mark, escape sequences, UTF-16 without a mark, strict UTF-8, the charset that
the HTTP header or the page declares, detection. Browsers trust the header first. Here valid UTF-8
wins, because crawled pages are often stored in another charset than they declare.
"""

from __future__ import annotations

import codecs
from typing import NamedTuple

from charset_normalizer import from_bytes
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    resolve_encoding,
)

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # starts with the mark of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ESCAPE_SEQUENCES = (
    (b"\x1b$)C", "iso2022_kr"),
    (b"\x1b$B", "iso2022_jp"),
    (b"\x1b$@", "iso2022_jp"),
)
_MAX_DETECTION_BYTES = 256 * 1024
# Largest share of replaced non-ASCII characters for a declared charset to be accepted.
_MAX_REPLACED = 0.05
# The same for UTF-8, whose sequences are rare in text of legacy charsets.
_MAX_REPLACED_UTF8 = 0.3

_BINARY_SIGNATURES = (
    b"%PDF-", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b", b"RIFF", b"\x7fELF",
    b"OggS", b"ID3", b"7z\xbc\xaf", b"Rar!", b"\xd0\xcf\x11\xe0", b"wOFF", b"wOF2", b"BZh",
)  # fmt: skip
_CONTROL_CHARACTERS = bytes(set(range(32)) - set(b"\t\n\f\r\x1b\0"))


def header_charset(content_type: bytes | None) -> str | None:
    """Return the charset of an HTTP ``Content-Type`` header; None if missing or unknown."""
    return http_content_type_encoding((content_type or b"").decode("latin-1"))


class Decoded(NamedTuple):
    """A page as UTF-8, with its original encoding."""

    utf8: bytes
    #: name of the Python codec
    encoding: str
    #: True if invalid bytes were replaced or decoded as windows-1252
    repaired: bool


def to_utf8(data: bytes, charset: str | None = None) -> Decoded:
    """Return *data* as UTF-8; *charset* is that of the HTTP header.

    Never fails: invalid bytes are replaced, and ``repaired`` is True.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _decode(data.removeprefix(mark), encoding)
    if b"\x1b" in data:
        for escape, encoding in _ESCAPE_SEQUENCES:
            if escape in data and (text := _strict(data, encoding)) is not None:
                return Decoded(text.encode(), encoding, repaired=False)
    if (wide := _unmarked_utf16(data)) is not None:
        return _decode(data, wide)
    valid = _utf8_length(data)
    if valid is None:
        return _decode_legacy(data, charset)
    return Decoded(data[:valid], "utf-8", repaired=valid < len(data))


def is_binary(data: bytes) -> bool:
    """Return whether *data* is binary: by its signature or its control characters."""
    if data.startswith(_BINARY_SIGNATURES):
        return True
    head = data[:2048]
    return len(head) - len(head.translate(None, _CONTROL_CHARACTERS)) > len(head) // 20


def _utf8_length(data: bytes) -> int | None:
    """Return the length of *data* without an incomplete last character; None if it is not UTF-8."""
    position = 0
    while position < len(data):
        chunk = data[position : position + 16384]
        try:
            used = len(chunk)
            if not chunk.isascii():  # most chunks are ASCII, which is checked ten times as fast
                _, used = codecs.utf_8_decode(chunk, "strict", False)  # noqa: FBT003  # not final
        except UnicodeDecodeError:
            return None
        if not used:
            break
        position += used
    return position


def _unmarked_utf16(data: bytes) -> str | None:
    """Return the UTF-16 codec of *data* if many of its first bytes are NUL."""
    head = data[:512]
    if head.count(0) * 3 < len(head):
        return None
    if head[1::2].count(0) > 9 * head[::2].count(0):
        return "utf-16-le"
    return "utf-16-be" if head[::2].count(0) > 9 * head[1::2].count(0) else None


def _decode_legacy(data: bytes, charset: str | None) -> Decoded:
    """Decode *data*, which is not valid UTF-8: as declared, else as detected."""
    declared = _declared(data, charset)
    for encoding in declared:
        if (text := _strict(data, encoding)) is not None:
            return Decoded(text.encode(), encoding, repaired=False)
    # Pages with a few invalid bytes, often left over from a conversion.
    limits = [*((name, _MAX_REPLACED) for name in declared), ("utf-8", _MAX_REPLACED_UTF8)]
    for encoding, limit in limits:
        text = data.decode(encoding, "replace")
        if text.count("\ufffd") <= limit * sum(1 for character in text if character > "\x7f"):
            return _decode(data, encoding)
    if not declared and (found := from_bytes(data[:_MAX_DETECTION_BYTES]).best()) is not None:
        return _decode(data, found.encoding)
    return Decoded(data.decode("cp1252", "newscrawl.latin-1").encode(), "cp1252", repaired=True)


def _declared(data: bytes, charset: str | None) -> list[str]:
    """Return the declared codecs in the order of trial.

    ISO-8859-1 in the header is often a server default, so the page's declaration precedes it.
    """
    header = resolve_encoding(charset) if charset else None
    own = html_body_declared_encoding(data)
    both = (own, header) if header == "cp1252" else (header, own)
    return [encoding for encoding in dict.fromkeys(both) if encoding and encoding != "utf-8"]


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeError:
        return None


def _decode(data: bytes, encoding: str) -> Decoded:
    errors = "newscrawl.latin-1" if encoding == "utf-8" else "replace"
    if (text := _strict(data, encoding)) is not None:
        return Decoded(text.encode(errors="replace"), encoding, repaired=False)
    return Decoded(data.decode(encoding, errors).encode(errors="replace"), encoding, repaired=True)


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    """Decode invalid bytes as windows-1252, the most common charset of such bytes."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    stray = error.object[error.start : error.end]
    if error.encoding == "utf-8":
        stray_text = stray.decode("cp1252", "newscrawl.latin-1")
    else:
        stray_text = stray.decode("latin-1")
    return stray_text, error.end


codecs.register_error("newscrawl.latin-1", _as_latin_1)
