# Types of the loops in coreex.py.
cimport cython


@cython.locals(
    end=list, tag=list, text=list, is_form=bytearray, words=list, links=list, row=Py_ssize_t,
    after=Py_ssize_t, count=Py_ssize_t, longest=Py_ssize_t, found=Py_ssize_t, number=object,
    link_number=object,
)
cpdef terminal_sums(document, bytearray ignored, list ignored_forms)

@cython.locals(count=Py_ssize_t, is_inside=bint, character=Py_UCS4)
cpdef Py_ssize_t count_tokens(str text) except -1
