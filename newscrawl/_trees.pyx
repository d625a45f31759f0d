# cython: language_level=3, boundscheck=False, wraparound=False
"""The walk of :mod:`newscrawl.forest` through the trees, compiled.

It trusts the arrays: :func:`newscrawl.forest._check` has seen that every walk ends within them, and
:meth:`newscrawl.forest.Forest.predict` that each row has all features.
"""

from array import array


def walk(forest, rows):
    """Return the sum over the trees for each of *rows*: see :func:`newscrawl.forest.walk`."""
    cdef const short[::1] features = forest.feature
    cdef const float[::1] thresholds = forest.threshold
    cdef const int[::1] lefts = forest.left
    cdef const int[::1] rights = forest.right
    cdef const float[::1] leaves = forest.value
    cdef const int[::1] roots = forest.roots
    cdef float[::1] values
    cdef Py_ssize_t tree, column
    cdef int place
    cdef double total, value
    cdef list sums = []
    for row in rows:
        if not sums:
            values = array("f", row)
        column = 0
        for value in row:
            values[column] = <float> value
            column += 1
        total = 0.0
        for tree in range(roots.shape[0]):
            place = roots[tree]
            while features[place] >= 0:
                if values[features[place]] <= thresholds[place]:
                    place = lefts[place]
                else:
                    place = rights[place]
            total += leaves[place]
        sums.append(total)
    return sums
