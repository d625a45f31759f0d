# cython: language_level=3, boundscheck=False, wraparound=False
"""The loops over every character of a sheet, compiled.

The doubles of :func:`newscrawl.css.syntax.tokens.separated`, :func:`newscrawl.css.sheets.scan.take_rules` and
:func:`newscrawl.css.selectors.rule_keys.file_rules`, to which whatever is unusual goes back. They read the
characters of a string in place. CPython puts a NUL behind the last one, where every loop stops:
none goes on over a NUL without comparing its place with the length, and none looks further ahead
than one character behind one that is no NUL.
"""

from cpython.unicode cimport PyUnicode_DATA, PyUnicode_FromKindAndData, PyUnicode_KIND
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.string cimport memcpy, memset

from newscrawl.css.selectors import rule_keys as keys
from newscrawl.css.sheets import scan
from newscrawl.css.syntax import tokens
from newscrawl.css.syntax.declarations import START_PATTERN
from newscrawl.css.selectors.element_tree import ascii_lower

cdef extern from "Python.h":
    bint Py_UNICODE_ISALNUM(Py_UCS4 character)

ctypedef fused Char:
    uint8_t
    uint16_t
    uint32_t

cdef str END = keys.END
cdef object starts_kept = START_PATTERN.match
cdef object enters = scan.enters, any_list = scan.any_list
cdef Py_ssize_t DEEPEST = scan.DEEPEST
cdef object cached_name = keys.cached_name, never_matches = keys.never_matches

# What a character is; those that are not ASCII are nothing of it.
cdef enum:
    SPACE = 1
    NAME = 2  # in ASCII: [-\w]
    MASKED = 4  # to be looked at when masking, at the top of a sheet
    MASKED_INSIDE = 8  # the same, in parentheses or brackets
    UNPLAIN = 16  # of a prelude that may not be cut at each comma
    KEPT = 32  # may be the first of a declaration that is kept

    CLOSERS = 256  # parentheses and brackets in one another
    EVENTS = 1 << 18  # tokens.MOST_MASKS, or less

cdef uint8_t[256] CLASS

assert EVENTS <= tokens.MOST_MASKS


def _classify():
    memset(CLASS, 0, sizeof(CLASS))
    for kind, characters in (
        (SPACE, tokens.SPACE),
        (NAME, "-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        (MASKED, "\0\1\2\3\4\5\6{}\"'\\/(["),
        (MASKED_INSIDE, "\0\1\2\3\4\5\6{};@\"'\\/()[]"),
        (UNPLAIN, "\1\2\3\4\5\6(\"'[\\&"),
        (KEPT, "fFcCdDvVaA\\-"),
    ):
        for character in characters:
            CLASS[<Py_ssize_t> ord(character)] |= kind


_classify()


cdef inline bint _is(Py_UCS4 character, int kind) noexcept:
    return character < 128 and CLASS[character] & kind


# ------------------------------------------------------------------------------------- masking


def separated(str text not None):
    """Return *text* masked and separated: see :func:`newscrawl.css.syntax.tokens.separated`."""
    cdef int kind = PyUnicode_KIND(text)
    cdef Py_ssize_t length = len(text)
    cdef void* out = PyMem_Malloc((2 * length + CLOSERS + 8) * kind)
    cdef Py_ssize_t written
    if out is NULL:
        raise MemoryError
    try:
        if kind == 1:
            written = _mask(<uint8_t*> PyUnicode_DATA(text), length, <uint8_t*> out)
        elif kind == 2:
            written = _mask(<uint16_t*> PyUnicode_DATA(text), length, <uint16_t*> out)
        else:
            written = _mask(<uint32_t*> PyUnicode_DATA(text), length, <uint32_t*> out)
        if written >= 0:
            return PyUnicode_FromKindAndData(kind, out, written)
    finally:
        PyMem_Free(out)
    return tokens.separated(text)


