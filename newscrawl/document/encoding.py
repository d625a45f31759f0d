"""Decoding of pages: bytes to UTF-8.

The order: byte order mark, escape sequences, UTF-16 without a mark, strict UTF-8, the charset that
the HTTP header or the page declares, detection. Browsers trust the header first. Here valid UTF-8
wins, because crawled pages are often stored in another charset than they declare.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

import webencodings
from webencodings.labels import LABELS

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
# Python has several codecs for an encoding of the standard, not all of them complete.
_LARGER = {
    "gbk": "gb18030",
    "euc_jp": "euc_jis_2004",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
}
_NO_CHARSETS = {"replacement", "x-user-defined"}
WHATWG_CODECS = frozenset(
    _LARGER.get(encoding.codec_info.name, encoding.codec_info.name)
    for name in set(LABELS.values()) - _NO_CHARSETS
    if (encoding := webencodings.lookup(name))
)
"""Python codecs of the encodings of the WHATWG Encoding Standard; Python has more: "punycode" takes
quadratic time, "hex" is no charset."""
_DECLARED_BYTES = 4096
_CONTENT_TYPE = re.compile(rb"charset\s*+=\s*+[\"']?+\s*+([^\s;\"']+)", re.IGNORECASE)
_DECLARATION = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(?:meta\b[^<>]*?\bcharset|\?xml\b[^<>]*?\bencoding)\s*+=\s*+[\"']?+\s*+([^\s;\"'/>]+)",
    re.IGNORECASE | re.DOTALL,
)
_DECODED_BYTES = 16 * 1024
_MAX_DETECTION_BYTES = 256 * 1024
# Largest share of replaced non-ASCII characters for a declared charset to be accepted.
_MAX_REPLACED = 0.05
_EUROS = {"gb18030": b"\x80", "big5hkscs": b"\xa3\xe1"}
# Words of other scripts than Latin, in one-byte and two-byte charsets.
_OTHER_SCRIPT = re.compile(rb"[\xa1-\xff]{8}")
# The same for UTF-8, whose sequences are rare in text of legacy charsets.
_MAX_REPLACED_UTF8 = 0.3

# Undefined bytes are control characters, as in browsers.
_WINDOWS_1252 = "".join(
    bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(256)
)

_BINARY_SIGNATURES = (
    b"%PDF-", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b", b"RIFF", b"\x7fELF",
    b"OggS", b"ID3", b"7z\xbc\xaf", b"Rar!", b"\xd0\xcf\x11\xe0", b"wOFF", b"wOF2", b"BZh",
)  # fmt: skip
_CONTROL_CHARACTERS = bytes(set(range(32)) - set(b"\t\n\f\r\x1b\0"))


def whatwg_codec(label: str | None) -> str | None:
    """Return the Python codec of *label*, of the Encoding Standard or of Python ("cp932").

    None if the standard does not have the encoding.
    """
    if not label:
        return None
    found = webencodings.lookup(label)
    try:
        codec = found.codec_info.name if found else codecs.lookup(label).name
    except (LookupError, ValueError):
        return None
    codec = _LARGER.get(codec, codec)
    return codec if codec in WHATWG_CODECS else None


def header_charset(content_type: bytes | None) -> str | None:
    """Return the codec of an HTTP ``Content-Type`` header; None if missing or unknown."""
    declared = _CONTENT_TYPE.search(content_type or b"")
    return whatwg_codec(declared[1].decode("latin-1")) if declared else None


def page_charset(data: bytes) -> str | None:
    """Return the codec that the first 4 KB of a page declare; None if missing or unknown."""
    for declared in _DECLARATION.finditer(data, 0, _DECLARED_BYTES):
        if declared[1]:
            return whatwg_codec(declared[1].decode("latin-1"))
    return None


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
    data = bytes(data)  # the body of a response may be of a subclass
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _decode(data.removeprefix(mark), encoding)
    is_ascii = data.isascii()  # as the text of all escape sequences is
    if is_ascii and b"\x1b" in data:
        for escape, encoding in _ESCAPE_SEQUENCES:
            if escape in data and (text := _strict(data, encoding)) is not None:
                return Decoded(text.encode(), encoding, repaired=False)
    if (wide := _unmarked_utf16(data)) is not None:
        return _decode(data, wide)
    valid = len(data) if is_ascii else _utf8_length(data)
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
    parts, used, size = memoryview(data), 0, 1
    while size:  # in parts, as memory for a large page takes longer than decoding it
        try:
            _, size = codecs.utf_8_decode(parts[used : used + _DECODED_BYTES], "strict", False)  # noqa: FBT003  # not final
        except UnicodeDecodeError:
            return None
        used += size
    return used


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
    if not declared and (found := _detected(data)):
        return _decode(data, found)
    return Decoded(_windows_1252(data).encode(), "cp1252", repaired=True)


def _detected(data: bytes) -> str | None:
    from charset_normalizer import from_bytes  # noqa: PLC0415  # slow to import, seldom needed

    # UTF-16 has been recognised by its bytes; old versions find it in short texts.
    codecs_tried = sorted(WHATWG_CODECS - {"utf-16-be", "utf-16-le"})
    best = from_bytes(data[:_MAX_DETECTION_BYTES], cp_isolation=codecs_tried).best()
    return best.encoding if best else None


def _declared(data: bytes, charset: str | None) -> list[str]:
    """Return the declared codecs in the order of trial.

    ISO-8859-1 in the header is often a server default, so the page's declaration precedes it, and
    bytes that are no text of its languages refute it. A declaration of UTF-16 is wrong: such pages
    have been recognised by their bytes.
    """
    header = whatwg_codec(charset)
    own = page_charset(data)
    if header == "cp1252" and not own and _OTHER_SCRIPT.search(data):
        return []
    both = (own, header) if header == "cp1252" else (header, own)
    return [name for name in dict.fromkeys(both) if name and not name.startswith("utf-")]


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding, "newscrawl.euro")
    except UnicodeError:
        return None


def _as_euro(error: UnicodeError) -> tuple[str, int]:
    """Decode the euro signs of GBK and Big5, which Python's codecs do not have."""
    if isinstance(error, UnicodeDecodeError):
        sign = _EUROS.get(error.encoding.replace("-", ""), b"")
        if sign and error.object.startswith(sign, error.start):
            return "€", error.start + len(sign)
    raise error


codecs.register_error("newscrawl.euro", _as_euro)


def _decode(data: bytes, encoding: str) -> Decoded:
    errors = "newscrawl.windows-1252" if encoding == "utf-8" else "replace"
    if (text := _strict(data, encoding)) is not None:
        return Decoded(text.encode(errors="replace"), encoding, repaired=False)
    return Decoded(data.decode(encoding, errors).encode(errors="replace"), encoding, repaired=True)


def _windows_1252(data: bytes) -> str:
    text, _ = codecs.charmap_decode(data, "strict", _WINDOWS_1252)
    return text


def _as_windows_1252(error: UnicodeError) -> tuple[str, int]:
    """Decode invalid bytes as windows-1252, the most common charset of such bytes."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return _windows_1252(error.object[error.start : error.end]), error.end


codecs.register_error("newscrawl.windows-1252", _as_windows_1252)
