# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled table of :mod:`newscrawl.body.context_features`: numpy is slow for a hundred blocks."""

from cpython cimport array
from libc.string cimport memcpy

from array import array as new_array

from newscrawl.body.feature_names import FEATURES

cdef enum:
    OWN = 33  # features of the first pass
    KEY = 3  # features whose values identify a group
    GROUPS = 3
    # columns after those of the first pass
    PROBABILITY = OWN, NEIGHBOURS = OWN + 1, WINDOWS = OWN + 7, OF_GROUPS = OWN + 10,
    OWN_SHARE = OWN + 16, EXPECTED_F1, CUT, ABOVE_CUT, LEVEL, EARLIER, BEST, WIDTH

if len(FEATURES) != OWN:
    raise ImportError("built for other features")

cdef array.array _DOUBLES = new_array("d")


cdef array.array _zeros(Py_ssize_t count):
    return array.clone(_DOUBLES, count, zero=True)


def context_table(
    array.array features not None, list probabilities not None, list chars not None,
    double expected_f1, double cut, *, list keys, list neighbours, list windows,
):
    """See :func:`newscrawl.body.context_features.context_table`.

    *keys* are the columns whose values identify the groups of each kind, *neighbours* the
    distances to other blocks, and *windows* the numbers of blocks on each side.
    """
    cdef Py_ssize_t[6] shifts = neighbours
    cdef Py_ssize_t[3] reaches = windows
    cdef Py_ssize_t count = len(probabilities), place, near, end
    if not count:
        return array.clone(_DOUBLES, 0, zero=False)
    cdef int index
    cdef array.array table = _zeros(count * WIDTH)
    cdef array.array masses = _zeros(count + 1), sizes = _zeros(count + 1)  # prefix sums
    cdef double* row = table.data.as_doubles
    cdef double* mass = masses.data.as_doubles
    cdef double* size = sizes.data.as_doubles
    cdef double best = 0, probability
    if len(features) != count * OWN or len(chars) != count:
        raise ValueError("one row and one size per probability expected")
    for place in range(count):
        probability = probabilities[place]
        memcpy(row, &features.data.as_doubles[place * OWN], OWN * sizeof(double))
        row[PROBABILITY] = probability
        for index in range(6):
            near = place + shifts[index]
            row[NEIGHBOURS + index] = <double> probabilities[near] if 0 <= near < count else -1
        mass[place + 1] = mass[place] + probability * <double> chars[place]
        size[place + 1] = size[place] + <double> chars[place]
        best = max(best, probability)
        row += WIDTH
    for index in range(GROUPS):
        _fill_group(table.data.as_doubles, index, keys[index], chars)
    row = table.data.as_doubles
    for place in range(count):
        for index in range(3):
            near, end = max(place - reaches[index], 0), min(place + reaches[index] + 1, count)
            row[WINDOWS + index] = (mass[end] - mass[near]) / (size[end] - size[near] or 1.0)
        row[OWN_SHARE] /= size[count] or 1.0
        row[EXPECTED_F1] = expected_f1
        row[CUT] = cut
        row[ABOVE_CUT] = row[PROBABILITY] - cut
        row[LEVEL] = mass[count] / (size[count] or 1.0)
        row[EARLIER] = mass[place] / (mass[count] or 1.0)
        row[BEST] = best
        row += WIDTH
    return table


cdef int _fill_group(double* table, int index, list key, list chars) except -1:
    """Set mean and largest probability of the group of each block; of the first, its characters."""
    cdef Py_ssize_t count = len(chars), place, group
    cdef array.array masses = _zeros(count), sizes = _zeros(count), largest = _zeros(count)
    cdef double* mass = masses.data.as_doubles
    cdef double* size = sizes.data.as_doubles
    cdef double* best = largest.data.as_doubles
    cdef Py_ssize_t[KEY] columns = key
    cdef double[KEY] values
    cdef double* row = table
    cdef int part
    cdef dict numbers = {}
    cdef list group_of = []
    for place in range(count):
        for part in range(KEY):
            values[part] = row[columns[part]] + 0.0  # without -0.0
        found = (<const char*> values)[: KEY * sizeof(double)]
        group = numbers.setdefault(found, len(numbers))
        group_of.append(group)
        mass[group] += row[PROBABILITY] * <double> chars[place]
        size[group] += <double> chars[place]
        best[group] = max(best[group], row[PROBABILITY])
        row += WIDTH
    row = table
    for place in range(count):
        group = group_of[place]
        row[OF_GROUPS + 2 * index] = mass[group] / (size[group] or 1.0)
        row[OF_GROUPS + 2 * index + 1] = best[group]
        if not index:
            row[OWN_SHARE] = size[group]
        row += WIDTH
    return 0
