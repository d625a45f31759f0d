"""Conditional requests (RFC 9110, section 13): ask for a page only if it has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.http import Response

MAX_VALIDATOR: Final = 1024
"""Characters of a validator that is kept; longer ones are not sent back."""

#: what is kept -> header of the response, header of the next request
_HEADERS: Final = {
    "etag": ("ETag", "If-None-Match"),
    "last_modified": ("Last-Modified", "If-Modified-Since"),
}


def validators(response: Response) -> dict[str, str]:
    """Return ``etag`` and ``last_modified`` of *response*, where it has them."""
    found = {name: response.headers.get(header) for name, (header, _) in _HEADERS.items()}
    return {
        name: value.decode("latin-1").strip()
        for name, value in found.items()
        if value and len(value) <= MAX_VALIDATOR
    }


def conditions(known: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers of a request for what has changed since *known* (see above)."""
    return {header: known[name] for name, (_, header) in _HEADERS.items() if known.get(name)}
