# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled scan of the rules in a masked style sheet.

Equivalent to :func:`newscrawl.css.sheets.rule_scanner.scan_rules`, to which unusual input is
delegated.
"""

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_FromKindAndData, PyUnicode_KIND
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from newscrawl.css.sheets._css_tokens cimport (
    LIST, SPACE, UNKNOWN, Char, after_gap, find_character, find_class, in_class, is_relevant,
    may_apply,
)

from newscrawl.css.sheets import rule_scanner
from newscrawl.css.syntax.declarations import RELEVANT_START_PATTERN

cdef object starts_relevant = RELEVANT_START_PATTERN.match
cdef object block_applies = rule_scanner.block_applies
cdef object masked_selector_list = rule_scanner.masked_selector_list
cdef Py_UCS4 SEPARATOR = ord(rule_scanner.SELECTOR_SEPARATOR)
cdef Py_ssize_t MAX_OPEN_BLOCKS = rule_scanner.MAX_OPEN_BLOCKS


def scan_rules(
    str text not None, Py_ssize_t position, rules, list open_blocks not None, *, bint keep_all
):
    """Add rules to *rules*: see :func:`newscrawl.css.sheets.rule_scanner.scan_rules`."""
    cdef RuleScan scan = RuleScan(text, rules, open_blocks, keep_all)
    cdef int kind = PyUnicode_KIND(text)
    if position < 0:
        raise ValueError("a negative position")
    if kind == 1:
        position = scan.run(<uint8_t*> PyUnicode_DATA(text), position)
    elif kind == 2:
        position = scan.run(<uint16_t*> PyUnicode_DATA(text), position)
    else:
        position = scan.run(<uint32_t*> PyUnicode_DATA(text), position)
    return position


cdef class RuleScan:
    """State of one scan."""

    cdef str text
    cdef list selectors, blocks, layers, open_blocks
    cdef object layer
    cdef bint top, keep_all
    cdef Py_ssize_t length
    cdef void* buffer
    cdef size_t buffer_size

    def __cinit__(self, str text, rules, list open_blocks, bint keep_all):
        self.text = text
        self.selectors, self.blocks, self.layers = rules
        self.open_blocks = open_blocks
        self.keep_all = keep_all
        self.length = len(text)
        self.update_block()

    def __dealloc__(self):
        PyMem_Free(self.buffer)

    cdef int update_block(self) except -1:
        """Update the state that depends on the innermost open block."""
        self.top = len(self.open_blocks) == 1
        self.layer = self.open_blocks[len(self.open_blocks) - 1].layer
        return 0

    cdef Py_ssize_t run(self, Char* text, Py_ssize_t position) except -1:
        """Scan rules and return the position where the scan stopped."""
        cdef Py_ssize_t length = self.length, start, end, body, after
        while position < length:
            position = start = after_gap(text, position, self.top)
            if text[start] == c"@":
                after = self.at_rule(text, start)
                if after < 0:
                    return start
                position = after
                continue
            position = find_character(text, position, length, c";")
            if position >= length or text[position + 1] != c"{":
                position = _find_brace(text, start, length)
                if position >= length or text[position] == c"{" or self.top:
                    return start
                self.open_blocks.pop()
                self.update_block()
                position += 1
                continue
            end, body = position, position + 2
            position = body
            if not self.keep_all:
                position = self.skip_irrelevant(text, body)
                if position < length and text[position] == c"}":
                    position += 1
                    continue
            position = _find_brace(text, position, length)
            if position < length and text[position] == c"{":
                return start
            self.add(text, start, end, body, position)
            if position < length:
                position += 1
        return length

    cdef int add(
        self, Char* text, Py_ssize_t start, Py_ssize_t end, Py_ssize_t body, Py_ssize_t body_end
    ) except -1:
        """Add the rule whose prelude lies from *start* to *end*, unless it is invalid."""
        cdef str selectors = self.selector_list(text, start, end)
        if not selectors:
            return 0
        self.selectors.append(selectors)
        self.blocks.append(self.text[body:body_end])
        self.layers.append(self.layer)
        return 0

    cdef str selector_list(self, Char* text, Py_ssize_t start, Py_ssize_t end):
        """Return the joined selectors of a prelude, "" if one is invalid."""
        cdef Py_ssize_t position, first = start, written = 0, more
        cdef int depth = 0
        cdef Char* out = <Char*> self.reserve((end - start + 1) * sizeof(Char))
        position = start
        while (position := find_class(text, position, end, LIST)) < end:
            if text[position] == c"(" or text[position] == c"[":
                depth += 1
            elif text[position] == c")" or text[position] == c"]":
                depth -= 1
            elif text[position] == c'"' or text[position] == c"'":
                position = _end_of_plain_string(text, position, end)
            elif text[position] != c",":
                depth = -1
            elif not depth:
                more = _copy_stripped(text, first, position, out + written)
                if not more:
                    return ""
                written += more + 1
                out[written - 1] = SEPARATOR
                first = position + 1
            if depth < 0 or position == end:
                return masked_selector_list(self.text[start:end])
            position += 1
        more = _copy_stripped(text, first, end, out + written)
        return PyUnicode_FromKindAndData(sizeof(Char), out, written + more) if more else ""

    cdef void* reserve(self, size_t size) except NULL:
        """Return a buffer of at least *size* bytes, which the next call may replace."""
        if size > self.buffer_size:
            PyMem_Free(self.buffer)
            self.buffer_size = 0
            self.buffer = PyMem_Malloc(2 * size)
            if self.buffer is NULL:
                raise MemoryError
            self.buffer_size = 2 * size
        return self.buffer

    cdef Py_ssize_t at_rule(self, Char* text, Py_ssize_t start) except -2:
        """Return the position after the prelude or the skipped block of an at-rule, -1 to stop."""
        cdef Py_ssize_t end = find_character(text, start, self.length, c";")
        if end >= self.length or text[end + 1] != c"{":
            return -1
        if not may_apply(text + start + 1):
            return _block_end(text, end + 2, self.length)
        applies = block_applies(self.text[start + 1 : end])
        if applies is None or (applies and len(self.open_blocks) >= MAX_OPEN_BLOCKS):
            return -1
        if not applies:
            return _block_end(text, end + 2, self.length)
        self.open_blocks.append(self.open_blocks[len(self.open_blocks) - 1])
        self.update_block()
        return end + 2

    cdef Py_ssize_t skip_irrelevant(self, Char* text, Py_ssize_t position) except -1:
        """Return the position of the next relevant declaration, or the end of the block."""
        cdef Py_ssize_t length = self.length, end
        cdef int relevant
        while position < length and text[position] != c"}":
            relevant = is_relevant(text, position, length)
            if relevant == UNKNOWN:
                relevant = starts_relevant(self.text, position) is not None
            if relevant:
                break
            end = find_character(text, position, length, c";")
            if end >= length or text[end + 1] == c"{":
                break
            position = end + 1
        return position


cdef Py_ssize_t _copy_stripped(
    Char* text, Py_ssize_t start, Py_ssize_t end, Char* out
) noexcept:
    """Copy a piece of the text without white space around it, and return its length."""
    while start < end and in_class(text[start], SPACE):
        start += 1
    while start < end and in_class(text[end - 1], SPACE):
        end -= 1
    memcpy(out, text + start, (end - start) * sizeof(Char))
    return end - start


cdef Py_ssize_t _end_of_plain_string(Char* text, Py_ssize_t position, Py_ssize_t end) noexcept:
    """Return the position of the quote that ends a string, *end* if it needs Python."""
    cdef Char quote = text[position]
    position += 1
    while position < end and text[position] != quote:
        if text[position] <= 6 or text[position] == c"\\":
            return end
        position += 1
    return position


cdef inline Py_ssize_t _find_brace(Char* text, Py_ssize_t position, Py_ssize_t end) noexcept:
    """Return the position of the next brace, else *end*."""
    cdef Py_ssize_t closing = find_character(text, position, end, c"}")
    return find_character(text, position, closing, c"{")


cdef Py_ssize_t _block_end(Char* text, Py_ssize_t position, Py_ssize_t length) noexcept:
    """Return the end of a block: see :func:`newscrawl.css.syntax.masking.block_end`."""
    cdef Py_ssize_t depth = 1
    while position < length:
        if text[position] == c"{":
            depth += 1
        elif text[position] == c"}":
            depth -= 1
            if not depth:
                return position + 1
        position += 1
    return length
