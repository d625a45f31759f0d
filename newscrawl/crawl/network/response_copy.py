"""Copies of responses."""

from __future__ import annotations

from typing import Any

from scrapy.http import Response


def copy_response(
    response: Response, cls: type[Response] | None = None, **changes: Any
) -> Response:
    """Return a copy of *response* with *changes*, as *cls* if given.

    ``Response.replace`` infers the encoding, for which Scrapy decodes the body in the event loop.
    """
    values = {name: getattr(response, name) for name in Response.attributes}
    return (cls or type(response))(**values | changes)
