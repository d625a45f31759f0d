"""Conditional requests (RFC 9110, section 13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.http import Response

MAX_VALIDATOR: Final = 1024
"""Maximum length of a validator; longer ones are not stored."""

#: stored name -> response header, header of the conditional request
_HEADERS: Final = {
    "etag": ("ETag", "If-None-Match"),
    "last_modified": ("Last-Modified", "If-Modified-Since"),
}


def validators(response: Response) -> dict[str, str]:
    """Return ``etag`` and ``last_modified`` of *response*, if present."""
    values = {name: response.headers.get(header) for name, (header, _) in _HEADERS.items()}
    return {
        name: value.decode("latin-1").strip()
        for name, value in values.items()
        if value and len(value) <= MAX_VALIDATOR
    }


def conditional_headers(stored: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers of a conditional request with the *stored* validators."""
    return {header: stored[name] for name, (_, header) in _HEADERS.items() if stored.get(name)}
