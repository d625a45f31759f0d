# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled pass of :mod:`newscrawl.document.document`: from the bytes of a page to its columns.

It builds no tree: most of the time of a parser goes into nodes and attributes that are not used. It has
the tokenizer of HTML5, https://html.spec.whatwg.org/multipage/parsing.html#tokenization, and the rules of
:mod:`newscrawl.document.html_tables` for the tree, whatever version of libxml2 lxml has.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.string cimport memchr, memcmp, memcpy

from newscrawl.document._attributes cimport (
    MAX_NAME, Attributes, all_attributes, find_attributes,
)
from newscrawl.document._element_names cimport (
    BODY, DATA, HEAD, HTML, OF_FRAMESET, OF_HEAD, PLAINTEXT, RCDATA, SCRIPT_DATA, ElementNames, Name,
    closes, element_names,
)
from newscrawl.document._html_tokens cimport (
    Place, after, after_space_reference, end_of_comment, end_of_content, ends_name, is_letter,
    is_space,
)
from newscrawl.document._row_columns cimport MAX_DEPTH, RowColumns

cdef enum:
    # progress of the page
    BEFORE_HEAD = 0
    AFTER_HEAD = 1
    AFTER_BODY = 2


cdef class Reader(RowColumns):
    """Tokens and tree construction; the open elements are rows."""

    cdef Place limit  # the end of the page
    cdef ElementNames names
    cdef PyObject* open_names[MAX_DEPTH]  # borrowed from names
    cdef int progress
    cdef Py_ssize_t discarded  # misplaced html, head and body elements
    cdef Py_ssize_t max_tags, max_texts

    def __cinit__(self):
        self.names = element_names()

    cdef inline Name innermost(self):
        return <Name> self.open_names[self.size - 1]

    cdef int open(self, Name name, Place content, Py_ssize_t size) except -1:
        """Open an element with the attributes *found*; *content* is its raw text."""
        self.open_names[self.size] = <PyObject*> name
        self.open_row(name, content, size)
        if name.role == HEAD and self.progress == BEFORE_HEAD:
            self.progress = AFTER_HEAD
        elif name.role == BODY:
            self.progress = AFTER_BODY
        return 0

    cdef int add_data(self, Place data, Place end) except -1:
        """Add text outside of raw elements; in html and head, it can open the body."""
        cdef Place start
        cdef int role
        while data < end:
            role = self.innermost().role if self.size else HTML
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
        cdef Name paragraph = self.names.name_of(b"p", 1)
        if self.size and self.innermost().role == HEAD:
            self.close_before(paragraph)
        return self.imply(paragraph)

    # the tree

    cdef int close_before(self, Name name) except -1:
        """Close the elements that the start of another one ends."""
        while name.number and self.size and closes(name.number, self.innermost().number):
            self.close_row()
        return 0

    cdef int imply(self, Name name) except -1:
        """Open html, head and body where the start of an element implies them."""
        cdef int role = name.role
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
                open_role = (<Name> self.open_names[place]).role
                if open_role == BODY or open_role == HEAD:
                    return 0
            self.open_implied(b"body")
        return 0

    cdef int open_implied(self, bytes name) except -1:
        self.found.size = 0
        self.attributes = NULL
        return self.open(self.names.name_of(name, len(name)), NULL, 0)

    cdef bint is_misplaced(self, Name name):
        """Return whether an html, head or body element is dropped."""
        cdef int role = name.role
        cdef Py_ssize_t place
        if role == HTML:
            return self.size > 0
        if role == HEAD:
            return self.size != 1
        if role == BODY:
            for place in range(self.size):
                if self.open_names[place] == <PyObject*> name:
                    return True
        return False

    cdef Place start_tag(self, Place place) except? NULL:
        """Read the start tag, and raw text, from its name at *place*; return the end.

        NULL without an exception: the page is left to libxml2.
        """
        cdef Place start = place, content = NULL
        cdef Py_ssize_t size = 0
        cdef Name name
        cdef bint misplaced, closed
        while place < self.limit and not ends_name(place[0]):
            place += 1
        if place - start > MAX_NAME or self.size >= MAX_DEPTH - 3:
            return NULL
        name = self.names.name_of(start, place - start)
        self.close_before(name)
        self.imply(name)
        misplaced = self.is_misplaced(name)
        if misplaced:
            self.discarded += 1
        self.attributes = place
        place = find_attributes(&self.found, place, self.limit)
        if place is NULL or place == self.limit:
            return place
        closed = place[0] == b"/"
        place += 2 if closed else 1
        if misplaced:
            if closed:
                self.close_row()
            return place
        if name.void:
            closed = True
        elif not closed and name.content != DATA:
            if name.content == PLAINTEXT:
                return NULL
            content = place
            place = end_of_content(
                place, self.limit, name.lower, name.content == SCRIPT_DATA
            )
            size = place - content
        self.open(name, content, size)
        if size:
            self.add_piece(content, size, name.content == RCDATA)
        if closed:
            self.close_row()
        return place

    cdef Place end_tag(self, Place place) except? NULL:
        """Read the end tag from its name at *place*; return the end, or NULL as above."""
        cdef Place start = place
        cdef Name name
        cdef Py_ssize_t depth
        while place < self.limit and not ends_name(place[0]):
            place += 1
        if place - start > MAX_NAME:
            return NULL
        name = self.names.name_of(start, place - start)
        place = find_attributes(&self.found, place, self.limit)
        if place is NULL or place == self.limit:
            return place
        place += 2 if place[0] == b"/" else 1
        if self.discarded and HTML <= name.role <= BODY:
            self.discarded -= 1
            return place
        depth = self.size - 1
        while depth >= 0 and self.open_names[depth] != <PyObject*> name:
            depth -= 1
        if depth < 0:
            return place
        depth = self.size - 1
        while self.open_names[depth] != <PyObject*> name:
            if (<Name> self.open_names[depth]).priority > name.priority:
                return place
            depth -= 1
        while self.size > depth:
            self.close_row()
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
        cdef Py_ssize_t tags = 0, texts = 0
        if self.limit - place > 2 and memcmp(place, b"\xef\xbb\xbf", 3) == 0:  # byte order mark
            place += 3
        while place < self.limit:
            if place[0] == b"<":
                tags += 1
                texts += tags > 1 and (place - 1)[0] != b">"
                if tags > self.max_tags or texts > self.max_texts:
                    return False
                place = self.read_markup(place)
                if place is NULL:
                    return False
            else:
                data = place
                tag = memchr(place, b"<", self.limit - place)
                place = self.limit if tag is NULL else <Place> tag
                self.add_data(data, place)
        while self.size:
            self.close_row()
        return self.row > 0


