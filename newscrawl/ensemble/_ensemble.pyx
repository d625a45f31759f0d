# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Compiled loop of :mod:`newscrawl.ensemble.ensemble`."""

from cpython cimport array
from libc.math cimport INFINITY, exp

from array import array as new_array
from functools import lru_cache

cdef array.array _DOUBLES = new_array("d"), _FLOATS = new_array("f")

cdef struct Node:
    float number  # the threshold; infinite for a leaf, which is its own child
    unsigned short feature  # its place among the values of rows that descend together
    unsigned short child  # left child, counted from the root; the right one follows it

cdef enum:
    TOGETHER = 8  # rows that descend a tree at a time: a processor does their steps in parallel


@lru_cache(maxsize=32)
def _packed(ensemble):
    """Return the nodes of *ensemble*, level by level, and the values of its leaves."""
    cdef const short[::1] features = ensemble.feature
    cdef const float[::1] thresholds = ensemble.threshold
    cdef const int[::1] lefts = ensemble.left
    cdef const int[::1] rights = ensemble.right
    cdef const float[::1] values = ensemble.value
    cdef const int[::1] offsets = ensemble.offset
    cdef array.array packed = new_array("b", bytes(sizeof(Node) * features.shape[0]))
    cdef array.array leaves = array.clone(_FLOATS, features.shape[0], zero=True)
    cdef Node* node
    cdef Py_ssize_t tree, root, place
    cdef list levels
    for tree in range(offsets.shape[0] - 1):
        root = offsets[tree]
        levels = [root]
        for place, old in enumerate(levels):
            node = <Node*> packed.data.as_chars + root + place
            if features[old] < 0:
                node.number, node.child = INFINITY, place
                leaves.data.as_floats[root + place] = values[old]
            else:
                node.number, node.child = thresholds[old], len(levels)
                node.feature = TOGETHER * features[old]
                levels += (lefts[old], rights[old])
    return packed, leaves


def probabilities(ensemble, list columns not None, *, double max_log_odds):
    """See :func:`newscrawl.ensemble.ensemble.probabilities`.

    There are no bounds checks: :func:`newscrawl.ensemble.ensemble.check` has verified that every
    path ends at a leaf, and the caller that there is a column per feature, all of equal length.
    The child is chosen without a branch, whose outcome a processor cannot predict.
    """
    cdef Py_ssize_t row, place, tree, count = len(columns[0]), size = len(columns)
    if not count:
        return []
    cdef array.array packed, leaves
    packed, leaves = _packed(ensemble)
    cdef double number, base
    cdef Py_ssize_t group, groups = (count + TOGETHER - 1) // TOGETHER
    # A feature of rows that descend together is in one place.
    cdef array.array features = array.clone(_FLOATS, TOGETHER * size * groups, zero=True)
    cdef float* values = features.data.as_floats
    cdef const double* doubles
    for column in columns:
        if isinstance(column, array.array) and (<array.array> column).ob_descr.typecode == c"d":
            doubles = (<array.array> column).data.as_doubles
            for row in range(count):
                values[row // TOGETHER * TOGETHER * size + row % TOGETHER] = <float> doubles[row]
        else:
            for row, number in enumerate(column):
                values[row // TOGETHER * TOGETHER * size + row % TOGETHER] = <float> number
        values += TOGETHER
    cdef array.array sums = array.clone(_DOUBLES, TOGETHER * groups, zero=True)
    cdef double* total
    cdef const int[::1] offsets = ensemble.offset
    cdef const Node* nodes
    cdef const Node* node
    cdef const float* leaf
    cdef const float* value
    cdef unsigned int child, moved
    cdef unsigned int at[TOGETHER]
    for tree in range(offsets.shape[0] - 1):  # outer loop: a tree stays in the processor's cache
        nodes = <const Node*> packed.data.as_chars + offsets[tree]
        leaf = leaves.data.as_floats + offsets[tree]
        value, total = features.data.as_floats, sums.data.as_doubles
        for group in range(groups):
            for place in range(TOGETHER):
                at[place] = 0
            moved = 1
            while moved:  # until all are at leaves
                moved = 0
                for place in range(TOGETHER):
                    node = &nodes[at[place]]
                    child = node.child + (value[node.feature + place] > node.number)
                    moved |= child ^ at[place]
                    at[place] = child
            for place in range(TOGETHER):
                total[place] += leaf[at[place]]
            value += TOGETHER * size
            total += TOGETHER
    cdef list found = []
    total = sums.data.as_doubles
    if ensemble.link == "mean":
        for row in range(count):
            found.append(total[row] / <double> ensemble.trees)
        return found
    base = ensemble.base
    for row in range(count):
        found.append(1 / (1 + exp(-max(base + total[row], -max_log_odds))))
    return found
