# cython: language_level=3, boundscheck=False, wraparound=False
"""What is asked of the bytes of a page before they are parsed, compiled.

Each is the double of the Python function that it names, and gives the same.
"""

from libc.string cimport memchr, memcmp, memcpy

cdef unsigned long long NOT_ASCII = 0x8080808080808080ULL


def utf8_length(bytes data not None):
    """Return how much is UTF-8: see :func:`newscrawl.document.encoding.utf8_length_in_python`."""
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
    """Return the bytes of the character at *byte*: 0 where the data ends in it, -1 for none.

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
    elif lead == 0xed and end - byte != 2:  # Python waits for the end of a surrogate, too
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


def is_suspicious(
    bytes html not None, *, Py_ssize_t stride, Py_ssize_t every, Py_ssize_t few, bytes never_bare
):
    """Return whether tags may be large: see :func:`newscrawl.document.guard.suspicious_in_python`."""
    cdef const unsigned char* data = html
    cdef Py_ssize_t start, place, equals = 0, size = len(html)
    for start in range(0, size, every * stride):
        for place in range(start, min(start + stride, size)):
            equals += data[place] == b"="
        if equals * every > few:
            return True
        if start + stride < size and memchr(data + start, b" ", stride) is not NULL:
            if not _has_any(data + start, stride, never_bare):
                return True
    return False


cdef bint _has_any(const unsigned char* data, Py_ssize_t size, bytes wanted) noexcept:
    cdef const unsigned char* characters = wanted
    cdef Py_ssize_t place
    for place in range(len(wanted)):
        if memchr(data, characters[place], size) is not NULL:
            return True
    return False


def is_harmless(bytes html not None, *, int most_parts):
    """Return whether no tag has many parts: see :func:`newscrawl.document.guard.harmless_in_python`."""
    cdef const unsigned char* byte = html
    cdef const unsigned char* end = byte + len(html)
    cdef const unsigned char* tag
    while byte is not NULL:
        byte = <const unsigned char*> memchr(byte, b"<", end - byte)
        if byte is NULL or end - byte < 2:
            return True
        tag = byte
        if _is_letter(byte[1]):
            byte = _after_tag(byte + 2, end, most_parts)
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
    const unsigned char* byte, const unsigned char* end, int most
) noexcept:
    """Return where the tag ends of which *byte* is the third; NULL where it has too many parts.

    A part is up to 64 bytes and a value, or an equals sign.
    """
    cdef const unsigned char* start
    cdef int parts = 0
    while byte < end and byte[0] != b">":
        if parts == most:
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
    """Return where the quoted value ends that *byte* or the white space there is followed by."""
    cdef const void* closing = NULL
    while byte < end and (byte[0] == b" " or 9 <= byte[0] <= 13):
        byte += 1
    if byte < end and (byte[0] == b'"' or byte[0] == b"'"):
        closing = memchr(byte + 1, byte[0], end - byte - 1)
    return byte if closing is NULL else <const unsigned char*> closing + 1


cdef bint _names_script(const unsigned char* byte, const unsigned char* end) noexcept:
    """Return whether "script" or "style" stands at *byte*, in letters of any case."""
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
    """Return whether white space or the like follows the name "script" or "style" of *tag*."""
    cdef const unsigned char* byte = tag + (7 if _is_word(tag + 1, end, b"script") else 6)
    return byte < end and (byte[0] in b" />" or 9 <= byte[0] <= 13)


cdef const unsigned char* _end_of_script(
    const unsigned char* byte, const unsigned char* end
) noexcept:
    """Return where the next end tag of a script or a style sheet begins; NULL where none does."""
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
    """Return where the next "-->" begins; NULL where none does."""
    while byte < end:
        byte = <const unsigned char*> memchr(byte, b"-", end - byte)
        if byte is NULL:
            return NULL
        if end - byte >= 3 and byte[1] == b"-" and byte[2] == b">":
            return byte
        byte += 1
    return NULL
