# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled pass of :mod:`newscrawl.document.flatten`, over the C nodes of libxml2.

It reads the node pointer of an lxml element and links to nothing, so it depends on the layout of
two structures: the element's (Cython checks its size at import) and libxml2's node (the version is
checked below). It does not change the tree and keeps no pointer after a call.
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
    xmlNs,
)

from lxml import etree

from newscrawl.document import rows
from newscrawl.text import WIDE_WEIGHT as _WIDE_WEIGHT

cdef extern from "lxml.etree_api.h":
    int import_lxml__etree() except -1

    cdef class lxml.etree._Element [object LxmlElement, check_size error]:
        cdef object _doc
        cdef xmlNode* _c_node

BUILT_FOR = (LIBXML_VERSION // 10000, LIBXML_VERSION // 100 % 100)
if etree.LIBXML_VERSION[:2] != BUILT_FOR:
    raise ImportError(f"built for libxml2 {BUILT_FOR}, lxml has {etree.LIBXML_VERSION}")
import_lxml__etree()

COLUMNS = (
    "tag", "parent", "end", "depth", "text", "hidden", "space", "text_rows",
    "shown_rows", "number_rows", "chars_before", "link_chars_before", "statements", "by_tag",
    "attributes",
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
cdef object Statement = rows.Statement
cdef object hides = rows.DISPLAY_NONE.search

# read_attributes and _hides compare these names.
if rows.KEPT_ATTRIBUTES != ("class", "id", "itemtype", "role") or list(rows.HIDING_ATTRIBUTES) != [
    "hidden", "aria-hidden", "style"
]:
    raise ImportError("built for other attributes")
cdef Py_ssize_t MAX_SHORT_TEXT = rows.MAX_SHORT_TEXT
cdef double WIDE_WEIGHT = _WIDE_WEIGHT
cdef int LEADING = rows.LEADING
cdef int TRAILING = rows.TRAILING

# Row numbers as objects, shared by all pages: creating them costs as much as the walk. Larger numbers
# are created for each page, which bounds the memory.
cdef list NUMBERS = list(range(1 << 14))

cdef enum:
    NAMES = 256
    HIDES = 1
    HAS_METADATA = 2

# Nodes of a tree share one string per name: a tag is looked up by its address.
cdef struct Name:
    const_xmlChar* address
    PyObject* tag  # borrowed from the column
    PyObject* rows  # borrowed from by_tag
    PyObject* metadata  # borrowed from METADATA_TAGS; NULL for other tags
    int mark
    bint link
    bint figure
    bint image


cdef class Columns:
    """Columns of :class:`~newscrawl.document.rows.Rows` under construction."""

    cdef list tag, parent, end, depth, text, text_rows, shown_rows, number_rows
    cdef list chars_before, link_chars_before
    cdef bytearray hidden, space
    cdef dict classes, ids, item_types, roles
    cdef list statements
    cdef dict by_tag
    cdef Py_ssize_t row, open_elements
    cdef double chars, link_chars
    # the sums as objects: most rows share the object of the previous row
    cdef object chars_now, link_chars_now
    cdef Name[NAMES] names

    def __cinit__(self):
        self.tag, self.parent, self.end, self.depth, self.text = [], [], [], [], []
        self.text_rows, self.shown_rows, self.number_rows = [], [], []
        self.chars_before, self.link_chars_before = [], []
        self.hidden, self.space = bytearray(), bytearray()
        self.classes, self.ids, self.item_types, self.roles = {}, {}, {}, {}
        self.statements, self.by_tag = [], {}
        self.row = self.open_elements = 0
        self.chars = self.link_chars = 0
        self.chars_now = self.link_chars_now = 0.0
        memset(self.names, 0, sizeof(self.names))

    cdef int append(self, str text, Py_ssize_t parent, int mark, int space) except -1:
        """Append a row without its tag."""
        self.row += 1
        self.parent.append(_number(parent))
        self.end.append(_number(self.row))
        self.depth.append(_number(self.open_elements))
        self.text.append(text)
        self.hidden.append(mark)
        self.space.append(space)
        self.chars_before.append(self.chars_now)
        self.link_chars_before.append(self.link_chars_now)
        return 0

    cdef int append_text(
        self, str text, Py_ssize_t parent, int mark, int space, bint link
    ) except -1:
        cdef double length
        cdef object row = _number(self.row)
        self.text_rows.append(row)
        if len(text) <= MAX_SHORT_TEXT and _has_digit(text):
            self.number_rows.append(row)
        self.tag.append(TEXT)
        self.append(text, parent, mark, space)
        if not mark:
            self.shown_rows.append(row)
            length = len(text) if text.isascii() else _weighted_length(text)
            self.chars += length
            self.chars_now = self.chars
            if link:
                self.link_chars += length
                self.link_chars_now = self.link_chars
        return 0

    cdef int read_attributes(self, xmlNode* node, Name* name) except -1:
        """Keep attributes of *node*; return whether it is hidden or has metadata."""
        cdef xmlAttr* attribute = node.properties
        cdef const char* key
        cdef int found = 0
        if name.metadata is not NULL and not (<tuple> name.metadata)[0]:
            found = HAS_METADATA
        while attribute is not NULL:
            if attribute.ns is NULL:
                key = <const char*> attribute.name
                if key[0] == c"c" and strcmp(key, "class") == 0:
                    self.classes[_number(self.row)] = _value(attribute)
                elif key[0] == c"i":
                    found |= self.read_identity(key, attribute)
                elif key[0] == c"r" and strcmp(key, "role") == 0:
                    self.roles[_number(self.row)] = _value(attribute)
                elif _hides(key, attribute):
                    found |= HIDES
                if name.metadata is not NULL and _has_metadata(key, attribute, <tuple> name.metadata):
                    found |= HAS_METADATA
            attribute = attribute.next
        return found

    cdef int read_identity(self, const char* key, xmlAttr* attribute) except -1:
        if strcmp(key, "id") == 0:
            self.ids[_number(self.row)] = _value(attribute)
        elif strcmp(key, "itemtype") == 0:
            self.item_types[_number(self.row)] = _value(attribute)
        elif strcmp(key, "itemprop") == 0:
            return HAS_METADATA
        return 0

    cdef int append_statement(self, xmlNode* node, Name* name, Py_ssize_t row) except -1:
        cdef xmlAttr* attribute = node.properties
        cdef dict attributes = {}
        cdef str script = ""
        while attribute is not NULL:
            attributes[_qualified(attribute.name, attribute.ns)] = _value(attribute)
            attribute = attribute.next
        if strcmp(<const char*> node.name, "script") == 0 and node.children is not NULL:
            script = _joined(node.children)
        fields = (_number(row), <str> name.tag, attributes, script)
        self.statements.append(tuple.__new__(Statement, fields))
        return 0

    cdef Name* append_tag(self, xmlNode* node) except NULL:
        cdef Name* name = &self.names[(<size_t> node.name >> 3) % NAMES]
        cdef bint qualified = node.ns is not NULL and node.ns.href is not NULL
        cdef str tag
        if name.address == node.name and not qualified:
            self.tag.append(<str> name.tag)
            (<list> name.rows).append(_number(self.row))
            return name
        tag = _qualified(node.name, node.ns)
        self.tag.append(tag)
        if tag not in self.by_tag:
            self.by_tag[tag] = []
        rows_of_tag = <list> self.by_tag[tag]
        rows_of_tag.append(_number(self.row))
        name.rows = <PyObject*> rows_of_tag
        name.address = node.name
        if qualified:
            name.address = NULL
        name.tag = <PyObject*> tag
        name.metadata = <PyObject*> METADATA_TAGS[tag] if tag in METADATA_TAGS else NULL
        name.mark = HIDDEN_TAGS.get(tag, 0)
        name.link = tag == "a"
        name.figure = tag == "figure"
        name.image = tag == "img"
        return name


def flatten(_Element root not None, *, bint scripts=False):
    """See :func:`newscrawl.document.flatten.flatten`."""
    cdef Columns columns = Columns()
    cdef xmlNode* top = root._c_node
    cdef xmlNode* node = top
    cdef Name* name
    cdef Py_ssize_t me, open_row = -1  # the innermost open element
    cdef Py_ssize_t link_row = -1, figure_row = -1  # the outermost open ones
    cdef Py_ssize_t closed_row = -1  # the sibling before a text node; -1 for the first child
    cdef int own_mark, mark = 0, space = 0, found
    cdef str text
    while True:
        if node.type == XML_ELEMENT_NODE:
            me = columns.row
            name = columns.append_tag(node)
            found = columns.read_attributes(node, name)
            own_mark = name.mark
            if own_mark != SCRIPT:
                own_mark = mark or own_mark or (INVISIBLE if found & HIDES else 0)
            if found & HAS_METADATA or (name.image and figure_row >= 0):
                columns.append_statement(node, name, me)
            if link_row < 0 and name.link:
                link_row = me
            if figure_row < 0 and name.figure:
                figure_row = me
            columns.append("", open_row, own_mark, 0)
            if node.children is not NULL:
                node, open_row, mark, closed_row = node.children, me, own_mark, -1
                columns.open_elements += 1
                continue
            closed_row = me
            if link_row == me:
                link_row = -1
            if figure_row == me:
                figure_row = -1
        elif _is_text(node):
            if mark != SCRIPT or scripts:
                text = _stripped(node, &space)
                if text:
                    columns.append_text(text, open_row, mark, space, link_row >= 0)
                elif space and closed_row < 0:
                    columns.space[open_row] |= LEADING
                elif space:
                    columns.space[closed_row] |= TRAILING
            while node.next is not NULL and _is_text(node.next):
                node = node.next
        while node != top and node.next is NULL:
            node = node.parent
            columns.open_elements -= 1
            columns.end[open_row] = _number(columns.row)
            if link_row == open_row:
                link_row = -1
            if figure_row == open_row:
                figure_row = -1
            closed_row = open_row
            open_row = columns.parent[open_row]
            mark = columns.hidden[open_row] if open_row >= 0 else 0
        if node == top:
            break
        node = node.next
    columns.chars_before.append(columns.chars_now)
    columns.link_chars_before.append(columns.link_chars_now)
    return rows.Rows(
        columns.tag, columns.parent, columns.end, columns.depth, columns.text,
        columns.hidden, columns.space, columns.text_rows, columns.shown_rows, columns.number_rows,
        columns.chars_before, columns.link_chars_before, columns.statements, columns.by_tag,
        dict(zip(rows.KEPT_ATTRIBUTES, (columns.classes, columns.ids, columns.item_types, columns.roles))),
    )


cdef inline object _number(Py_ssize_t row):
    return NUMBERS[row] if 0 <= row < (1 << 14) else row


cdef inline bint _is_text(xmlNode* node) noexcept:
    return node.type == XML_TEXT_NODE or node.type == XML_CDATA_SECTION_NODE


cdef inline bint _is_space(unsigned char byte) noexcept:
    """Return whether *byte* is white space for ``str.strip`` and a whole character."""
    return byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31


cdef bint _has_digit(str text):
    cdef Py_UCS4 character
    for character in text:
        if u"0" <= character <= u"9" or (character > 127 and character.isdecimal()):
            return True
    return False


cdef double _weighted_length(str text):
    """Return :func:`newscrawl.text.weighted_length`, which has the same ranges."""
    cdef Py_UCS4 character
    cdef Py_ssize_t wide = 0
    for character in text:
        if character >= 0x1100 and _is_wide(character):
            wide += 1
    return len(text) + (WIDE_WEIGHT - 1) * wide


cdef bint _is_wide(Py_UCS4 c) noexcept:
    if c < 0x3040:
        return c <= 0x11ff
    if c < 0xa000:
        return c <= 0x30ff or 0x3130 <= c <= 0x318f or 0x31f0 <= c <= 0x31ff or (
            0x3400 <= c <= 0x4dbf or 0x4e00 <= c
        )
    if c < 0x10000:
        return 0xac00 <= c <= 0xd7ff or 0xa960 <= c <= 0xa97f or 0xf900 <= c <= 0xfaff or (
            0xff66 <= c <= 0xffdc
        )
    return 0x20000 <= c <= 0x3ffff


cdef str _decoded(const_xmlChar* data):
    return (<const char*> data).decode("utf-8")


cdef str _qualified(const_xmlChar* name, xmlNs* space):
    """Return a name in the notation of lxml: ``{namespace}name``."""
    if space is NULL or space.href is NULL:
        return _decoded(name)
    return f"{{{_decoded(space.href)}}}{_decoded(name)}"


cdef str _joined(xmlNode* node):
    """Return the text of *node* and of the text nodes that directly follow it."""
    parts = []
    while node is not NULL and _is_text(node):
        if node.content is not NULL:
            parts.append(<bytes> <const char*> node.content)
        node = node.next
    return b"".join(parts).decode("utf-8")


cdef str _stripped(xmlNode* node, int* space):
    """Return the stripped text from *node* on; set the bits of *space* for white space removed."""
    cdef const unsigned char* first = node.content
    cdef const unsigned char* last
    cdef str text
    space[0] = 0
    if node.next is not NULL and _is_text(node.next):
        return _trimmed(_joined(node), space)
    if first is NULL or not first[0]:
        return ""
    while _is_space(first[0]):
        first += 1
    if first != node.content:
        space[0] = LEADING
    if not first[0]:
        return ""
    last = first + strlen(<const char*> first) - 1
    if _is_space(last[0]):
        space[0] |= TRAILING
    while _is_space(last[0]):
        last -= 1
    text = (<const char*> first)[: last + 1 - first].decode("utf-8")
    return text if first[0] < 128 and last[0] < 128 else _trimmed(text, space)


cdef str _trimmed(str text, int* space):
    if text and text[0].isspace():
        space[0] |= LEADING
    if text and text[len(text) - 1].isspace():
        space[0] |= TRAILING
    return text.strip() if space[0] else text


cdef str _value(xmlAttr* attribute):
    cdef xmlNode* text = attribute.children
    if text is NULL:
        return ""
    if text.next is NULL and _is_text(text) and text.content is not NULL:
        return _decoded(text.content)
    return _joined(text)


cdef bint _hides(const char* key, xmlAttr* attribute) except -1:
    """Return whether an attribute hides its element."""
    if key[0] == c"h":
        return strcmp(key, "hidden") == 0
    if key[0] == c"a":
        return strcmp(key, "aria-hidden") == 0 and _value(attribute) == "true"
    if key[0] == c"s":
        return strcmp(key, "style") == 0 and hides(_value(attribute)) is not None
    return False


cdef bint _has_metadata(const char* key, xmlAttr* attribute, tuple wanted) except -1:
    """Return whether *wanted* of METADATA_TAGS matches the attribute."""
    cdef bytes name = wanted[0]
    cdef str value, part
    if strcmp(key, name) != 0:
        return False
    value = _value(attribute).lower()
    for part in wanted[1]:
        if part in value:
            return True
    return False
