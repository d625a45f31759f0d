# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled scan of the rules in a style sheet: see :func:`newscrawl.css.parser.scan_rules`.

Works on UTF-8, as all special characters are ASCII; CPython stores a NUL after the last byte of
``bytes``, which ends every comparison.
"""

from cpython.bytes cimport PyBytes_AS_STRING
from libc.stdint cimport uint8_t

cdef uint8_t SPECIAL[256]
for _byte in range(256):
    SPECIAL[_byte] = chr(_byte) in "\"'/\\({};"


cdef inline bint _is_space(uint8_t byte) noexcept:
    return byte == c" " or 9 <= byte <= 13


cdef bint _starts(const uint8_t* text, const char* word) noexcept:
    """Return whether *text* starts with *word*, which is in lower case, ignoring case."""
    while word[0]:
        if text[0] | 32 != <uint8_t> word[0]:
            return False
        text += 1
        word += 1
    return True


cdef bint _may_be_relevant(const uint8_t* text) noexcept:
    """Return whether the declaration at *text* may be relevant."""
    cdef uint8_t first = text[0] | 32
    if first == c"-":
        return text[1] == c"-"
    if first == c"f":
        return _starts(text, b"font")
    if first == c"c":
        return _starts(text, b"color")
    if first == c"d":
        return _starts(text, b"display")
    return first == c"v" and _starts(text, b"visibility")


cdef Py_ssize_t _literal_end(const uint8_t* text, Py_ssize_t start, Py_ssize_t length) noexcept:
    """Return the end of the comment, string, URL or escape at *start*, else *start*."""
    cdef Py_ssize_t position = start + 1
    cdef uint8_t closing = text[start]
    if closing == c"\\":
        # of a character of several bytes, the others need no masking
        return min(start + 2, length)
    if closing == c"/":
        if text[position] != c"*":
            return start
        position += 2
        while position < length:
            if text[position] == c"/" and text[position - 1] == c"*":
                return position + 1
            position += 1
        return length
    if closing == c"(":
        if start < 3 or not _starts(text + start - 3, b"url"):
            return start
        while _is_space(text[position]):
            position += 1
        if text[position] == c'"' or text[position] == c"'":
            return start
        closing = c")"
    while position < length and text[position] != closing:
        if text[position] == c"\\":
            position += 1
        elif text[position] == c"\n" and closing != c")":
            return position
        position += 1
    return min(position + 1, length)


def scan_rules(str sheet not None, add_rule, add_at_rule, bytes masks not None):
    """See :func:`newscrawl.css.parser.scan_rules`; *masks* is a table of masked bytes."""
    cdef bytes source = sheet.encode("utf-8", "surrogatepass")
    cdef const uint8_t* text = <const uint8_t*> PyBytes_AS_STRING(source)
    cdef Py_ssize_t length = len(source), position = 0, end
    # start of the text of the current prelude or block that is not yet in the pieces
    cdef Py_ssize_t start = 0
    # blocks that are open in the current style rule or skipped at-rule
    cdef Py_ssize_t depth = 0
    # the current block is relevant, has blocks, is skipped; the prelude is that of an at-rule;
    # a declaration or rule is expected
    cdef bint relevant = False, nested = False, skipped = False, at_rule = False, expected = True
    cdef list pieces = []
    cdef str prelude = ""
    cdef uint8_t byte
    while position < length:
        byte = text[position]
        if not SPECIAL[byte]:
            if expected and not _is_space(byte):
                if depth > 0:
                    relevant = relevant or (not skipped and _may_be_relevant(text + position))
                elif _starts(text + position, b"<!--") or _starts(text + position, b"-->"):
                    position += 4 if byte == c"<" else 3
                    start = position
                    continue
                else:
                    at_rule = byte == c"@"
                expected = False
            position += 1
            while not expected and position < length and not SPECIAL[text[position]]:
                position += 1
        elif byte == c"{":
            if depth > 0:
                nested = True
                depth += 1
            else:
                prelude = _joined(pieces, source, start, position)
                start = position + 1
                relevant = nested = False
                skipped = at_rule and not add_at_rule(prelude, True)
                depth = 0 if at_rule and not skipped else 1
                at_rule = False
            expected = True
            position += 1
        elif byte == c"}":
            if depth > 1:
                depth -= 1
            else:
                if depth == 1 and relevant:
                    add_rule(prelude, _joined(pieces, source, start, position), nested)
                elif depth == 0 and at_rule:
                    add_at_rule(_joined(pieces, source, start, position), False)
                pieces.clear()
                start = position + 1
                depth = 0
                skipped = at_rule = False
            expected = True
            position += 1
        elif byte == c";":
            # in the prelude of a style rule, a semicolon is part of it and makes it invalid
            expected = depth > 0 or at_rule
            if depth == 0 and at_rule:
                add_at_rule(_joined(pieces, source, start, position), False)
                start = position + 1
                at_rule = False
            position += 1
        else:
            end = _literal_end(text, position, length)
            if end > position and not skipped:
                pieces.append(source[start:position])
                if byte != c"/":
                    pieces.append(source[position:end].translate(masks))
                start = end
            expected = expected and byte == c"/" and end > position
            position = max(end, position + 1)
    if depth > 0 and relevant:
        add_rule(prelude, _joined(pieces, source, start, length), nested)
    elif depth == 0 and at_rule:
        add_at_rule(_joined(pieces, source, start, length), False)


cdef str _joined(list pieces, bytes source, Py_ssize_t start, Py_ssize_t end):
    """Return the text of *pieces* and of *source* from *start* to *end*, and clear the pieces."""
    cdef bytes joined = source[start:end]
    if pieces:
        pieces.append(joined)
        joined = b"".join(pieces)
        pieces.clear()
    return joined.decode("utf-8", "surrogatepass")
