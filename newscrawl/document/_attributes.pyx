# cython: language_level=3, boundscheck=False, wraparound=False
"""Attributes of a tag, found in the bytes of a page and decoded on demand."""

from libc.string cimport memchr

from newscrawl.document._html_tokens cimport Place, ends_name, is_letter, is_space, name_hash, same
from newscrawl.document._references cimport decode_text

from newscrawl.document import guard, html_tables, rows

cdef object hides = rows.HIDDEN_STYLE.search
cdef object BOOLEAN = html_tables.BOOLEAN

# Names as in pages -> in lower case, shared by all pages.
cdef enum:
    CACHED_NAMES = 256
cdef list CACHED = [None] * CACHED_NAMES

if MAX_ATTRIBUTES != guard.MAX_ATTRIBUTES:
    raise ImportError("built for another number of attributes")
if list(rows.HIDING_ATTRIBUTES) != ["hidden", "aria-hidden", "style"]:
    raise ImportError("built for other attributes")


cdef Place find_attributes(Attributes* found, Place place, Place limit) noexcept:
    """Set *found* to the attributes from *place* on; return the end of the tag, ">" or "/>".

    NULL: there are too many, or a name is too long.
    """
    cdef Attribute* attribute
    cdef const void* quote
    found.size = 0
    while True:
        while place < limit and is_space(place[0]):
            place += 1
        if place == limit or place[0] == b">":
            return place
        if place[0] == b"/":
            if place + 1 < limit and place[1] == b">":
                return place
            place += 1
            continue
        if found.size == MAX_ATTRIBUTES:
            return NULL
        attribute = &found.items[found.size]
        found.size += 1
        attribute.name = place
        attribute.value = NULL
        place += 1
        while place < limit and place[0] != b"=" and not ends_name(place[0]):
            place += 1
        attribute.name_size = place - attribute.name
        if attribute.name_size > MAX_NAME:
            return NULL
        while place < limit and is_space(place[0]):
            place += 1
        if place == limit or place[0] != b"=":
            continue
        place += 1
        while place < limit and is_space(place[0]):
            place += 1
        attribute.value = place
        if place < limit and (place[0] == b'"' or place[0] == b"'"):
            attribute.value = place + 1
            quote = memchr(place + 1, place[0], limit - place - 1)
            if quote is NULL:
                return limit
            place = <Place> quote
            attribute.size = place - attribute.value
            place += 1
        else:
            while place < limit and place[0] != b">" and not is_space(place[0]):
                place += 1
            attribute.size = place - attribute.value


cdef bint is_repeated(Attributes* found, int place) noexcept:
    """Return whether an earlier attribute has the same name."""
    cdef Attribute* attribute = &found.items[place]
    cdef Attribute* earlier
    cdef int index
    for index in range(place):
        earlier = &found.items[index]
        if earlier.name_size == attribute.name_size and same_name(
            earlier.name, attribute.name, attribute.name_size
        ):
            return True
    return False


cdef bint same_name(Place name, Place other, Py_ssize_t size) noexcept:
    """Return whether two names are equal in any case."""
    cdef Py_ssize_t place
    for place in range(size):
        if name[place] != other[place] and not (
            is_letter(name[place]) and (name[place] ^ other[place]) == 0x20
        ):
            return False
    return True


cdef dict all_attributes(Attributes* found):
    cdef dict attributes = {}
    cdef int place
    for place in range(found.size):
        attributes.setdefault(lower_name(&found.items[place]), value(&found.items[place]))
    return attributes


cdef str lower_name(Attribute* attribute):
    cdef Place name = attribute.name
    cdef Py_ssize_t size = attribute.name_size
    cdef unsigned int slot = name_hash(name, size) % CACHED_NAMES
    cdef bytes lower
    cdef object cached = CACHED[slot]
    if cached is not None:
        lower = (<tuple> cached)[0]
        if len(lower) == size and same(name, lower, size):
            return (<tuple> cached)[1]
    lower = name[:size].lower()
    CACHED[slot] = (lower, lower.decode())
    return (<tuple> CACHED[slot])[1]


cdef str value(Attribute* attribute):
    cdef str name
    if attribute.value is not NULL:
        return decode_text(attribute.value, attribute.size, True)
    name = lower_name(attribute)
    return name if name in BOOLEAN else ""


cdef bint hides_element(Attribute* attribute, Name name) except -1:
    """Return whether an attribute hides its element."""
    cdef Place key = attribute.name
    cdef Py_ssize_t size = attribute.name_size
    if size == 5 and same(key, b"style", 5):
        return _may_hide(attribute) and hides(value(attribute)) is not None
    if size == 6 and same(key, b"hidden", 6):
        return attribute.value is NULL or value(attribute).lower() != "until-found"
    return (
        size == 11 and not name.part and same(key, b"aria-hidden", 11) and value(attribute) == "true"
    )


cdef bint _may_hide(Attribute* attribute) noexcept:
    """Return whether a word that hides or a reference is in the value: the pattern is slow."""
    cdef Py_ssize_t place
    if attribute.value is NULL:
        return False
    for place in range(attribute.size - 3):
        if (attribute.value[place] | 0x20) == b"n" and same(attribute.value + place, b"none", 4):
            return True
        if (attribute.value[place] | 0x20) == b"v" and same(attribute.value + place, b"visi", 4):
            return True
    return attribute.size and memchr(attribute.value, b"&", attribute.size) is not NULL


cdef bint has_metadata(Attribute* attribute, Name name) except -1:
    """Return whether METADATA_TAGS has the attribute with its value for *name*."""
    cdef bytes wanted = name.metadata_attribute
    cdef str text, part
    if attribute.name_size != len(wanted) or not same(attribute.name, wanted, len(wanted)):
        return False
    text = value(attribute).lower()
    for part in name.metadata:
        if part in text:
            return True
    return False
