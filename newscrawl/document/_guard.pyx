# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled loop of :mod:`newscrawl.document.guard`."""


def count_byte(bytes data not None, bytes byte not None):
    """See :func:`newscrawl.document.guard.count_byte`."""
    cdef const unsigned char* place = data
    cdef Py_ssize_t index, total = 0, size = len(data)
    cdef unsigned char wanted = byte[0]
    for index in range(size):
        total += place[index] == wanted
    return total
