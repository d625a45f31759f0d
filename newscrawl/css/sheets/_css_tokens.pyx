# cython: language_level=3, boundscheck=False, wraparound=False
"""Character classes and tokens of masked style sheets."""

from libc.stdint cimport uint8_t
from libc.string cimport memset, strlen

from newscrawl.css.syntax.masking import SPACE as SPACE_CHARACTERS

cdef const char** RELEVANT_NAMES = [
    b"color", b"font-size", b"font", b"font-weight", b"display", b"font-family", b"font-style",
    b"visibility", b"color-scheme", b"all",
]
cdef Py_ssize_t* RELEVANT_LENGTHS = [5, 9, 4, 11, 7, 11, 10, 10, 12, 3]
cdef enum:
    RELEVANT_COUNT = 10

cdef const char** AT_RULES = [b"media", b"supports", b"layer", b"property"]


def _classify():
    memset(CLASS, 0, sizeof(CLASS))
    for kind, characters in (
        (SPACE, SPACE_CHARACTERS),
        (NAME, "-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        (SPECIAL, "\0\1\2\3\4\5\6{}\"'\\/(["),
        (SPECIAL_INSIDE, "\0\1\2\3\4\5\6{};@\"'\\/()[]"),
        (LIST, ",()[]\"'\\&\1\2\3\4\5\6"),
        (RELEVANT_START, "fFcCdDvVaA\\-"),
        (TO_MASK, "{};@\1\2\3\4\5\6"),
        (QUOTED, "\"'\n\r\f\\)"),
    ):
        for character in characters:
            CLASS[<Py_ssize_t> ord(character)] |= kind


_classify()


cdef Py_ssize_t after_gap(Char* text, Py_ssize_t position, bint top) noexcept:
    """Return the position after white space and HTML comment delimiters (top level only)."""
    while True:
        if in_class(text[position], SPACE):
            position += 1
        elif not top:
            return position
        elif text[position] == c"<":
            if text[position + 1] != c"!" or text[position + 2] != c"-" or text[position + 3] != c"-":
                return position
            position += 4
        elif text[position] == c"-" and text[position + 1] == c"-" and text[position + 2] == c">":
            position += 3
        else:
            return position


cdef int is_relevant(Char* text, Py_ssize_t position, Py_ssize_t length) noexcept:
    """Return whether a relevant declaration may start at *position*.

    Return ``UNKNOWN`` for names that need the regular expression.
    """
    cdef Py_ssize_t start, end
    cdef bint custom
    while in_class(text[position], SPACE):
        position += 1
    start = end = position
    if not in_class(text[start], RELEVANT_START):
        return False
    while in_class(text[end], NAME):
        end += 1
    custom = text[start] == c"-" and text[start + 1] == c"-"
    if custom:
        while (
            end < length
            and not in_class(text[end], SPACE)
            and text[end] != c":"
            and text[end] != c";"
            and text[end] != c"{"
            and text[end] != c"}"
            and text[end] != c"\\"
        ):
            end += 1
    if text[end] == c"\\" or (text[end] >= 128 and not custom):
        return UNKNOWN
    position = end
    while in_class(text[position], SPACE):
        position += 1
    if text[position] != c":":
        return False
    return custom or _is_relevant_name(text + start, end - start)


cdef bint _is_relevant_name(Char* name, Py_ssize_t length) noexcept:
    """Return whether *name* is that of a relevant property."""
    cdef Py_ssize_t index
    for index in range(RELEVANT_COUNT):
        if RELEVANT_LENGTHS[index] == length and _same(name, RELEVANT_NAMES[index], length):
            return True
    return False


cdef bint _same(Char* name, const char* expected, Py_ssize_t length) noexcept:
    """Return whether *name* equals *expected*, which is in lower case, ignoring case.

    The comparison also takes a carriage return for "-", but names contain none.
    """
    cdef Py_ssize_t position
    for position in range(length):
        if name[position] | 32 != <uint8_t> expected[position]:
            return False
    return True


cdef bint may_apply(Char* rule) noexcept:
    """Return False if the rules in an at-rule with this name never apply."""
    cdef Py_ssize_t end = 0, index
    while in_class(rule[end], NAME):
        end += 1
    if rule[end] >= 128:
        return True
    for index in range(4):
        if strlen(AT_RULES[index]) == <size_t> end and _same(rule, AT_RULES[index], end):
            return True
    return False
