# cython: language_level=3, boundscheck=False, wraparound=False
"""The walk of :mod:`newscrawl.forest` through the trees for one row, compiled.

It trusts the arrays: :func:`newscrawl.forest._check` has seen that every walk ends within them.
"""

from array import array


def walk(forest, row):
    """Return the sum over the trees for a row: see :func:`newscrawl.forest.walk`."""
    cdef const short[::1] features = forest.feature
    cdef const float[::1] thresholds = forest.threshold
    cdef const int[::1] lefts = forest.left
    cdef const int[::1] rights = forest.right
    cdef const float[::1] leaves = forest.value
    cdef const int[::1] roots = forest.roots
    cdef const float[::1] values = array("f", row)
    cdef Py_ssize_t tree
    cdef int place
    cdef double total = 0.0
    for tree in range(roots.shape[0]):
        place = roots[tree]
        while features[place] >= 0:
            if values[features[place]] <= thresholds[place]:
                place = lefts[place]
            else:
                place = rights[place]
        total += leaves[place]
    return total
