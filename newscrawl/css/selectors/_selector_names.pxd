"""Names in the text of a selector, shared by the compiled modules of this package.

Texts are in Latin-1. CPython stores a NUL after the last character of a str, which ends each loop
that does not compare its position with the end.
"""

from libc.stdint cimport uint8_t

# Character classes
cdef enum:
    NAME = 1  # in ASCII: [-\w]
    COMBINATOR = 2
    SPACE = 4  # \s in ASCII
    SPECIAL = 8  # everything up to the next one is not quoted
    UPPER = 16
    LETTER = 32  # or an underscore

# Results of static_key() that are no positions
cdef enum:
    ROOT = -1
    ANY = -2
    UNUSUAL = -3
    NEVER = -4

cdef uint8_t[256] CLASS


cdef inline Py_ssize_t name_end(const uint8_t* text, Py_ssize_t position, Py_ssize_t end) noexcept:
    while position < end and CLASS[text[position]] & NAME:
        position += 1
    return position


cdef bint has_upper(const uint8_t* text, Py_ssize_t start, Py_ssize_t end) noexcept
cdef Py_ssize_t static_key(
    const uint8_t* text, Py_ssize_t start, Py_ssize_t end, bint folded, Py_ssize_t* end_of_key
) noexcept
cdef str ancestor_name(
    str rule, Py_ssize_t first, Py_ssize_t end, by_pattern, Py_ssize_t max_length
)
