from cpython.unicode cimport Py_UNICODE_TOLOWER

cdef enum:
    BUCKETS = 1024


cdef class Phrases:
    cdef tuple phrases
    #: index of the first phrase in a bucket, and of the next one with the same; -1: none
    cdef short[BUCKETS] first
    cdef short[256] following
    cdef bint ignore_case
    #: number of phrases that are whole words; the others follow
    cdef Py_ssize_t words
    cdef bint is_in(self, str text) except -1
    cdef bint has_start(self, Py_UCS4 first, Py_UCS4 second) noexcept
    cdef Py_UCS4 read(self, int kind, void* data, Py_ssize_t place) noexcept
    cdef bint begins(self, str text, Py_ssize_t place, int index) except -1


cdef Phrases prepared(tuple phrases, tuple words, bint ignore_case)


cdef inline Py_UCS4 lower(Py_UCS4 character) noexcept:
    if character < 128:
        return <Py_UCS4> (<unsigned int> character | 32) if u"A" <= character <= u"Z" else character
    return Py_UNICODE_TOLOWER(character)


cdef inline bint is_digit(Py_UCS4 character) noexcept:
    return u"0" <= character <= u"9"
