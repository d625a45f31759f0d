# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled loops over the rows of a page: blocks, and the words and marks of CoreEx and ECON."""

from newscrawl.document.rows import TEXT
from newscrawl.text import words

cdef str TEXT_NODE = TEXT


def group_rows(
    document, *, frozenset block_tags not None, double min_long, double max_link_density
):
    """See :func:`newscrawl.body.blocks.group_rows`."""
    cdef list tags = document.tag, parents = document.parent
    cdef list before = document.chars_before, links = document.link_chars_before
    cdef list owners = [], rows = [], mine = None
    cdef set prose = set()
    cdef Py_ssize_t row, end, owner, previous_owner = -1, previous_row = -1, place
    cdef double size
    for number in document.shown_rows:
        row = number
        owner = parents[row]
        while owner > 0 and tags[owner] not in block_tags:
            owner = parents[owner]
        if owner != previous_owner or _ends_block(tags, previous_row + 1, row, block_tags):
            mine = []
            owners.append(owner)
            rows.append(mine)
        mine.append(number)
        previous_owner, previous_row = owner, row
    for place, mine in enumerate(rows):
        row, end = mine[0], <Py_ssize_t> mine[len(mine) - 1] + 1
        size = <double> before[end] - <double> before[row]
        if size >= min_long and (
            <double> links[end] - <double> links[row] < max_link_density * size
        ):
            prose.add(place)
    return owners, rows, prose


cdef bint _ends_block(
    list tags, Py_ssize_t row, Py_ssize_t end, frozenset block_tags
) except -1:
    cdef Py_ssize_t breaks = 0
    while row < end:
        if tags[row] in block_tags:
            return True
        breaks += <str> tags[row] == "br"
        row += 1
    return breaks > 1


def terminal_sums(document, bytearray ignored not None, list forms not None):
    """See :func:`newscrawl.body.coreex.terminal_sums`."""
    cdef list tags = document.tag, ends = document.end, texts = document.text
    cdef Py_ssize_t row = 0, end, rows = len(tags), found
    cdef Py_ssize_t count = 0, linked = 0, longest = 0
    cdef list counts = [0], links = [0]
    cdef bytearray is_form = bytearray(rows)
    cdef object number = 0, link_number = 0  # not converted for each row
    for form in forms:
        is_form[<Py_ssize_t> form] = 1
    while row < rows:
        end = row + 1
        if ignored[row]:
            pass
        elif len(<str> texts[row]):
            found = _count_tokens(texts[row])
            longest = max(longest, found)
            count += found
            number = count
        elif tags[row] == "a":
            end = ends[row]
            if end > row + 1:
                count += 1
                linked += 1
                number, link_number = count, linked
        elif is_form[row]:
            end = ends[row]
        while row < end:
            counts.append(number)
            links.append(link_number)
            row += 1
    return counts, links, longest


cdef Py_ssize_t _count_tokens(str text) except -1:
    """Return the number of :func:`newscrawl.text.tokens`."""
    cdef Py_ssize_t count = 0
    cdef bint is_inside = False
    cdef Py_UCS4 character
    for character in text:
        if 32 < character < 0x85 or not character.isspace():
            count += not is_inside
            is_inside = True
        else:
            is_inside = False
    return len(words(text)) if len(text) > 12 * count else count


def read_text(document, parameters, *, str marks not None):
    """See :func:`newscrawl.body.econ.read_text`."""
    cdef list parents = document.parent, texts = document.text, links = document.link_chars_before
    cdef bint link_marks = parameters.link_marks, decimal_marks = parameters.decimal_marks
    cdef Py_ssize_t row, last = 0, rows = len(parents)
    cdef list before = [0]
    cdef bytearray fathers = bytearray(rows)
    found = 0
    for number in document.shown_rows:
        row = number
        fathers[<Py_ssize_t> parents[row]] = 1
        if (link_marks or <double> links[row] == <double> links[row + 1]) and _has_mark(
            texts[row], marks, decimal_marks
        ):
            before += [found] * (row - last)
            last = row
            found += 1
    before += [found] * (rows - last)
    return before, fathers


cdef bint _has_mark(str text, str marks, bint decimal_marks) except -1:
    cdef Py_ssize_t place, size = len(text)
    cdef Py_UCS4 character
    for place in range(size):
        character = text[place]
        if character == u"." or character == u"," or (character > 127 and character in marks):
            if decimal_marks or place + 1 == size or not text[place + 1].isdecimal():
                return True
    return False


def joint_para(
    document, list marks_before not None, bytearray fathers not None, parameters,
    *, frozenset big_tags not None, frozenset block_level not None,
):
    """See :func:`newscrawl.body.econ.joint_para`."""
    cdef list tags = document.tag, parents = document.parent, ends = document.end
    cdef list chars = document.chars_before, firsts = [], stops = [], paras = [], pruned = []
    cdef dict latest = {}
    cdef bint nested = parameters.nested, empty_parts = parameters.empty_parts
    cdef bint has_text, is_big
    cdef Py_ssize_t row = 0, after, index
    while row < len(parents):
        after = ends[row]
        has_text = <double> chars[row] != <double> chars[after]
        is_big = has_text and _is_big_node(tags, ends, row, fathers, nested, big_tags, block_level)
        index = latest.get(parents[row], -1) if is_big or not has_text else -1
        if index >= 0 and stops[index] == row:
            if is_big or not empty_parts or tags[row] in big_tags:
                stops[index] = after
        elif is_big or (
            has_text and marks_before[row] == marks_before[after] and tags[row] != TEXT_NODE
        ):
            if is_big:
                latest[parents[row]] = len(firsts)
            firsts.append(row)
            stops.append(after)
        elif has_text:
            row += 1
            continue
        row = row + 1 if is_big and nested else after
    for first, stop in zip(firsts, stops):
        found = pruned if marks_before[first] == marks_before[stop] else paras
        found.append((first, stop))
    return paras, pruned


cdef bint _is_big_node(
    list tags, list ends, Py_ssize_t row, bytearray fathers, bint nested,
    frozenset big_tags, frozenset block_level,
) except -1:
    cdef Py_ssize_t child = row + 1, end = ends[row]
    cdef bint is_big_tag = tags[row] in big_tags
    if not (fathers[row] or is_big_tag):
        return tags[row] == TEXT_NODE and not nested
    if nested or is_big_tag:
        return True
    while child < end:
        if tags[child] in block_level:
            return False
        child = ends[child]
    return True
