# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Compiled loop of :mod:`newscrawl.ensemble.ensemble`."""

from cpython cimport array
from libc.math cimport exp

from array import array as new_array
from functools import lru_cache

cdef array.array _DOUBLES = new_array("d"), _FLOATS = new_array("f")

cdef struct Node:
    float number  # the threshold, or the value of a leaf
    int feature  # negative for a leaf
    int children[2]


@lru_cache(maxsize=32)
def _nodes(ensemble):
    """Return the nodes of *ensemble*, the parts of each side by side."""
    cdef const short[::1] features = ensemble.feature
    cdef const float[::1] thresholds = ensemble.threshold
    cdef const int[::1] lefts = ensemble.left
    cdef const int[::1] rights = ensemble.right
    cdef const float[::1] values = ensemble.value
    cdef Py_ssize_t place
    cdef array.array packed = new_array("b", bytes(sizeof(Node) * features.shape[0]))
    cdef Node* node = <Node*> packed.data.as_chars
    for place in range(features.shape[0]):
        node.feature = features[place]
        node.number = thresholds[place] if node.feature >= 0 else values[place]
        node.children[0], node.children[1] = lefts[place], rights[place]
        node += 1
    return packed


def probabilities(ensemble, list columns not None, *, double max_log_odds):
    """See :func:`newscrawl.ensemble.ensemble.probabilities`.

    There are no bounds checks: :func:`newscrawl.ensemble.ensemble.check` has verified that every
    path ends at a leaf, and the caller that there is a column per feature, all of equal length.
    The child is chosen without a branch, whose outcome a processor cannot predict.
    """
    cdef Py_ssize_t root, row, place, count = len(columns[0]), size = len(columns)
    if not count:
        return []
    cdef array.array packed = _nodes(ensemble)
    cdef double number
    cdef array.array features = array.clone(_FLOATS, size * count, zero=False)
    cdef float* values = features.data.as_floats
    for place, column in enumerate(columns):
        if isinstance(column, array.array) and (<array.array> column).ob_descr.typecode == c"d":
            for row in range(count):
                values[row * size + place] = <float> (<array.array> column).data.as_doubles[row]
        else:
            for row, number in enumerate(column):
                values[row * size + place] = <float> number
    cdef const Node* nodes = <const Node*> packed.data.as_chars
    cdef const Node* node
    cdef const float* value
    cdef array.array sums = array.clone(_DOUBLES, count, zero=True)
    cdef double* total = sums.data.as_doubles
    cdef double base
    cdef const int[::1] offsets = ensemble.offset
    for place in range(offsets.shape[0] - 1):  # outer loop: a tree stays in the processor's cache
        root, value = offsets[place], values
        for row in range(count):
            node = &nodes[root]
            while node.feature >= 0:
                node = &nodes[node.children[value[node.feature] > node.number]]
            total[row] += node.number
            value += size
    cdef list found = []
    if ensemble.link == "mean":
        for row in range(count):
            found.append(total[row] / <double> ensemble.trees)
        return found
    base = ensemble.base
    for row in range(count):
        found.append(1 / (1 + exp(-max(base + total[row], -max_log_odds))))
    return found
