from newscrawl.document._html_tokens cimport Place


cdef str decoded(Place data, Py_ssize_t size, bint has_references)
cdef str stripped(Place first, Py_ssize_t size, bint has_references, int* space)
cdef str trimmed(str text, int* space)
cdef bint has_digit(str text)
cdef double weighted_length(str text)
