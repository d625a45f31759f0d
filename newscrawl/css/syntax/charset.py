"""Decoding of style sheets (CSS Syntax 3, 3.2)."""

from __future__ import annotations

import re

from w3lib.encoding import read_bom

from newscrawl.document.encoding import whatwg_codec

_CHARSET_RULE = re.compile(rb'@charset "([^"]{1,64}+)";')


def decode_sheet(data: bytes, charset: str | None = None) -> str:
    """Return the text of a style sheet; *charset* comes from the HTTP header.

    Precedence: byte order mark, HTTP header, ``@charset`` rule, UTF-8. Undecodable bytes are
    replaced.
    """
    marked, mark = read_bom(data)
    if marked and mark:
        return data[len(mark) :].decode(marked, "replace")
    encoding = whatwg_codec(charset) or _declared(data) or "utf-8"
    return data.decode(encoding, "replace")


def _declared(data: bytes) -> str | None:
    rule = _CHARSET_RULE.match(data)
    encoding = whatwg_codec(rule[1].decode("latin-1")) if rule else None
    # The rule was readable as ASCII, so the sheet cannot be UTF-16.
    return "utf-8" if encoding and encoding.startswith("utf-16") else encoding
