"""Queues of pending requests by download slot; only the first requests of each are in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from scrapy import Request

MIN_SLOT_MEMORY: Final = 4
"""Minimum number of requests per slot in memory."""


class QueueEntry(NamedTuple):
    """A pending request. Entries are ordered by rank, then by age."""

    #: negative priority
    rank: int
    id: int
    #: key of the request, the same after a crash
    key: int
    #: JSON if the request is or will be in the file, else the request itself
    request: str | Request


@dataclass(slots=True, eq=False)
class SlotQueue:
    """The queue of one download slot.

    All entries before the *horizon* are in memory. Entries behind it are only in the file (they are
    *spilled*), except those that were not in the file when they were added.
    """

    name: str
    heap: list[QueueEntry] = field(default_factory=list)
    #: number of requests in flight
    in_flight: int = 0
    #: number of entries that are only in the file
    spilled: int = 0
    #: (rank, id) of the first entry that may be spilled; None if none is
    horizon: tuple[int, int] | None = None
    loading: bool = False
    #: spilled entries that were added while the slot is loading
    late: list[QueueEntry] = field(default_factory=list)
    #: (rank, id) of entries behind the horizon that are or were in memory
    kept: set[tuple[int, int]] = field(default_factory=set)
    #: heap size at which to spill next
    spill_size: int = 0

    def push(self, entry: QueueEntry, *, in_file: bool) -> None:
        """Add *entry*: to memory, unless it is in the file and behind the horizon."""
        behind = self._is_behind(entry)
        if in_file and behind:
            self.spilled += 1
            if self.loading:
                self.late.append(entry)
            return
        heappush(self.heap, entry)
        if behind:
            self.kept.add(entry[:2])

    def _is_behind(self, entry: QueueEntry) -> bool:
        return self.horizon is not None and (entry.rank, entry.id) >= self.horizon

    def spill(self, size: int, in_file: Callable[[QueueEntry], bool]) -> None:
        """Remove all but the first *size* entries from memory, unless they are not in the file."""
        self.heap.sort()
        rest = self.heap[size:]
        spilled = [entry for entry in rest if in_file(entry)]
        if spilled:
            self.horizon = min(self.horizon or spilled[0][:2], spilled[0][:2])
            self.spilled += len(spilled)
            self.heap = self.heap[:size] + [entry for entry in rest if not in_file(entry)]
            self.kept.difference_update(entry[:2] for entry in spilled)
            self.kept.update(entry[:2] for entry in self.heap if self._is_behind(entry))
        self.spill_size = 2 * len(self.heap)

    def loaded(self, entries: list[QueueEntry], *, leased: Collection[int], complete: bool) -> None:
        """Add *entries*, read from the file from the horizon on in order.

        *leased*: IDs of requests that had a lease when the file was read. *complete*: the file has
        no more entries.
        """
        late, self.late, self.loading = self.late, [], False
        self.horizon = None if complete else (entries[-1].rank, entries[-1].id + 1)
        read = {entry.id for entry in entries}  # may include late entries
        new = [e for e in entries if e.id not in leased and e[:2] not in self.kept]
        new += [entry for entry in late if not self._is_behind(entry) and entry.id not in read]
        self.spilled -= len(new)
        self.heap += new
        heapify(self.heap)
        if not self.spilled:
            self.horizon = None
        self.kept = {place for place in self.kept if self.horizon and place >= self.horizon}


class PendingRequests:
    """All pending requests. The slot with the fewest requests in flight comes next, in turn.

    *memory*: approximate maximum number of requests in memory. *load* is called with a slot to be
    read from the file, and calls :meth:`loaded`. *in_file* returns True if an entry is in the file;
    other entries are not spilled.
    """

    def __init__(
        self,
        memory: int,
        load: Callable[[SlotQueue], None],
        in_file: Callable[[QueueEntry], bool],
    ) -> None:
        self._memory = memory
        self._load = load
        self._in_file = in_file
        self._slots: dict[str, SlotQueue] = {}
        #: slots with a request in memory, by the number of their requests in flight
        self._ready: dict[int, dict[str, SlotQueue]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def slot_memory(self) -> int:
        """Maximum number of requests of one slot in memory."""
        return max(MIN_SLOT_MEMORY, self._memory // max(1, len(self._slots)))

    def is_full(self) -> bool:
        """Return True if the slots need all memory although each has its minimum only."""
        return len(self._slots) > max(1, self._memory // MIN_SLOT_MEMORY)

    def push(self, name: str, entry: QueueEntry) -> None:
        """Add *entry* to the slot *name*."""
        slot = self._slot(name)
        slot.push(entry, in_file=self._in_file(entry))
        self._count += 1
        if len(slot.heap) > max(2 * self.slot_memory, slot.spill_size) and not slot.loading:
            slot.spill(self.slot_memory, self._in_file)
        self._set_ready(slot)

    def restore(self, name: str, spilled: int) -> SlotQueue:
        """Return the slot *name*, to be loaded, with *spilled* requests in the file."""
        slot = self._slot(name)
        slot.horizon = (-(2**63), 0)
        slot.spilled, slot.loading = spilled, True
        self._count += spilled
        return slot

    def pop(self) -> tuple[str, QueueEntry] | None:
        """Remove and return the next request with the name of its slot; None if none is in memory.

        The request is in flight until :meth:`release` is called.
        """
        if not self._ready:
            return None
        slots = self._ready[min(self._ready)]
        slot = next(iter(slots.values()))
        self._unset_ready(slot)
        entry = heappop(slot.heap)
        self._count -= 1
        slot.in_flight += 1
        self._set_ready(slot)
        self._refill(slot)
        return slot.name, entry

    def release(self, name: str) -> None:
        """Record that a request of the slot *name* is no longer in flight."""
        slot = self._slots[name]
        self._unset_ready(slot)
        slot.in_flight -= 1
        self._set_ready(slot)
        if not (slot.heap or slot.in_flight or slot.spilled):
            del self._slots[name]

    def loaded(
        self,
        slot: SlotQueue,
        entries: list[QueueEntry],
        *,
        leased: Collection[int],
        complete: bool,
    ) -> None:
        """Add the entries read from the file (see :meth:`SlotQueue.loaded`)."""
        slot.loaded(entries, leased=leased, complete=complete)
        self._set_ready(slot)
        self._refill(slot)

    def _slot(self, name: str) -> SlotQueue:
        slot = self._slots.get(name)
        if slot is None:
            slot = self._slots[name] = SlotQueue(name)
        return slot

    def _set_ready(self, slot: SlotQueue) -> None:
        if slot.heap:
            self._ready.setdefault(slot.in_flight, {})[slot.name] = slot

    def _unset_ready(self, slot: SlotQueue) -> None:
        slots = self._ready.get(slot.in_flight, {})
        slots.pop(slot.name, None)
        if not slots:
            self._ready.pop(slot.in_flight, None)

    def _refill(self, slot: SlotQueue) -> None:
        if slot.spilled and not slot.loading and len(slot.heap) <= self.slot_memory // 2:
            slot.loading = True
            self._load(slot)
