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
    #: JSON where the file has it too; a request that is in memory alone
    request: str | Request


class Slot:
    """The queue of one download slot.

    Memory holds every entry before the *horizon*; those behind it are in the file alone.
    """

    __slots__ = ("flying", "heap", "horizon", "late", "loading", "name", "spilled")

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

    def push(self, entry: Entry) -> None:
        """Add *entry*, in memory only where it stands before the horizon."""
        if isinstance(entry.request, str) and self._is_beyond(entry):
            self.spilled += 1
            if self.loading:
                self.late.append(entry)
        else:
            heappush(self.heap, entry)

    def _is_beyond(self, entry: Entry) -> bool:
        return self.horizon is not None and (entry.rank, entry.id) >= self.horizon

    def spill(self, keep: int) -> None:
        """Leave all but the first *keep* entries to the file."""
        self.heap.sort()
        kept, rest = self.heap[:keep], self.heap[keep:]
        spilled = [entry for entry in rest if isinstance(entry.request, str)]
        if spilled:
            self.horizon = spilled[0][:2]
            self.spilled += len(spilled)
        self.heap = kept + [entry for entry in rest if not isinstance(entry.request, str)]

    def loaded(self, entries: list[Entry], *, known: Collection[int], complete: bool) -> None:
        """Take the *entries* from the horizon on, in order, that were in the file.

        *known*: requests that were under way when the file was read. *complete*: there are no
        more.
        """
        late, self.late, self.loading = self.late, [], False
        self.horizon = None if complete else (entries[-1].rank, entries[-1].id + 1)
        new = [entry for entry in entries if entry.id not in known]
        new += [entry for entry in late if not self._is_beyond(entry)]
        self.spilled -= len(new)
        self.heap += new
        heapify(self.heap)


class Pending:
    """All pending requests: the slot with the fewest requests under way goes next, in turn.

    *memory*: requests of all slots together that stay in memory, about. *load* is called with a
    slot whose first requests are to be read from the file; it calls :meth:`loaded`.
    """

    def __init__(self, memory: int, load: Callable[[Slot], None]) -> None:
        self._memory = memory
        self._load = load
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
        slot.push(entry)
        self._count += 1
        if len(slot.heap) > 2 * self.share and not slot.loading:
            slot.spill(self.share)
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
