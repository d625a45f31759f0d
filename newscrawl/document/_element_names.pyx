# cython: language_level=3, boundscheck=False, wraparound=False
"""Names of the elements of a page, with their properties in libxml2 and in the rows."""

from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.object cimport PyObject
from libc.string cimport memset

from newscrawl.document._html_tokens cimport Place, same

from newscrawl.document import html_tables, rows

cdef dict HIDDEN_TAGS = rows.HIDDEN_TAGS
cdef dict METADATA_TAGS = {
    tag: (name.encode(), parts) for tag, (name, parts) in rows.METADATA_TAGS.items()
}
cdef object MEDIA_TAGS = rows.MEDIA_TAGS

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


cdef class ElementNames:
    """The distinct names of a page."""

    def __cinit__(self):
        self.indexes, self.tags = {}, []
        memset(self.cached, -1, sizeof(self.cached))

    def __dealloc__(self):
        PyMem_Free(self.known)

    cdef int index_of(self, Place name, Py_ssize_t size) except -1:
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
        if lower in self.indexes:
            index = self.indexes[lower]
        else:
            index = self.add(lower)
        self.cached[slot] = index
        return index

    cdef int add(self, bytes lower) except -1:
        """Add a name in lower case and return its index."""
        cdef int index = len(self.indexes)
        cdef str tag = lower.decode()
        cdef Name* name
        if index == self.capacity:
            self.capacity = max(64, 2 * self.capacity)
            name = <Name*> PyMem_Realloc(self.known, self.capacity * sizeof(Name))
            if name is NULL:
                raise MemoryError
            self.known = name
        self.indexes[lower] = index
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
        name.button = tag == "button"
        name.figure = tag == "figure"
        name.image = tag == "img"
        name.media = tag in MEDIA_TAGS
        return index


cdef bint closes(int started, int opened) noexcept:
    """Return whether the start of an element ends an open one; arguments: *number* of their names."""
    return CLOSES[opened][started]
