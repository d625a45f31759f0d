# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled walk of :mod:`newscrawl.body.render`."""

from newscrawl.document.rows import LEADING as _LEADING
from newscrawl.document.rows import TEXT as _TEXT
from newscrawl.document.rows import TRAILING as _TRAILING

cdef str TEXT = _TEXT
cdef int LEADING = _LEADING
cdef int TRAILING = _TRAILING


cdef class Writer:
    """Text and breaks in document order, as in :class:`newscrawl.body.render.Flow`."""

    cdef list pieces, tags, ends, texts
    cdef bytearray hidden, space
    cdef dict breaks
    cdef frozenset opening, preformatted
    cdef str paragraph
    cdef bint at_paragraph

    cdef int add_text(self, str text) except -1:
        if text and not (self.at_paragraph and text.isspace()):
            self.pieces.append(text.replace("\n", " ") if "\n" in text else text)
            self.at_paragraph = False
        return 0

    cdef int add_break(self, str separator) except -1:
        if not self.at_paragraph:
            self.pieces.append(separator)
            self.at_paragraph = separator == self.paragraph
        return 0

    cdef int write_text(self, Py_ssize_t row) except -1:
        cdef str text = self.texts[row]
        cdef int space = self.space[row]
        if space & LEADING:
            text = " " + text
        if space & TRAILING:
            text = text + " "
        return self.add_text(text)

    cdef bint write_element(self, Py_ssize_t root, skip) except -1:
        """Write the subtree of *root*; return False if it has preformatted text."""
        cdef list open_rows = []
        cdef Py_ssize_t row = root, last = self.ends[root], closing = -1
        while row < last:
            name = self.tags[row]
            if name == TEXT:
                if row not in skip:
                    self.write_text(row)
            elif self.hidden[row] or row in skip:
                self.close(row, root)
                row = <Py_ssize_t> self.ends[row] - 1
            elif name in self.preformatted:
                return False
            else:
                open_rows.append(row)
                closing = self.ends[row]
                if name in self.opening:
                    self.add_break(self.breaks[name])
                if self.space[row] & LEADING and name not in self.breaks:
                    self.add_text(" ")
            row += 1
            while closing == row:
                self.close(open_rows.pop(), root)
                closing = self.ends[open_rows[len(open_rows) - 1]] if open_rows else -1
        return True

    cdef int close(self, Py_ssize_t row, Py_ssize_t root) except -1:
        """Write the break after the element *row*, or the white space."""
        separator = self.breaks.get(self.tags[row])
        if separator is not None:
            return self.add_break(separator)
        if self.space[row] & TRAILING and row != root:
            return self.add_text(" ")
        return 0


def write_pieces(
    document, roots, skip, *, dict breaks, frozenset opening, frozenset block_level,
    frozenset preformatted, str paragraph,
):
    """See :func:`newscrawl.body.render.write_pieces`."""
    cdef Writer writer = Writer()
    cdef list parents = document.parent
    cdef Py_ssize_t root, previous = -1
    writer.tags, writer.ends, writer.texts = document.tag, document.end, document.text
    writer.hidden, writer.space = document.hidden, document.space
    writer.breaks, writer.opening, writer.preformatted = breaks, opening, preformatted
    writer.pieces, writer.paragraph, writer.at_paragraph = [paragraph], paragraph, True
    for root in roots:
        if (
            previous < 0
            or <Py_ssize_t> writer.ends[previous] != root
            or parents[previous] != parents[root]
        ):
            writer.add_break(paragraph)
        previous = root
        tag = writer.tags[root]
        if tag != TEXT:
            if not writer.write_element(root, skip):
                return None
            if tag not in block_level and writer.space[root] & TRAILING:
                writer.add_text(" ")
        elif not writer.hidden[root] and root not in skip:
            writer.write_text(root)
    return writer.pieces
