# cython: language_level=3, boundscheck=False, wraparound=False
"""The walk of :mod:`newscrawl.ensemble.ensemble` through the trees, compiled.

It trusts the arrays: :func:`newscrawl.ensemble.model_file.check` has seen that every walk ends within them, and
:meth:`newscrawl.ensemble.ensemble.TreeEnsemble.predict` that each row has all features.
"""

from array import array


def walk(ensemble, const double[::1] table, Py_ssize_t width):
    """Return the sum over the trees for each row: see :func:`newscrawl.ensemble.ensemble.walk_in_python`."""
    cdef const short[::1] features = ensemble.feature
    cdef const float[::1] thresholds = ensemble.threshold
    cdef const int[::1] lefts = ensemble.left
    cdef const int[::1] rights = ensemble.right
    cdef const float[::1] leaves = ensemble.value
    cdef const int[::1] roots = ensemble.roots
    cdef Py_ssize_t tree, row, first, count = table.shape[0] // width
    cdef double[::1] totals = array("d", bytes(8 * count))
    cdef int place
    for tree in range(roots.shape[0]):  # which stays in the cache for all rows
        for row in range(count):
            first = width * row
            place = roots[tree]
            while features[place] >= 0:
                if <float> table[first + features[place]] <= thresholds[place]:
                    place = lefts[place]
                else:
                    place = rights[place]
            totals[row] += leaves[place]
    return list(totals)