def read_rows(
    bytes utf8 not None, *, Py_ssize_t max_tags, Py_ssize_t max_texts, bint scripts=False,
    shown=frozenset(),
):
    """See :func:`newscrawl.document.document.read_rows`."""
    cdef Reader reader = Reader()
    reader.start, reader.limit = <Place> utf8, <Place> utf8 + len(utf8)
    reader.scripts, reader.shown = scripts, shown
    reader.max_tags, reader.max_texts = max_tags, max_texts
    return reader.to_rows() if reader.read(reader.start) else None


def read_attributes(bytes utf8 not None, Py_ssize_t place):
    """See :func:`newscrawl.document.document.read_attributes`."""
    cdef Attributes found
    find_attributes(&found, <Place> utf8 + place, <Place> utf8 + len(utf8))
    return all_attributes(&found)


def with_newlines(bytes utf8 not None):
    """See :func:`newscrawl.document.document.with_newlines`."""
    cdef const unsigned char* place = utf8
    cdef const unsigned char* end = place + len(utf8)
    cdef const unsigned char* line_end
    cdef bytes buffer = PyBytes_FromStringAndSize(NULL, len(utf8))
    cdef char* first = PyBytes_AS_STRING(buffer)
    cdef char* written = first
    while place < end:
        line_end = <const unsigned char*> memchr(place, b"\r", end - place)
        if line_end is NULL:
            line_end = end
        memcpy(written, place, line_end - place)
        written += line_end - place
        place = line_end + 1
        if line_end < end and (place == end or place[0] != b"\n"):
            written[0] = b"\n"
            written += 1
    return buffer[: written - first]
