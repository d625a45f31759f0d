# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled loop of :mod:`newscrawl.ensemble.ensemble`."""

from array import array


def sum_leaves(ensemble, const double[::1] table, Py_ssize_t width):
    """See :func:`newscrawl.ensemble.ensemble.sum_leaves`.

    There are no bounds checks: :func:`newscrawl.ensemble.model_file.check` has verified that every
    path ends at a leaf, and the caller that each row has *width* values.
    """
    cdef const short[::1] features = ensemble.feature
    cdef const float[::1] thresholds = ensemble.threshold
    cdef const int[::1] lefts = ensemble.left
    cdef const int[::1] rights = ensemble.right
    cdef const float[::1] values = ensemble.value
    cdef const int[::1] offsets = ensemble.offset
    cdef Py_ssize_t tree, row, first, count = table.shape[0] // width
    cdef double[::1] sums = array("d", bytes(8 * count))
    cdef int node
    for tree in range(offsets.shape[0] - 1):  # outer loop: a tree stays in the processor's cache
        for row in range(count):
            first = width * row
            node = offsets[tree]
            while features[node] >= 0:
                if <float> table[first + features[node]] <= thresholds[node]:
                    node = lefts[node]
                else:
                    node = rights[node]
            sums[row] += values[node]
    return list(sums)
