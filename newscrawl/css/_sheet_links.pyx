# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled scan of a page's bytes for style sheets and paragraphs.

Equivalent to :func:`newscrawl.css.sheet_links.find_elements_in_python` and
:func:`newscrawl.css.sheet_links.has_paragraphs_in_python`. CPython stores a NUL after the last byte
of ``bytes``, which ends every comparison.
"""

from cpython.bytes cimport PyBytes_AS_STRING
from libc.stdint cimport uint8_t
from libc.string cimport memchr

cdef tuple NAMES = (b"", b"!--", b"script", b"template", b"style", b"link", b"base")

cdef enum:
    NOTHING = 0
    COMMENT = 1
    SCRIPT = 2
    TEMPLATE = 3
    STYLE = 4
    LINK = 5
    BASE = 6


def find_elements(bytes html not None, Py_ssize_t limit):
    """Return elements: see :func:`newscrawl.css.sheet_links.find_elements_in_python`."""
    cdef const uint8_t* data = <const uint8_t*> PyBytes_AS_STRING(html)
    cdef Py_ssize_t length = len(html), start = 0, inside, position = 0
    cdef list found = []
    cdef int kind
    while limit > 0:
        start = _next(data, position, length, c"<")
        if start == length:
            break
        kind = _opened(data + start + 1)
        if kind == NOTHING:
            position = start + 1
            continue
        limit -= 1
        inside = start + 1 + len(<bytes> NAMES[kind])
        if kind == COMMENT:
            position = _comment_end(data, start + 2, length)
        elif kind <= STYLE:
            position = _element_end(data, start + 2, length, kind)
        else:
            position = inside
        if kind >= STYLE:
            found.append((NAMES[kind], inside, position))
    return found


def has_paragraphs(bytes html not None, Py_ssize_t minimum):
    """See :func:`newscrawl.css.sheet_links.has_paragraphs_in_python`."""
    cdef const uint8_t* data = <const uint8_t*> PyBytes_AS_STRING(html)
    cdef Py_ssize_t length = len(html), position = -1
    while minimum > 0:
        position = _next(data, position + 1, length, c"<")
        if position == length:
            return False
        if data[position + 1] | 32 == c"p" and data[position + 2] != c"/" and _ends(data[position + 2]):
            minimum -= 1
    return True


cdef inline Py_ssize_t _next(
    const uint8_t* data, Py_ssize_t position, Py_ssize_t length, int byte
) noexcept:
    """Return the position of the next *byte*, else *length*."""
    cdef const void* found = NULL
    if position < length:
        found = memchr(data + position, byte, length - position)
    return length if found is NULL else <const uint8_t*> found - data


cdef int _opened(const uint8_t* name) noexcept:
    """Return the kind of element that the name after a "<" opens."""
    cdef uint8_t first = name[0] | 32
    if name[0] == c"!":
        return COMMENT if name[1] == c"-" and name[2] == c"-" else NOTHING
    if first == c"l":
        return LINK if _same(name, b"link") and _ends(name[4]) else NOTHING
    if first == c"b":
        return BASE if _same(name, b"base") and _ends(name[4]) else NOTHING
    if first == c"t":
        return TEMPLATE if _same(name, b"template") and _ends(name[8]) else NOTHING
    if first != c"s":
        return NOTHING
    if _same(name, b"script"):
        return SCRIPT if _ends(name[6]) else NOTHING
    return STYLE if _same(name, b"style") and _ends(name[5]) else NOTHING


cdef bint _same(const uint8_t* name, const char* expected) noexcept:
    """Return whether *name* starts with *expected*, which is in lower case, ignoring case."""
    cdef Py_ssize_t position = 0
    while expected[position]:
        if name[position] | 32 != <uint8_t> expected[position]:
            return False
        position += 1
    return True


cdef inline bint _ends(uint8_t byte) noexcept:
    """Return whether *byte* ends a tag name: white space, "/" or ">"."""
    return byte == 32 or 9 <= byte <= 13 or byte == c"/" or byte == c">"


cdef Py_ssize_t _comment_end(const uint8_t* data, Py_ssize_t position, Py_ssize_t length) noexcept:
    """Return the position of the next "-->", else *length*."""
    cdef Py_ssize_t end = position + 1
    while True:
        end = _next(data, end + 1, length, c">")
        if end == length:
            return length
        if data[end - 1] == c"-" and data[end - 2] == c"-":
            return end - 2


cdef Py_ssize_t _element_end(
    const uint8_t* data, Py_ssize_t position, Py_ssize_t length, int kind
) noexcept:
    """Return the position of the next closing tag of an element, else *length*."""
    cdef const char* name = b"script" if kind == SCRIPT else b"style"
    if kind == TEMPLATE:
        name = b"template"
    while True:
        position = _next(data, position, length, c"<")
        if position == length:
            return length
        if data[position + 1] == c"/" and _same(data + position + 2, name):
            return position
        position += 1
