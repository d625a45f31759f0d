# Types of the functions in groups.py that are called for each block.
cimport cython


cdef class _Groups:
    cdef object _document
    cdef dict _levels, _classes, _ids, _known, _names
    cdef list _headings, _items

    @cython.locals(row=Py_ssize_t, above=Py_ssize_t, inner=Py_ssize_t, path=list)
    cpdef tuple around(self, Py_ssize_t owner, Py_ssize_t first)

    cpdef tuple markup(self, Py_ssize_t row)
    cdef tuple _size(self, Py_ssize_t row)
    cpdef tuple holder_features(self, Py_ssize_t holder, double code)

    @cython.locals(inner=Py_ssize_t, path=list)
    cpdef tuple name_distances(self, Py_ssize_t row)


cdef double _share_of_digits(str start) except -1
