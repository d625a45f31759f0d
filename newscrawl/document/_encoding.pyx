# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled loop of :mod:`newscrawl.document.encoding`."""

from libc.string cimport memcpy

cdef unsigned long long NOT_ASCII = 0x8080808080808080ULL


def utf8_length(bytes data not None):
    """See :func:`newscrawl.document.encoding.utf8_length`."""
    cdef const unsigned char* byte = data
    cdef const unsigned char* end = byte + len(data)
    cdef unsigned long long next[4]
    cdef int size
    while byte < end:
        if end - byte >= 32:
            memcpy(next, byte, 32)
            if not (next[0] | next[1] | next[2] | next[3]) & NOT_ASCII:
                byte += 32
                continue
            if not next[0] & NOT_ASCII:
                byte += 8
                continue
        size = _character(byte, end)
        if size < 0:
            return None
        if size == 0:
            break
        byte += size
    return byte - <const unsigned char*> data


cdef inline int _character(const unsigned char* byte, const unsigned char* end) noexcept:
    """Return the length of the character at *byte*: 0 if the data ends in it, -1 if it is invalid.

    The Unicode Standard 16.0, table 3-7.
    """
    cdef unsigned char lead = byte[0], least = 0x80, most = 0xbf
    cdef int size, place
    if lead < 0x80:
        return 1
    if lead < 0xc2 or lead > 0xf4:
        return -1
    size = 2 if lead < 0xe0 else 3 if lead < 0xf0 else 4
    if lead == 0xe0:
        least = 0xa0
    elif lead == 0xed and end - byte != 2:  # like Python, for an incomplete surrogate
        most = 0x9f
    elif lead == 0xf0:
        least = 0x90
    elif lead == 0xf4:
        most = 0x8f
    for place in range(1, size):
        if byte + place == end:
            return 0
        if not least <= byte[place] <= most:
            return -1
        least, most = 0x80, 0xbf
    return size
