# Types of the loops in coreex.py.
cimport cython


@cython.locals(
    end=list, tag=list, text=list, is_form=bytearray, words_before="long long[::1]",
    links_before="long long[::1]", row=Py_ssize_t, after=Py_ssize_t, count=Py_ssize_t,
    longest=Py_ssize_t, found=Py_ssize_t, link_count=Py_ssize_t,
)
cpdef terminal_sums(document, bytearray ignored, list ignored_forms)

@cython.locals(count=Py_ssize_t, is_inside=bint, character=Py_UCS4)
cpdef Py_ssize_t count_tokens(str text) except -1

@cython.locals(
    end=list, words="long long[::1]", links="long long[::1]", level_order=list, members=list, node=Py_ssize_t,
    child=Py_ssize_t, last=Py_ssize_t, after=Py_ssize_t, text_count=Py_ssize_t,
    link_count=Py_ssize_t, set_text_count=Py_ssize_t, set_link_count=Py_ssize_t,
    min_words=Py_ssize_t, subset=bint, threshold=double, weight_text=double, weight_ratio=double,
    ratio=double, score=double, best_score=double,
)
cpdef find_main_content(document, counts, parameters)
