"""Requests as JSON text, and back: callbacks by name, no pickle."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request
from scrapy.utils.misc import load_object

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider

_PLAIN: Final = (
    "cb_kwargs",
    "cookies",
    "dont_filter",
    "encoding",
    "flags",
    "meta",
    "method",
    "priority",
)
_DEFAULTS: Final = {name: getattr(Request("data:,"), name) for name in _PLAIN}
_encode = json.JSONEncoder(separators=(",", ":")).encode


class NotPlainError(ValueError):
    """A request holds what JSON cannot hold, or a callback that is no method of the spider."""


def dump_request(request: Request, spider: Spider) -> str:
    """Return *request* as JSON; raises :class:`NotPlainError`.

    What JSON changes (a tuple, a number as the key of a dict) comes back changed.
    """
    plain: dict[str, Any] = {"url": request.url}
    if request.callback:
        plain["callback"] = _name(request.callback, spider)
    if request.errback:
        plain["errback"] = _name(request.errback, spider)
    if request.headers:
        plain["headers"] = _headers(request)
    if request.body:
        plain["body"] = b64encode(request.body).decode("ascii")
    for name, default in _DEFAULTS.items():
        if (value := getattr(request, name)) != default:
            plain[name] = value
    if type(request) is not Request:
        plain |= _subclass(request)
    try:
        return _encode(plain)
    except (TypeError, ValueError) as error:  # circular, among others
        raise NotPlainError(str(error)) from None


def _headers(request: Request) -> list[tuple[str, list[str]]]:
    return [
        (name.decode("latin-1"), [value.decode("latin-1") for value in values])
        for name, values in request.headers.items()
    ]


def _subclass(request: Request) -> dict[str, Any]:
    kind = type(request)
    own = {
        name: getattr(request, name) for name in kind.attributes if name not in Request.attributes
    }
    return {**own, "class": f"{kind.__module__}.{kind.__qualname__}"}


def _name(function: Callable[..., Any], spider: Spider) -> str:
    name: str = getattr(function, "__name__", "")
    if not name or getattr(spider, name, None) != function:
        raise NotPlainError(f"{function} is not a method of the spider")
    return name


def load_request(text: str, spider: Spider) -> Request:
    """Return the request that :func:`dump_request` made *text* from.

    Raises :class:`NotPlainError` where the spider has no such callback any more.
    """
    plain = json.loads(text)
    for name in ("callback", "errback"):
        if name in plain:
            plain[name] = _method(plain[name], spider)
    if "body" in plain:
        plain["body"] = b64decode(plain["body"])
    if "headers" in plain:
        plain["headers"] = {
            name.encode("latin-1"): [value.encode("latin-1") for value in values]
            for name, values in plain["headers"]
        }
    return _class(plain.pop("class", None))(**plain)


def _method(name: str, spider: Spider) -> Callable[..., Any]:
    method = getattr(spider, name, None)
    if not callable(method):
        raise NotPlainError(f"the spider {spider.name!r} has no method {name!r}")
    return method  # type: ignore[no-any-return]


@lru_cache
def _class(path: str | None) -> type[Request]:
    if path is None:
        return Request
    kind = load_object(path)
    if not (isinstance(kind, type) and issubclass(kind, Request)):
        raise NotPlainError(f"{path} is not a class of requests")
    return kind
