# Types of the loops in groups.py.
cimport cython


@cython.locals(
    parents=list, rows=list, held=double[::1], row=Py_ssize_t, best=Py_ssize_t, home=Py_ssize_t,
    higher=Py_ssize_t, whole=double, most=double, size=double, place=Py_ssize_t,
)
cpdef home_of(document, containers, sizes)


cdef class _Groups:
    cdef object document
    cdef list tags, parents, ends, before, links, owner
    cdef dict classes, ids
    cdef readonly dict columns
    cdef Py_ssize_t count
    cdef bytearray visited, kinds
    cdef int[::1] levels, parts, holders, other, story

    @cython.locals(place=Py_ssize_t, row=Py_ssize_t, other=double[::1], story=double[::1])
    cdef tuple fill_rows(self, list firsts)

    @cython.locals(inner=Py_ssize_t, path=list)
    cdef visit(self, Py_ssize_t row)

    @cython.locals(marks=int, above=Py_ssize_t, other=int, story=int)
    cdef fill_names(self, Py_ssize_t row)

    @cython.locals(above=Py_ssize_t, part=Py_ssize_t, holder=Py_ssize_t, kind=int, own=int)
    cdef fill_group(self, Py_ssize_t row)

    @cython.locals(
        groups=list, parts=list, markup=list, level=double[::1], chars=double[::1],
        density=double[::1], images=double[::1], links=double[::1], headings=double[::1],
        likes=double[::1], members=double[::1], alike=double[::1], images_before=int[::1],
        links_before=int[::1], headings_before=int[::1], number=Py_ssize_t, group=Py_ssize_t,
        place=Py_ssize_t, row=Py_ssize_t, end=Py_ssize_t, above=Py_ssize_t, most=double,
    )
    cdef fill_parts(self, list keys)

    @cython.locals(
        groups=list, holders=list, kind=double[::1], chars=double[::1], density=double[::1],
        mean=double[::1], introduced=double[::1], items_before=int[::1], items=Py_ssize_t,
        number=Py_ssize_t, row=Py_ssize_t, end=Py_ssize_t,
    )
    cdef fill_holders(self, list keys)

    @cython.locals(counts=int[::1], row=Py_ssize_t)
    cdef int[::1] count_before(self, tags)

    @cython.locals(end=Py_ssize_t, start=double, stop=double)
    cdef double chars(self, Py_ssize_t row) except -1

    cdef double size(self, Py_ssize_t row) except -1

    @cython.locals(end=Py_ssize_t, start=double, stop=double, chars=double)
    cdef double link_density(self, Py_ssize_t row) except -1

    @cython.locals(text=list, hidden=bytearray, before=Py_ssize_t, first=Py_ssize_t)
    cdef bint is_introduced(self, Py_ssize_t row) except -1

    @cython.locals(column=double[::1], numbers=double[::1], place=Py_ssize_t, group=Py_ssize_t)
    cdef expand(self, dict values, list groups)

    @cython.locals(
        since_column=double[::1], density_column=double[::1], since=double, density=double,
        place=Py_ssize_t, row=Py_ssize_t,
    )
    cdef fill_headings(self)


cdef int _further(int distance) except -2
