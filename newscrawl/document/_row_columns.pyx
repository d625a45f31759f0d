# cython: language_level=3, boundscheck=False, wraparound=False
"""Columns of the rows of a page, filled while its elements are opened and closed."""

from cpython cimport array
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from cpython.list cimport PyList_New, PyList_SET_ITEM
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_SET_ITEM
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.string cimport memcmp

from newscrawl.document._attributes cimport (
    Attribute, all_attributes, has_metadata, hides_element, is_repeated, value,
)
from newscrawl.document._element_names cimport SCRIPT_DATA, Name
from newscrawl.document._html_tokens cimport Place, same
from newscrawl.document._row_text cimport (
    decoded, has_digit, stripped, trimmed, weighted_length,
)

from array import array as new_array

from newscrawl.document import rows

cdef extern from "Python.h":
    object PyType_GenericAlloc(PyTypeObject* type, Py_ssize_t size)

COLUMNS = (
    "tag", "parent", "end", "depth", "text", "hidden", "space", "text_rows",
    "shown_rows", "number_rows", "label_rows", "chars_before", "link_chars_before", "statements", "by_tag",
    "places", "attributes",
)
if tuple(rows.Rows.__dataclass_fields__) != COLUMNS:
    raise ImportError(f"built for other columns: {COLUMNS}")

cdef str TEXT = rows.TEXT
cdef object HEADINGS = rows.HEADINGS
cdef int SCRIPT = rows.SCRIPT
cdef int INVISIBLE = rows.INVISIBLE
cdef object Statement = rows.Statement
cdef Py_ssize_t MAX_SHORT_TEXT = rows.MAX_SHORT_TEXT
cdef Py_ssize_t MAX_LABEL = rows.MAX_LABEL
cdef int LEADING = rows.LEADING
cdef int TRAILING = rows.TRAILING

# read_attributes compares these names.
if rows.KEPT_ATTRIBUTES != ("class", "id", "itemtype", "role", "href"):
    raise ImportError("built for other attributes")

cdef enum:
    HIDES = 1
    HAS_METADATA = 2
    IS_LINK = 4

# Row numbers as objects, shared by all pages: creating them costs as much as the pass. Larger numbers
# are created for each page, which bounds the memory.
cdef list NUMBERS = list(range(1 << 14))
cdef array.array _INTS = new_array("i")
cdef str NO_TEXT = ""
cdef Py_ssize_t pages = 0


