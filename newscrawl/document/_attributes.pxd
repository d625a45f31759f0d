from newscrawl.document._element_names cimport Name
from newscrawl.document._html_tokens cimport Place

cdef enum:
    MAX_ATTRIBUTES = 256
    MAX_NAME = 99  # bytes; libxml2 cuts off longer ones


cdef struct Attribute:
    Place name
    Py_ssize_t name_size
    Place value  # NULL: none
    Py_ssize_t size


cdef struct Attributes:
    Attribute items[MAX_ATTRIBUTES]
    int size


cdef Place find_attributes(Attributes* found, Place place, Place limit) noexcept
cdef bint is_repeated(Attributes* found, int place) noexcept
cdef dict all_attributes(Attributes* found)
cdef str value(Attribute* attribute)
cdef bint hides_element(Attribute* attribute, Name name) except -1
cdef bint has_metadata(Attribute* attribute, Name name) except -1
