# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled loops over the bytes of a page: of :mod:`newscrawl.document.guard` and ``encoding``."""

from libc.string cimport memcpy


def count_byte(bytes data not None, bytes byte not None):
    """See :func:`newscrawl.document.guard.count_byte`."""
    cdef const unsigned char* place = data
    cdef Py_ssize_t index, start, stop, total = 0, size = len(data)
    cdef unsigned char wanted = byte[0], part
    for start in range(0, size, 255):  # a sum of 255 fits into a byte, which vectors need
        part = 0
        stop = min(start + 255, size)
        for index in range(start, stop):
            part += place[index] == wanted
        total += part
    return total


def utf8_length(bytes data not None):
    """See :func:`newscrawl.document.encoding.utf8_length`."""
    cdef const unsigned char* first = data
    cdef const unsigned char* place = first
    cdef const unsigned char* end = first + len(data)
    cdef unsigned char least, most
    cdef unsigned long long word
    cdef int index, size
    while True:
        while end - place >= 8:
            memcpy(&word, place, 8)  # a load from any address
            if word & 0x8080808080808080ULL:
                break
            place += 8
        while place < end and place[0] < 0x80:
            place += 1
        if place == end:
            return place - first
        least, most = 0x80, 0xbf
        if 0xc2 <= place[0] <= 0xdf:
            size = 2
        elif 0xe0 <= place[0] <= 0xef:
            size = 3
            if place[0] == 0xe0:
                least = 0xa0
            elif place[0] == 0xed:  # surrogates
                most = 0x9f
        elif 0xf0 <= place[0] <= 0xf4:
            size = 4
            if place[0] == 0xf0:
                least = 0x90
            elif place[0] == 0xf4:
                most = 0x8f
        else:
            return None
        for index in range(1, size):
            if place + index == end:
                return place - first
            if not least <= place[index] <= most:
                return None
            least, most = 0x80, 0xbf
        place += size