cdef Py_ssize_t _mask(Char* text, Py_ssize_t length, Char* out) noexcept:
    """Write the masked and separated text to *out*, return its length.

    -1 where there are characters that are masks, a backslash at the end, or too much of the rest.
    No character makes more than two, but for those that close what is open at the end.
    """
    cdef uint8_t[CLOSERS] closers
    cdef int depth = 0, events = 0
    cdef Py_ssize_t place = 0, start, end, written = 0, more
    cdef Py_UCS4 character
    while True:
        start = place
        if depth:
            while not _is(text[place], MASKED_INSIDE):
                place += 1
        else:
            while not _is(text[place], MASKED):
                place += 1
        memcpy(out + written, text + start, (place - start) * sizeof(Char))
        written += place - start
        character = text[place]
        if character == 0:
            if place >= length:
                break
            out[written] = 0
            written += 1
            place += 1
            continue
        if not depth and (character == c"{" or character == c"}"):
            out[written] = c";"
            out[written + 1] = <Char> character
            written += 2
            place += 1
            continue
        if character == c"/" and text[place + 1] != c"*":
            out[written] = c"/"
            written += 1
            place += 1
            continue
        events += 1
        if events >= EVENTS - 8 or character <= 6:
            return -1
        if character == c"/":
            end = place + 2
            while end < length and not (text[end] == c"*" and text[end + 1] == c"/"):
                end += 1
            if end >= length:
                place = length
                continue
            end += 2
            if place and _in_name(text[place - 1]) and _in_name(text[end]):
                out[written] = c" "
                written += 1
            place = end
            continue
        if character == c'"' or character == c"'":
            end = _end_of_string(text, place, length)
            if end < 0:
                return -1
            if end < length and text[end] != character:
                out[written] = 5
                written += 1
                place = end
                continue
            more = _copy_masked(text + place, end - place, out + written)
            if more < 0:
                return -1
            written += more
            out[written] = <Char> character
            written += 1
            place = end + 1 if end < length else length
            continue
        if character == c"\\":
            if place + 1 >= length:
                return -1
            more = _copy_masked(text + place, 2, out + written)
            if more < 0:
                return -1
            written += more
            place += 2
            continue
        if character == c"(" and _is_url(text, place):
            end = _end_of_url(text, place, length)
            if end < 0:
                return -1
            if _is_good_url(text, place, end):
                more = _copy_masked(text + place, end - place, out + written)
                if more < 0:
                    return -1
                written += more
            else:
                out[written] = c"("
                out[written + 1] = 5
                written += 2
            out[written] = c")"
            written += 1
            place = end + 1 if end < length else length
            continue
        if character == c"(" or character == c"[" or character == c"{":
            if depth == CLOSERS:
                return -1
            closers[depth] = (
                c")" if character == c"(" else c"]" if character == c"[" else c"}"
            )
            depth += 1
        elif depth and character == closers[depth - 1]:
            depth -= 1
        out[written] = <Char> _mask_of(character)
        written += 1
        place += 1
    while depth:
        depth -= 1
        out[written] = <Char> _mask_of(closers[depth])
        written += 1
    return written


cdef inline bint _in_name(Py_UCS4 character) noexcept:
    return _is(character, NAME) or (character >= 128 and Py_UNICODE_ISALNUM(character))


cdef inline Py_UCS4 _mask_of(Py_UCS4 character) noexcept:
    if character == c"{":
        return 1
    if character == c"}":
        return 2
    if character == c";":
        return 3
    return 4 if character == c"@" else character


cdef Py_ssize_t _copy_masked(Char* text, Py_ssize_t length, Char* out) noexcept:
    """Copy *length* characters, masked; return how many, -1 where one of them is a mask."""
    cdef Py_ssize_t place
    for place in range(length):
        if 0 < text[place] <= 6:
            return -1
        out[place] = <Char> _mask_of(text[place])
    return length


cdef Py_ssize_t _end_of_string(Char* text, Py_ssize_t start, Py_ssize_t length) noexcept:
    """Return the place of the quote, or line's end, that ends a string; *length* for none.

    -1 where there is a backslash at the end.
    """
    cdef Char quote = text[start]
    cdef Py_ssize_t place = start + 1
    while place < length:
        if text[place] == quote or text[place] == 10 or text[place] == 13 or text[place] == 12:
            return place
        if text[place] != c"\\":
            place += 1
        elif place + 1 >= length:
            return -1
        elif text[place + 1] == 13 and text[place + 2] == 10:
            place += 3
        else:
            place += 2
    return length


cdef bint _is_url(Char* text, Py_ssize_t place) noexcept:
    """Return whether the parenthesis at *place* begins a URL without quotes."""
    if place < 3 or text[place - 3] | 32 != c"u" or text[place - 2] | 32 != c"r":
        return False
    if text[place - 1] | 32 != c"l":
        return False
    place += 1
    while _is(text[place], SPACE):
        place += 1
    return text[place] != c'"' and text[place] != c"'"


