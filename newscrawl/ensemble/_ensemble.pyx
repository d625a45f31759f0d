# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Compiled loop of :mod:`newscrawl.ensemble.ensemble`."""

from cpython cimport array
from libc.math cimport exp

from array import array as new_array
from functools import lru_cache

cdef array.array _DOUBLES = new_array("d"), _FLOATS = new_array("f"), _INTS = new_array("i")

cdef struct Node:
    float number  # the threshold, or the value of a leaf
    int feature
    int children[2]  # of a leaf, itself


@lru_cache(maxsize=32)
def _nodes(ensemble):
    """Return the nodes of *ensemble*, the parts of each side by side, and the depths of the trees."""
    cdef const short[::1] features = ensemble.feature
    cdef const float[::1] thresholds = ensemble.threshold
    cdef const int[::1] lefts = ensemble.left
    cdef const int[::1] rights = ensemble.right
    cdef const float[::1] values = ensemble.value
    cdef Py_ssize_t place
    cdef int tree
    cdef array.array packed = new_array("b", bytes(sizeof(Node) * features.shape[0]))
    cdef array.array levels = array.clone(_INTS, features.shape[0], zero=True)
    cdef array.array depths = array.clone(_INTS, ensemble.trees, zero=True)
    cdef int* level = levels.data.as_ints
    cdef Node* node = <Node*> packed.data.as_chars
    for tree in range(ensemble.trees):
        for place in range(ensemble.offset[tree], ensemble.offset[tree + 1]):
            if features[place] >= 0:
                node.number, node.feature = thresholds[place], features[place]
                node.children[0], node.children[1] = lefts[place], rights[place]
                level[lefts[place]] = level[rights[place]] = level[place] + 1
            else:
                node.number, node.children[0], node.children[1] = values[place], place, place
                depths.data.as_ints[tree] = max(depths.data.as_ints[tree], level[place])
            node += 1
    return packed, new_array("i", ensemble.offset.tobytes()), depths


def probabilities(ensemble, list columns not None, *, double max_log_odds):
    """See :func:`newscrawl.ensemble.ensemble.probabilities`.

    There are no bounds checks: :func:`newscrawl.ensemble.ensemble.check` has verified that every
    path ends at a leaf, and the caller that there is a column per feature, all of equal length.
    All rows descend a tree side by side, without branches, whose outcomes a processor cannot predict.
    """
    cdef Py_ssize_t tree, row, place, count = len(columns[0]), trees, size = len(columns)
    cdef int level
    cdef array.array packed, offsets, depths
    cdef double number
    packed, offsets, depths = _nodes(ensemble)
    cdef array.array features = array.clone(_FLOATS, size * count, zero=False)
    cdef array.array places = array.clone(_INTS, count, zero=False)
    cdef float* values = features.data.as_floats
    cdef int* reached = places.data.as_ints
    for place, column in enumerate(columns):
        if isinstance(column, array.array) and (<array.array> column).ob_descr.typecode == c"d":
            for row in range(count):
                values[row * size + place] = <float> (<array.array> column).data.as_doubles[row]
        else:
            for row, number in enumerate(column):
                values[row * size + place] = <float> number
    cdef const Node* nodes = <const Node*> packed.data.as_chars
    cdef const Node* node
    cdef array.array sums = array.clone(_DOUBLES, count, zero=True)
    cdef double* total = sums.data.as_doubles
    cdef double base
    trees = len(depths)
    for tree in range(trees):  # outer loop: a tree stays in the processor's cache
        for row in range(count):
            reached[row] = offsets.data.as_ints[tree]
        for level in range(depths.data.as_ints[tree]):
            for row in range(count):
                node = &nodes[reached[row]]
                reached[row] = node.children[values[row * size + node.feature] > node.number]
        for row in range(count):
            total[row] += nodes[reached[row]].number
    cdef list found = []
    if ensemble.link == "mean":
        for row in range(count):
            found.append(total[row] / trees)
        return found
    base = ensemble.base
    for row in range(count):
        found.append(1 / (1 + exp(-max(base + total[row], -max_log_odds))))
    return found
