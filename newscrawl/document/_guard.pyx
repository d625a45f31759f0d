# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled loops of :mod:`newscrawl.document.guard`."""

from libc.string cimport memchr, memcmp


def count_byte(bytes data not None, bytes byte not None):
    """See :func:`newscrawl.document.guard.count_byte`."""
    cdef const unsigned char* place = data
    cdef Py_ssize_t index, total = 0, size = len(data)
    cdef unsigned char wanted = byte[0]
    for index in range(size):
        total += place[index] == wanted
    return total


def is_harmless(bytes html not None, *, int max_parts):
    """See :func:`newscrawl.document.guard.is_harmless`."""
    cdef const unsigned char* byte = html
    cdef const unsigned char* end = byte + len(html)
    cdef const unsigned char* tag
    while byte is not NULL:
        byte = <const unsigned char*> memchr(byte, b"<", end - byte)
        if byte is NULL or end - byte < 2:
            return True
        tag = byte
        if _is_letter(byte[1]):
            byte = _after_tag(byte + 2, end, max_parts)
            if byte is NULL:
                return False
            if _names_script(tag + 1, end) and _ends_name(tag, end):
                byte = _end_of_script(byte, end)
        elif end - byte >= 4 and memcmp(byte, b"<!--", 4) == 0:
            byte = _end_of_comment(byte + 4, end)
        else:
            byte += 1
    return True


cdef inline bint _is_letter(unsigned char byte) noexcept:
    return b"a" <= (byte | 0x20) <= b"z"


cdef const unsigned char* _after_tag(
    const unsigned char* byte, const unsigned char* end, int max_parts
) noexcept:
    """Return the end of the tag whose third byte is *byte*; NULL if it has too many parts.

    A part is up to 64 bytes and a value, or an equals sign.
    """
    cdef const unsigned char* start
    cdef int parts = 0
    while byte < end and byte[0] != b">":
        if parts == max_parts:
            return NULL
        parts += 1
        start = byte
        while byte < end and byte - start < 64 and byte[0] != b">" and byte[0] != b"=":
            byte += 1
        if byte == start:
            byte += 1
        elif byte < end and byte[0] == b"=":
            byte = _after_value(byte + 1, end)
    return byte + 1 if byte < end else end


cdef const unsigned char* _after_value(
    const unsigned char* byte, const unsigned char* end
) noexcept:
    """Return the end of the quoted value after *byte* and white space; without one, its start."""
    cdef const void* closing = NULL
    while byte < end and (byte[0] == b" " or 9 <= byte[0] <= 13):
        byte += 1
    if byte < end and (byte[0] == b'"' or byte[0] == b"'"):
        closing = memchr(byte + 1, byte[0], end - byte - 1)
    return byte if closing is NULL else <const unsigned char*> closing + 1


cdef bint _names_script(const unsigned char* byte, const unsigned char* end) noexcept:
    """Return whether *byte* starts "script" or "style", ignoring case."""
    return _is_word(byte, end, b"script") or _is_word(byte, end, b"style")


cdef bint _is_word(
    const unsigned char* byte, const unsigned char* end, const char* word
) noexcept:
    cdef Py_ssize_t place = 0
    while word[place]:
        if byte + place == end or (byte[place] | 0x20) != <unsigned char> word[place]:
            return False
        place += 1
    return True


cdef bint _ends_name(const unsigned char* tag, const unsigned char* end) noexcept:
    """Return whether the name of *tag*, "script" or "style", ends there."""
    cdef const unsigned char* byte = tag + (7 if _is_word(tag + 1, end, b"script") else 6)
    return byte < end and (byte[0] in b" />" or 9 <= byte[0] <= 13)


cdef const unsigned char* _end_of_script(
    const unsigned char* byte, const unsigned char* end
) noexcept:
    """Return the next end tag of a script or style element; NULL if there is none."""
    while byte < end:
        byte = <const unsigned char*> memchr(byte, b"<", end - byte)
        if byte is NULL:
            return NULL
        if byte + 1 < end and byte[1] == b"/" and _names_script(byte + 2, end):
            return byte
        byte += 1
    return NULL


cdef const unsigned char* _end_of_comment(
    const unsigned char* byte, const unsigned char* end
) noexcept:
    """Return the next "-->"; NULL if there is none."""
    while byte < end:
        byte = <const unsigned char*> memchr(byte, b"-", end - byte)
        if byte is NULL:
            return NULL
        if end - byte >= 3 and byte[1] == b"-" and byte[2] == b">":
            return byte
        byte += 1
    return NULL
