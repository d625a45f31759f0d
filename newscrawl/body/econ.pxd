# Types of the loops in econ.py.
cimport cython


@cython.locals(
    parent=list, text=list, link_chars=list, before=list, fathers=bytearray, link_marks=bint,
    decimal_marks=bint, row=Py_ssize_t, last=Py_ssize_t, start=double, stop=double, found=object,
)
cpdef read_text(document, parameters)

@cython.locals(place=Py_ssize_t, character=Py_UCS4, is_mark=bint)
cpdef bint has_mark(str text, bint decimal_marks) except -1

@cython.locals(
    tag=list, parent=list, end=list, chars=list, sets=list, latest=dict, row=Py_ssize_t,
    after=Py_ssize_t, index=Py_ssize_t, chars_start=double, chars_end=double, has_text=bint,
    is_big=bint, nested=bint,
)
cpdef joint_para(document, list marks_before, bytearray fathers, parameters)

@cython.locals(child=Py_ssize_t, is_big_tag=bint)
cdef bint _is_big_node(
    list tag, list end, Py_ssize_t row, bytearray fathers, bint nested
) except -1
