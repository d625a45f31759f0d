# cython: language_level=3, boundscheck=False, wraparound=False
"""The walk of :mod:`newscrawl.forest` through the trees, compiled.

It trusts the arrays: :func:`newscrawl.forestfile.check` has seen that every walk ends within them, and
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
    cdef Py_ssize_t tree, row, first, column, width = len(rows[0]) if len(rows) else 0
    cdef float[::1] table = array("f", bytes(4 * width * len(rows)))
    cdef double[::1] totals = array("d", bytes(8 * len(rows)))
    cdef int place
    cdef double value
    column = 0
    for values in rows:
        for value in values:
            table[column] = <float> value
            column += 1
    for tree in range(roots.shape[0]):  # which stays in the cache for all rows
        for row in range(totals.shape[0]):
            first = width * row
            place = roots[tree]
            while features[place] >= 0:
                if table[first + features[place]] <= thresholds[place]:
                    place = lefts[place]
                else:
                    place = rights[place]
            totals[row] += leaves[place]
    return list(totals)