cdef Py_ssize_t _end_of_url(Char* text, Py_ssize_t start, Py_ssize_t length) noexcept:
    """Return the place of the parenthesis that ends a URL, *length* for none.

    -1 where there is a backslash at the end.
    """
    cdef Py_ssize_t place = start + 1
    while place < length and text[place] != c")":
        if text[place] == c"\\":
            place += 1
            if place >= length:
                return -1
        place += 1
    return place


cdef bint _is_good_url(Char* text, Py_ssize_t start, Py_ssize_t end) noexcept:
    """Return whether there is nothing between two parentheses that makes a URL a bad one."""
    cdef Py_ssize_t place = start + 1
    while _is(text[place], SPACE):
        place += 1
    while place < end and not _is(text[place], SPACE):
        if text[place] == c"\\":
            place += 1
        elif text[place] == c'"' or text[place] == c"'" or text[place] == c"(":
            return False
        place += 1
    while _is(text[place], SPACE):
        place += 1
    return place >= end


# --------------------------------------------------------------------------------------- rules


def take_rules(
    str text not None, Py_ssize_t position, rules, list frames not None, *, bint keep_all
):
    """Add rules to *rules*: see :func:`newscrawl.css.sheets.scan.take_rules`."""
    cdef Scan found = Scan(text, rules, frames, keep_all)
    cdef int kind = PyUnicode_KIND(text)
    if position < 0:
        raise ValueError("a negative position")
    if kind == 1:
        position = found.take(<uint8_t*> PyUnicode_DATA(text), position)
    elif kind == 2:
        position = found.take(<uint16_t*> PyUnicode_DATA(text), position)
    else:
        position = found.take(<uint32_t*> PyUnicode_DATA(text), position)
    return scan.Taken(position, found.errors, found.at_blocks)


cdef class Scan:
    """One scan."""

    cdef str text
    cdef list selectors, blocks, layers, frames
    cdef object layer
    cdef bint top, keep_all
    cdef Py_ssize_t length, errors, at_blocks

    def __cinit__(self, str text, rules, list frames, bint keep_all):
        self.text = text
        self.selectors, self.blocks, self.layers = rules
        self.frames = frames
        self.keep_all = keep_all
        self.length = len(text)
        self.errors = self.at_blocks = 0
        self.see_frames()

    cdef int see_frames(self) except -1:
        """Note what holds in the innermost block."""
        self.top = len(self.frames) == 1
        self.layer = self.frames[len(self.frames) - 1].layer
        return 0

    cdef Py_ssize_t take(self, Char* text, Py_ssize_t place) except -1:
        """Take rules up to the place that is returned."""
        cdef Py_ssize_t length = self.length, start, end, body, after
        cdef bint unplain
        while place < length:
            place = start = _after_gap(text, place, self.top)
            if text[start] == c"@":
                after = self.at_rule(text, start)
                if after < 0:
                    return start
                place = after
                continue
            unplain = False
            while place < length and text[place] != c";":
                unplain |= _is(text[place], UNPLAIN)
                place += 1
            if place >= length or text[place + 1] != c"{":
                place = _next_brace(text, start, length)
                if place >= length or text[place] == c"{" or self.top:
                    return start
                self.frames.pop()
                self.see_frames()
                place += 1
                continue
            end, body = place, place + 2
            place = body
            if not self.keep_all:
                place = self.dull_end(text, body)
                if place < length and text[place] == c"}":
                    place += 1
                    continue
            place = _next_brace(text, place, length)
            if place < length and text[place] == c"{":
                return start
            self.add(text, start, end, body, place, unplain)
            if place < length:
                place += 1
        return length

    cdef int add(
        self,
        Char* text,
        Py_ssize_t start,
        Py_ssize_t end,
        Py_ssize_t body,
        Py_ssize_t body_end,
        bint unplain,
    ) except -1:
        """Add the rule of a prelude from *start* to *end*, unless it is wrong."""
        cdef str selectors = None
        if not unplain:
            selectors = self.plain_list(text, start, end)
        else:
            selectors = any_list(self.text[start:end])
        if not selectors:
            self.errors += 1
            return 0
        self.selectors.append(selectors)
        self.blocks.append(self.text[body:body_end])
        self.layers.append(self.layer)
        return 0

    cdef Py_ssize_t at_rule(self, Char* text, Py_ssize_t start) except -2:
        """Return where to go on after the prelude or the block of an at-rule; -1 for not here."""
        cdef Py_ssize_t end = _next(text, start, self.length, c";")
        if end >= self.length or text[end + 1] != c"{":
            return -1
        entered = enters(self.text[start + 1 : end])
        if entered is None or (entered and len(self.frames) >= DEEPEST):
            return -1
        self.at_blocks += 1
        if not entered:
            return _block_end(text, end + 2, self.length)
        self.frames.append(self.frames[len(self.frames) - 1])
        self.see_frames()
        return end + 2

    cdef Py_ssize_t dull_end(self, Char* text, Py_ssize_t place) except -1:
        """Return where the declarations from *place* on are of interest, or end."""
        cdef Py_ssize_t length = self.length, end
        while place < length and text[place] != c"}" and not self.is_kept(text, place):
            end = _next(text, place, length, c";")
            if end >= length or text[end + 1] == c"{":
                break
            place = end + 1
        return place

    cdef bint is_kept(self, Char* text, Py_ssize_t place) except -1:
        """Return whether what may be a declaration that is kept starts at *place*."""
        cdef Py_ssize_t start, end
        cdef bint custom
        while _is(text[place], SPACE):
            place += 1
        start = end = place
        if not _is(text[start], KEPT):
            return False
        while _is(text[end], NAME):
            end += 1
        custom = text[start] == c"-" and text[start + 1] == c"-"
        if custom:
            while (
                end < self.length
                and not _is(text[end], SPACE)
                and text[end] != c":"
                and text[end] != c";"
                and text[end] != c"{"
                and text[end] != c"}"
                and text[end] != c"\\"
            ):
                end += 1
        if text[end] == c"\\" or (text[end] >= 128 and not custom):
            return starts_kept(self.text, start) is not None
        place = end
        while _is(text[place], SPACE):
            place += 1
        if text[place] != c":":
            return False
        return custom or _is_kept_name(text + start, end - start)

    cdef str plain_list(self, Char* text, Py_ssize_t start, Py_ssize_t end):
        """Return the selectors between two places: see :func:`newscrawl.css.sheets.nesting.plain_list`."""
        cdef Py_ssize_t comma = _next(text, start, end, c","), first, last
        cdef list found = None
        cdef str selector
        while True:
            first, last = start, comma
            while first < last and _is(text[first], SPACE):
                first += 1
            while first < last and _is(text[last - 1], SPACE):
                last -= 1
            if first == last:
                return ""
            selector = self.text[first:last]
            if comma == end and found is None:
                return selector
            if found is None:
                found = []
            found.append(selector)
            if comma == end:
                return END.join(found)
            start = comma + 1
            comma = _next(text, start, end, c",")


