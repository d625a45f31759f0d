# cython: language_level=3, block_tagscheck=False, wraparound=False
"""Compiled loops of :mod:`newscrawl.body.blocks`."""

from cpython cimport array

from array import array as new_array

cdef array.array _DOUBLES = new_array("d")


def split_text(document, *, frozenset block_tags not None):
    """See :func:`newscrawl.body.blocks.split_text`."""
    cdef list tags = document.tag, parents = document.parent
    cdef list owners = [], rows = [], mine = []
    cdef Py_ssize_t row, owner, last = -1, before = -1
    for row in document.shown_rows:
        owner = parents[row]
        while owner > 0 and tags[owner] not in block_tags:
            owner = parents[owner]
        if owner != last or _ends_block(tags, before + 1, row, block_tags):
            mine = [row]
            owners.append(owner)
            rows.append(mine)
        else:
            mine.append(row)
        last, before = owner, row
    return owners, rows


cdef bint _ends_block(list tags, Py_ssize_t first, Py_ssize_t end, frozenset block_tags) except -1:
    cdef Py_ssize_t row, breaks = 0
    for row in range(first, end):
        if tags[row] in block_tags:
            return True
        breaks += tags[row] == "br"
    return breaks > 1


def find_prose_blocks(
    document, list rows not None, Py_ssize_t first, *, double min_long, double max_link_density
):
    """See :func:`newscrawl.body.blocks.find_prose_blocks`."""
    cdef list before = document.chars_before, links = document.link_chars_before, mine
    cdef set places = set()
    cdef Py_ssize_t place, start, end
    cdef double size
    for place in range(first, len(rows)):
        mine = rows[place]
        start, end = mine[0], <Py_ssize_t> mine[len(mine) - 1] + 1
        size = <double> before[end] - <double> before[start]
        if size >= min_long and (
            <double> links[end] - <double> links[start] < max_link_density * size
        ):
            places.add(place)
    return places


def find_roots(document, list rows not None):
    """See :func:`newscrawl.body.blocks.find_roots`."""
    cdef list before = document.chars_before, ends = document.end, parents = document.parent
    cdef list roots = []
    cdef array.array kept_before = array.clone(_DOUBLES, len(before), zero=False)
    cdef double* kept = kept_before.data.as_doubles
    cdef Py_ssize_t row, root, above, end, done = 0
    cdef double total = 0
    for row in rows:
        while done <= row:
            kept[done] = total
            done += 1
        total += <double> before[row + 1] - <double> before[row]
    while done < len(before):
        kept[done] = total
        done += 1
    end = 0
    for row in rows:
        if row < end:
            continue
        root, above, end = row, parents[row], row + 1
        while above >= 0:
            done = ends[above]
            if kept[done] - kept[above] != <double> before[done] - <double> before[above]:
                break
            root, above, end = above, parents[above], done
        roots.append(root)
    return roots


def cast_votes(list ends not None, bodies not None):
    """See :func:`newscrawl.body.blocks.cast_votes`."""
    votes = bytearray(len(ends))
    cdef int vote = 1
    cdef Py_ssize_t root, row
    for roots in bodies:
        for root in roots:
            for row in range(root, <Py_ssize_t> ends[root]):
                votes[row] |= vote
        vote <<= 1
    return votes
