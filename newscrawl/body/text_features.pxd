# Types of the loops in text_features.py.
cimport cython


cdef class _FurnitureCounter:
    cdef dict stems, unspaced
    cdef const unsigned char[::1] marks, signs
    cdef object pattern
    cdef double rare, share

    @cython.locals(
        stem=Py_ssize_t, mask="unsigned int", has_sign=int,
        found=Py_ssize_t, size=Py_ssize_t, length=Py_ssize_t, key="unsigned int",
        place=Py_ssize_t, character=Py_UCS4,
    )
    cdef count(self, str text)


@cython.locals(
    ends=double[::1], odd=double[::1], described=double[::1], again=double[::1],
    digits=double[::1], rare=double[::1], share=double[::1], seen=dict, text=str,
    count=Py_ssize_t, place=Py_ssize_t, words=_FurnitureCounter,
)
cpdef text_columns(list texts, str description)

@cython.locals(size=Py_ssize_t, place=Py_ssize_t, first=Py_ssize_t)
cpdef double ending(str text) except -1

@cython.locals(count=Py_ssize_t, character=Py_UCS4)
cdef double _count_symbols(str text) except -1

@cython.locals(count=Py_ssize_t, character=Py_UCS4)
cdef double _share_of_digits(str start) except -1

@cython.locals(start=str, size=Py_ssize_t, end=Py_ssize_t, word_start=Py_ssize_t)
cdef bint _is_described(str text, str description) except -1
