# cython: language_level=3, boundscheck=False, wraparound=False
"""Texts of the rows of a page: decoding, white space, length."""

from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.string cimport memchr

from newscrawl.document._references cimport decode_text

from newscrawl.document import rows
from newscrawl.text import WIDE_WEIGHT as _WIDE_WEIGHT

cdef double WIDE_WEIGHT = _WIDE_WEIGHT
cdef int LEADING = rows.LEADING
cdef int TRAILING = rows.TRAILING


cdef str decoded(Place data, Py_ssize_t size, bint has_references):
    if has_references:
        return decode_text(data, size, False)
    return PyUnicode_DecodeUTF8(<const char*> data, size, b"strict")


cdef inline bint _strips(unsigned char byte) noexcept:
    """Return whether *byte* is white space for ``str.strip`` and a whole character."""
    return byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31


cdef str stripped(Place first, Py_ssize_t size, bint has_references, int* space):
    """Return the stripped text; set the bits of *space* for white space removed."""
    cdef Place last = first + size
    cdef str text
    space[0] = 0
    while first < last and _strips(first[0]):
        first += 1
        space[0] = LEADING
    if first == last:
        return ""
    while _strips((last - 1)[0]):
        last -= 1
        space[0] |= TRAILING
    text = decoded(first, last - first, has_references)
    if first[0] < 128 and (last - 1)[0] < 128 and not (
        has_references and memchr(first, b"&", last - first) is not NULL
    ):
        return text
    # A reference or a character of several bytes may be white space, too.
    return trimmed(text, space)


cdef str trimmed(str text, int* space):
    if text and text[0].isspace():
        space[0] |= LEADING
    if text and text[len(text) - 1].isspace():
        space[0] |= TRAILING
    return text.strip() if space[0] else text


cdef bint has_digit(str text):
    cdef Py_UCS4 character
    for character in text:
        if u"0" <= character <= u"9" or (character > 127 and character.isdecimal()):
            return True
    return False


cdef double weighted_length(str text):
    """Return :func:`newscrawl.text.weighted_length`, which has the same ranges."""
    cdef Py_UCS4 character
    cdef Py_ssize_t wide = 0
    for character in text:
        if character >= 0x1100 and _is_wide(character):
            wide += 1
    return len(text) + (WIDE_WEIGHT - 1) * wide


cdef bint _is_wide(Py_UCS4 c) noexcept:
    if c < 0x3040:
        return c <= 0x11ff
    if c < 0xa000:
        return c <= 0x30ff or 0x3130 <= c <= 0x318f or 0x31f0 <= c <= 0x31ff or (
            0x3400 <= c <= 0x4dbf or 0x4e00 <= c
        )
    if c < 0x10000:
        return 0xac00 <= c <= 0xd7ff or 0xa960 <= c <= 0xa97f or 0xf900 <= c <= 0xfaff or (
            0xff66 <= c <= 0xffdc
        )
    return 0x20000 <= c <= 0x3ffff
