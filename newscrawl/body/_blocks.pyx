# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled loops over blocks: of :mod:`newscrawl.body.blocks`, ``classifier``, ``excluded_regions``."""

from cpython cimport array

from array import array as new_array

from newscrawl.document._phrases cimport Phrases, prepared

cdef array.array _DOUBLES = new_array("d")


def group_rows(document, *, frozenset block_tags):
    """See :func:`newscrawl.body.blocks.group_rows`."""
    cdef list tags = document.tag, parents = document.parent, texts = document.text_nodes()
    cdef list owners = [], rows = [], mine = []
    cdef Py_ssize_t row, owner, previous_owner = -1, previous_row = -1
    for row in texts:
        owner = parents[row]
        while owner > 0 and tags[owner] not in block_tags:
            owner = parents[owner]
        if owner == previous_owner and not _ends_block(tags, previous_row + 1, row, block_tags):
            mine.append(row)
        else:
            mine = [row]
            owners.append(owner)
            rows.append(mine)
        previous_owner, previous_row = owner, row
    return owners, rows


cdef bint _ends_block(list tags, Py_ssize_t row, Py_ssize_t stop, frozenset block_tags) except -1:
    cdef int breaks = 0
    while row < stop:
        tag = tags[row]
        if tag in block_tags:
            return True
        breaks += tag == "br"
        row += 1
    return breaks > 1


def find_prose_blocks(
    document, list rows not None, Py_ssize_t first, *, double min_long, double max_link_density
):
    """See :func:`newscrawl.body.blocks.find_prose_blocks`."""
    cdef list before = document.chars_before, links = document.link_chars_before, mine
    cdef Py_ssize_t place, start, end
    cdef double size
    cdef set places = set()
    for place in range(first, len(rows)):
        mine = rows[place]
        start, end = mine[0], <Py_ssize_t> mine[len(mine) - 1] + 1
        size = <double> before[end] - <double> before[start]
        if size >= min_long:
            if <double> links[end] - <double> links[start] < max_link_density * size:
                places.add(place)
    return places


def find_roots(document, list rows not None):
    """See :func:`newscrawl.body.blocks.find_roots`."""
    cdef list before = document.chars_before, ends = document.end, parents = document.parent
    cdef Py_ssize_t count = len(ends), row, last = 0, root, above, end = -1, place
    cdef array.array sums = array.clone(_DOUBLES, count + 1, zero=False)
    cdef double* selected = sums.data.as_doubles
    cdef double total = 0
    cdef list roots = []
    for row in rows:
        for place in range(last, row + 1):
            selected[place] = total
        total += <double> before[row + 1] - <double> before[row]
        last = row + 1
    for place in range(last, count + 1):
        selected[place] = total
    for row in rows:
        if row < end:
            continue
        root = row
        end = ends[root]
        above = parents[root]
        while above >= 0:
            last = ends[above]
            if selected[last] - selected[above] != <double> before[last] - <double> before[above]:
                break
            root, end = above, last
            above = parents[root]
        roots.append(root)
    return roots


def rows_with_tags(document, roots, frozenset tags not None):
    """See :func:`newscrawl.body.boilerplate.rows_with_tags`."""
    cdef list all_tags = document.tag, ends = document.end, found = []
    cdef Py_ssize_t root, row, end
    for root in roots:
        end = ends[root]
        for row in range(root, end):
            if all_tags[row] in tags:
                found.append(row)
    return found


def contained_rows(
    document, rows, Py_ssize_t heading, is_region,
    *, frozenset never, frozenset tags, tuple names,
):
    """See :func:`newscrawl.body.excluded_regions.contained_rows`.

    Only elements with one of the *tags*, or one of the *names* in class or id, can be regions.
    """
    cdef list parents = document.parent, ends = document.end, all_tags = document.tag
    cdef dict classes = document.attributes["class"], ids = document.attributes["id"]
    cdef Phrases words = prepared(names, (), True)
    cdef bytearray contained = bytearray(len(ends)), seen = bytearray(len(ends))
    cdef list pending = []
    cdef Py_ssize_t row, above
    for row in rows:
        while row >= 0 and not seen[row]:
            seen[row] = 1
            pending.append(row)
            row = parents[row]
    pending.sort()  # parents come first
    for row in pending:
        above = parents[row]
        if above >= 0 and contained[above]:
            contained[row] = 1
            continue
        tag = all_tags[row]
        if tag in never or row <= heading < <Py_ssize_t> ends[row]:
            continue
        if tag not in tags:
            class_, id_ = classes.get(row), ids.get(row)
            if (class_ is None or not words.is_in(class_)) and (
                id_ is None or not words.is_in(id_)
            ):
                continue
        contained[row] = is_region(row)
    return contained


def best_subset(list probabilities not None, list sizes not None):
    """See :func:`newscrawl.body.classifier.best_subset`."""
    cdef Py_ssize_t count = len(sizes), place, length = 0, best_length = 0
    if not count:
        return [], 0.0
    cdef list order = sorted(range(count), key=probabilities.__getitem__, reverse=True)
    cdef double whole = 0, hits = 0, selected = 0, score, best = -1
    for place in order:
        whole += <double> probabilities[place] * <double> sizes[place]
    for place in order:
        length += 1
        hits += <double> probabilities[place] * <double> sizes[place]
        selected += <double> sizes[place]
        score = 2 * hits / (selected + whole)
        if score > best:
            best, best_length = score, length
    return sorted(order[:best_length]), best
