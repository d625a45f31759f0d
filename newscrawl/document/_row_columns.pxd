from newscrawl.document._attributes cimport Attributes
from newscrawl.document._element_names cimport Name
from newscrawl.document._html_tokens cimport Place

cdef enum:
    MAX_DEPTH = 2000


cdef class RowColumns:
    cdef list tag, parent, end, depth, text, text_rows, shown_rows, number_rows, label_rows
    cdef list chars_before, link_chars_before, statements
    cdef bytearray hidden, space
    cdef dict classes, ids, item_types, roles, addresses, by_tag, media
    cdef Py_ssize_t row
    cdef double chars, link_chars
    # the sums as objects: most rows share the object of the previous row
    cdef object chars_now, link_chars_now
    cdef bint scripts, with_media
    cdef object shown

    # open elements
    cdef Py_ssize_t size  # their number
    cdef Py_ssize_t open_rows[MAX_DEPTH]
    cdef Py_ssize_t link_row, figure_row  # the outermost open ones
    cdef Py_ssize_t closed_row  # the sibling before the text; -1 for the first child
    # the text of the current node: one piece, or several with references replaced
    cdef Place piece
    cdef Py_ssize_t piece_size
    cdef bint piece_has_references
    cdef list pieces
    # the attributes of the current tag
    cdef Attributes found

    cdef int append(self, str text, Py_ssize_t parent, int mark, int space) except -1
    cdef int append_text(self, str text, int mark, int space) except -1
    cdef int open_row(self, Name* name, Place content, Py_ssize_t size) except -1
    cdef int close_row(self) except -1
    cdef int read_attributes(self, Name* name) except -1
    cdef int append_statement(
        self, Name* name, Py_ssize_t row, Place content, Py_ssize_t size
    ) except -1
    cdef int add_piece(self, Place data, Py_ssize_t size, bint has_references) except -1
    cdef int end_text(self) except -1
    cdef object to_rows(self)
