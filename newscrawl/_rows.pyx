# cython: language_level=3, boundscheck=False, wraparound=False
"""The pass of :mod:`newscrawl.rows`, compiled: over the C nodes of libxml2.

It asks nothing of lxml but an element's node, and its public function that makes the element of a
node; it links to nothing. What it relies on is how two structures are laid out, the element's
(Cython compares its size when this module is imported) and libxml2's node (the version is compared,
below). Nothing is changed in the tree, and no pointer outlives a call.
"""

from cpython.object cimport PyObject
from libc.string cimport memset, strcmp, strlen
from lxml.includes.tree cimport (
    LIBXML_VERSION,
    XML_CDATA_SECTION_NODE,
    XML_ELEMENT_NODE,
    XML_TEXT_NODE,
    const_xmlChar,
    xmlAttr,
    xmlNode,
)

from lxml import etree

from newscrawl import rows
from newscrawl.text import weighted_length

cdef extern from "lxml.etree_api.h":
    int import_lxml__etree() except -1

    cdef class lxml.etree._Document [object LxmlDocument, check_size error]:
        pass

    cdef class lxml.etree._Element [object LxmlElement, check_size error]:
        cdef _Document _doc
        cdef xmlNode* _c_node

    _Element elementFactory(_Document document, xmlNode* node)

