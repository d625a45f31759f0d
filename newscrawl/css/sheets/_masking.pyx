# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled masking of style sheets.

Equivalent to :func:`newscrawl.css.syntax.masking.mask_and_separate`, to which unusual input is
delegated, and a masking that drops most irrelevant rules.
"""

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_FromKindAndData, PyUnicode_KIND
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from newscrawl.css.sheets._css_tokens cimport (
    NAME, QUOTED, SPACE, SPECIAL, SPECIAL_INSIDE, TO_MASK, Char, find_class, in_class,
)
from newscrawl.css.sheets._rule_filter cimport RuleFilter

from newscrawl.css.syntax import masking

cdef extern from "Python.h":
    bint Py_UNICODE_ISALNUM(Py_UCS4 character)

cdef enum:
    MAX_NESTING = 256  # parentheses and brackets
    MAX_SPECIAL = 1 << 18  # at most masking.MAX_MASKED_CHARACTERS

assert MAX_SPECIAL <= masking.MAX_MASKED_CHARACTERS


def mask_and_separate(str text not None):
    """Return *text* masked: see :func:`newscrawl.css.syntax.masking.mask_and_separate`."""
    return _masked(text, False)


def mask_relevant(str text not None):
    """Return *text* masked and separated, without most of the rules that :func:`scan_rules` skips.

    The first block is kept, as its position decides whether imports are valid.
    """
    return _masked(text, True)


cdef str _masked(str text, bint only_relevant):
    cdef int kind = PyUnicode_KIND(text)
    cdef Py_ssize_t length = len(text)
    cdef void* out = PyMem_Malloc((2 * length + MAX_NESTING + 8) * kind)
    cdef Py_ssize_t written
    cdef RuleFilter rules = RuleFilter(only_relevant)
    if out is NULL:
        raise MemoryError
    try:
        if kind == 1:
            written = _mask(<uint8_t*> PyUnicode_DATA(text), length, <uint8_t*> out, rules)
        elif kind == 2:
            written = _mask(<uint16_t*> PyUnicode_DATA(text), length, <uint16_t*> out, rules)
        else:
            written = _mask(<uint32_t*> PyUnicode_DATA(text), length, <uint32_t*> out, rules)
        if written >= 0:
            return PyUnicode_FromKindAndData(kind, out, written)
    finally:
        PyMem_Free(out)
    return masking.mask_and_separate(text)


cdef Py_ssize_t _mask(
    Char* text, Py_ssize_t length, Char* out, RuleFilter rules
) except -2:
    """Write the masked and separated text to *out* and return its length.

    Return -1 for input left to Python: mask characters, a backslash at the end, too many special
    characters or too deep nesting. A character becomes at most two, and the end of the text adds
    one for each open parenthesis. Rules that *rules* drops are overwritten.
    """
    cdef uint8_t[MAX_NESTING] closers
    cdef int depth = 0, special = 0, kind
    cdef Py_ssize_t position = 0, start, end, written = 0, more
    cdef Py_UCS4 character
    while True:
        start = position
        kind = SPECIAL_INSIDE if depth else SPECIAL
        position = find_class(text, position, length, kind)
        memcpy(out + written, text + start, (position - start) * sizeof(Char))
        written += position - start
        character = text[position]
        if character == 0:
            if position >= length:
                break
            out[written] = 0
            written += 1
            position += 1
            continue
        if not depth and (character == c"{" or character == c"}"):
            out[written] = c";"
            out[written + 1] = <Char> character
            if not rules.active:
                written += 2
            elif character == c"{":
                written = rules.open_block(out, written, text, position)
            else:
                written = rules.close_block(out, written, position)
            position += 1
            continue
        if character == c"/" and text[position + 1] != c"*":
            out[written] = c"/"
            written += 1
            position += 1
            continue
        special += 1
        if special >= MAX_SPECIAL - 8 or character <= 6:
            return -1
        if character == c"/":
            end = position + 2
            while end < length and not (text[end] == c"*" and text[end + 1] == c"/"):
                end += 1
            if end >= length:
                position = length
                continue
            end += 2
            if position and _in_name(text[position - 1]) and _in_name(text[end]):
                out[written] = c" "
                written += 1
            position = end
            continue
        if character == c'"' or character == c"'":
            end = _end_of_string(text, position, length)
            if end < 0:
                return -1
            if end < length and text[end] != character:
                out[written] = 5
                written += 1
                position = end
                continue
            more = _copy_masked(text + position, end - position, out + written)
            if more < 0:
                return -1
            written += more
            out[written] = <Char> character
            written += 1
            position = end + 1 if end < length else length
            continue
        if character == c"\\":
            if position + 1 >= length:
                return -1
            more = _copy_masked(text + position, 2, out + written)
            if more < 0:
                return -1
            written += more
            position += 2
            continue
        if character == c"(" and _is_url(text, position):
            end = _end_of_url(text, position, length)
            if end < 0:
                return -1
            if _is_good_url(text, position, end):
                more = _copy_masked(text + position, end - position, out + written)
                if more < 0:
                    return -1
                written += more
            else:
                out[written] = c"("
                out[written + 1] = 5
                written += 2
            out[written] = c")"
            written += 1
            position = end + 1 if end < length else length
            continue
        if character == c"(" or character == c"[" or character == c"{":
            if depth == MAX_NESTING:
                return -1
            closers[depth] = (
                c")" if character == c"(" else c"]" if character == c"[" else c"}"
            )
            depth += 1
        elif depth and character == closers[depth - 1]:
            depth -= 1
        out[written] = <Char> _mask_of(character)
        written += 1
        position += 1
    while depth:
        depth -= 1
        out[written] = <Char> _mask_of(closers[depth])
        written += 1
    return written


cdef inline bint _in_name(Py_UCS4 character) noexcept:
    return in_class(character, NAME) or (character >= 128 and Py_UNICODE_ISALNUM(character))


cdef inline Py_UCS4 _mask_of(Py_UCS4 character) noexcept:
    if character == c"{":
        return 1
    if character == c"}":
        return 2
    if character == c";":
        return 3
    return 4 if character == c"@" else character


cdef Py_ssize_t _copy_masked(Char* text, Py_ssize_t length, Char* out) noexcept:
    """Copy *length* characters masked; return their number, -1 if one is a mask character."""
    cdef Py_ssize_t position = 0
    memcpy(out, text, length * sizeof(Char))
    while (position := find_class(text, position, length, TO_MASK)) < length:
        if text[position] <= 6:
            return -1
        out[position] = <Char> _mask_of(text[position])
        position += 1
    return length


cdef Py_ssize_t _end_of_string(Char* text, Py_ssize_t start, Py_ssize_t length) noexcept:
    """Return the position of the quote or line break that ends a string, else *length*.

    Return -1 if the text ends with a backslash.
    """
    cdef Char quote = text[start]
    cdef Py_ssize_t position = start + 1
    while (position := find_class(text, position, length, QUOTED)) < length:
        if text[position] == quote or in_class(text[position], SPACE):
            return position
        if text[position] != c"\\":
            position += 1
        elif position + 1 >= length:
            return -1
        elif text[position + 1] == 13 and text[position + 2] == 10:
            position += 3
        else:
            position += 2
    return length


cdef bint _is_url(Char* text, Py_ssize_t position) noexcept:
    """Return whether the parenthesis at *position* begins an unquoted URL."""
    if position < 3 or text[position - 3] | 32 != c"u" or text[position - 2] | 32 != c"r":
        return False
    if text[position - 1] | 32 != c"l":
        return False
    position += 1
    while in_class(text[position], SPACE):
        position += 1
    return text[position] != c'"' and text[position] != c"'"


cdef Py_ssize_t _end_of_url(Char* text, Py_ssize_t start, Py_ssize_t length) noexcept:
    """Return the position of the parenthesis that ends a URL, else *length*.

    Return -1 if the text ends with a backslash.
    """
    cdef Py_ssize_t position = start + 1
    while (position := find_class(text, position, length, QUOTED)) < length:
        if text[position] == c")":
            return position
        if text[position] == c"\\":
            position += 1
            if position >= length:
                return -1
        position += 1
    return length


cdef bint _is_good_url(Char* text, Py_ssize_t start, Py_ssize_t end) noexcept:
    """Return whether the text between two parentheses is a valid unquoted URL."""
    cdef Py_ssize_t position = start + 1
    while in_class(text[position], SPACE):
        position += 1
    while (position := find_class(text, position, end, SPACE | SPECIAL)) < end:
        if in_class(text[position], SPACE):
            break
        if text[position] == c"\\":
            position += 1
        elif text[position] == c'"' or text[position] == c"'" or text[position] == c"(":
            return False
        position += 1
    while in_class(text[position], SPACE):
        position += 1
    return position >= end
