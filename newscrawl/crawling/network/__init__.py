"""Network access: address checks, downloads, politeness, robots.txt."""

from __future__ import annotations

from typing import Any

from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response


class RefusedError(IgnoreRequest):
    """A request that is refused before it is sent; ``reason`` is its name in the stats."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"refused ({reason})")
        self.reason = reason


def copy_response(
    response: Response, cls: type[Response] | None = None, **changes: Any
) -> Response:
    """Return a copy of *response* with *changes*, as *cls* if given.

    ``Response.replace`` infers the encoding, for which Scrapy decodes the body in the event loop.
    """
    values = {name: getattr(response, name) for name in Response.attributes}
    return (cls or type(response))(**values | changes)
