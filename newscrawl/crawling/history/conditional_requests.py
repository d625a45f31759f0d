"""Conditional requests (RFC 9110, section 13), and Cache-Control (RFC 9111)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.http import Response

MAX_VALIDATOR_LENGTH: Final = 1024
"""Maximum length of a validator; longer ones are not stored."""

#: stored name -> response header, header of the conditional request
_HEADERS: Final = {
    "etag": ("ETag", "If-None-Match"),
    "last_modified": ("Last-Modified", "If-Modified-Since"),
}

_MAX_AGE: Final = re.compile(rb"(?<![\w-])max-age\s{0,9}=\s{0,9}\"?(\d{1,9})")
_NO_CACHE: Final = re.compile(rb"\bno-(?:cache|store)\b")
_SECONDS: Final = re.compile(rb"\d{1,9}")


def validators(response: Response) -> tuple[str | None, ...]:
    """Return the ETag and the Last-Modified header of *response*; None if not present."""
    values = [response.headers.get(header) for header, _ in _HEADERS.values()]
    return tuple(
        value.decode("latin-1").strip() if value and len(value) <= MAX_VALIDATOR_LENGTH else None
        for value in values
    )


def conditional_headers(stored: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers of a conditional request with the *stored* validators."""
    return {header: stored[name] for name, (_, header) in _HEADERS.items() if stored.get(name)}


def cache_time(response: Response) -> float:
    """Return the seconds for which *response* is fresh according to Cache-Control, 0 if unknown."""
    directives = (response.headers.get("Cache-Control") or b"").lower()
    age = _SECONDS.match(response.headers.get("Age") or b"")
    fresh = _MAX_AGE.search(directives)
    if not fresh or _NO_CACHE.search(directives):
        return 0.0
    return max(0.0, float(fresh[1]) - (float(age[0]) if age else 0.0))
