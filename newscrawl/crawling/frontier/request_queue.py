"""Pending requests as JSON, callbacks by name, and their queues by download slot."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scrapy import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider


_DEFAULTS: Final = {
    name: getattr(Request("data:,"), name)
    for name in [
        "cb_kwargs",
        "cookies",
        "dont_filter",
        "encoding",
        "flags",
        "meta",
        "method",
        "priority",
    ]
}
_encode = json.JSONEncoder(separators=(",", ":")).encode


class SerializationError(ValueError):
    """A request has a value that is not JSON, or a callback that is not a spider method."""


def dump_request(request: Request, spider: Spider) -> str:
    """Return *request* as JSON; raises :class:`SerializationError`.

    Tuples are loaded as lists, and numeric keys of a dict as strings.
    """
    plain: dict[str, Any] = {"url": request.url}
    if request.callback:
        plain["callback"] = _method_name(request.callback, spider)
    if request.errback:
        plain["errback"] = _method_name(request.errback, spider)
    if request.headers:
        plain["headers"] = [
            (name.decode("latin-1"), [value.decode("latin-1") for value in values])
            for name, values in request.headers.items()
        ]
    if request.body:
        plain["body"] = b64encode(request.body).decode("ascii")
    for name, default in _DEFAULTS.items():
        if (value := getattr(request, name)) != default:
            plain[name] = value
    if (cls := type(request)) is not Request:
        names = (name for name in cls.attributes if name not in Request.attributes)
        plain |= {name: getattr(request, name) for name in names} | {"class": _class_path(cls)}
    try:
        return _encode(plain)
    except (TypeError, ValueError) as error:
        raise SerializationError(str(error)) from None


def _method_name(function: Callable[..., Any], spider: Spider) -> str:
    name: str = getattr(function, "__name__", "")
    if not name or getattr(spider, name, None) != function:
        raise SerializationError(f"{function} is not a method of the spider")
    return name


def load_request(text: str, spider: Spider) -> Request:
    """Return the request that :func:`dump_request` serialized as *text*.

    Raises :class:`SerializationError` if the spider has no such callback any more, or if *text* is
    empty.
    """
    if not text:
        raise SerializationError("damaged")
    plain = json.loads(text)
    for name in {"callback", "errback"} & plain.keys():
        method = plain[name]
        if not callable(found := getattr(spider, method, None)):
            raise SerializationError(f"the spider {spider.name!r} has no method {method!r}")
        plain[name] = found
    if "body" in plain:
        plain["body"] = b64decode(plain["body"])
    if "headers" in plain:
        plain["headers"] = {
            name.encode("latin-1"): [value.encode("latin-1") for value in values]
            for name, values in plain["headers"]
        }
    return _request_class(plain.pop("class", None))(**plain)


def _request_class(path: str | None) -> type[Request]:
    """Return the class named *path*; only classes that are imported already are known."""
    if path is None:
        return Request
    classes: list[type[Request]] = [Request]
    for cls in classes:  # grows
        if path == _class_path(cls):
            return cls
        classes += cls.__subclasses__()
    raise SerializationError(f"{path} is not a known subclass of Request")


def _class_path(cls: type[Request]) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


class QueueEntry(NamedTuple):
    """A pending request. Entries are ordered by rank, then by age."""

    #: negative priority
    rank: int
    id: int
    #: key of the request, the same after a crash
    key: int
    #: the request itself if it is only in memory
    request: Request | None = None


@dataclass(slots=True, eq=False)
class SlotQueue:
    """The queue of one download slot."""

    name: str
    heap: list[QueueEntry] = field(default_factory=list)
    #: number of requests in flight
    in_flight: int = 0


class PendingRequests:
    """All pending requests. The slot with the fewest requests in flight comes next, in turn."""

    def __init__(self) -> None:
        self._slots: dict[str, SlotQueue] = {}
        #: slots with pending requests, by the number of their requests in flight
        self._ready: dict[int, dict[str, SlotQueue]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def push(self, name: str, entry: QueueEntry) -> None:
        """Add *entry* to the slot *name*."""
        slot = self._slots.setdefault(name, SlotQueue(name))
        heappush(slot.heap, entry)
        self._count += 1
        self._set_ready(slot)

    def pop(self, limit: float = float("inf")) -> tuple[str, QueueEntry] | None:
        """Remove and return the next request with the name of its slot; None if there is none.

        The request is in flight until :meth:`release` is called. No slot has more than *limit*.
        """
        fewest = min(self._ready, default=0)
        if not self._ready or fewest >= limit:
            return None
        slot = next(iter(self._ready[fewest].values()))
        self._unset_ready(slot)
        entry = heappop(slot.heap)
        self._count -= 1
        slot.in_flight += 1
        self._set_ready(slot)
        return slot.name, entry

    def release(self, name: str) -> None:
        """Record that a request of the slot *name* is no longer in flight."""
        slot = self._slots[name]
        self._unset_ready(slot)
        slot.in_flight -= 1
        self._set_ready(slot)
        if not (slot.heap or slot.in_flight):
            del self._slots[name]

    def _set_ready(self, slot: SlotQueue) -> None:
        if slot.heap:
            self._ready.setdefault(slot.in_flight, {})[slot.name] = slot

    def _unset_ready(self, slot: SlotQueue) -> None:
        slots = self._ready.get(slot.in_flight, {})
        slots.pop(slot.name, None)
        if not slots:
            self._ready.pop(slot.in_flight, None)
