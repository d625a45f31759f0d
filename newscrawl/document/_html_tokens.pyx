# cython: language_level=3, boundscheck=False, wraparound=False
"""Comments, raw text and white space in the bytes of a page.

https://html.spec.whatwg.org/multipage/parsing.html#tokenization
"""

from libc.string cimport memchr

from newscrawl.document._references cimport decode_text


cdef Place after(Place place, Place limit, unsigned char byte) noexcept:
    """Return the place after the next *byte*."""
    cdef const void* found = memchr(place, byte, limit - place)
    return limit if found is NULL else <Place> found + 1


cdef Place end_of_comment(Place place, Place limit) noexcept:
    cdef const void* dash
    if place < limit and place[0] == b">":
        return place + 1
    if limit - place > 1 and place[0] == b"-" and place[1] == b">":
        return place + 2
    while place < limit:
        dash = memchr(place, b"-", limit - place)
        if dash is NULL:
            return limit
        place = <Place> dash
        if limit - place > 2 and place[1] == b"-":
            if place[2] == b">":
                return place + 3
            if limit - place > 3 and place[2] == b"!" and place[3] == b">":
                return place + 4
        place += 1
    return limit


cdef Place end_of_content(Place place, Place limit, bytes lower, bint is_script) noexcept:
    """Return the end tag of the raw element with the name *lower*, or the limit."""
    cdef Py_ssize_t size = len(lower)
    cdef bint in_comment = False, in_script = False  # "script data escaped", "double escaped"
    cdef bint is_end
    cdef Place after
    while place < limit:
        if place[0] == b"-" and in_comment:
            if limit - place > 2 and place[1] == b"-" and place[2] == b">":
                in_comment = in_script = False
        elif place[0] == b"<":
            if is_script and not in_comment and limit - place > 1 and place[1] == b"!":
                in_comment = limit - place > 3 and place[2] == b"-" and place[3] == b"-"
            else:
                is_end = limit - place > 1 and place[1] == b"/"
                after = place + 1 + is_end
                if (is_end or (in_comment and not in_script)) and (
                    limit - after > size and same(after, lower, size) and ends_name(after[size])
                ):
                    if not is_end:
                        in_script = True
                    elif in_script:
                        in_script = False
                    else:
                        return place
        place += 1
        if not in_comment:
            place = <Place> memchr(place, b"<", limit - place) if place < limit else limit
            if place is NULL:
                return limit
    return limit


cdef Place after_space_reference(Place place, Place limit) noexcept:
    """Return the end of the reference to white space at *place*; without one, *place*."""
    cdef Place semicolon
    cdef str text
    if place[0] != b"&" or limit - place < 3:
        return place
    semicolon = place + 1
    while semicolon < limit and semicolon - place < 16 and (
        is_letter(semicolon[0]) or b"0" <= semicolon[0] <= b"9" or semicolon[0] == b"#"
    ):
        semicolon += 1
    if semicolon < limit and semicolon[0] == b";":
        semicolon += 1
    text = decode_text(place, semicolon - place, False)
    return semicolon if len(text) == 1 and text in " \t\n\f\r" else place
