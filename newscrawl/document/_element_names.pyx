# cython: language_level=3, boundscheck=False, wraparound=False
"""Names of the elements of a page, with their properties in libxml2 and in the rows."""

from cpython.object cimport PyObject
from libc.string cimport memset

from newscrawl.document._html_tokens cimport Place, name_hash, same

from newscrawl.document import html_tables, rows

cdef dict HIDDEN_TAGS = rows.HIDDEN_TAGS
cdef dict METADATA_TAGS = {
    tag: (name.encode(), parts) for tag, (name, parts) in rows.METADATA_TAGS.items()
}

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


cdef class Name:
    def __cinit__(self, bytes lower):
        cdef str tag = lower.decode()
        self.lower, self.tag = lower, tag
        if tag in METADATA_TAGS:
            self.metadata_attribute, self.metadata = METADATA_TAGS[tag]
        self.mark = HIDDEN_TAGS.get(tag, 0)
        self.content = CONTENTS.get(tag, DATA)
        self.role = ROLES.get(tag, OTHER)
        self.number = NUMBER_OF.get(tag, 0)
        self.priority = PRIORITIES.get(tag, 100)
        self.void = tag in VOID
        self.link = tag == "a"
        self.part = tag in rows.VISIBLE_TAGS
        self.button = tag == "button"
        self.figure = tag == "figure"
        self.image = tag == "img"


cdef class ElementNames:
    """Names of elements of pages."""

    def __cinit__(self):
        self.known = {}

    cdef Name name_of(self, Place name, Py_ssize_t size):
        cdef unsigned int slot = name_hash(name, size) % CACHED_NAMES
        cdef PyObject* cached = self.cached[slot]
        cdef bytes lower
        if cached is not NULL:
            lower = (<Name> cached).lower
            if len(lower) == size and same(name, lower, size):
                return <Name> cached
        lower = name[:size].lower()
        found = self.known.get(lower)
        if found is None:
            found = self.known[lower] = Name(lower)
        self.cached[slot] = <PyObject*> found
        return found


cdef ElementNames SHARED = ElementNames()


cdef ElementNames element_names():
    """Return names that are shared by pages; pages with many others do not add to them for ever."""
    global SHARED
    if len(SHARED.known) > CACHED_NAMES:
        SHARED = ElementNames()
    return SHARED


cdef bint closes(int started, int opened) noexcept:
    """Return whether the start of an element ends an open one; arguments: *number* of their names."""
    return CLOSES[opened][started]
