from cpython.object cimport PyObject

from newscrawl.document._html_tokens cimport Place

cdef enum:
    CACHED_NAMES = 512
    # content of an element
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


cdef struct Name:
    PyObject* bytes_  # borrowed from indexes
    PyObject* tag  # borrowed from tags
    PyObject* rows  # borrowed from by_tag; NULL before the first row
    PyObject* metadata  # borrowed from METADATA_TAGS; NULL for other tags
    int mark
    int content
    int role
    int number  # for closes(); 0 if it closes and is closed by none
    int priority
    bint void
    bint link
    bint button
    bint figure
    bint image
    bint media


cdef class ElementNames:
    cdef dict indexes  # name in lower case -> index in known
    cdef list tags
    cdef Name* known
    cdef Py_ssize_t capacity
    cdef int cached[CACHED_NAMES]

    cdef int index_of(self, Place name, Py_ssize_t size) except -1
    cdef int add(self, bytes lower) except -1


cdef bint closes(int started, int opened) noexcept
