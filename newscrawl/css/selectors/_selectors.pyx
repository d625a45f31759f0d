# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled keys of the rule index, and compiler of plain selectors.

Equivalent to the functions of :mod:`newscrawl.css.selectors.rule_keys`, to which they delegate
unusual selectors, and of :mod:`newscrawl.css.selectors.plain_selectors`. CPython stores a NUL after the last character of a
str, which ends each loop that does not compare its position with the end.
"""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.unicode cimport PyUnicode_1BYTE_KIND, PyUnicode_DATA, PyUnicode_KIND
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memchr, memcmp, memset, strlen

# Character classes
cdef enum:
    NAME = 1  # in ASCII: [-\w]
    COMBINATOR = 2
    SPACE = 4  # \s in ASCII
    SPECIAL = 8  # everything up to the next one is not quoted
    UPPER = 16
    LETTER = 32  # or an underscore

# Results of _plain_key that are no positions
cdef enum:
    ROOT = -1
    ANY = -2
    UNUSUAL = -3

    MAX_POSITION = (1 << 30) - 1

cdef const char* ROOT_NAME = b":root"
cdef const char* ANY_NAME = b"*"

cdef uint8_t[256] CLASS

cdef const char** NEVER_MATCHING = [
    b"active", b"after", b"before", b"focus", b"focus-visible", b"hover", b"visited",
]

cdef const char** COMMON = [b"class", b"id", b"style", b"href"]


def _classify():
    memset(CLASS, 0, sizeof(CLASS))
    capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    for kind, characters in (
        (NAME, "-_0123456789" + capitals + capitals.lower()),
        (COMBINATOR, " \t\n\r\f>+~"),
        (SPACE, " \t\n\r\f\v"),
        (SPECIAL, "\\([\"'"),
        (UPPER, capitals),
        (LETTER, "_" + capitals + capitals.lower()),
    ):
        for character in characters:
            CLASS[<Py_ssize_t> ord(character)] |= kind


_classify()


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
                if not _never_matches(data + start, data + end):
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
        """Add the key of the last entry, False if it is unusual."""
        cdef Py_ssize_t key_end, key = _plain_key(data, start, end, self.quirks, &key_end)
        if key == UNUSUAL:
            return False
        if key == ROOT:
            self.add_bytes(<const uint8_t*> ROOT_NAME, 5)
        elif key == ANY:
            self.add_bytes(<const uint8_t*> ANY_NAME, 1)
        else:
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
            ancestor = _ancestor_name(
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


cdef bint _never_matches(const uint8_t* text, const uint8_t* end) noexcept:
    """See :func:`newscrawl.css.selectors.rule_keys.never_matches`."""
    cdef Py_ssize_t index, length
    while text < end and not CLASS[text[0]] & SPECIAL:
        if text[0] == c":":
            for index in range(7):
                length = <Py_ssize_t> strlen(NEVER_MATCHING[index])
                if (
                    end - text > length
                    and not memcmp(text + 1, NEVER_MATCHING[index], length)
                    and (
                        text + 1 + length == end
                        or not (CLASS[text[1 + length]] & NAME or text[1 + length] == c"(")
                    )
                ):
                    return True
        text += 1
    return False


cdef Py_ssize_t _plain_key(
    const uint8_t* text, Py_ssize_t start, Py_ssize_t end, bint folded, Py_ssize_t* end_of_key
) noexcept:
    """Return the position of the rarest name in the last compound, and set its end.

    Return ``ROOT`` or ``ANY`` for those names, ``UNUSUAL`` for selectors left to Python, among them
    those whose key must be put in lower case; with *folded*, that of any kind. The name is
    ``:root``, the last id, class or attribute, the tag, or the name that the only argument
    of ``:is()`` or ``:where()`` requires.
    """
    cdef Py_ssize_t position = start, tag_end, key = -1, key_end = -1, name, inner = -1, inner_end = -1
    cdef Py_ssize_t after, common = -1, common_end = -1
    cdef bint root = False
    while position < end:
        if CLASS[text[position]] & SPECIAL or text[position] == c"/":
            position = _block_end(text, position, end)
            if position < 0:
                return UNUSUAL
            continue
        if CLASS[text[position]] & COMBINATOR:
            start = position + 1
        position += 1
    position = start
    if position < end and text[position] == c"*" and text[position + 1] != c":":
        position += 1
    else:
        position = _name_end(text, position, end)
    tag_end = position
    while position < end:
        name = position + 1
        position = after = _name_end(text, name, end)
        if position == name:
            return UNUSUAL
        if text[name - 1] == c"[":
            position = _block_end(text, name - 1, end)
            if _is_common(text + name, after - name):
                common = name - 1
                common_end = after
                continue
        elif text[name - 1] == c":":
            if _is_root(text + name, position - name):
                if position - name > 4:
                    return UNUSUAL
                root = True
            elif position < end and text[position] == c"(":
                position = _block_end(text, position, end)
                if inner < 0 and _has_alternatives(text + name, after - name):
                    if memchr(text + after, c",", position - after):
                        return UNUSUAL
                    inner = after + 1
                    inner_end = position - 1
            continue
        elif text[name - 1] != c"#" and text[name - 1] != c".":
            return UNUSUAL
        if key < 0 or _rank(text[name - 1]) <= _rank(text[key]):
            key = name - 1
            key_end = after
    if root:
        return ROOT
    if key >= 0:
        folded = folded or text[key] == c"["
    elif tag_end > start and text[start] != c"*":
        key, key_end, folded = start, tag_end, True
    elif common >= 0:
        key, key_end, folded = common, common_end, True
    elif inner >= 0:
        return _plain_key(text, inner, inner_end, folded, end_of_key)
    else:
        return ANY if tag_end > start and position == tag_end else UNUSUAL
    end_of_key[0] = key_end
    return UNUSUAL if folded and _has_upper(text, key, key_end) else key


cdef bint _has_upper(const uint8_t* text, Py_ssize_t start, Py_ssize_t end) noexcept:
    cdef Py_ssize_t position
    for position in range(start, end):
        if CLASS[text[position]] & UPPER:
            return True
    return False


cdef str _lower(str rule, const uint8_t* text, Py_ssize_t start, Py_ssize_t end):
    return rule[start:end].lower() if _has_upper(text, start, end) else rule[start:end]


cdef inline int _rank(uint8_t sigil) noexcept:
    return 1 if sigil == c"#" else 2 if sigil == c"." else 3


cdef bint _is_common(const uint8_t* name, Py_ssize_t length) noexcept:
    """Return whether an attribute is one that most elements have."""
    cdef Py_ssize_t index, same
    for index in range(4):
        if <Py_ssize_t> strlen(COMMON[index]) == length:
            same = 0
            while same < length and name[same] | 32 == <uint8_t> COMMON[index][same]:
                same += 1
            if same == length:
                return True
    return False


cdef inline bint _has_alternatives(const uint8_t* name, Py_ssize_t length) noexcept:
    if length == 2:
        return not memcmp(name, <const char*> b"is", 2)
    return length == 5 and not memcmp(name, <const char*> b"where", 5)


cdef Py_ssize_t _block_end(const uint8_t* text, Py_ssize_t position, Py_ssize_t end) noexcept:
    """Return the end of the parentheses or brackets at *position*, -1 for other characters.

    Return -1 also if they contain escapes or comments or are not balanced.
    """
    cdef uint8_t[8] closers
    cdef int depth = 0
    cdef const void* found
    while position < end:
        if text[position] == c"(" or text[position] == c"[":
            if depth == 8:
                return -1
            closers[depth] = c")" if text[position] == c"(" else c"]"
            depth += 1
        elif not depth or text[position] == c"\\" or text[position] == c"/":
            return -1
        elif text[position] == c'"' or text[position] == c"'":
            found = memchr(text + position + 1, text[position], end - position - 1)
            if found is NULL or memchr(text + position, c"\\", <const uint8_t*> found - (text + position)):
                return -1
            position = <const uint8_t*> found - text
        elif text[position] == c")" or text[position] == c"]":
            depth -= 1
            if text[position] != closers[depth]:
                return -1
            if not depth:
                return position + 1
        position += 1
    return -1


cdef inline bint _is_root(const uint8_t* name, Py_ssize_t length) noexcept:
    if length < 4 or memcmp(name, <const char*> b"root", 4):
        return False
    return length == 4 or name[4] == c"-"


cdef inline Py_ssize_t _name_end(const uint8_t* text, Py_ssize_t position, Py_ssize_t end) noexcept:
    while position < end and CLASS[text[position]] & NAME:
        position += 1
    return position


cdef str _ancestor_name(
    str rule, Py_ssize_t first, Py_ssize_t end, by_pattern, Py_ssize_t max_length
):
    """Return the :func:`newscrawl.css.selectors.rule_keys.ancestor_name` of a part of *rule*."""
    cdef const uint8_t* data
    cdef Py_ssize_t position = first, name = -1, name_end = -1, start = -1, start_end = -1, sigil
    if end - first > max_length:
        return ""
    if PyUnicode_KIND(rule) != PyUnicode_1BYTE_KIND:
        return by_pattern(rule[first:end])
    data = <const uint8_t*> PyUnicode_DATA(rule)
    while position < end:
        if CLASS[data[position]] & SPECIAL or data[position] == c"/":
            return by_pattern(rule[first:end])
        if data[position] == c"." or data[position] == c"#":
            sigil = position
            position += 1
            while position < end and (CLASS[data[position]] & NAME or data[position] >= 128):
                position += 1
            if position > sigil + 1:
                name, name_end = sigil, position
            continue
        if not CLASS[data[position]] & (SPACE | COMBINATOR):
            position += 1
            continue
        while position < end and CLASS[data[position]] & SPACE:
            position += 1
        # A space before another combinator is part of that.
        if name >= 0 and (position == end or data[position] != c"+" and data[position] != c"~"):
            start, start_end = name, name_end
        name = -1
        if position < end and CLASS[data[position]] & COMBINATOR:
            position += 1
    return rule[start:start_end] if start >= 0 else ""


def compile_plain(str text not None, *, bint quirks, compound, selector, lower):
    """See :func:`newscrawl.css.selectors.plain_selectors.compile_plain`."""
    cdef const uint8_t* data
    cdef Py_ssize_t length = len(text), position, start, end
    cdef int ids = 0, classes = 0, tags = 0
    cdef bint per_element = False, spaced
    cdef list compounds = []
    cdef set ancestors = set()
    cdef str combinator
    if PyUnicode_KIND(text) != PyUnicode_1BYTE_KIND:
        return None
    data = <const uint8_t*> PyUnicode_DATA(text)
    position = _space_end(data, 0, length)
    while True:
        start = position
        names = set()
        if position < length and data[position] == c"*":
            position += 1
        else:
            position = _plain_name_end(data, position, length)
            if position > start:
                names.add(_lower(text, data, start, position))
                tags += 1
        while position < length and (data[position] == c"." or data[position] == c"#"):
            end = _plain_name_end(data, position + 1, length)
            if end == position + 1:
                return None
            name = text[position:end]
            names.add(lower(name) if quirks else name)
            if data[position] == c"#":
                ids += 1
            else:
                classes += 1
            position = end
        if position == start:
            return None
        end = _space_end(data, position, length)
        spaced = end > position
        position = end
        if position == length:
            break
        if data[position] == c">" or data[position] == c"+" or data[position] == c"~":
            combinator = chr(data[position])
            position = _space_end(data, position + 1, length)
        elif spaced:
            combinator = " "
        else:
            return None
        compounds.append(compound(combinator, frozenset(names), ()))
        if combinator == " " or combinator == ">":
            ancestors |= names
        else:
            per_element = True
    compounds.append(compound("", frozenset(names), ()))
    compounds.reverse()
    return selector(
        text.strip(),
        (ids, classes, tags),
        tuple(compounds),
        frozenset(ancestors),
        per_element,
        False,
    )


cdef inline Py_ssize_t _space_end(const uint8_t* text, Py_ssize_t position, Py_ssize_t end) noexcept:
    while position < end and CLASS[text[position]] & SPACE and text[position] != c"\v":
        position += 1
    return position


cdef inline Py_ssize_t _plain_name_end(
    const uint8_t* text, Py_ssize_t start, Py_ssize_t end
) noexcept:
    """Return the end of an identifier of ASCII characters, *start* if there is none."""
    cdef Py_ssize_t position = start
    if position < end and text[position] == c"-":
        position += 1
    if position < end and CLASS[text[position]] & LETTER:
        return _name_end(text, position, end)
    return start
