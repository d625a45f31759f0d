# Types of the loops in block_features.py.
cimport cython


cdef class _Candidates:
    cdef list tags, parents, ends, before, links, owner, rows, above, firsts, lasts
    cdef Py_ssize_t count
    cdef double[::1] sizes, longs
    cdef double whole_long
    cdef dict columns

    cdef column(self, str name)

    @cython.locals(
        chars=double[::1], density=double[::1], before=double[::1], after=double[::1],
        sizes=double[::1], longs=double[::1], place=Py_ssize_t, first=Py_ssize_t,
        end=Py_ssize_t, size=double, start=double, stop=double, links=double, links_stop=double,
        min_long=double, max_density=double,
    )
    cdef fill_sizes(self)

    @cython.locals(
        tag=double[::1], parent_tag=double[::1], before_tag=double[::1],
        within_article=double[::1], strong=double[::1], emphasis=double[::1], image=double[::1],
        sizes=double[::1], codes=dict, place=Py_ssize_t, row=Py_ssize_t, up=Py_ssize_t,
    )
    cdef fill_markup(self, bytearray within, double outside)

    @cython.locals(row=Py_ssize_t, above=Py_ssize_t, owner=Py_ssize_t, chars=double, start=double, stop=double)
    cdef double stressed(self, Py_ssize_t place, frozenset tags) except -1

    @cython.locals(back=Py_ssize_t)
    cdef double image_before(self, Py_ssize_t row) except -1

    @cython.locals(voters=double[::1], place=Py_ssize_t, first=Py_ssize_t, vote=int)
    cdef fill_votes(self, bytearray votes)

    @cython.locals(
        column=double[::1], sizes=double[::1], place=Py_ssize_t, first=Py_ssize_t, total=double,
    )
    cdef fill_shares_before(self, bytearray votes, int voter, str name)

    @cython.locals(
        ups=list, groups=list, share=double[::1], depth=double[::1],
        blocks=double[::1], counts=double[::1], place=Py_ssize_t, row=Py_ssize_t, up=Py_ssize_t,
        group=Py_ssize_t, end=Py_ssize_t, whole=double, start=double, stop=double,
    )
    cdef fill_parents(self, list depths, list containers, Py_ssize_t home)

    @cython.locals(
        column=double[::1], held=double[::1], longs=double[::1], groups=list, place=Py_ssize_t,
        group=Py_ssize_t, largest=double,
    )
    cdef fill_shares_of_best(self, list keys, str name)

    @cython.locals(own=list, above=list, place=Py_ssize_t, row=Py_ssize_t, up=Py_ssize_t)
    cdef fill_patterns(self, dict classes)

    @cython.locals(
        groups=list, sizes=double[::1], longs=double[::1], counts=double[::1], chars=double[::1],
        long_chars=double[::1], count=double[::1], mean=double[::1], long_share=double[::1],
        place=Py_ssize_t, group=Py_ssize_t,
    )
    cdef fill_pattern(self, list keys, str name)

    @cython.locals(
        after_heading=double[::1], share=double[::1], left=double[::1], window=double[::1],
        sizes=double[::1], longs=double[::1], place=Py_ssize_t, other=Py_ssize_t,
        first=Py_ssize_t, whole=double,
        start=double, stop=double, total=double, earlier=double, near=double,
    )
    cdef fill_places(self, heading)


@cython.locals(
    columns=dict, groups=list, count=Py_ssize_t, place=Py_ssize_t, rates=double[::1], sizes=double[::1],
    mass=double[::1], before=double[::1], above_cut=double[::1], earlier=double[::1], total=double,
)
cpdef context_columns(features, list probabilities, list chars, double expected_f1, double cut)

@cython.locals(
    order=list, best=double, whole=double, correct=double, selected=double, rate=double,
    size=double, score=double, count=Py_ssize_t, position=Py_ssize_t, place=Py_ssize_t,
)
cpdef best_subset(list probabilities, list sizes)

@cython.locals(
    shared=list, count=Py_ssize_t, rates=double[::1], sizes=double[::1], density=double[::1],
    tags=double[::1], parent_tags=double[::1], furniture=double[::1], is_prose=bint,
    groups=list, last=list, before_last=list,
    place=Py_ssize_t, group=Py_ssize_t, first=Py_ssize_t, middle=Py_ssize_t, between=double,
    is_heading=bint, min_long=double, max_density=double,
)
cpdef list shared_probabilities(features, probabilities, chars)

@cython.locals(
    first=double[::1], second=double[::1], third=double[::1], numbers=dict, groups=list,
    group=Py_ssize_t, place=Py_ssize_t,
)
cdef list _equal_values(features, tuple names)

@cython.locals(count=Py_ssize_t, place=Py_ssize_t)
cdef _fill_neighbours(double[::1] column, double[::1] rates, Py_ssize_t shift)

@cython.locals(count=Py_ssize_t, place=Py_ssize_t, first=Py_ssize_t, end=Py_ssize_t)
cdef _fill_windows(double[::1] column, double[::1] mass, double[::1] before, Py_ssize_t reach)

@cython.locals(
    groups=list, masses=double[::1], chars=double[::1], largest=double[::1], mean=double[::1],
    best=double[::1], share=double[::1], count=Py_ssize_t, place=Py_ssize_t, group=Py_ssize_t,
)
cdef _fill_group(
    dict columns, str name, list groups, double[::1] rates, double[::1] sizes, double total
)

cdef _new_column(dict columns, str name, Py_ssize_t count)
