# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled loop of :mod:`newscrawl.body.comments`."""


def find_named_rows(document, double min_chars):
    """See :func:`newscrawl.body.comments.find_named_rows`."""
    cdef list ends = document.end
    cdef list before = document.chars_before, links = document.link_chars_before
    cdef dict classes = document.attributes["class"], ids = document.attributes["id"]
    cdef dict types = document.attributes["itemtype"]
    cdef list found = []
    cdef Py_ssize_t row = 0, stop, last = len(ends)
    cdef double chars, linked
    while row < last:
        stop = ends[row]
        chars = <double> before[stop] - <double> before[row]
        linked = <double> links[stop] - <double> links[row]
        if chars - linked < min_chars:
            row = stop
            continue
        if row in classes or row in ids or row in types:
            found.append(row)
        row += 1
    return found
