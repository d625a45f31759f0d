"""From the bytes of a page to UTF-8.

The order: byte order mark, escape-coded charsets, strict UTF-8, what the HTTP header and the
page itself declare, detection. Browsers believe the header first; we believe bytes that prove
themselves, because a page stored in another charset than it declares is common in crawls and
valid UTF-8 of any length is no accident.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, NamedTuple

from charset_normalizer import from_bytes
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    resolve_encoding,
)

from newscrawl.compiled import compiled_module

if TYPE_CHECKING:
    from collections.abc import Callable

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins with the mark of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ESCAPES = ((b"\x1b$)C", "iso2022_kr"), (b"\x1b$B", "iso2022_jp"), (b"\x1b$@", "iso2022_jp"))
_SNIFFED = 256 * 1024
# More damage than this and a declared charset is not the one that the bytes are stored in.
_MOST_REPLACED = 0.05
# Of UTF-8 more is believed: text in a legacy charset forms hardly any of its sequences.
_MOST_STRAY = 0.3


# Documents, pictures and archives by their first bytes; anything else by what text does not hold.
_BINARY = (
    b"%PDF-", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b", b"RIFF", b"\x7fELF",
    b"OggS", b"ID3", b"7z\xbc\xaf", b"Rar!", b"\xd0\xcf\x11\xe0", b"wOFF", b"wOF2", b"BZh",
)  # fmt: skip
_CONTROL = bytes(set(range(32)) - set(b"\t\n\f\r\x1b\0"))


def header_charset(content_type: bytes | None) -> str | None:
    """Return the charset that an HTTP ``Content-Type`` names, as far as it is a known one."""
    return http_content_type_encoding((content_type or b"").decode("latin-1"))


class Decoded(NamedTuple):
    """A page as UTF-8, and how we know."""

    utf8: bytes
    #: name of the Python codec that the bytes were read with
    encoding: str
    #: True where some bytes did not fit and were replaced or read as windows-1252
    repaired: bool


def to_utf8(data: bytes, charset: str | None = None) -> Decoded:
    """Return *data* as UTF-8; *charset* is what the HTTP header declared.

    Never fails: what fits no charset is replaced, and said to be.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _read(data.removeprefix(mark), encoding)
    if b"\x1b" in data:  # one byte is found ten times as fast as two
        for escape, encoding in _ESCAPES:
            if escape in data and (text := _strict(data, encoding)) is not None:
                return Decoded(text.encode(), encoding, repaired=False)
    if (wide := _unmarked_utf16(data)) is not None:
        return _read(data, wide)
    valid = utf8_length(data)
    if valid is None:
        return _legacy(data, charset)
    return Decoded(data[:valid], "utf-8", repaired=valid < len(data))


def is_binary(data: bytes) -> bool:
    """Return whether *data* is no text in any charset, whatever it was declared as."""
    if data.startswith(_BINARY):
        return True
    head = data[:2048]
    return len(head) - len(head.translate(None, _CONTROL)) > len(head) // 20


def utf8_length_in_python(data: bytes) -> int | None:
    """Return how much of *data* is UTF-8: all, or all but a last character cut off; else None.

    In chunks, whose text stays in the cache: a third of the time of decoding at once.
    """
    view, position = memoryview(data), 0
    while position < len(data):
        try:
            chunk = view[position : position + 16384]
            _, used = codecs.utf_8_decode(chunk, "strict", False)  # noqa: FBT003  # not final
        except UnicodeDecodeError:
            return None
        if not used:
            break
        position += used
    return position


_compiled = compiled_module("newscrawl.document._bytes")
utf8_length: Callable[[bytes], int | None] = (
    _compiled.utf8_length if _compiled else utf8_length_in_python
)


def _unmarked_utf16(data: bytes) -> str | None:
    """Return the UTF-16 codec of *data* where half of its first bytes are NUL."""
    head = data[:512]
    if head.count(0) * 3 < len(head):
        return None
    if head[1::2].count(0) > 9 * head[::2].count(0):
        return "utf-16-le"
    return "utf-16-be" if head[::2].count(0) > 9 * head[1::2].count(0) else None


def _legacy(data: bytes, charset: str | None) -> Decoded:
    """Read *data*, which is not valid UTF-8, by what is declared."""
    declared = _declared(data, charset)
    for encoding in declared:
        if (text := _strict(data, encoding)) is not None:
            return Decoded(text.encode(), encoding, repaired=False)
    # Stray bytes of the charset it once was in a page that is UTF-8 or declares a legacy one.
    for encoding, most in (*((name, _MOST_REPLACED) for name in declared), ("utf-8", _MOST_STRAY)):
        text = data.decode(encoding, "replace")
        if text.count("\ufffd") <= most * sum(1 for character in text if character > "\x7f"):
            return _read(data, encoding)
    if not declared and (found := from_bytes(data[:_SNIFFED]).best()) is not None:
        return _read(data, found.encoding)
    return Decoded(data.decode("cp1252", "newscrawl.latin-1").encode(), "cp1252", repaired=True)


def _declared(data: bytes, charset: str | None) -> list[str]:
    """Return the declared codecs, the one to try first first.

    A header that says ISO-8859-1 is often a server's default and not the author's word: the
    page's own declaration goes before it.
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


def _read(data: bytes, encoding: str) -> Decoded:
    errors = "newscrawl.latin-1" if encoding == "utf-8" else "replace"
    if (text := _strict(data, encoding)) is not None:
        return Decoded(text.encode(errors="replace"), encoding, repaired=False)
    return Decoded(data.decode(encoding, errors).encode(errors="replace"), encoding, repaired=True)


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    """Read the bytes that do not fit as windows-1252, the charset that most such bytes are in."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    stray = error.object[error.start : error.end]
    if error.encoding == "utf-8":
        stray_text = stray.decode("cp1252", "newscrawl.latin-1")
    else:
        stray_text = stray.decode("latin-1")
    return stray_text, error.end


codecs.register_error("newscrawl.latin-1", _as_latin_1)
