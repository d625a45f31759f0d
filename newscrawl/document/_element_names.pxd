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


cdef class Name:
    """The name of an element, with its properties."""

    cdef bytes lower
    cdef str tag
    # rows of the elements in the page with the number *page*
    cdef list rows
    cdef Py_ssize_t page
    # of METADATA_TAGS
    cdef tuple metadata  # substrings of the value; None for other tags
    cdef bytes metadata_attribute
    cdef int mark
    cdef int content
    cdef int role
    cdef int number  # for closes(); 0 if it closes and is closed by none
    cdef int priority
    cdef bint void
    cdef bint link
    cdef bint part  # of a sentence: VISIBLE_TAGS
    cdef bint button
    cdef bint figure
    cdef bint image


cdef class ElementNames:
    cdef dict known  # in lower case
    cdef PyObject* cached[CACHED_NAMES]  # borrowed from known

    cdef Name name_of(self, Place name, Py_ssize_t size)


cdef ElementNames element_names()
cdef bint closes(int started, int opened) noexcept
