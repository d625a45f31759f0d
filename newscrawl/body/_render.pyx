# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled loops of :mod:`newscrawl.body.render`."""

from newscrawl.document.rows import LEADING as _LEADING
from newscrawl.document.rows import TEXT, TRAILING as _TRAILING

cdef int LEADING = _LEADING, TRAILING = _TRAILING
cdef str TEXT_NODE = TEXT
cdef str PARAGRAPH = "\n\n"


def write_flow_content(
    flow, document, roots, skip, *, dict breaks not None, frozenset block_level not None
):
    """See :func:`newscrawl.body.render.write_flow_content`."""
    cdef list tags = document.tag, ends = document.end, parents = document.parent
    cdef list pieces = flow.pieces, texts = document.text
    cdef bytearray hidden = document.hidden, space = document.space
    cdef Py_ssize_t root, previous = -1
    cdef str tag
    for root in roots:
        if previous < 0 or ends[previous] != root or parents[previous] != parents[root]:
            _add_break(pieces, PARAGRAPH)
        previous = root
        tag = tags[root]
        if tag != TEXT_NODE:
            _write_element(pieces, tags, ends, texts, hidden, space, root, skip, breaks)
            if space[root] & TRAILING and tag not in block_level:
                _write_space(pieces)
        elif not hidden[root] and root not in skip:
            _write_text(pieces, texts[root], space[root])


cdef int _write_element(
    list pieces, list tags, list ends, list texts, bytearray hidden, bytearray space,
    Py_ssize_t root, skip, dict breaks,
) except -1:
    cdef list open_rows = []
    cdef Py_ssize_t row = root, last = ends[root], closed
    cdef str tag
    while row < last:
        tag = tags[row]
        if tag == TEXT_NODE:
            if row not in skip:
                _write_text(pieces, texts[row], space[row])
        elif hidden[row] or row in skip:
            _add_break(pieces, breaks.get(tag))
            if row != root:
                _write_tail(pieces, tag, space[row], breaks)
            row = <Py_ssize_t> ends[row] - 1
        else:
            open_rows.append(row)
            if tag != "br":
                _add_break(pieces, breaks.get(tag))
            if space[row] & LEADING and tag not in breaks:
                _write_space(pieces)
        row += 1
        while open_rows and <Py_ssize_t> ends[open_rows[len(open_rows) - 1]] == row:
            closed = open_rows.pop()
            tag = tags[closed]
            _add_break(pieces, breaks.get(tag))
            if closed != root:
                _write_tail(pieces, tag, space[closed], breaks)
    return 0


cdef int _write_text(list pieces, str text, int space) except -1:
    if space & LEADING:
        text = " " + text
    if space & TRAILING:
        text = text + " "
    pieces.append(text.replace("\n", " "))
    return 0


cdef int _write_tail(list pieces, str tag, int space, dict breaks) except -1:
    if space & TRAILING and tag not in breaks:
        _write_space(pieces)
    return 0


cdef int _write_space(list pieces) except -1:
    if pieces[len(pieces) - 1] != PARAGRAPH:
        pieces.append(" ")
    return 0


cdef int _add_break(list pieces, str separator) except -1:
    if separator is not None and pieces[len(pieces) - 1] != PARAGRAPH:
        pieces.append(separator)
    return 0
