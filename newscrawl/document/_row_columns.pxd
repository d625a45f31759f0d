from cpython.object cimport PyObject

from newscrawl.document._attributes cimport Attribute, Attributes
from newscrawl.document._element_names cimport Name
from newscrawl.document._html_tokens cimport Place

cdef enum:
    MAX_DEPTH = 2000
    CACHED_VALUES = 256


cdef struct Row:
    PyObject* tag  # borrowed from the names
    PyObject* text  # borrowed from texts
    int parent
    int end
    int depth
    int place  # of the attributes
    unsigned char hidden
    unsigned char space
    double chars_before
    double link_chars_before


cdef struct CachedValue:
    Place place
    Py_ssize_t size
    PyObject* text  # borrowed from a column


cdef class RowColumns:
    cdef Row* rows
    cdef Py_ssize_t capacity
    cdef list texts, text_rows, shown_rows, number_rows, label_rows, statements
    cdef dict classes, ids, item_types, roles, addresses, by_tag
    cdef Py_ssize_t page  # its number
    cdef Place start
    cdef Py_ssize_t row
    cdef double chars, link_chars
    cdef bint scripts
    cdef object shown

    # open elements
    cdef Py_ssize_t size  # their number
    cdef int open_rows[MAX_DEPTH]
    cdef Py_ssize_t link_row, figure_row  # the outermost open ones
    cdef Py_ssize_t closed_row  # the sibling before the text; -1 for the first child
    # the text of the current node: one piece, or several with references replaced
    cdef Place piece
    cdef Py_ssize_t piece_size
    cdef bint piece_has_references
    cdef list pieces
    # the attributes of the current tag, and their place, NULL for an implied one
    cdef Attributes found
    cdef Place attributes
    cdef CachedValue cached[CACHED_VALUES]

    cdef int append(self, object tag, str text, int parent, int mark, int space) except -1
    cdef int append_text(self, str text, int mark, int space) except -1
    cdef int open_row(self, Name name, Place content, Py_ssize_t size) except -1
    cdef int close_row(self) except -1
    cdef int read_attributes(self, Name name) except -1
    cdef str cached_value(self, Attribute* attribute)
    cdef int append_statement(self, Name name, Place content, Py_ssize_t size) except -1
    cdef int add_piece(self, Place data, Py_ssize_t size, bint has_references) except -1
    cdef int end_text(self) except -1
    cdef object to_rows(self)
