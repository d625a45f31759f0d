# cython: language_level=3, boundscheck=False, wraparound=False
"""Names that a selector requires of the matched element and of its ancestors.

Equivalent to functions of :mod:`newscrawl.css.selectors.rule_keys`, which handle unusual selectors.
"""

from cpython.unicode cimport PyUnicode_1BYTE_KIND, PyUnicode_DATA, PyUnicode_KIND
from libc.stdint cimport uint8_t
from libc.string cimport memchr, memcmp, memset, strlen

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


cdef Py_ssize_t static_key(
    const uint8_t* text, Py_ssize_t start, Py_ssize_t end, bint folded, Py_ssize_t* end_of_key
) noexcept:
    """Return the position of the key of a selector as :func:`_plain_key` does.

    Return ``NEVER`` for a selector that requires a state like ``:hover``.
    """
    if _never_matches(text + start, text + end):
        return NEVER
    return _plain_key(text, start, end, folded, end_of_key)


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
    cdef Py_ssize_t position = start, tag_end, key = -1, key_end = -1, name, after
    cdef Py_ssize_t inner = -1, inner_end = -1, common = -1, common_end = -1
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
        position = name_end(text, position, end)
    tag_end = position
    while position < end:
        name = position + 1
        position = after = name_end(text, name, end)
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
    return UNUSUAL if folded and has_upper(text, key, key_end) else key


cdef bint has_upper(const uint8_t* text, Py_ssize_t start, Py_ssize_t end) noexcept:
    cdef Py_ssize_t position
    for position in range(start, end):
        if CLASS[text[position]] & UPPER:
            return True
    return False


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
            if found is NULL or memchr(
                text + position, c"\\", <const uint8_t*> found - (text + position)
            ):
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


cdef str ancestor_name(
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
