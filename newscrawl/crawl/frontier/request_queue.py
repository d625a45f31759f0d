"""Queues of pending requests by download slot."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from scrapy import Request


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

    def pop(self) -> tuple[str, QueueEntry] | None:
        """Remove and return the next request with the name of its slot; None if there is none.

        The request is in flight until :meth:`release` is called.
        """
        if not self._ready:
            return None
        slot = next(iter(self._ready[min(self._ready)].values()))
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
