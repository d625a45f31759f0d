"""Protection of the parser against tags with very many attributes.

libxml2 and lexbor compare each attribute of a tag with all earlier ones: 300,000 attributes take
more than a minute. Long tags are common (JSON in one attribute), so attributes are counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from newscrawl.document.html_tables import RAWTEXT, RCDATA
from newscrawl.patterns import lazy_regex

if TYPE_CHECKING:
    import re

MAX_ATTRIBUTES = 256
"""Attributes that a tag may keep; tags of news pages have up to 60."""

# As libxml2 reads them: "=" may begin a name, and a value without its closing quote extends to the
# end of the page.
_SPACE = rb" \t\n\r\f"
_VALUE = rb"""(?:"[^"]*+"?+|'[^']*+'?+|[^%b>]*+)""" % _SPACE
_ONE = rb"[^%b/>][^%b/>=]*+(?:[%b]*+=[%b]*+%b)?+" % (*[_SPACE] * 4, _VALUE)
_TAG = rb"<[a-zA-Z][^%b/>]*+(?:[%b/]*+%b){0,%%s}+[%b/]*+(?:>|\Z)" % (_SPACE, _SPACE, _ONE, _SPACE)
# Markup in comments, scripts and other raw text is not a tag.
_COMMENT = rb"<!--(?:[^-]++|-(?!->))*+"
# An alternative per name: Python 3.11 has no groups within possessive repetition.
_RAW_TEXT = b"|".join(
    rb"(?=<(?i:%b)[%b/>])%b(?:[^<]++|<(?!/(?i:%b)[%b/>]))*+" % (name, _SPACE, _TAG, name, _SPACE)
    for name in (name.encode() for name in ("script", *RAWTEXT, *RCDATA))
)
_PLAIN_TEXT = rb"<(?i:plaintext)[%b/>](?s:.*+)" % _SPACE
_TOKEN = b"(?:%b)" % b"|".join([_RAW_TEXT, _PLAIN_TEXT, _TAG, _COMMENT, rb"<(?![a-zA-Z]|!--)"])
_MAX_HARMLESS = 512
# Fails at the first tag with more attributes than are parsed in milliseconds.
_HARMLESS = lazy_regex(rb"[^<]*+(?:" + _TOKEN.replace(b"%s", b"%d" % _MAX_HARMLESS) + rb"[^<]*+)*+")
_ANY_TOKEN = lazy_regex(_TOKEN.replace(b"%s", b""))
_OPEN_TAG = lazy_regex(_TAG.replace(b"%s", b""))
_ATTRIBUTE = lazy_regex(_ONE)


def drop_surplus_attributes(html: bytes) -> bytes | None:
    """Return *html* with at most :data:`MAX_ATTRIBUTES` attributes per tag; None if unchanged.

    Linear time.
    """
    harmless = _HARMLESS.match(html)
    if harmless is not None and harmless.end() == len(html):
        return None
    shortened = _ANY_TOKEN.sub(_shorten, html)
    return None if len(shortened) == len(html) else shortened


def _shorten(token: re.Match[bytes]) -> bytes:
    whole = token[0]
    if len(whole) < 2 * MAX_ATTRIBUTES or not whole[1:2].isalpha():
        return whole
    end = _OPEN_TAG.match(whole).end()  # type: ignore[union-attr]  # tokens with a letter are tags
    for count, attribute in enumerate(_ATTRIBUTE.finditer(whole, 1, end)):
        if count == MAX_ATTRIBUTES:  # the first match is the tag's name
            return whole[: attribute.end()] + b">" + whole[end:]
    return whole