cdef inline Py_ssize_t _next(
    Char* text, Py_ssize_t place, Py_ssize_t end, Py_UCS4 character
) noexcept:
    """Return where *character* is next, *end* where it is not."""
    while place < end and text[place] != character:
        place += 1
    return place


cdef inline Py_ssize_t _next_brace(Char* text, Py_ssize_t place, Py_ssize_t end) noexcept:
    """Return where a brace is next, *end* where none is."""
    while place < end and text[place] != c"{" and text[place] != c"}":
        place += 1
    return place


cdef Py_ssize_t _after_gap(Char* text, Py_ssize_t place, bint top) noexcept:
    """Return where the white space ends, and at the top of a sheet HTML's comment signs."""
    while True:
        if _is(text[place], SPACE):
            place += 1
        elif not top:
            return place
        elif text[place] == c"<":
            if text[place + 1] != c"!" or text[place + 2] != c"-" or text[place + 3] != c"-":
                return place
            place += 4
        elif text[place] == c"-" and text[place + 1] == c"-" and text[place + 2] == c">":
            place += 3
        else:
            return place


cdef Py_ssize_t _block_end(Char* text, Py_ssize_t place, Py_ssize_t length) noexcept:
    """Return where a block ends: see :func:`newscrawl.css.syntax.tokens.block_end`."""
    cdef Py_ssize_t depth = 1
    while place < length:
        if text[place] == c"{":
            depth += 1
        elif text[place] == c"}":
            depth -= 1
            if not depth:
                return place + 1
        place += 1
    return length


cdef bint _is_kept_name(Char* name, Py_ssize_t length) noexcept:
    """Return whether they are the name of a property that is kept."""
    if length == 3:
        return _same(name, b"all", 3)
    if length < 4:
        return False
    if name[0] | 32 == c"f":
        if not _same(name, b"font", 4) or length == 4:
            return length == 4 and _same(name, b"font", 4)
        if length == 9:
            return _same(name, b"font-size", 9)
        if length == 10:
            return _same(name, b"font-style", 10)
        return length == 11 and (
            _same(name, b"font-weight", 11) or _same(name, b"font-family", 11)
        )
    if length == 5:
        return _same(name, b"color", 5)
    if length == 7:
        return _same(name, b"display", 7)
    if length == 10:
        return _same(name, b"visibility", 10)
    return length == 12 and _same(name, b"color-scheme", 12)


