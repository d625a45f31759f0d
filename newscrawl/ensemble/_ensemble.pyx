# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Compiled loop of :mod:`newscrawl.ensemble.ensemble`."""

from cpython cimport array
from libc.math cimport exp

from array import array as new_array
from functools import lru_cache

cdef array.array _DOUBLES = new_array("d")

cdef struct Node:
    float number  # the threshold, or the value of a leaf
    int feature  # LEAF, which is negative, for a leaf
    int left
    int right


@lru_cache(maxsize=32)
def _nodes(ensemble):
    """Return the nodes of *ensemble*: the parts of each side by side, to load them at once."""
    cdef const short[::1] features = ensemble.feature
    cdef const float[::1] thresholds = ensemble.threshold
    cdef const int[::1] lefts = ensemble.left
    cdef const int[::1] rights = ensemble.right
    cdef const float[::1] values = ensemble.value
    cdef Py_ssize_t place
    cdef array.array packed = new_array("b", bytes(sizeof(Node) * features.shape[0]))
    cdef Node* node = <Node*> packed.data.as_chars
    for place in range(features.shape[0]):
        node.number = thresholds[place] if features[place] >= 0 else values[place]
        node.feature, node.left, node.right = features[place], lefts[place], rights[place]
        node += 1
    return packed, new_array("i", ensemble.offset.tobytes())


def probabilities(ensemble, list columns not None, *, double max_log_odds):
    """See :func:`newscrawl.ensemble.ensemble.probabilities`.

    There are no bounds checks: :func:`newscrawl.ensemble.ensemble.check` has verified that every
    path ends at a leaf, and the caller that there is a column per feature, all of equal length.
    """
    cdef Py_ssize_t tree, row, count = len(columns[0]), trees
    cdef array.array packed, offsets, column
    packed, offsets = _nodes(ensemble)
    cdef array.array addresses = new_array("b", bytes(sizeof(double*) * len(columns)))
    cdef const double** values = <const double**> addresses.data.as_chars
    for row, column in enumerate(columns):
        values[row] = column.data.as_doubles
    cdef const Node* nodes = <const Node*> packed.data.as_chars
    cdef const Node* root
    cdef const Node* node
    cdef array.array sums = array.clone(_DOUBLES, count, zero=True)
    cdef double* total = sums.data.as_doubles
    cdef double base
    trees = len(offsets) - 1
    for tree in range(trees):  # outer loop: a tree stays in the processor's cache
        root = &nodes[offsets.data.as_ints[tree]]
        for row in range(count):
            node = root
            while node.feature >= 0:
                if <float> values[node.feature][row] <= node.number:
                    node = &nodes[node.left]
                else:
                    node = &nodes[node.right]
            total[row] += node.number
    cdef list found = []
    if ensemble.link == "mean":
        for row in range(count):
            found.append(total[row] / trees)
        return found
    base = ensemble.base
    for row in range(count):
        found.append(1 / (1 + exp(-max(base + total[row], -max_log_odds))))
    return found
