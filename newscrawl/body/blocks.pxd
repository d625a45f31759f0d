# Types of the loops in blocks.py.
cimport cython


@cython.locals(
    tag=list, parent=list, block_tags=frozenset, owners=list, rows=list, mine=list, before=list,
    links=list, prose=set, row=Py_ssize_t, owner=Py_ssize_t, previous_owner=Py_ssize_t,
    previous_row=Py_ssize_t, place=Py_ssize_t, first=Py_ssize_t, end=Py_ssize_t, start=double,
    stop=double, links_start=double, links_stop=double, min_long=double, max_density=double,
)
cpdef group_rows(document)

@cython.locals(breaks=Py_ssize_t)
cdef bint _ends_block(list tag, Py_ssize_t row, Py_ssize_t end) except -1

@cython.locals(
    votes=bytearray, marks="unsigned char[::1]", vote="unsigned char", root=Py_ssize_t,
    row=Py_ssize_t, end=Py_ssize_t,
)
cpdef bytearray cast_votes(list ends, bodies)

@cython.locals(
    before=list, end=list, parent=list, selected=double[::1], place=Py_ssize_t,
    row=Py_ssize_t, root=Py_ssize_t, above=Py_ssize_t, last=Py_ssize_t, start=double, stop=double,
    covered=Py_ssize_t,
)
cpdef find_roots(document, rows)

@cython.locals(numbers=dict)
cpdef tuple numbered(list keys)

cpdef zeros(Py_ssize_t count)
