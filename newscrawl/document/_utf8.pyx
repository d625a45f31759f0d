# cython: language_level=3, boundscheck=False, wraparound=False
"""Bytes of a page before they are read: validity as UTF-8 and line endings."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint64_t
from libc.string cimport memchr, memcpy

cdef enum:
    BLOCK = 32  # bytes


def valid_utf8(bytes data not None):
    """See :func:`newscrawl.document.encoding.valid_utf8`."""
    cdef const unsigned char* start = data
    cdef const unsigned char* place = start
    cdef const unsigned char* end = start + len(data)
    cdef int size
    while place < end:
        if place[0] < 0x80:
            while end - place >= BLOCK and _is_ascii(place):
                place += BLOCK
            while place < end and place[0] < 0x80:
                place += 1
            continue
        size = _character(place, end)
        if size == 0:
            break
        place += size
    return place - start


def with_newlines(bytes data not None):
    """See :func:`newscrawl.document.encoding.with_newlines`."""
    cdef const unsigned char* place = data
    cdef const unsigned char* end = place + len(data)
    cdef const unsigned char* line_end
    cdef bytes buffer = PyBytes_FromStringAndSize(NULL, len(data))
    cdef char* first = PyBytes_AS_STRING(buffer)
    cdef char* written = first
    while place < end:
        line_end = <const unsigned char*> memchr(place, b"\r", end - place)
        if line_end is NULL:
            line_end = end
        memcpy(written, place, line_end - place)
        written += line_end - place
        place = line_end + 1
        if line_end < end and (place == end or place[0] != b"\n"):
            written[0] = b"\n"
            written += 1
    return buffer[: written - first]


cdef inline bint _is_ascii(const unsigned char* place) noexcept:
    cdef uint64_t[4] parts
    memcpy(parts, place, BLOCK)
    return (parts[0] | parts[1] | parts[2] | parts[3]) & 0x8080808080808080ULL == 0


cdef inline int _character(const unsigned char* place, const unsigned char* end) noexcept:
    """Return the bytes of a character that is not ASCII; 0 if it is invalid.

    https://www.unicode.org/versions/Unicode16.0.0/core-spec/chapter-3/#G27506
    """
    cdef unsigned char first = place[0], low = 0x80, high = 0xbf
    cdef int size = 2 if first < 0xe0 else 3 if first < 0xf0 else 4
    if not 0xc2 <= first <= 0xf4 or end - place < size:
        return 0
    if first == 0xe0:
        low = 0xa0
    elif first == 0xed:
        high = 0x9f
    elif first == 0xf0:
        low = 0x90
    elif first == 0xf4:
        high = 0x8f
    if not low <= place[1] <= high:
        return 0
    if size > 2 and place[2] & 0xc0 != 0x80 or size > 3 and place[3] & 0xc0 != 0x80:
        return 0
    return size
