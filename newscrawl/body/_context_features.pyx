# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled columns of :mod:`newscrawl.body.context_features`: numpy is slow for a hundred blocks."""

from cpython cimport array

from array import array as new_array

cdef enum:
    KEY = 3  # features whose values identify a group

cdef array.array _DOUBLES = new_array("d")


cdef array.array _zeros(Py_ssize_t count):
    return array.clone(_DOUBLES, count, zero=True)


cdef array.array _doubles(column):
    return column if isinstance(column, array.array) else new_array("d", column)


cdef double* _added(dict columns, str name, Py_ssize_t count) except? NULL:
    """Add a column of zeros."""
    cdef array.array column = _zeros(count)
    columns[name] = column
    return column.data.as_doubles


def context_columns(
    dict features not None, list probabilities not None, list chars not None,
    double expected_f1, double cut, *, dict neighbours, dict windows, dict groups,
):
    """See :func:`newscrawl.body.context_features.context_columns`.

    *neighbours* are the distances to other blocks, *windows* the numbers of blocks on each side and
    *groups* the features whose values identify a group, by the names of the columns.
    """
    cdef Py_ssize_t count = len(probabilities), place, near, end, shift
    if not count:
        return {}
    if len(chars) != count:
        raise ValueError("one size per probability expected")
    cdef dict columns = {}
    cdef array.array probability = _doubles(probabilities), size = _doubles(chars)
    cdef array.array masses = _zeros(count + 1), sizes = _zeros(count + 1)  # prefix sums
    cdef double* mass = masses.data.as_doubles
    cdef double* before = sizes.data.as_doubles
    cdef double* column
    columns["probability"] = probability
    for place in range(count):
        mass[place + 1] = mass[place] + (
            probability.data.as_doubles[place] * size.data.as_doubles[place]
        )
        before[place + 1] = before[place] + size.data.as_doubles[place]
    for name, shift in neighbours.items():
        column = _added(columns, name, count)
        for place in range(count):
            near = place + shift
            column[place] = probability.data.as_doubles[near] if 0 <= near < count else -1
    for name, shift in windows.items():
        column = _added(columns, name, count)
        for place in range(count):
            near, end = max(place - shift, 0), min(place + shift + 1, count)
            column[place] = (mass[end] - mass[near]) / (before[end] - before[near] or 1.0)
    for name, keys in groups.items():
        _add_group(columns, name, [features[key] for key in keys], probability, size)
    column = _added(columns, "above_cut", count)
    for place in range(count):
        column[place] = probability.data.as_doubles[place] - cut
    column = _added(columns, "earlier", count)
    for place in range(count):
        column[place] = mass[place] / (mass[count] or 1.0)
    for name, value in (
        ("expected_f1", expected_f1), ("cut", cut), ("best", max(probabilities)),
        ("level", mass[count] / (before[count] or 1.0)),
    ):
        columns[name] = new_array("d", [value]) * count
    return columns


cdef int _add_group(
    dict columns, str name, list keys, array.array probability, array.array chars
) except -1:
    """Add mean and largest probability of the group of each block, and its share of the text."""
    cdef Py_ssize_t count = len(chars), place, group
    cdef array.array masses = _zeros(count), sizes = _zeros(count), largest = _zeros(count)
    cdef double* mass = masses.data.as_doubles
    cdef double* size = sizes.data.as_doubles
    cdef double* most = largest.data.as_doubles
    cdef double whole = 0, one, own
    cdef double[KEY] values
    cdef int part
    cdef dict numbers = {}
    cdef list group_of = []
    cdef array.array first = _doubles(keys[0]), second = _doubles(keys[1]), third = _doubles(keys[2])
    if not len(first) == len(second) == len(third) == count:
        raise ValueError("one value per block expected")
    for place in range(count):
        values = [
            first.data.as_doubles[place], second.data.as_doubles[place], third.data.as_doubles[place]
        ]
        for part in range(KEY):
            values[part] += 0.0  # without -0.0
        found = (<const char*> values)[: KEY * sizeof(double)]
        group = numbers.setdefault(found, len(numbers))
        group_of.append(group)
        one, own = probability.data.as_doubles[place], chars.data.as_doubles[place]
        mass[group] += one * own
        size[group] += own
        most[group] = max(most[group], one)
        whole += own
    cdef double* mean = _added(columns, name + "_probability", count)
    cdef double* best = _added(columns, name + "_best", count)
    cdef double* share = _added(columns, name + "_share", count)
    for place in range(count):
        group = group_of[place]
        mean[place] = mass[group] / (size[group] or 1.0)
        best[place] = most[group]
        share[place] = size[group] / (whole or 1.0)
    return 0
