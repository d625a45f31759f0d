# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled pass of :mod:`newscrawl.document.read_rows`: from the bytes of a page to its columns.

It builds no tree: most of the time of a parser goes into nodes and attributes that are not used. Rows
are those of libxml2's tree, so the version is checked: since 2.14 libxml2 has the tokenizer of HTML5,
https://html.spec.whatwg.org/multipage/parsing.html#tokenization, and rules of its own for the tree.
"""

from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.string cimport memchr, memcmp, memset

from newscrawl.document._attributes cimport (
    MAX_NAME, Attribute, Attributes, all_attributes, find_attributes, has_metadata, hides_element,
    is_repeated, value,
)
from newscrawl.document._html_tokens cimport (
    Place, after, after_space_reference, end_of_comment, end_of_content, ends_name, is_letter,
    is_space, same,
)
from newscrawl.document._row_text cimport (
    decoded, has_digit, stripped, trimmed, weighted_length,
)

from lxml import etree

from newscrawl.document import html_tables, rows

if etree.LIBXML_VERSION[:2] != html_tables.LIBXML_VERSION:
    raise ImportError(f"made for libxml2 {html_tables.LIBXML_VERSION}, lxml has {etree.LIBXML_VERSION}")

COLUMNS = (
    "tag", "parent", "end", "depth", "text", "hidden", "space", "text_rows",
    "shown_rows", "number_rows", "label_rows", "chars_before", "link_chars_before", "statements", "by_tag",
    "media", "attributes",
)
if tuple(rows.Rows.__dataclass_fields__) != COLUMNS:
    raise ImportError(f"built for other columns: {COLUMNS}")

cdef str TEXT = rows.TEXT
cdef int SCRIPT = rows.SCRIPT
cdef int INVISIBLE = rows.INVISIBLE
cdef dict HIDDEN_TAGS = rows.HIDDEN_TAGS
cdef dict METADATA_TAGS = {
    tag: (name.encode(), parts) for tag, (name, parts) in rows.METADATA_TAGS.items()
}
cdef object MEDIA_TAGS = rows.MEDIA_TAGS
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
    CACHED_NAMES = 512
    MAX_DEPTH = 2000
    # contents of an element
    DATA = 0
    RCDATA = 1
    RAWTEXT = 2
    SCRIPT_DATA = 3
    PLAINTEXT = 4
    # elements that imply others
    OTHER = 0
    HTML = 1
    HEAD = 2
    BODY = 3
    OF_HEAD = 4
    OF_FRAMESET = 5
    # progress of the page
    BEFORE_HEAD = 0
    AFTER_HEAD = 1
    AFTER_BODY = 2

cdef dict CONTENTS = {
    name: mode
    for mode, names in (
        (RCDATA, html_tables.RCDATA), (RAWTEXT, html_tables.RAWTEXT),
        (SCRIPT_DATA, ("script",)), (PLAINTEXT, ("plaintext",)),
    )
    for name in names
}
cdef dict ROLES = {
    **{"html": HTML, "head": HEAD, "body": BODY},
    **dict.fromkeys(html_tables.OF_HEAD, OF_HEAD),
    **dict.fromkeys(html_tables.OF_FRAMESET, OF_FRAMESET),
}
cdef object VOID = html_tables.VOID
cdef dict PRIORITIES = html_tables.PRIORITIES

# Names of CLOSED_BY have numbers from 1 on.
cdef list CLOSING = sorted({*html_tables.CLOSED_BY, *(n for s in html_tables.CLOSED_BY.values() for n in s)})
cdef dict NUMBER_OF = {name: number for number, name in enumerate(CLOSING, 1)}
cdef enum:
    MAX_CLOSING = 96
cdef bint CLOSES[MAX_CLOSING][MAX_CLOSING]
if len(CLOSING) >= MAX_CLOSING:
    raise ImportError("more tags than expected")
memset(CLOSES, 0, sizeof(CLOSES))
for _open, _names in html_tables.CLOSED_BY.items():
    for _name in _names:
        CLOSES[<int> NUMBER_OF[_open]][<int> NUMBER_OF[_name]] = True

# Row numbers as objects, shared by all pages: creating them costs as much as the pass. Larger numbers
# are created for each page, which bounds the memory.
cdef list NUMBERS = list(range(1 << 14))


cdef struct Name:
    PyObject* bytes_  # borrowed from names
    PyObject* tag  # borrowed from tags
    PyObject* rows  # borrowed from by_tag; NULL before the first row
    PyObject* metadata  # borrowed from METADATA_TAGS; NULL for other tags
    int mark
    int content
    int role
    int number
    int priority
    bint void
    bint link
    bint figure
    bint image
    bint media


cdef class Reader:
    """State of the pass, and the columns of :class:`~newscrawl.document.rows.Rows`."""

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

    cdef Place limit  # the end of the page
    # distinct names of elements
    cdef dict names
    cdef list tags
    cdef Name* known
    cdef Py_ssize_t known_size
    cdef int cached[CACHED_NAMES]
    # open elements
    cdef Py_ssize_t size  # their number
    cdef int open_names[MAX_DEPTH]
    cdef Py_ssize_t open_rows[MAX_DEPTH]
    cdef int progress
    cdef Py_ssize_t discarded  # misplaced html, head and body elements
    cdef Py_ssize_t link_row, figure_row  # the outermost open ones
    cdef Py_ssize_t closed_row  # the sibling before the text; -1 for the first child
    # the text of the current node: one piece, or several with references replaced
    cdef Place piece
    cdef Py_ssize_t piece_size
    cdef bint piece_has_references
    cdef list pieces
    cdef Attributes found

    def __cinit__(self):
        self.tag, self.parent, self.end, self.depth, self.text = [], [], [], [], []
        self.text_rows, self.shown_rows, self.number_rows, self.label_rows = [], [], [], []
        self.chars_before, self.link_chars_before = [], []
        self.hidden, self.space = bytearray(), bytearray()
        self.classes, self.ids, self.item_types, self.roles = {}, {}, {}, {}
        self.addresses = {}
        self.statements, self.by_tag, self.media = [], {}, {}
        self.chars_now = self.link_chars_now = 0.0
        self.names, self.tags = {}, []
        self.link_row = self.figure_row = self.closed_row = -1
        memset(self.cached, -1, sizeof(self.cached))

    def __dealloc__(self):
        PyMem_Free(self.known)

    # names

    cdef int name_at(self, Place name, Py_ssize_t size) except -1:
        """Return the index of a name in *known*."""
        cdef unsigned int slot = (
            size * 31 + (name[0] | 0x20) * 7 + (name[size - 1] | 0x20) * 17 + (name[size >> 1] | 0x20) * 3
        ) % CACHED_NAMES
        cdef int index = self.cached[slot]
        cdef bytes lower
        if index >= 0:
            lower = <bytes> self.known[index].bytes_
            if len(lower) == size and same(name, lower, size):
                return index
        lower = name[:size].lower()
        if lower in self.names:
            index = self.names[lower]
        else:
            index = self.add_name(lower)
        self.cached[slot] = index
        return index

    cdef int add_name(self, bytes lower) except -1:
        cdef int index = len(self.names)
        cdef str tag = lower.decode()
        cdef Name* name
        if index == self.known_size:
            self.known_size = max(64, 2 * self.known_size)
            name = <Name*> PyMem_Realloc(self.known, self.known_size * sizeof(Name))
            if name is NULL:
                raise MemoryError
            self.known = name
        self.names[lower] = index
        self.tags.append(tag)
        name = &self.known[index]
        name.bytes_ = <PyObject*> lower
        name.tag = <PyObject*> tag
        name.rows = NULL
        name.metadata = <PyObject*> METADATA_TAGS[tag] if tag in METADATA_TAGS else NULL
        name.mark = HIDDEN_TAGS.get(tag, 0)
        name.content = CONTENTS.get(tag, DATA)
        name.role = ROLES.get(tag, OTHER)
        name.number = NUMBER_OF.get(tag, 0)
        name.priority = PRIORITIES.get(tag, 100)
        name.void = tag in VOID
        name.link = tag == "a"
        name.figure = tag == "figure"
        name.image = tag == "img"
        name.media = tag in MEDIA_TAGS
        return index

    # rows

    cdef int append(self, str text, Py_ssize_t parent, int mark, int space) except -1:
        """Append a row without its tag."""
        self.row += 1
        self.parent.append(_number(parent))
        self.end.append(_number(self.row))
        self.depth.append(_number(self.size + self.is_late()))
        self.text.append(text)
        self.hidden.append(mark)
        self.space.append(space)
        self.chars_before.append(self.chars_now)
        self.link_chars_before.append(self.link_chars_now)
        return 0

    cdef inline bint is_late(self):
        """Return whether a second html element is open, a child of the first."""
        return self.open_rows[0] > 0 if self.size else self.row > 1

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

    cdef int open(self, int index, Place content, Py_ssize_t size) except -1:
        """Open an element with the attributes *found*; *content* is its raw text."""
        cdef Name* name = &self.known[index]
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
        if own_mark != SCRIPT:
            if found & HIDES and me not in self.shown:
                own_mark = own_mark or INVISIBLE
            own_mark = mark or own_mark
        if name.media and self.with_media:
            self.media[_number(me)] = all_attributes(&self.found)
        if found & HAS_METADATA or (name.image and self.figure_row >= 0):
            self.append_statement(name, me, content, size)
        self.append("", parent, own_mark, 0)
        self.open_names[self.size] = index
        self.open_rows[self.size] = me
        self.size += 1
        if self.link_row < 0 and name.link:
            self.link_row = me
        if self.figure_row < 0 and name.figure:
            self.figure_row = me
        self.closed_row = -1
        if name.role == HEAD and self.progress == BEFORE_HEAD:
            self.progress = AFTER_HEAD
        elif name.role == BODY:
            self.progress = AFTER_BODY
        return 0

    cdef int close(self) except -1:
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

    cdef int add_data(self, Place data, Place end) except -1:
        """Add text outside of raw elements; in html and head, it can open the body."""
        cdef Place start
        cdef int role
        while data < end:
            role = self.known[self.open_names[self.size - 1]].role if self.size else HTML
            if role != HTML and role != HEAD:
                break
            start = data
            while data < end and is_space(data[0]):
                data += 1
            if self.size:
                self.add_piece(start, data - start, False)
            if data == end:
                return 0
            start = data
            data = after_space_reference(data, end)
            if data == start:
                self.start_text()
                break
            if self.size:
                self.add_piece(start, data - start, True)
        return self.add_piece(data, end - data, True)

    cdef int start_text(self) except -1:
        """Open and close what text other than white space implies in html and head."""
        cdef int paragraph = self.name_at(b"p", 1)
        if self.size and self.known[self.open_names[self.size - 1]].role == HEAD:
            self.close_before(paragraph)
        return self.imply(paragraph)

    # the tree

    cdef int close_before(self, int index) except -1:
        """Close the elements that the start of another one ends."""
        cdef int number = self.known[index].number
        while number and self.size and CLOSES[
            self.known[self.open_names[self.size - 1]].number
        ][number]:
            self.close()
        return 0

    cdef int imply(self, int index) except -1:
        """Open html, head and body where the start of an element implies them."""
        cdef int role = self.known[index].role
        cdef Py_ssize_t place
        cdef int open_role
        if role == HTML:
            return 0
        if not self.size:
            self.open_implied(b"html")
        if role == HEAD or role == BODY:
            return 0
        if self.size == 1 and role == OF_HEAD:
            if self.progress == BEFORE_HEAD:
                self.open_implied(b"head")
        elif role != OF_FRAMESET and self.progress != AFTER_BODY:
            for place in range(self.size):
                open_role = self.known[self.open_names[place]].role
                if open_role == BODY or open_role == HEAD:
                    return 0
            self.open_implied(b"body")
        return 0

    cdef int open_implied(self, bytes name) except -1:
        self.found.size = 0
        return self.open(self.name_at(name, len(name)), NULL, 0)

    cdef bint is_misplaced(self, int index):
        """Return whether an html, head or body element is dropped."""
        cdef int role = self.known[index].role
        cdef Py_ssize_t place
        if role == HTML:
            return self.size > 0
        if role == HEAD:
            return self.size != 1
        if role == BODY:
            for place in range(self.size):
                if self.open_names[place] == index:
                    return True
        return False

    cdef Place start_tag(self, Place place) except? NULL:
        """Read the start tag, and raw text, from its name at *place*; return the end.

        NULL without an exception: the page is left to libxml2.
        """
        cdef Place start = place, content = NULL
        cdef Py_ssize_t size = 0
        cdef int index
        cdef bint misplaced, closed
        while place < self.limit and not ends_name(place[0]):
            place += 1
        if place - start > MAX_NAME or self.size >= MAX_DEPTH - 3:
            return NULL
        index = self.name_at(start, place - start)
        self.close_before(index)
        self.imply(index)
        misplaced = self.is_misplaced(index)
        if misplaced:
            self.discarded += 1
        place = find_attributes(&self.found, place, self.limit)
        if place is NULL or place == self.limit:
            return place
        closed = place[0] == b"/"
        place += 2 if closed else 1
        if misplaced:
            if closed:
                self.close()
            return place
        if self.known[index].void:
            closed = True
        elif not closed and self.known[index].content != DATA:
            if self.known[index].content == PLAINTEXT:
                return NULL
            content = place
            place = end_of_content(
                place, self.limit, <bytes> self.known[index].bytes_,
                self.known[index].content == SCRIPT_DATA,
            )
            size = place - content
        self.open(index, content, size)
        if size:
            self.add_piece(content, size, self.known[index].content == RCDATA)
        if closed:
            self.close()
        return place

    cdef Place end_tag(self, Place place) except? NULL:
        """Read the end tag from its name at *place*; return the end, or NULL as above."""
        cdef Place start = place
        cdef int index, priority
        cdef Py_ssize_t depth
        while place < self.limit and not ends_name(place[0]):
            place += 1
        if place - start > MAX_NAME:
            return NULL
        index = self.name_at(start, place - start)
        place = find_attributes(&self.found, place, self.limit)
        if place is NULL or place == self.limit:
            return place
        place += 2 if place[0] == b"/" else 1
        if self.discarded and HTML <= self.known[index].role <= BODY:
            self.discarded -= 1
            return place
        priority = self.known[index].priority
        depth = self.size - 1
        while depth >= 0 and self.open_names[depth] != index:
            depth -= 1
        if depth < 0:
            return place
        depth = self.size - 1
        while self.open_names[depth] != index:
            if self.known[self.open_names[depth]].priority > priority:
                return place
            depth -= 1
        while self.size > depth:
            self.close()
        return place

    cdef Place read_markup(self, Place place) except? NULL:
        """Read what begins with the "<" at *place*; return the end, or NULL as above."""
        cdef Py_ssize_t left = self.limit - place
        if left > 1 and is_letter(place[1]):
            return self.start_tag(place + 1)
        if left > 2 and place[1] == b"/" and is_letter(place[2]):
            return self.end_tag(place + 2)
        if left > 3 and memcmp(place, b"<!--", 4) == 0:
            return end_of_comment(place + 4, self.limit)
        if left > 1 and (place[1] == b"!" or place[1] == b"?"):
            return after(place + 1, self.limit, b">")
        if left > 2 and place[1] == b"/":
            return after(place + 2, self.limit, b">")
        self.start_text()
        left = 2 if left > 1 and place[1] == b"/" else 1
        self.add_piece(place, left, False)
        return place + left

    cdef bint read(self, Place place) except -1:
        """Read the page from *place*; return whether it was read to its end."""
        cdef Place data
        cdef const void* tag
        if self.limit - place > 2 and memcmp(place, b"\xef\xbb\xbf", 3) == 0:  # byte order mark
            place += 3
        while place < self.limit:
            if place[0] == b"<":
                place = self.read_markup(place)
                if place is NULL:
                    return False
            else:
                data = place
                tag = memchr(place, b"<", self.limit - place)
                place = self.limit if tag is NULL else <Place> tag
                self.add_data(data, place)
        while self.size:
            self.close()
        return self.row > 0


def read_rows(bytes utf8 not None, *, bint scripts=False, shown=frozenset(), bint media=True):
    """See :func:`newscrawl.document.read_rows.read_rows`."""
    cdef Reader reader = Reader()
    reader.limit = <Place> utf8 + len(utf8)
    reader.scripts, reader.with_media = scripts, media
    reader.shown = shown
    if not reader.read(<Place> utf8):
        return None
    reader.end[0] = _number(reader.row)
    reader.chars_before.append(reader.chars_now)
    reader.link_chars_before.append(reader.link_chars_now)
    columns = (reader.classes, reader.ids, reader.item_types, reader.roles, reader.addresses)
    return rows.Rows(
        reader.tag, reader.parent, reader.end, reader.depth, reader.text,
        reader.hidden, reader.space, reader.text_rows, reader.shown_rows, reader.number_rows,
        reader.label_rows, reader.chars_before, reader.link_chars_before, reader.statements, reader.by_tag,
        reader.media, dict(zip(rows.KEPT_ATTRIBUTES, columns)),
    )


cdef inline object _number(Py_ssize_t row):
    return NUMBERS[row] if 0 <= row < (1 << 14) else row
