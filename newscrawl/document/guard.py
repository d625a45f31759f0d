"""A guard before the parser, against tags that no parser survives.

libxml2 and lexbor compare each attribute of a tag with all those before it: 2,000 attributes
cost 2.5 ms, 16,000 cost 160 ms, 300,000 more than a minute. The length of a tag proves nothing
(one page in fifteen has a tag over 20 KB: JSON in one attribute), so attributes are counted.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from newscrawl.compiled import compiled_module

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_ATTRIBUTES = 256
"""Attributes that a tag may keep; the tags of 679 news pages have 60 at most."""

# The value of an attribute is quoted only right after "="; a quote elsewhere is part of a name.
_PART = rb"""[^>=]{1,64}+(?:="[^"]*+"|=\s*+(?:"[^"]*+"|'[^']*+')?+)?+|="""
_TAG = rb"<[a-zA-Z](?:" + _PART + rb"){0,%s}+(?:>|\Z)"
# What looks like a tag in a script or a comment is none.
_COMMENT = rb"<!--(?:[^-]++|-(?!->))*+"
_SCRIPT = rb"(?=<(?i:script|style)[\s/>])" + _TAG + rb"(?:[^<]++|<(?!/(?i:script|style)))*+"
_TOKEN = rb"(?:" + _SCRIPT + rb"|" + _TAG + rb"|" + _COMMENT + rb"|<(?![a-zA-Z]|!--))"
_MOST_PARTS = 512
# Fails at the first tag of more parts; each part is an attribute with a value or at
# most 32 without one, so what passes is parsed in milliseconds.
_HARMLESS = re.compile(rb"[^<]*+(?:" + _TOKEN.replace(b"%s", b"%d" % _MOST_PARTS) + rb"[^<]*+)*+")
_ANY_TOKEN = re.compile(_TOKEN.replace(b"%s", b""))
_OPEN_TAG = re.compile(_TAG.replace(b"%s", b""))
_ATTRIBUTE = re.compile(rb"""[^\s/>=][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?+""")


# Below this a tag costs the parser milliseconds, and the look at it can be a glance.
_FEW = 4096
_STRIDE = 4096
_EVERY = 4
_NEVER_BARE = b">\"{',"


def drop_surplus_attributes(html: bytes) -> bytes | None:
    """Return *html* with at most ``MOST_ATTRIBUTES`` attributes a tag; None where none has more.

    Time is linear in the length of *html*. The exact count costs 0.3 of a parse, 0.03 compiled, and is
    made only where a glance (0.03, 0.01) does not exclude a tag of thousands of attributes; four news
    pages in five pass at a glance. A page made to slip through, with attributes of both kinds and
    quoted tags between them, is left to the deadline of the extraction workers.
    """
    if not is_suspicious(html) or is_harmless(html):
        return None
    shortened = _ANY_TOKEN.sub(_shorten, html)
    return None if len(shortened) == len(html) else shortened


def suspicious_in_python(html: bytes) -> bool:
    """Return whether a quarter of *html*, in strides, leaves room for thousands of attributes.

    Those with values show in the number of equals signs. A stride within a tag of many without
    has white space, and nothing of what ends a tag, quotes, or makes a style sheet.
    """
    equals = 0
    for start in range(0, len(html), _EVERY * _STRIDE):
        stride = html[start : start + _STRIDE]
        equals += stride.count(b"=")
        if equals * _EVERY > _FEW:
            return True
        within = start + _STRIDE < len(html) and b" " in stride
        if within and all(other not in stride for other in _NEVER_BARE):
            return True
    return False


def harmless_in_python(html: bytes) -> bool:
    """Return whether no tag of *html* has so many parts that its attributes may be too many."""
    match = _HARMLESS.match(html)
    return match is not None and match.end() == len(html)


_compiled = compiled_module("newscrawl.document._bytes")
is_suspicious: Callable[[bytes], bool] = (
    partial(_compiled.is_suspicious, stride=_STRIDE, every=_EVERY, few=_FEW, never_bare=_NEVER_BARE)
    if _compiled
    else suspicious_in_python
)
is_harmless: Callable[[bytes], bool] = (
    partial(_compiled.is_harmless, most_parts=_MOST_PARTS) if _compiled else harmless_in_python
)


def _shorten(token: re.Match[bytes]) -> bytes:
    whole = token[0]
    if len(whole) < 2 * MOST_ATTRIBUTES or not whole[1:2].isalpha():
        return whole
    end = _OPEN_TAG.match(whole).end()  # type: ignore[union-attr]  # every token of a letter is one
    for count, attribute in enumerate(_ATTRIBUTE.finditer(whole, 1, end)):
        if count == MOST_ATTRIBUTES:  # the first is the tag's name
            return whole[: attribute.end()] + b">" + whole[end:]
    return whole