cdef bint _same(Char* name, const char* kept, Py_ssize_t length) noexcept:
    """Return whether *name* is *kept*, which is in lower case, in any case.

    "-" in *kept* is never met by a character that differs in case alone: names hold none.
    """
    cdef Py_ssize_t place
    for place in range(length):
        if name[place] | 32 != <uint8_t> kept[place]:
            return False
    return True


# --------------------------------------------------------------------------------------- names


def file_rules(rules, *, bint quirks):
    """Return the selectors of *rules* by name: see :func:`newscrawl.css.selectors.rule_keys.file_rules`."""
    cdef list texts = [], ends = []
    cdef dict places = {}
    cdef str rule
    cdef Py_ssize_t start, end, length
    for rule in rules:
        start, length = 0, len(rule)
        while True:
            end = rule.find(END, start)
            if end < 0:
                _file(rule[start:] if start else rule, texts, places, quirks)
                break
            _file(rule[start:end], texts, places, quirks)
            start = end + 1
        ends.append(len(texts))
    return keys.Filed(texts, ends, places)


cdef int _file(str text, list texts, dict places, bint quirks) except -1:
    """File a selector."""
    cdef str name = None
    cdef list found
    cdef bint pseudo = True
    if PyUnicode_KIND(text) == 1:
        pseudo = False
        name = _easy_name(text, <uint8_t*> PyUnicode_DATA(text), &pseudo)
    if (pseudo or name is None) and never_matches(text):
        texts.append(text)
        return 0
    if name is None:
        name = cached_name(text)
    if quirks:
        name = ascii_lower(name)
    found = <list> places.get(name)
    if found is None:
        places[name] = [len(texts)]
    else:
        found.append(len(texts))
    texts.append(text)
    return 0


cdef str _easy_name(str text, uint8_t* data, bint* pseudo):
    """Return the name of a selector that needs no second look; None for another.

    *pseudo* is set where a pseudo-class is last.
    """
    cdef Py_ssize_t place = 0, subject = 0, tag_end, first = -1, last = -1
    while data[place] and not _ends_prefix(data[place]):
        if data[place] == 32 or data[place] == c">" or data[place] == c"+" or data[place] == c"~":
            subject = place + 1
        place += 1
    place = subject
    if data[place] == c"*":
        if data[place + 1] != c":":
            place += 1
    else:
        while _is(data[place], NAME):
            place += 1
    tag_end = place
    while (data[place] == c"." or data[place] == c"#") and _is(data[place + 1], NAME):
        if first < 0 or data[place] == c"#" or data[first] == c".":
            first = place
            last = _end_of_name(data, place + 1)
            place = last
        else:
            place = _end_of_name(data, place + 1)
    while data[place] == c":":
        place += 1
        if data[place] == c":":
            place += 1
        elif _is_root(data + place):
            return None
        if not _is(data[place], NAME):
            return None
        pseudo[0] = True
        while _is(data[place], NAME):
            place += 1
        if data[place] == c"(":
            place += 1
            while data[place] and data[place] != c")" and not _ends_arguments(data[place]):
                place += 1
            if data[place] != c")":
                return None
            place += 1
    if place != len(text):
        return None
    if first >= 0:
        return text[first:last]
    return text[subject:tag_end].lower() if tag_end > subject else None


cdef inline Py_ssize_t _end_of_name(uint8_t* data, Py_ssize_t place) noexcept:
    while _is(data[place], NAME):
        place += 1
    return place


cdef inline bint _ends_prefix(uint8_t character) noexcept:
    return (
        character == c"\\"
        or character == c"("
        or character == c"["
        or character == c'"'
        or character == c"'"
        or character == c"/"
    )


cdef inline bint _ends_arguments(uint8_t character) noexcept:
    return (
        character == c"("
        or character == c'"'
        or character == c"'"
        or character == c"\\"
        or character == c"["
    )


cdef bint _is_root(uint8_t* name) noexcept:
    """Return whether *name* is "root", at the end of a word."""
    if name[0] != c"r" or name[1] != c"o" or name[2] != c"o" or name[3] != c"t":
        return False
    return name[4] == c"-" or not _is(name[4], NAME)
