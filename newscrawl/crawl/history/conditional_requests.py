"""Conditional requests (RFC 9110, section 13)."""

from __future__ import annotations

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
