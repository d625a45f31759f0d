# cython: language_level=3, boundscheck=False, wraparound=False
"""Character references of HTML, decoded as by libxml2 2.14.

https://html.spec.whatwg.org/multipage/parsing.html#character-reference-state, except that references
to control characters and noncharacters are kept.
"""

from html.entities import html5

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.string cimport memchr, memcpy

# Name -> UTF-8, with ";" where it is required.
cdef dict NAMES = {name.encode(): text.encode() for name, text in html5.items()}
cdef Py_ssize_t LONGEST = max(map(len, NAMES))
# References to windows-1252, from 0x80 on.
cdef list REPLACED = [
    ord(bytes([code]).decode("cp1252", "ignore") or chr(code)) for code in range(0x80, 0xa0)
]


cdef str decode_text(const unsigned char* data, Py_ssize_t size, bint in_attribute):
    """Return the text of UTF-8 *data* with its references replaced."""
    cdef const unsigned char* place
    if size == 0:
        return ""
    place = <const unsigned char*> memchr(data, b"&", size)
    if place is NULL:
        return PyUnicode_DecodeUTF8(<const char*> data, size, b"strict")
    return _replaced(data, data + size, place, in_attribute)


cdef str _replaced(
    const unsigned char* data, const unsigned char* end, const unsigned char* place, bint in_attribute
):
    # No reference is shorter than its replacement: the shortest, of two bytes of UTF-8, is "&GT".
    cdef bytes buffer = PyBytes_FromStringAndSize(NULL, (end - data) * 2)
    cdef unsigned char* first = <unsigned char*> PyBytes_AS_STRING(buffer)
    cdef unsigned char* written = first
    cdef const unsigned char* after
    while place is not NULL:
        memcpy(written, data, place - data)
        written += place - data
        after = _numeric(place, end, &written)
        if after is NULL:
            after = _named(place, end, &written, in_attribute)
        if after is NULL:
            written[0] = b"&"
            written += 1
            after = place + 1
        data = after
        place = <const unsigned char*> memchr(data, b"&", end - data) if data < end else NULL
    memcpy(written, data, end - data)
    written += end - data
    return PyUnicode_DecodeUTF8(<const char*> first, written - first, b"strict")


cdef const unsigned char* _numeric(
    const unsigned char* place, const unsigned char* end, unsigned char** written
) except? NULL:
    """Write the character of the numeric reference at *place*; return its end, NULL for none."""
    cdef const unsigned char* digit = place + 2
    cdef unsigned int code = 0, base = 10
    if end - place < 3 or place[1] != b"#":
        return NULL
    if (digit[0] | 0x20) == b"x":
        base = 16
        digit += 1
    place = digit
    while digit < end and _value_of(digit[0]) < base:
        code = min(code * base + _value_of(digit[0]), 0x110000)
        digit += 1
    if digit == place:
        return NULL
    if 0x80 <= code < 0xa0:
        code = REPLACED[code - 0x80]
    elif code == 0 or 0xd800 <= code < 0xe000 or code >= 0x110000:
        code = 0xfffd
    written[0] += _write(code, written[0])
    return digit + 1 if digit < end and digit[0] == b";" else digit


cdef inline unsigned int _value_of(unsigned char digit) noexcept:
    if b"0" <= digit <= b"9":
        return digit - c"0"
    if b"a" <= (digit | 0x20) <= b"f":
        return (digit | 0x20) - c"a" + 10
    return 99


cdef Py_ssize_t _write(unsigned int code, unsigned char* place) noexcept:
    """Write *code* as UTF-8; return the number of bytes."""
    if code < 0x80:
        place[0] = code
        return 1
    if code < 0x800:
        place[0] = 0xc0 | code >> 6
        place[1] = 0x80 | code & 0x3f
        return 2
    if code < 0x10000:
        place[0] = 0xe0 | code >> 12
        place[1] = 0x80 | code >> 6 & 0x3f
        place[2] = 0x80 | code & 0x3f
        return 3
    place[0] = 0xf0 | code >> 18
    place[1] = 0x80 | code >> 12 & 0x3f
    place[2] = 0x80 | code >> 6 & 0x3f
    place[3] = 0x80 | code & 0x3f
    return 4


cdef const unsigned char* _named(
    const unsigned char* place, const unsigned char* end, unsigned char** written, bint in_attribute
) except? NULL:
    """Write the text of the named reference at *place*; return its end, NULL for none."""
    cdef const unsigned char* name = place + 1
    cdef Py_ssize_t size = 0, shortest
    cdef bytes text
    while name + size < end and size <= LONGEST and _is_alphanumeric(name[size]):
        size += 1
    if size < 2:
        return NULL
    if name + size < end and name[size] == b";":
        text = NAMES.get(name[: size + 1])
        if text is not None:
            return _copy(text, written, name + size + 1)
    # Before a letter, a digit or "=", an attribute has no reference without ";".
    if in_attribute and name + size < end and name[size] == b"=":
        return NULL
    shortest = size if in_attribute else 2
    while size >= shortest:
        text = NAMES.get(name[:size])
        if text is not None:
            return _copy(text, written, name + size)
        size -= 1
    return NULL


cdef inline bint _is_alphanumeric(unsigned char byte) noexcept:
    return b"0" <= byte <= b"9" or b"a" <= (byte | 0x20) <= b"z"


cdef const unsigned char* _copy(
    bytes text, unsigned char** written, const unsigned char* after
) except NULL:
    memcpy(written[0], PyBytes_AS_STRING(text), len(text))
    written[0] += len(text)
    return after
