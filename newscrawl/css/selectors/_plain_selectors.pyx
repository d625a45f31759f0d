# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled fast path of the selector compiler.

Equivalent to :func:`newscrawl.css.selectors.plain_selectors.compile_plain`.
"""

from cpython.unicode cimport PyUnicode_1BYTE_KIND, PyUnicode_DATA, PyUnicode_KIND
from libc.stdint cimport uint8_t

from newscrawl.css.selectors._selector_names cimport CLASS, LETTER, SPACE, has_upper, name_end


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


cdef inline Py_ssize_t _space_end(
    const uint8_t* text, Py_ssize_t position, Py_ssize_t end
) noexcept:
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
        return name_end(text, position, end)
    return start


cdef str _lower(str rule, const uint8_t* text, Py_ssize_t start, Py_ssize_t end):
    return rule[start:end].lower() if has_upper(text, start, end) else rule[start:end]
