"""Which request goes next: queues of download slots, of which memory holds the first requests."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from scrapy import Request

FEWEST: Final = 4
"""Requests of a slot in memory, however many slots there are."""


class Entry(NamedTuple):
    """A pending request. Entries compare by their place in the queue: rank, then age."""

    #: less its priority
    rank: int
    id: int
    #: the same for the same request after a crash
    key: int
    #: JSON where the file has it too, or will have; a request that is in memory alone
    request: str | Request


class Slot:
    """The queue of one download slot.

    Memory holds every entry before the *horizon*; those behind it are in the file alone, but for
    the ones that the file did not have when they came.
    """

    __slots__ = ("flying", "heap", "held", "horizon", "late", "loading", "name", "room", "spilled")

    def __init__(self, name: str) -> None:
        self.name = name
        self.heap: list[Entry] = []
        #: requests handed out whose response has not come
        self.flying = 0
        #: entries that are in the file alone
        self.spilled = 0
        self.horizon: tuple[int, int] | None = None
        self.loading = False
        #: entries behind the horizon that came since loading began
        self.late: list[Entry] = []
        #: rank and id of the entries behind the horizon that memory holds, or has handed out
        self.held: set[tuple[int, int]] = set()
        #: entries in memory from which on it is worth while to look for some to spill
        self.room = 0

    def push(self, entry: Entry, *, in_file: bool) -> None:
        """Add *entry*; to memory, unless it is in the file and stands behind the horizon."""
        beyond = self._is_beyond(entry)
        if in_file and beyond:
            self.spilled += 1
            if self.loading:
                self.late.append(entry)
            return
        heappush(self.heap, entry)
        if beyond:
            self.held.add(entry[:2])

    def _is_beyond(self, entry: Entry) -> bool:
        return self.horizon is not None and (entry.rank, entry.id) >= self.horizon

    def spill(self, keep: int, in_file: Callable[[Entry], bool]) -> None:
        """Leave all but the first *keep* entries to the file, as far as they are there."""
        self.heap.sort()
        rest = self.heap[keep:]
        spilled = [entry for entry in rest if in_file(entry)]
        if spilled:
            self.horizon = min(self.horizon or spilled[0][:2], spilled[0][:2])
            self.spilled += len(spilled)
            self.heap = self.heap[:keep] + [entry for entry in rest if not in_file(entry)]
            self.held.difference_update(entry[:2] for entry in spilled)
            self.held.update(entry[:2] for entry in self.heap if self._is_beyond(entry))
        self.room = 2 * len(self.heap)

    def loaded(self, entries: list[Entry], *, known: Collection[int], complete: bool) -> None:
        """Take the *entries* from the horizon on, in order, that were in the file.

        *known*: requests that were under way when the file was read. *complete*: there are no
        more.
        """
        late, self.late, self.loading = self.late, [], False
        self.horizon = None if complete else (entries[-1].rank, entries[-1].id + 1)
        read = {entry.id for entry in entries}  # among them late ones that came before the reading
        new = [e for e in entries if e.id not in known and e[:2] not in self.held]
        new += [entry for entry in late if not self._is_beyond(entry) and entry.id not in read]
        self.spilled -= len(new)
        self.heap += new
        heapify(self.heap)
        if not self.spilled:
            self.horizon = None
        self.held = {place for place in self.held if self.horizon and place >= self.horizon}


class PendingRequests:
    """All pending requests: the slot with the fewest requests under way goes next, in turn.

    *memory*: requests of all slots together that stay in memory, about. *load* is called with a
    slot whose first requests are to be read from the file; it calls :meth:`loaded`. *in_file* tells
    whether the file has an entry, from now on until it is done: others stay in memory.
    """

    def __init__(
        self, memory: int, load: Callable[[Slot], None], in_file: Callable[[Entry], bool]
    ) -> None:
        self._memory = memory
        self._load = load
        self._in_file = in_file
        self._slots: dict[str, Slot] = {}
        #: slots that have a request to hand out, by the number that they have under way
        self._ready: dict[int, dict[str, Slot]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def share(self) -> int:
        """Requests of one slot that stay in memory."""
        return max(FEWEST, self._memory // max(1, len(self._slots)))

    def push(self, name: str, entry: Entry) -> None:
        """Add *entry* to the slot *name*."""
        slot = self._slot(name)
        slot.push(entry, in_file=self._in_file(entry))
        self._count += 1
        if len(slot.heap) > max(2 * self.share, slot.room) and not slot.loading:
            slot.spill(self.share, self._in_file)
        self._make_ready(slot)

    def restore(self, name: str, spilled: int) -> Slot:
        """Return the slot *name*, of which the file has *spilled* requests: they are to be loaded."""
        slot = self._slot(name)
        slot.horizon = (-(2**63), 0)
        slot.spilled, slot.loading = spilled, True
        self._count += spilled
        return slot

    def pop(self) -> tuple[str, Entry] | None:
        """Remove the next request and return it with its slot's name; None where none is ready.

        The slot counts it as under way until :meth:`land`.
        """
        if not self._ready:
            return None
        fewest = min(self._ready)
        slot = next(iter(self._ready[fewest].values()))
        self._unready(slot)
        entry = heappop(slot.heap)
        self._count -= 1
        slot.flying += 1
        self._make_ready(slot)
        self._top_up(slot)
        return slot.name, entry

    def land(self, name: str) -> None:
        """Tell that a request of the slot *name* is under way no longer."""
        slot = self._slots[name]
        self._unready(slot)
        slot.flying -= 1
        self._make_ready(slot)
        if not (slot.heap or slot.flying or slot.spilled):
            del self._slots[name]

    def loaded(
        self, slot: Slot, entries: list[Entry], *, known: Collection[int], complete: bool
    ) -> None:
        """Take what was read from the file (see :meth:`Slot.loaded`)."""
        slot.loaded(entries, known=known, complete=complete)
        self._make_ready(slot)
        self._top_up(slot)

    def _slot(self, name: str) -> Slot:
        slot = self._slots.get(name)
        if slot is None:
            slot = self._slots[name] = Slot(name)
        return slot

    def _make_ready(self, slot: Slot) -> None:
        if slot.heap:
            self._ready.setdefault(slot.flying, {})[slot.name] = slot

    def _unready(self, slot: Slot) -> None:
        slots = self._ready.get(slot.flying, {})
        slots.pop(slot.name, None)
        if not slots:
            self._ready.pop(slot.flying, None)

    def _top_up(self, slot: Slot) -> None:
        if slot.spilled and not slot.loading and len(slot.heap) <= self.share // 2:
            slot.loading = True
            self._load(slot)
