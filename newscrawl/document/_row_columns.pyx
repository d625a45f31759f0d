# cython: language_level=3, boundscheck=False, wraparound=False
"""Columns of the rows of a page, filled while its elements are opened and closed."""

from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_DecodeUTF8

from newscrawl.document._attributes cimport (
    Attribute, all_attributes, has_metadata, hides_element, is_repeated, value,
)
from newscrawl.document._element_names cimport SCRIPT_DATA, Name
from newscrawl.document._html_tokens cimport Place, same
from newscrawl.document._row_text cimport (
    decoded, has_digit, stripped, trimmed, weighted_length,
)

from newscrawl.document import rows

COLUMNS = (
    "tag", "parent", "end", "depth", "text", "hidden", "space", "text_rows",
    "shown_rows", "number_rows", "label_rows", "chars_before", "link_chars_before", "statements", "by_tag",
    "media", "attributes",
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

# Row numbers as objects, shared by all pages: creating them costs as much as the pass. Larger numbers
# are created for each page, which bounds the memory.
cdef list NUMBERS = list(range(1 << 14))


cdef class RowColumns:
    """The columns of :class:`~newscrawl.document.rows.Rows`, and the state that filling them needs."""

    def __cinit__(self):
        self.tag, self.parent, self.end, self.depth, self.text = [], [], [], [], []
        self.text_rows, self.shown_rows, self.number_rows, self.label_rows = [], [], [], []
        self.chars_before, self.link_chars_before = [], []
        self.hidden, self.space = bytearray(), bytearray()
        self.classes, self.ids, self.item_types, self.roles = {}, {}, {}, {}
        self.addresses = {}
        self.statements, self.by_tag, self.media = [], {}, {}
        self.chars_now = self.link_chars_now = 0.0
        self.link_row = self.figure_row = self.closed_row = -1

    # rows

    cdef int append(self, str text, Py_ssize_t parent, int mark, int space) except -1:
        """Append a row without its tag."""
        cdef bint late
        self.row += 1
        self.parent.append(_number(parent))
        self.end.append(_number(self.row))
        # A second html element is a child of the first.
        late = self.open_rows[0] > 0 if self.size else self.row > 1
        self.depth.append(_number(self.size + late))
        self.text.append(text)
        self.hidden.append(mark)
        self.space.append(space)
        self.chars_before.append(self.chars_now)
        self.link_chars_before.append(self.link_chars_now)
        return 0

    cdef int append_text(self, str text, int mark, int space) except -1:
        cdef double length
        cdef object row = _number(self.row)
        self.text_rows.append(row)
        if len(text) <= MAX_SHORT_TEXT and has_digit(text):
            self.number_rows.append(row)
        if len(text) <= MAX_LABEL:
            self.label_rows.append(row)
        self.tag.append(TEXT)
        self.append(text, self.open_rows[self.size - 1], mark, space)
        if not mark:
            self.shown_rows.append(row)
            length = len(text) if text.isascii() else weighted_length(text)
            self.chars += length
            self.chars_now = self.chars
            if self.link_row >= 0:
                self.link_chars += length
                self.link_chars_now = self.link_chars
        return 0

    cdef int open_row(self, Name* name, Place content, Py_ssize_t size) except -1:
        """Open an element with the attributes *found*; *content* is its raw text."""
        cdef Py_ssize_t me, parent = -1
        cdef int mark = 0, own_mark, found
        self.end_text()
        me = self.row
        if self.size:
            parent = self.open_rows[self.size - 1]
        elif me:
            parent = 0
        if parent >= 0:
            mark = self.hidden[parent]
        if name.rows is NULL:
            own_rows = []
            self.by_tag[<str> name.tag] = own_rows
            name.rows = <PyObject*> own_rows
        self.tag.append(<str> name.tag)
        (<list> name.rows).append(_number(me))
        found = self.read_attributes(name)
        own_mark = name.mark
        if name.button and parent >= 0 and self.tag[parent] in HEADINGS:
            own_mark = 0
        if own_mark != SCRIPT:
            if found & HIDES and me not in self.shown:
                own_mark = own_mark or INVISIBLE
            own_mark = mark or own_mark
        if name.media and self.with_media:
            self.media[_number(me)] = all_attributes(&self.found)
        if found & HAS_METADATA or (name.image and self.figure_row >= 0):
            self.append_statement(name, me, content, size)
        self.append("", parent, own_mark, 0)
        self.open_rows[self.size] = me
        self.size += 1
        if self.link_row < 0 and name.link and _number(me) in self.addresses:
            self.link_row = me
        if self.figure_row < 0 and name.figure:
            self.figure_row = me
        self.closed_row = -1
        return 0

    cdef int close_row(self) except -1:
        """Close the innermost element."""
        cdef Py_ssize_t closed
        self.end_text()
        self.size -= 1
        closed = self.open_rows[self.size]
        self.end[closed] = _number(self.row)
        if self.link_row == closed:
            self.link_row = -1
        if self.figure_row == closed:
            self.figure_row = -1
        self.closed_row = closed
        return 0

    # attributes

    cdef int read_attributes(self, Name* name) except -1:
        """Keep attributes *found*; return whether the element is hidden or has metadata."""
        cdef Attribute* attribute
        cdef Place key
        cdef Py_ssize_t size
        cdef int place, found = 0
        cdef dict column
        if name.metadata is not NULL and not (<tuple> name.metadata)[0]:
            found = HAS_METADATA
        for place in range(self.found.size):
            attribute = &self.found.items[place]
            key, size = attribute.name, attribute.name_size
            column = None
            if size == 5 and same(key, b"class", 5):
                column = self.classes
            elif size == 4 and same(key, b"href", 4):
                column = self.addresses
            elif size == 2 and same(key, b"id", 2):
                column = self.ids
            elif size == 4 and same(key, b"role", 4):
                column = self.roles
            elif size == 8 and same(key, b"itemtype", 8):
                column = self.item_types
            elif size == 8 and same(key, b"itemprop", 8):
                found |= HAS_METADATA
            elif hides_element(attribute) and not is_repeated(&self.found, place):
                found |= HIDES
            if column is not None and not is_repeated(&self.found, place):
                column[_number(self.row)] = value(attribute)
            if (
                name.metadata is not NULL
                and has_metadata(attribute, <tuple> name.metadata)
                and not is_repeated(&self.found, place)
            ):
                found |= HAS_METADATA
        return found

    cdef int append_statement(
        self, Name* name, Py_ssize_t row, Place content, Py_ssize_t size
    ) except -1:
        cdef str script = ""
        if name.content == SCRIPT_DATA and size:
            script = PyUnicode_DecodeUTF8(<const char*> content, size, b"strict")
        fields = (_number(row), <str> name.tag, all_attributes(&self.found), script)
        self.statements.append(tuple.__new__(Statement, fields))
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
        cdef Py_ssize_t row
        cdef int mark, space = 0
        cdef str text
        if self.piece is NULL:
            return 0
        row = self.open_rows[self.size - 1]
        mark = self.hidden[row]
        if mark != SCRIPT or self.scripts:
            if self.pieces is not None:
                text = trimmed("".join(self.pieces), &space)
            else:
                text = stripped(self.piece, self.piece_size, self.piece_has_references, &space)
            if text:
                self.append_text(text, mark, space)
            elif space and self.closed_row < 0:
                self.space[row] |= LEADING
            elif space:
                self.space[self.closed_row] |= TRAILING
        self.piece, self.pieces = NULL, None
        return 0

    cdef object to_rows(self):
        """Return the columns after the last element was closed."""
        self.end[0] = _number(self.row)
        self.chars_before.append(self.chars_now)
        self.link_chars_before.append(self.link_chars_now)
        columns = (self.classes, self.ids, self.item_types, self.roles, self.addresses)
        return rows.Rows(
            self.tag, self.parent, self.end, self.depth, self.text,
            self.hidden, self.space, self.text_rows, self.shown_rows, self.number_rows,
            self.label_rows, self.chars_before, self.link_chars_before, self.statements, self.by_tag,
            self.media, dict(zip(rows.KEPT_ATTRIBUTES, columns)),
        )


cdef inline object _number(Py_ssize_t row):
    return NUMBERS[row] if 0 <= row < (1 << 14) else row
