# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled table of selectors by key.

Equivalent to :class:`newscrawl.css.selectors.rule_keys.SelectorTable`. Functions of that module
extract the keys of unusual selectors.
"""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.unicode cimport PyUnicode_1BYTE_KIND, PyUnicode_DATA, PyUnicode_KIND
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memchr, memcmp, memset

from newscrawl.css.selectors._selector_names cimport (
    ANY, NEVER, ROOT, UNUSUAL, ancestor_name, static_key,
)

cdef enum:
    MAX_POSITION = (1 << 30) - 1

cdef const char* ROOT_NAME = b":root"
cdef const char* ANY_NAME = b"*"


def index_selectors(
    list rules not None, *, bint quirks, name, never_matches, lower, by_pattern,
    Py_ssize_t max_length
):
    """Index selectors: see :func:`newscrawl.css.selectors.rule_keys.index_selectors`.

    The other arguments are functions and a constant of that module.
    """
    table = SelectorTable(rules, quirks)
    table.name, table.never_matches, table.lower = name, never_matches, lower
    table.by_pattern, table.max_length = by_pattern, max_length
    table.add_all()
    return table


cdef struct Entry:
    # A selector: key, the entry before it with the same key, -1 if there is none, its rule, and its
    # position in the text of that rule
    const uint8_t* key
    int32_t key_length, previous, rule, start, end


@cython.final
cdef class SelectorTable:
    """See :class:`newscrawl.css.selectors.rule_keys.SelectorTable`.

    Has no objects per selector. Keys lie in the texts of rules, or in those of *kept*.
    """

    cdef list rules, kept
    #: keys with characters outside of Latin-1 -> the last entry
    cdef dict wide
    cdef object name, never_matches, lower, by_pattern
    cdef bint quirks
    cdef Py_ssize_t max_length
    cdef Entry* entries
    cdef int32_t count, capacity
    #: hash table of the last entries with each key, -1 for none
    cdef int32_t* slots
    cdef size_t slot_mask

    def __cinit__(self, list rules, bint quirks):
        cdef str rule
        cdef const uint8_t* data
        cdef const uint8_t* end
        cdef Py_ssize_t capacity = 0, length
        cdef size_t slots = 16
        self.rules, self.kept, self.wide, self.quirks = list(rules), [], {}, quirks
        for rule in rules:
            length = len(rule)
            if length > MAX_POSITION:
                raise OverflowError("a selector list is too long")
            capacity += 1
            if PyUnicode_KIND(rule) != PyUnicode_1BYTE_KIND:
                capacity += rule.count("\6")
                continue
            data = <const uint8_t*> PyUnicode_DATA(rule)
            end = data + length
            while (data := <const uint8_t*> memchr(data, 6, end - data)) is not NULL:
                data += 1
                capacity += 1
        if capacity > MAX_POSITION:
            raise OverflowError("too many selectors")
        while slots < 2 * <size_t> capacity:
            slots *= 2
        self.capacity = <int32_t> capacity
        self.slot_mask = slots - 1
        self.entries = <Entry*> PyMem_Malloc((capacity + 1) * sizeof(Entry))
        self.slots = <int32_t*> PyMem_Malloc(slots * sizeof(int32_t))
        if self.entries is NULL or self.slots is NULL:
            raise MemoryError
        memset(self.slots, 255, slots * sizeof(int32_t))

    def __dealloc__(self):
        PyMem_Free(self.entries)
        PyMem_Free(self.slots)

    cdef int add_all(self) except -1:
        cdef Py_ssize_t start, end, length
        cdef str rule, text
        cdef const uint8_t* data
        cdef const uint8_t* separator
        cdef int32_t rule_number = 0
        for rule in self.rules:
            length = len(rule)
            start = 0
            if PyUnicode_KIND(rule) != PyUnicode_1BYTE_KIND:
                for text in rule.split("\6"):
                    self.add(rule_number, start, start + len(text))
                    if not self.never_matches(text):
                        self.add_key(self.name(text))
                    start += len(text) + 1
                rule_number += 1
                continue
            data = <const uint8_t*> PyUnicode_DATA(rule)
            while True:
                separator = <const uint8_t*> memchr(data + start, 6, length - start)
                end = length if separator is NULL else separator - data
                self.add(rule_number, start, end)
                if not self.add_plain_key(data, start, end):
                    self.add_key(self.name(rule[start:end]))
                if separator is NULL:
                    break
                start = end + 1
            rule_number += 1
        return 0

    cdef void add(self, int32_t rule, Py_ssize_t start, Py_ssize_t end) noexcept:
        """Add an entry without a key."""
        cdef Entry* entry = &self.entries[self.count]
        entry.rule, entry.start, entry.end = rule, <int32_t> start, <int32_t> end
        entry.previous = -1
        self.count += 1

    cdef bint add_plain_key(self, const uint8_t* data, Py_ssize_t start, Py_ssize_t end) noexcept:
        """Add the key of the last entry if it may match; return False if the key is unusual."""
        cdef Py_ssize_t key_end, key = static_key(data, start, end, self.quirks, &key_end)
        if key == UNUSUAL:
            return False
        if key == ROOT:
            self.add_bytes(<const uint8_t*> ROOT_NAME, 5)
        elif key == ANY:
            self.add_bytes(<const uint8_t*> ANY_NAME, 1)
        elif key != NEVER:
            self.add_bytes(data + key, key_end - key)
        return True

    cdef int add_key(self, str key) except -1:
        """Add the key of the last entry."""
        if self.quirks:
            key = self.lower(key)
        if PyUnicode_KIND(key) == PyUnicode_1BYTE_KIND:
            self.kept.append(key)
            self.add_bytes(<const uint8_t*> PyUnicode_DATA(key), len(key))
        else:
            self.entries[self.count - 1].previous = self.wide.get(key, -1)
            self.wide[key] = self.count - 1
        return 0

    cdef void add_bytes(self, const uint8_t* key, Py_ssize_t length) noexcept:
        """Add the key of the last entry, given by Latin-1 characters that stay in place."""
        cdef Entry* entry = &self.entries[self.count - 1]
        cdef size_t slot = self.slot(key, length)
        entry.key, entry.key_length = key, <int32_t> length
        entry.previous = self.slots[slot]
        self.slots[slot] = self.count - 1

    cdef size_t slot(self, const uint8_t* key, Py_ssize_t length) noexcept:
        """Return the slot of a key, an empty one if it does not occur."""
        cdef size_t hashed = 14695981039346656037ULL
        cdef Py_ssize_t position
        cdef Entry* entry
        for position in range(length):
            hashed = (hashed ^ key[position]) * 1099511628211ULL
        hashed = (hashed ^ (hashed >> 32)) & self.slot_mask
        while self.slots[hashed] >= 0:
            entry = &self.entries[self.slots[hashed]]
            if entry.key_length == length and not memcmp(entry.key, key, length):
                break
            hashed = (hashed + 1) & self.slot_mask
        return hashed

    cdef int32_t last(self, str name) except -2:
        """Return the last entry with the key *name*, -1 if there is none."""
        if PyUnicode_KIND(name) != PyUnicode_1BYTE_KIND:
            return self.wide.get(name, -1)
        return self.slots[self.slot(<const uint8_t*> PyUnicode_DATA(name), len(name))]

    cdef int check(self, Py_ssize_t index) except -1:
        if not 0 <= index < self.count:
            raise IndexError("no such selector")
        return 0

    def __contains__(self, str name not None):
        return self.last(name) >= 0

    def text(self, Py_ssize_t index):
        """Return a selector."""
        self.check(index)
        cdef Entry* entry = &self.entries[index]
        return (<str> self.rules[entry.rule])[entry.start : entry.end]

    def rule(self, Py_ssize_t index):
        """Return the number of the rule of a selector."""
        self.check(index)
        return self.entries[index].rule

    def by_ancestor(self, str name not None):
        """See :meth:`newscrawl.css.selectors.rule_keys.SelectorTable.by_ancestor`."""
        cdef dict groups = {}
        cdef Py_ssize_t steps = 0
        cdef int32_t index = self.last(name)
        cdef Entry* entry
        while index >= 0:
            entry = &self.entries[index]
            steps += 1 + (entry.end - entry.start) // 16
            ancestor = ancestor_name(
                self.rules[entry.rule], entry.start, entry.end, self.by_pattern, self.max_length
            )
            if self.quirks:
                ancestor = self.lower(ancestor)
            group = groups.get(ancestor)
            if group is None:
                groups[ancestor] = [index]
            else:
                (<list> group).append(index)
            index = entry.previous
        return groups, steps