BUILT_FOR = (LIBXML_VERSION // 10000, LIBXML_VERSION // 100 % 100)
if etree.LIBXML_VERSION[:2] != BUILT_FOR:
    raise ImportError(f"built for libxml2 {BUILT_FOR}, lxml has {etree.LIBXML_VERSION}")
import_lxml__etree()

COLUMNS = (
    "tag", "parent", "end", "depth", "text", "hidden", "text_rows",
    "chars_before", "link_chars_before", "statements",
)
if tuple(rows.Rows.__dataclass_fields__) != COLUMNS:
    raise ImportError(f"built for other columns: {COLUMNS}")

cdef str TEXT = rows.TEXT
cdef int SCRIPT = rows.SCRIPT
cdef int INVISIBLE = rows.INVISIBLE
cdef dict MARKS = rows.MARKS
cdef dict STATING = rows.STATING
cdef object hides = rows.DISPLAY_NONE.search

# The numbers of rows as objects, shared by all pages: making and freeing them costs as much as the
# walk. Larger ones are made anew, so that one large page does not bind memory.
cdef list NUMBERS = list(range(1 << 14))

cdef enum:
    NAMES = 256

# The nodes of a tree share their names: one string each, found by its address.
cdef struct Name:
    const_xmlChar* address
    PyObject* tag  # borrowed from the column
    PyObject* stating  # borrowed from STATING; NULL where the tag says nothing
    int mark
    bint link


cdef class Columns:
    """The columns of :class:`~newscrawl.rows.Rows` while they grow."""

    cdef list tag, parent, end, depth, text, text_rows, chars_before, link_chars_before
    cdef bytearray hidden
    cdef Py_ssize_t row, open_elements
    cdef double chars, link_chars
    # the sums as objects: most rows share theirs with the row before
    cdef object chars_now, link_chars_now
    cdef Name[NAMES] names

    def __cinit__(self):
        self.tag, self.parent, self.end, self.depth, self.text = [], [], [], [], []
        self.text_rows, self.chars_before, self.link_chars_before = [], [], []
        self.hidden = bytearray()
        self.row = self.open_elements = 0
        self.chars = self.link_chars = 0
        self.chars_now = self.link_chars_now = 0.0
        memset(self.names, 0, sizeof(self.names))

    cdef int append(self, str text, Py_ssize_t parent, int mark) except -1:
        """Append a row, all but its tag."""
        self.row += 1
        self.parent.append(_number(parent))
        self.end.append(_number(self.row))
        self.depth.append(_number(self.open_elements))
        self.text.append(text)
        self.hidden.append(mark)
        self.chars_before.append(self.chars_now)
        self.link_chars_before.append(self.link_chars_now)
        return 0

    cdef int append_text(self, str text, Py_ssize_t parent, int mark, bint link) except -1:
        cdef double length
        self.text_rows.append(_number(self.row))
        self.tag.append(TEXT)
        self.append(text, parent, mark)
        if not mark:
            length = len(text) if text.isascii() else weighted_length(text)
            self.chars += length
            self.chars_now = self.chars
            if link:
                self.link_chars += length
                self.link_chars_now = self.link_chars
        return 0

    cdef Name* append_tag(self, xmlNode* node) except NULL:
        cdef Name* name = &self.names[(<size_t> node.name >> 3) % NAMES]
        cdef bint qualified = node.ns is not NULL and node.ns.href is not NULL
        cdef str tag
        if name.address == node.name and not qualified:
            self.tag.append(<str> name.tag)
            return name
        tag = _decoded(node.name)
        if qualified:
            tag = f"{{{_decoded(node.ns.href)}}}{tag}"
        self.tag.append(tag)
        name.address = node.name
        if qualified:
            name.address = NULL
        name.tag = <PyObject*> tag
        name.stating = <PyObject*> STATING[tag] if tag in STATING else NULL
        name.mark = MARKS.get(tag, 0)
        name.link = tag == "a"
        return name


def flatten(_Element root not None, *, bint scripts=False):
    """Return the rows of the tree under *root*: see :func:`newscrawl.rows.flatten`."""
    cdef Columns columns = Columns()
    cdef xmlNode* top = root._c_node
    cdef xmlNode* node = top
    cdef Name* name
    cdef Py_ssize_t me, open_row = -1, link_row = -1  # the innermost open element, the open link
    cdef int own_mark, mark = 0
    cdef str text
    cdef list statements = []
    while True:
        if node.type == XML_ELEMENT_NODE:
            me = columns.row
            name = columns.append_tag(node)
            own_mark = name.mark
            if own_mark != SCRIPT:
                own_mark = mark or own_mark or (INVISIBLE if _is_invisible(node) else 0)
            if _states(node, name):
                statements.append(elementFactory(root._doc, node))
            if link_row < 0 and name.link:
                link_row = me
            columns.append("", open_row, own_mark)
            if node.children is not NULL:
                node, open_row, mark = node.children, me, own_mark
                columns.open_elements += 1
                continue
            if link_row == me:
                link_row = -1
        elif _is_text(node):
            if mark != SCRIPT or scripts:
                text = _stripped(node)
                if text:
                    columns.append_text(text, open_row, mark, link_row >= 0)
            while node.next is not NULL and _is_text(node.next):
                node = node.next
        while node != top and node.next is NULL:
            node = node.parent
            columns.open_elements -= 1
            columns.end[open_row] = _number(columns.row)
            if link_row == open_row:
                link_row = -1
            open_row = columns.parent[open_row]
            mark = columns.hidden[open_row] if open_row >= 0 else 0
        if node == top:
            break
        node = node.next
    columns.chars_before.append(columns.chars_now)
    columns.link_chars_before.append(columns.link_chars_now)
    return rows.Rows(
        columns.tag,
        columns.parent,
        columns.end,
        columns.depth,
        columns.text,
        columns.hidden,
        columns.text_rows,
        columns.chars_before,
        columns.link_chars_before,
        statements,
    )


cdef inline object _number(Py_ssize_t row):
    return NUMBERS[row] if 0 <= row < (1 << 14) else row


cdef inline bint _is_text(xmlNode* node) noexcept:
    return node.type == XML_TEXT_NODE or node.type == XML_CDATA_SECTION_NODE


cdef inline bint _is_space(unsigned char byte) noexcept:
    """Return whether *byte* is white space for ``str.strip`` and a whole character."""
    return byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31


cdef str _decoded(const_xmlChar* data):
    return (<const char*> data).decode("utf-8")


cdef str _joined(xmlNode* node):
    """Return the text of *node* and of the text nodes that follow it."""
    parts = []
    while node is not NULL and _is_text(node):
        if node.content is not NULL:
            parts.append(<bytes> <const char*> node.content)
        node = node.next
    return b"".join(parts).decode("utf-8")


cdef str _stripped(xmlNode* node):
    """Return the text from *node* on, without white space at its ends."""
    cdef const unsigned char* first = node.content
    cdef const unsigned char* last
    cdef str text
    if node.next is not NULL and _is_text(node.next):
        return _joined(node).strip()
    if first is NULL:
        return ""
    while _is_space(first[0]):
        first += 1
    if not first[0]:
        return ""
    last = first + strlen(<const char*> first) - 1
    while _is_space(last[0]):
        last -= 1
    text = (<const char*> first)[: last + 1 - first].decode("utf-8")
    return text if first[0] < 128 and last[0] < 128 else text.strip()


cdef bint _is_invisible(xmlNode* node) except -1:
    """Return whether an attribute of its own hides *node*."""
    cdef xmlAttr* attribute = node.properties
    while attribute is not NULL:
        if attribute.ns is NULL and _hides(attribute):
            return True
        attribute = attribute.next
    return False


cdef bint _hides(xmlAttr* attribute) except -1:
    cdef const char* name = <const char*> attribute.name
    if name[0] == c"h":
        return strcmp(name, "hidden") == 0
    if name[0] == c"a":
        return strcmp(name, "aria-hidden") == 0 and _joined(attribute.children) == "true"
    if name[0] == c"s":
        return strcmp(name, "style") == 0 and hides(_joined(attribute.children)) is not None
    return False


cdef bint _states(xmlNode* node, Name* name) except -1:
    """Return whether *node* states something about the page."""
    cdef xmlAttr* attribute = node.properties
    cdef str wanted, part
    if name.stating is not NULL:
        wanted, part = <tuple> name.stating
        if not wanted:
            return True
    while attribute is not NULL:
        if attribute.ns is NULL:
            if attribute.name[0] == c"i" and strcmp(<const char*> attribute.name, "itemprop") == 0:
                return True
            if name.stating is not NULL and _decoded(attribute.name) == wanted:
                if part in _joined(attribute.children).lower():
                    return True
        attribute = attribute.next
    return False
