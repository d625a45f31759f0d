# cython: language_level=3, boundscheck=False, wraparound=False
"""The look for style sheets in the bytes of a page, compiled.

The doubles of :func:`newscrawl.css.sheet_links.parts_in_python` and
:func:`newscrawl.css.sheet_links.has_paragraphs_in_python`. CPython puts a NUL behind the last byte of
``bytes``: what compares stops there, where nothing is the same.
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


def find_parts(bytes html not None, Py_ssize_t most):
    """Return the parts of *html*: see :func:`newscrawl.css.sheet_links.parts_in_python`."""
    cdef const uint8_t* data = <const uint8_t*> PyBytes_AS_STRING(html)
    cdef Py_ssize_t length = len(html), start = 0, inside, place = 0
    cdef list found = []
    cdef int kind
    while most > 0:
        start = _next(data, place, length, c"<")
        if start == length:
            break
        kind = _opened(data + start + 1)
        if kind == NOTHING:
            place = start + 1
            continue
        most -= 1
        inside = start + 1 + len(<bytes> NAMES[kind])
        if kind == COMMENT:
            place = _comment_end(data, start + 2, length)
        elif kind <= STYLE:
            place = _element_end(data, start + 2, length, kind)
        else:
            place = inside
        if kind >= STYLE:
            found.append((NAMES[kind], inside, place))
    return found


def has_paragraphs(bytes html not None, Py_ssize_t least):
    """Return whether there are *least*: see :func:`newscrawl.css.sheet_links.has_paragraphs_in_python`."""
    cdef const uint8_t* data = <const uint8_t*> PyBytes_AS_STRING(html)
    cdef Py_ssize_t length = len(html), place = -1
    while least > 0:
        place = _next(data, place + 1, length, c"<")
        if place == length:
            return False
        if data[place + 1] | 32 == c"p" and data[place + 2] != c"/" and _ends(data[place + 2]):
            least -= 1
    return True


cdef inline Py_ssize_t _next(
    const uint8_t* data, Py_ssize_t place, Py_ssize_t length, int byte
) noexcept:
    """Return where *byte* is next, *length* where it is not."""
    cdef const void* found = NULL
    if place < length:
        found = memchr(data + place, byte, length - place)
    return length if found is NULL else <const uint8_t*> found - data


cdef int _opened(const uint8_t* name) noexcept:
    """Return what is opened by the name behind a "<"."""
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


cdef bint _same(const uint8_t* name, const char* known) noexcept:
    """Return whether *name* begins with *known*, letters in lower case, in any case."""
    cdef Py_ssize_t place = 0
    while known[place]:
        if name[place] | 32 != <uint8_t> known[place]:
            return False
        place += 1
    return True


cdef inline bint _ends(uint8_t byte) noexcept:
    """Return whether *byte* ends the name of a tag: white space, "/" or ">"."""
    return byte == 32 or 9 <= byte <= 13 or byte == c"/" or byte == c">"


cdef Py_ssize_t _comment_end(const uint8_t* data, Py_ssize_t place, Py_ssize_t length) noexcept:
    """Return where "-->" is next, *length* where it is not."""
    cdef Py_ssize_t end = place + 1
    while True:
        end = _next(data, end + 1, length, c">")
        if end == length:
            return length
        if data[end - 1] == c"-" and data[end - 2] == c"-":
            return end - 2


cdef Py_ssize_t _element_end(
    const uint8_t* data, Py_ssize_t place, Py_ssize_t length, int kind
) noexcept:
    """Return where the closing tag of an element is next, *length* where it is not."""
    cdef const char* name = b"script" if kind == SCRIPT else b"style"
    if kind == TEMPLATE:
        name = b"template"
    while True:
        place = _next(data, place, length, c"<")
        if place == length:
            return length
        if data[place + 1] == c"/" and _same(data + place + 2, name):
            return place
        place += 1
