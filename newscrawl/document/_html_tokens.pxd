ctypedef const unsigned char* Place


cdef inline bint is_space(unsigned char byte) noexcept:
    """Return whether *byte* is white space of HTML."""
    return byte == 32 or byte == 10 or byte == 9 or byte == 13 or byte == 12


cdef inline bint is_letter(unsigned char byte) noexcept:
    return b"a" <= (byte | 0x20) <= b"z"


cdef inline bint ends_name(unsigned char byte) noexcept:
    return byte == b">" or byte == b"/" or is_space(byte)


cdef inline bint same(Place name, const unsigned char* lower, Py_ssize_t size) noexcept:
    """Return whether *name* is *lower* in any case."""
    cdef Py_ssize_t place
    for place in range(size):
        if name[place] != lower[place] and not (
            b"A" <= name[place] <= b"Z" and (name[place] | 0x20) == lower[place]
        ):
            return False
    return True


cdef inline unsigned int name_hash(Place name, Py_ssize_t size) noexcept:
    """Return the hash of a name, the same in any case."""
    return size * 31 + (name[0] | 0x20) * 7 + (name[size - 1] | 0x20) * 17 + (name[size >> 1] | 0x20) * 3


cdef Place after(Place place, Place limit, unsigned char byte) noexcept
cdef Place end_of_comment(Place place, Place limit) noexcept
cdef Place end_of_content(Place place, Place limit, bytes lower, bint is_script) noexcept
cdef Place after_space_reference(Place place, Place limit) noexcept
