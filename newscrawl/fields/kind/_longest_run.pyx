# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled loop of :mod:`newscrawl.fields.kind.longest_run`."""

from cpython cimport array

from array import array as new_array

cdef array.array _DOUBLES = new_array("d")


def longest_runs(document, *, frozenset inline_tags not None, double min_block, double min_single):
    """See :func:`newscrawl.fields.kind.longest_run.longest_runs`."""
    cdef list tags = document.tag, parents = document.parent
    cdef list before = document.chars_before, links = document.link_chars_before
    cdef array.array chars = array.clone(_DOUBLES, len(tags), zero=True)
    cdef array.array runs = array.clone(_DOUBLES, len(tags) + 1, zero=True)
    cdef Py_ssize_t row, block, home
    cdef double size, longest = 0, second = 0
    for row in document.shown_rows:
        if <double> links[row] == <double> links[row + 1]:
            block = parents[row]
            while tags[block] in inline_tags and <Py_ssize_t> parents[block] >= 0:
                block = parents[block]
            chars.data.as_doubles[block] += <double> before[row + 1] - <double> before[row]
    for block in range(len(tags)):
        size = chars.data.as_doubles[block]
        if size >= min_block:
            home = block if size >= min_single and tags[block] != "p" else parents[block]
            runs.data.as_doubles[home + 1] += size
    for home in range(len(tags) + 1):
        size = runs.data.as_doubles[home]
        if size > longest:
            longest, second = size, longest
        elif size > second:
            second = size
    return longest, second
