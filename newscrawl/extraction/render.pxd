# Types of the loops in render.py.
cimport cython


cdef class Flow:
    cdef readonly object document
    cdef readonly list pieces, rows
    cdef Py_ssize_t _preformatted

    cpdef add_space(self, str space, Py_ssize_t row=*)

    @cython.locals(
        pieces=list, rows=list, tag=list, end=list, parent=list, texts=list, hidden=bytearray,
        space=bytearray, open_rows=list, row=Py_ssize_t, last=Py_ssize_t, next_end=Py_ssize_t,
        closed=Py_ssize_t, name=str,
    )
    cdef _write_subtree(self, Py_ssize_t root, skip)

    cdef _open(self, Py_ssize_t row, str tag)
    cdef _close(self, Py_ssize_t row, Py_ssize_t root)


cdef str _flowing(str text, int space)
cdef str _clean(str line)

@cython.locals(character=Py_UCS4, is_space=bint, is_after_space=bint, is_ascii=bint)
cdef bint _is_clean(str line) except -1