cdef class RowColumns:
    """The columns of :class:`~newscrawl.document.rows.Rows`, and the state that filling them needs."""

    def __cinit__(self):
        global pages
        pages += 1
        self.page = pages
        self.texts = []
        self.text_rows, self.shown_rows, self.number_rows, self.label_rows = [], [], [], []
        self.classes, self.ids, self.item_types, self.roles = {}, {}, {}, {}
        self.addresses = {}
        self.statements, self.by_tag = [], {}
        self.link_row = self.figure_row = self.closed_row = -1

    def __dealloc__(self):
        PyMem_Free(self.rows)

    # rows

    cdef int append(self, object tag, str text, int parent, int mark, int space) except -1:
        cdef Row* row
        # A second html element is a child of the first.
        cdef bint late = self.open_rows[0] > 0 if self.size else self.row > 0
        if self.row == self.capacity:
            self.capacity = max(2048, 2 * self.capacity)
            row = <Row*> PyMem_Realloc(self.rows, self.capacity * sizeof(Row))
            if row is NULL:
                raise MemoryError
            self.rows = row
        row = &self.rows[self.row]
        self.row += 1
        row.tag, row.text = <PyObject*> tag, <PyObject*> text
        row.parent, row.end, row.depth = parent, self.row, self.size + late
        row.hidden, row.space = mark, space
        row.place = -1
        row.chars_before, row.link_chars_before = self.chars, self.link_chars
        return 0

    cdef int append_text(self, str text, int mark, int space) except -1:
        cdef double length
        cdef object row = _number(self.row)
        self.texts.append(text)
        self.text_rows.append(row)
        if len(text) <= MAX_SHORT_TEXT and has_digit(text):
            self.number_rows.append(row)
        if len(text) <= MAX_LABEL:
            self.label_rows.append(row)
        self.append(TEXT, text, self.open_rows[self.size - 1], mark, space)
        if not mark:
            self.shown_rows.append(row)
            length = len(text) if text.isascii() else weighted_length(text)
            self.chars += length
            if self.link_row >= 0:
                self.link_chars += length
        return 0

    cdef int open_row(self, Name name, Place content, Py_ssize_t size) except -1:
        """Open an element with the attributes *found*; *content* is its raw text."""
        cdef Py_ssize_t me
        cdef int parent = -1, mark = 0, own_mark, found
        self.end_text()
        me = self.row
        if self.size:
            parent = self.open_rows[self.size - 1]
        elif me:
            parent = 0
        if parent >= 0:
            mark = self.rows[parent].hidden
        if name.page != self.page:
            name.rows = self.by_tag.setdefault(name.tag, [])
            name.page = self.page
        name.rows.append(_number(me))
        found = self.read_attributes(name)
        own_mark = name.mark
        if name.button and parent >= 0 and <str> self.rows[parent].tag in HEADINGS:
            own_mark = 0
        if own_mark != SCRIPT:
            if found & HIDES and me not in self.shown:
                own_mark = own_mark or INVISIBLE
            own_mark = mark or own_mark
        if found & HAS_METADATA or (name.image and self.figure_row >= 0):
            self.append_statement(name, content, size)
        self.append(name.tag, NO_TEXT, parent, own_mark, 0)
        if self.attributes is not NULL:
            self.rows[me].place = self.attributes - self.start
        self.open_rows[self.size] = me
        self.size += 1
        if self.link_row < 0 and found & IS_LINK:
            self.link_row = me
        if self.figure_row < 0 and name.figure:
            self.figure_row = me
        self.closed_row = -1
        return 0

    cdef int close_row(self) except -1:
        """Close the innermost element."""
        cdef int closed
        self.end_text()
        self.size -= 1
        closed = self.open_rows[self.size]
        self.rows[closed].end = self.row
        if self.link_row == closed:
            self.link_row = -1
        if self.figure_row == closed:
            self.figure_row = -1
        self.closed_row = closed
        return 0

    # attributes

    cdef int read_attributes(self, Name name) except -1:
        """Keep attributes *found*; return whether the element is hidden, a link or has metadata."""
        cdef Attribute* attribute
        cdef Place key
        cdef Py_ssize_t size
        cdef int place, found = 0
        cdef dict column
        if name.metadata is not None and not name.metadata_attribute:
            found = HAS_METADATA
        for place in range(self.found.size):
            attribute = &self.found.items[place]
            key, size = attribute.name, attribute.name_size
            column = None
            if size == 5 and same(key, b"class", 5):
                column = self.classes
            elif size == 4 and same(key, b"href", 4):
                column = self.addresses
                found |= IS_LINK if name.link else 0
            elif size == 2 and same(key, b"id", 2):
                column = self.ids
            elif size == 4 and same(key, b"role", 4):
                column = self.roles
            elif size == 8 and same(key, b"itemtype", 8):
                column = self.item_types
            elif size == 8 and same(key, b"itemprop", 8):
                found |= HAS_METADATA
            elif hides_element(attribute, name) and not is_repeated(&self.found, place):
                found |= HIDES
            if column is not None and not is_repeated(&self.found, place):
                column[_number(self.row)] = self.cached_value(attribute)
            if (
                name.metadata is not None
                and not found & HAS_METADATA
                and has_metadata(attribute, name)
                and not is_repeated(&self.found, place)
            ):
                found |= HAS_METADATA
        return found

    cdef str cached_value(self, Attribute* attribute):
        """Return the value; equal ones, as of most classes, are one object."""
        cdef Place place = attribute.value
        cdef Py_ssize_t size = attribute.size
        cdef CachedValue* cached
        cdef str text
        if place is NULL or size == 0:
            return value(attribute)
        cached = &self.cached[
            (<unsigned int> size * 31 + place[0] + place[size - 1] * 17 + place[size >> 1] * 3) % CACHED_VALUES
        ]
        if cached.size == size and memcmp(cached.place, place, size) == 0:
            return <str> cached.text
        text = value(attribute)
        cached.place, cached.size, cached.text = place, size, <PyObject*> text
        return text

    cdef int append_statement(self, Name name, Place content, Py_ssize_t size) except -1:
        cdef str script = ""
        cdef object statement = PyType_GenericAlloc(<PyTypeObject*> Statement, 4)
        if name.content == SCRIPT_DATA and size:
            script = PyUnicode_DecodeUTF8(<const char*> content, size, b"strict")
        _set(statement, 0, _number(self.row))
        _set(statement, 1, name.tag)
        _set(statement, 2, all_attributes(&self.found))
        _set(statement, 3, script)
        self.statements.append(statement)
        return 0

    # text

    cdef int add_piece(self, Place data, Py_ssize_t size, bint has_references) except -1:
        if size == 0:
            return 0
        if self.piece is NULL:
            self.piece, self.piece_size, self.piece_has_references = data, size, has_references
            return 0
        if self.pieces is None:
            self.pieces = [decoded(self.piece, self.piece_size, self.piece_has_references)]
        self.pieces.append(decoded(data, size, has_references))
        return 0

    cdef int end_text(self) except -1:
        """Append the row of the current text, or its white space."""
        cdef int row, mark, space = 0
        cdef str text
        if self.piece is NULL:
            return 0
        row = self.open_rows[self.size - 1]
        mark = self.rows[row].hidden
        if mark != SCRIPT or self.scripts:
            if self.pieces is not None:
                text = trimmed("".join(self.pieces), &space)
            else:
                text = stripped(self.piece, self.piece_size, self.piece_has_references, &space)
            if text:
                self.append_text(text, mark, space)
            elif space and self.closed_row < 0:
                self.rows[row].space |= LEADING
            elif space:
                self.rows[self.closed_row].space |= TRAILING
        self.piece, self.pieces = NULL, None
        return 0

    cdef object to_rows(self):
        """Return the columns after the last element was closed."""
        cdef Py_ssize_t size = self.row, place
        cdef Row* row
        cdef list tag = PyList_New(size), text = PyList_New(size), depth = PyList_New(size)
        cdef list parent = PyList_New(size), end = PyList_New(size)
        cdef list chars = PyList_New(size + 1), link_chars = PyList_New(size + 1)
        cdef bytearray hidden = PyByteArray_FromStringAndSize(NULL, size)
        cdef bytearray space = PyByteArray_FromStringAndSize(NULL, size)
        cdef array.array places = array.clone(_INTS, size, zero=False)
        cdef char* marks = PyByteArray_AS_STRING(hidden)
        cdef char* spaces = PyByteArray_AS_STRING(space)
        # Most rows share the sums of the previous row.
        cdef double chars_before = 0, link_chars_before = 0
        cdef object chars_now = 0.0, link_chars_now = 0.0
        self.rows[0].end = size
        for place in range(size):
            row = &self.rows[place]
            if row.chars_before != chars_before:
                chars_before = row.chars_before
                chars_now = chars_before
            if row.link_chars_before != link_chars_before:
                link_chars_before = row.link_chars_before
                link_chars_now = link_chars_before
            _append(tag, place, <object> row.tag)
            _append(text, place, <object> row.text)
            _append(depth, place, _number(row.depth))
            _append(parent, place, _number(row.parent))
            _append(end, place, _number(row.end))
            _append(chars, place, chars_now)
            _append(link_chars, place, link_chars_now)
            marks[place], spaces[place] = row.hidden, row.space
            places.data.as_ints[place] = row.place
        _append(chars, size, self.chars)
        _append(link_chars, size, self.link_chars)
        columns = (self.classes, self.ids, self.item_types, self.roles, self.addresses)
        return rows.Rows(
            tag, parent, end, depth, text, hidden, space, self.text_rows, self.shown_rows,
            self.number_rows, self.label_rows, chars, link_chars, self.statements, self.by_tag,
            places, dict(zip(rows.KEPT_ATTRIBUTES, columns)),
        )


cdef inline object _number(Py_ssize_t row):
    return NUMBERS[row] if 0 <= row < (1 << 14) else row


cdef inline void _append(list column, Py_ssize_t place, object item) noexcept:
    Py_INCREF(item)  # the list takes it
    PyList_SET_ITEM(column, place, item)


cdef inline void _set(object statement, Py_ssize_t place, object item) noexcept:
    Py_INCREF(item)  # the tuple takes it
    PyTuple_SET_ITEM(statement, place, item)
