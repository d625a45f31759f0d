# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled loops of :mod:`newscrawl.body.econ`."""

from newscrawl.document.rows import TEXT

cdef str TEXT_NODE = TEXT


def read_text(document, parameters):
    """See :func:`newscrawl.body.econ.read_text`."""
    cdef list texts = document.text, parents = document.parent
    cdef list in_links = document.link_chars_before
    cdef bint link_marks = parameters.link_marks, decimal_marks = parameters.decimal_marks
    cdef bytearray hidden = document.hidden
    cdef bytearray fathers = bytearray(len(texts))
    cdef list marks_before = [0]
    cdef object before = 0
    cdef Py_ssize_t row, marks = 0
    cdef str text
    for row in range(len(texts)):
        text = texts[row]
        if text and not hidden[row]:
            fathers[<Py_ssize_t> parents[row]] = 1
            if link_marks or <double> in_links[row] == <double> in_links[row + 1]:
                if _has_mark(text, decimal_marks):
                    marks += 1
                    before = marks
        marks_before.append(before)
    return marks_before, fathers


cdef bint _has_mark(str text, bint decimal_marks) except -1:
    """Return whether *text* has a period or comma; before a digit only with *decimal_marks*."""
    cdef Py_ssize_t place, last = len(text) - 1
    for place in range(last + 1):
        if text[place] in u".,，．。、､｡،۔।॥":
            if decimal_marks or place == last or not text[place + 1].isdecimal():
                return True
    return False


def find_text_node_sets(
    document, parameters, list marks_before, bytearray fathers,
    *, frozenset big_tags not None, frozenset block_level not None,
):
    """See :func:`newscrawl.body.econ.find_text_node_sets`."""
    cdef list tags = document.tag, parents = document.parent, ends = document.end
    cdef list shown = document.chars_before
    cdef bint nested = parameters.nested, empty_parts = parameters.empty_parts
    cdef list firsts = [], lasts = []
    cdef dict latest = {}
    cdef Py_ssize_t row = 0, after, child, place
    cdef bint has_text, is_big, is_named
    cdef str tag
    while row < len(tags):
        tag = tags[row]
        after = ends[row]
        place = latest.get(parents[row], -1)
        has_text = <double> shown[row] != <double> shown[after]
        is_named = tag in big_tags
        is_big = False
        if has_text:
            if not (fathers[row] or is_named):
                is_big = not nested and tag == TEXT_NODE
            elif nested or is_named:
                is_big = True
            else:
                is_big = True
                child = row + 1
                while child < after:
                    if tags[child] in block_level:
                        is_big = False
                        break
                    child = ends[child]
        if place >= 0 and lasts[place] == row and (
            is_big or (not has_text and (not empty_parts or is_named))
        ):
            lasts[place] = after
        elif is_big or (
            has_text and tag != TEXT_NODE and marks_before[row] == marks_before[after]
        ):
            if is_big:
                latest[parents[row]] = len(firsts)
            firsts.append(row)
            lasts.append(after)
        elif has_text:
            row += 1
            continue
        row = row + 1 if is_big and nested else after
    return firsts, lasts
