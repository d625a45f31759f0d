"""Characters and tokens of style sheets, shared by the compiled modules of this package.

The functions read the characters of a str in place. CPython stores a NUL after the last one, which
ends every loop: a loop continues past a NUL only after comparing its position with the length, and
looks ahead at most one character past a non-NUL character.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memchr

ctypedef fused Char:
    uint8_t
    uint16_t
    uint32_t

# Character classes; characters outside of ASCII have none.
cdef enum:
    SPACE = 1
    NAME = 2  # in ASCII: [-\w]
    SPECIAL = 4  # needs handling by the masking, outside of parentheses and brackets
    SPECIAL_INSIDE = 8  # the same, inside of parentheses or brackets
    LIST = 16  # a comma, a bracket, or what only Python handles in a selector list
    RELEVANT_START = 32  # may start a relevant declaration
    TO_MASK = 64  # to be masked, or a mask
    QUOTED = 128  # may end a string or URL, or is an escape

    UNKNOWN = 2  # result of is_relevant()

cdef uint8_t[256] CLASS


cdef inline bint in_class(Py_UCS4 character, int kind) noexcept:
    return character < 128 and CLASS[character] & kind


cdef inline Py_ssize_t find_class(
    Char* text, Py_ssize_t position, Py_ssize_t end, int kind
) noexcept:
    """Return the position of the next character of a class, else *end*."""
    cdef Char first, second, third, fourth
    while position + 4 <= end:
        first, second = text[position], text[position + 1]
        third, fourth = text[position + 2], text[position + 3]
        if Char is not uint8_t and (first | second | third | fourth) >= 128:
            if (
                in_class(first, kind)
                or in_class(second, kind)
                or in_class(third, kind)
                or in_class(fourth, kind)
            ):
                break
        elif (CLASS[first] | CLASS[second] | CLASS[third] | CLASS[fourth]) & kind:
            break
        position += 4
    while position < end and not in_class(text[position], kind):
        position += 1
    return position


cdef inline Py_ssize_t find_character(
    Char* text, Py_ssize_t position, Py_ssize_t end, Py_UCS4 character
) noexcept:
    """Return the position of the next *character*, else *end*."""
    cdef void* found
    if Char is uint8_t:
        if position >= end:
            return position
        found = memchr(text + position, character, end - position)
        return end if found is NULL else <uint8_t*> found - text
    else:
        while position < end and text[position] != character:
            position += 1
        return position


cdef Py_ssize_t after_gap(Char* text, Py_ssize_t position, bint top) noexcept
cdef int is_relevant(Char* text, Py_ssize_t position, Py_ssize_t length) noexcept
cdef bint may_apply(Char* rule) noexcept
