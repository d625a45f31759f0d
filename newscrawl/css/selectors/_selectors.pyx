# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled keys of the rule index, and compiler of plain selectors.

Equivalent to the functions of :mod:`newscrawl.css.selectors.rule_keys`, to which they delegate
unusual selectors, and of :mod:`newscrawl.css.selectors.plain_selectors`. CPython stores a NUL after the last character of a
str, which ends each loop that does not compare its position with the end.
"""

from cpython.unicode cimport PyUnicode_1BYTE_KIND, PyUnicode_DATA, PyUnicode_KIND
from libc.stdint cimport uint8_t
from libc.string cimport memchr, memcmp, memset, strlen

# Character classes
cdef enum:
    NAME = 1  # in ASCII: [-\w]
    COMBINATOR = 2
    SPACE = 4  # \s in ASCII
    SPECIAL = 8  # everything up to the next one is not quoted
    UPPER = 16
    LETTER = 32  # or an underscore

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
    list rules not None, *, bint quirks, names, name, never_matches, lower, table
):
    """Index selectors: see :func:`newscrawl.css.selectors.rule_keys.index_selectors`.

    The last five arguments are functions of that module.
    """
    cdef list texts = [], ends = [], previous = []
    cdef dict by_name = {}
    cdef str rule, text
    cdef const uint8_t* data
    cdef const uint8_t* separator
    cdef Py_ssize_t start, end, length
    for rule in rules:
        if PyUnicode_KIND(rule) != PyUnicode_1BYTE_KIND:
            parts = rule.split("\6")
            for text, key in zip(parts, names(parts)):
                if never_matches(text):
                    previous.append(-1)
                else:
                    _append(by_name, previous, lower(key) if quirks else key)
                texts.append(text)
            ends.append(len(texts))
            continue
        data = <const uint8_t*> PyUnicode_DATA(rule)
        length = len(rule)
        start = 0
        while True:
            separator = <const uint8_t*> memchr(data + start, 6, length - start)
            end = length if separator is NULL else separator - data
            text = rule if separator is NULL and not start else rule[start:end]
            if _never_matches(data + start, data + end):
                previous.append(-1)
            else:
                key = _plain_key(rule, data, start, end)
                if key is None:
                    key = name(text)
                _append(by_name, previous, lower(key) if quirks else key)
            texts.append(text)
            if separator is NULL:
                break
            start = end + 1
        ends.append(len(texts))
    return table(texts, ends, by_name, previous)


cdef int _append(dict by_name, list previous, str key) except -1:
    before = by_name.get(key)
    by_name[key] = len(previous)
    previous.append(-1 if before is None else before)
    return 0


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


cdef object _plain_key(str rule, const uint8_t* text, Py_ssize_t start, Py_ssize_t end):
    """Return the rarest name in the last compound, None if it is unusual.

    That is ``:root``, the last id, class or attribute, the tag, or the name that the only argument
    of ``:is()`` or ``:where()`` requires.
    """
    cdef Py_ssize_t position = start, tag_end, key = -1, key_end = -1, name, inner = -1, inner_end = -1
    cdef Py_ssize_t after, common = -1, common_end = -1
    cdef bint root = False
    while position < end:
        if CLASS[text[position]] & SPECIAL or text[position] == c"/":
            position = _block_end(text, position, end)
            if position < 0:
                return None
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
            return None
        if text[name - 1] == c"[":
            position = _block_end(text, name - 1, end)
            if _is_common(text + name, after - name):
                common = name - 1
                common_end = after
                continue
        elif text[name - 1] == c":":
            if _is_root(text + name, position - name):
                if position - name > 4:
                    return None
                root = True
            elif position < end and text[position] == c"(":
                position = _block_end(text, position, end)
                if inner < 0 and _has_alternatives(text + name, after - name):
                    if memchr(text + after, c",", position - after):
                        return None
                    inner = after + 1
                    inner_end = position - 1
            continue
        elif text[name - 1] != c"#" and text[name - 1] != c".":
            return None
        if key < 0 or _rank(text[name - 1]) <= _rank(text[key]):
            key = name - 1
            key_end = after
    if root:
        return ":root"
    if key >= 0:
        return _lower(rule, text, key, key_end) if text[key] == c"[" else rule[key:key_end]
    if tag_end > start and text[start] != c"*":
        return _lower(rule, text, start, tag_end)
    if common >= 0:
        return _lower(rule, text, common, common_end)
    if inner >= 0:
        return _plain_key(rule, text, inner, inner_end)
    return "*" if tag_end > start and position == tag_end else None


cdef str _lower(str rule, const uint8_t* text, Py_ssize_t start, Py_ssize_t end):
    cdef Py_ssize_t position
    for position in range(start, end):
        if CLASS[text[position]] & UPPER:
            return rule[start:end].lower()
    return rule[start:end]


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


def group_by_ancestor(
    table not None, str name not None, *, bint quirks, by_pattern, Py_ssize_t max_length, lower
):
    """See :func:`newscrawl.css.selectors.rule_keys.group_by_ancestor`."""
    cdef list texts = table.texts, previous = table.previous
    cdef dict groups = {}
    cdef Py_ssize_t steps = 0, index = table.by_name[name]
    cdef str text
    while index >= 0:
        text = texts[index]
        steps += 1 + len(text) // 16
        ancestor = _ancestor_name(text, by_pattern, max_length)
        if quirks:
            ancestor = lower(ancestor)
        group = groups.get(ancestor)
        if group is None:
            groups[ancestor] = [index]
        else:
            (<list> group).append(index)
        index = previous[index]
    return groups, steps


def ancestor_name(str text not None, *, by_pattern, Py_ssize_t max_length):
    """See :func:`newscrawl.css.selectors.rule_keys.ancestor_name`."""
    return _ancestor_name(text, by_pattern, max_length)


cdef str _ancestor_name(str text, by_pattern, Py_ssize_t max_length):
    cdef const uint8_t* data
    cdef Py_ssize_t length = len(text), position = 0, name = -1, name_end = -1, start = -1, end = -1, first
    if length > max_length:
        return ""
    if PyUnicode_KIND(text) != PyUnicode_1BYTE_KIND:
        return by_pattern(text)
    data = <const uint8_t*> PyUnicode_DATA(text)
    while position < length:
        if CLASS[data[position]] & SPECIAL or data[position] == c"/":
            return by_pattern(text)
        if data[position] == c"." or data[position] == c"#":
            first = position
            position += 1
            while position < length and (CLASS[data[position]] & NAME or data[position] >= 128):
                position += 1
            if position > first + 1:
                name, name_end = first, position
            continue
        if not CLASS[data[position]] & (SPACE | COMBINATOR):
            position += 1
            continue
        while position < length and CLASS[data[position]] & SPACE:
            position += 1
        # A space before another combinator is part of that.
        if name >= 0 and (position == length or data[position] != c"+" and data[position] != c"~"):
            start, end = name, name_end
        name = -1
        if position < length and CLASS[data[position]] & COMBINATOR:
            position += 1
    return text[start:end] if start >= 0 else ""


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
