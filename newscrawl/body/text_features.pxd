# Types of the loops in text_features.py.
cimport cython


@cython.locals(
    ends=double[::1], odd=double[::1], described=double[::1], again=double[::1],
    digits=double[::1], rare=double[::1], share=double[::1], seen=dict, text=str,
    count=Py_ssize_t, place=Py_ssize_t,
)
cpdef text_columns(list texts, str description)

@cython.locals(size=Py_ssize_t, place=Py_ssize_t, first=Py_ssize_t)
cpdef double ending(str text) except -1

@cython.locals(stems=dict, unspaced=dict, words=list, found=list, word=str, size=Py_ssize_t)
cdef tuple _furniture(str text)

@cython.locals(count=Py_ssize_t, character=Py_UCS4)
cdef double _count_symbols(str text) except -1

@cython.locals(count=Py_ssize_t, character=Py_UCS4)
cdef double _share_of_digits(str start) except -1

@cython.locals(start=str, size=Py_ssize_t, end=Py_ssize_t, word_start=Py_ssize_t)
cdef bint _is_described(str text, str description) except -1
