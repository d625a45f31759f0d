# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled masking and rule scanning of style sheets.

Equivalent to :func:`newscrawl.css.syntax.masking.mask_and_separate` and
:func:`newscrawl.css.sheets.rule_scanner.scan_rules`, to which unusual input is delegated, and a
masking that drops most irrelevant rules. The functions read the characters of a str in place.
CPython stores a NUL after the last one, which ends every loop: a loop continues past a NUL only
after comparing its position with the length, and looks ahead at most one character past a non-NUL
character.
"""

from cpython.unicode cimport PyUnicode_DATA, PyUnicode_FromKindAndData, PyUnicode_KIND
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.string cimport memchr, memcmp, memcpy, memset, strlen

from newscrawl.css.sheets import rule_scanner
from newscrawl.css.syntax import masking
from newscrawl.css.syntax.declarations import RELEVANT_START_PATTERN

cdef extern from "Python.h":
    bint Py_UNICODE_ISALNUM(Py_UCS4 character)

ctypedef fused Char:
    uint8_t
    uint16_t
    uint32_t

cdef object starts_relevant = RELEVANT_START_PATTERN.match
cdef object block_applies = rule_scanner.block_applies
cdef object masked_selector_list = rule_scanner.masked_selector_list
cdef Py_UCS4 SEPARATOR = ord(rule_scanner.SELECTOR_SEPARATOR)
cdef Py_ssize_t MAX_OPEN_BLOCKS = rule_scanner.MAX_OPEN_BLOCKS

# Character classes; characters outside of ASCII have none.
cdef enum:
    SPACE = 1
    NAME = 2  # in ASCII: [-\w]
    SPECIAL = 4  # needs handling by the masking, outside of parentheses and brackets
    SPECIAL_INSIDE = 8  # the same, inside of parentheses or brackets
    LIST = 16  # a comma, a bracket, or what only Python handles in a selector list
    RELEVANT_START = 32  # may start a relevant declaration
    TO_MASK = 64  # to be masked, or a mask
    QUOTED = 128  # may end a string or URL, or is an escape

    MAX_NESTING = 256  # parentheses and brackets
    MAX_SPECIAL = 1 << 18  # at most masking.MAX_MASKED_CHARACTERS

    RELEVANT_COUNT = 10
    UNKNOWN = 2

    MAX_FILTERED = 64  # open at-rules, fewer than rule_scanner.MAX_OPEN_BLOCKS

cdef uint8_t[256] CLASS

cdef const char** RELEVANT_NAMES = [
    b"color", b"font-size", b"font", b"font-weight", b"display", b"font-family", b"font-style",
    b"visibility", b"color-scheme", b"all",
]
cdef Py_ssize_t* RELEVANT_LENGTHS = [5, 9, 4, 11, 7, 11, 10, 10, 12, 3]

cdef const char** AT_RULES = [b"media", b"supports", b"layer", b"property"]

assert MAX_SPECIAL <= masking.MAX_MASKED_CHARACTERS
assert MAX_FILTERED < rule_scanner.MAX_OPEN_BLOCKS


def _classify():
    memset(CLASS, 0, sizeof(CLASS))
    for kind, characters in (
        (SPACE, masking.SPACE),
        (NAME, "-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        (SPECIAL, "\0\1\2\3\4\5\6{}\"'\\/(["),
        (SPECIAL_INSIDE, "\0\1\2\3\4\5\6{};@\"'\\/()[]"),
        (LIST, ",()[]\"'\\&\1\2\3\4\5\6"),
        (RELEVANT_START, "fFcCdDvVaA\\-"),
        (TO_MASK, "{};@\1\2\3\4\5\6"),
        (QUOTED, "\"'\n\r\f\\)"),
    ):
        for character in characters:
            CLASS[<Py_ssize_t> ord(character)] |= kind


_classify()


cdef inline bint _is(Py_UCS4 character, int kind) noexcept:
    return character < 128 and CLASS[character] & kind


cdef inline Py_ssize_t _find(
    Char* text, Py_ssize_t position, Py_ssize_t end, int kind
) noexcept:
    """Return the position of the next character of a class, else *end*."""
    cdef Char first, second, third, fourth
    while position + 4 <= end:
        first, second = text[position], text[position + 1]
        third, fourth = text[position + 2], text[position + 3]
        if Char is not uint8_t and (first | second | third | fourth) >= 128:
            if (
                _is(first, kind) or _is(second, kind) or _is(third, kind) or _is(fourth, kind)
            ):
                break
        elif (CLASS[first] | CLASS[second] | CLASS[third] | CLASS[fourth]) & kind:
            break
        position += 4
    while position < end and not _is(text[position], kind):
        position += 1
    return position


# ------------------------------------------------------------------------------------- masking


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
        position = _find(text, position, length, kind)
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


# Treatment of a block: kept, dropped without relevant declarations, dropped, or entered.
cdef enum:
    KEEP, FILTER, DROP, ENTER

    MAX_KNOWN = 16


cdef struct Known:
    # Position and length of the prelude of an at-rule with the space before it, and its treatment
    Py_ssize_t start, length
    int treatment


cdef class RuleFilter:
    """Drops rules that the scan skips from masked text while it is written.

    These are rules without nested blocks, directly in a sheet or in at-rules that apply, and
    at-rules that do not apply or become empty. The filter ends at a stray brace, after which the
    parser skips a rule.
    """

    #: False if everything that follows is kept
    cdef bint active
    #: whether no block was opened before
    cdef bint first
    #: number of open at-rules that apply; of other open blocks, all in one
    cdef Py_ssize_t outer, inner
    #: treatment of that one, and start of its content
    cdef int treatment
    cdef Py_ssize_t body
    #: position after the last brace; position where the current item starts
    cdef Py_ssize_t item, start
    #: position in the original text after the last brace
    cdef Py_ssize_t source
    #: for each open at-rule, its start, -1 if it is kept, and the start of its content
    cdef Py_ssize_t[MAX_FILTERED] starts, bodies
    cdef Known[MAX_KNOWN] known
    cdef Py_ssize_t known_count

    def __cinit__(self, bint active):
        self.active = self.first = active

    cdef Py_ssize_t open_block(
        self, Char* out, Py_ssize_t end, Char* text, Py_ssize_t position
    ) except -1:
        """Return the length of the masked text with the opening brace at *end*.

        *position* is that of the brace in the original *text*.
        """
        if self.inner:
            if self.treatment == FILTER:
                self.treatment = KEEP
            self.inner += 1
            return end + 2
        self.treatment = self.block_treatment(out, end, text, position)
        if self.treatment != ENTER:
            self.inner = 1
            self.body = end + 2
            if self.first:
                self.treatment = KEEP
        elif self.outer == MAX_FILTERED:
            self.active = False
        else:
            self.starts[self.outer] = -1 if self.first or self.keeps_empty(out) else self.start
            self.bodies[self.outer] = end + 2
            self.outer += 1
            self.item = end + 2
            self.source = position + 1
        self.first = False
        return end + 2

    cdef bint keeps_empty(self, Char* out) noexcept:
        """Return whether the at-rule at the current position is a layer, which is registered."""
        return out[_after_gap(out, self.start, not self.outer) + 1] | 32 == c"l"

    cdef int block_treatment(
        self, Char* out, Py_ssize_t end, Char* text, Py_ssize_t source_end
    ) except -1:
        """Return the treatment of the block that is opened at *end*."""
        cdef Py_ssize_t position, next_item, length = source_end - self.source
        cdef int treatment
        cdef Known* known
        self.start = self.item
        while True:
            position = _after_gap(out, self.start, not self.outer)
            next_item = _next(out, position, end, c";")
            if out[position] != c"@":
                return FILTER if next_item == end else KEEP
            if next_item == end:
                break
            self.start = next_item + 1
        for index in range(min(self.known_count, MAX_KNOWN)):
            known = &self.known[index]
            if known.length == length and not memcmp(
                text + known.start, text + self.source, length * sizeof(Char)
            ):
                return known.treatment
        treatment = self.at_rule_treatment(out + position + 1, end - position - 1)
        if self.start == self.item:
            known = &self.known[self.known_count % MAX_KNOWN]
            known.start, known.length, known.treatment = self.source, length, treatment
            self.known_count += 1
        return treatment

    cdef int at_rule_treatment(self, Char* rule, Py_ssize_t length) except -1:
        """Return the treatment of an at-rule, given without its "@"."""
        if not _may_apply(rule):
            return DROP
        applies = block_applies(PyUnicode_FromKindAndData(sizeof(Char), rule, length))
        if applies is None:
            return ENTER if rule[0] | 32 == c"l" else KEEP
        return ENTER if applies else DROP

    cdef Py_ssize_t close_block(self, Char* out, Py_ssize_t end, Py_ssize_t position) noexcept:
        """Return the length of the masked text with the closing brace at *end*."""
        cdef bint dropped
        if self.inner > 1:
            self.inner -= 1
            return end + 2
        if self.inner:
            self.inner = 0
            dropped = self.treatment == DROP or (
                self.treatment == FILTER and not _has_relevant(out, self.body, end)
            )
        elif self.outer:
            self.outer -= 1
            self.start = self.starts[self.outer]
            dropped = self.start >= 0 and _after_gap(out, self.bodies[self.outer], False) == end
        else:
            self.active = dropped = False
        self.source = position + 1
        self.item = self.start if dropped else end + 2
        return self.item


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
    """Copy *length* characters masked; return their number, -1 if one is a mask character."""
    cdef Py_ssize_t position = 0
    memcpy(out, text, length * sizeof(Char))
    while (position := _find(text, position, length, TO_MASK)) < length:
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
    while (position := _find(text, position, length, QUOTED)) < length:
        if text[position] == quote or _is(text[position], SPACE):
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
    while _is(text[position], SPACE):
        position += 1
    return text[position] != c'"' and text[position] != c"'"


cdef Py_ssize_t _end_of_url(Char* text, Py_ssize_t start, Py_ssize_t length) noexcept:
    """Return the position of the parenthesis that ends a URL, else *length*.

    Return -1 if the text ends with a backslash.
    """
    cdef Py_ssize_t position = start + 1
    while (position := _find(text, position, length, QUOTED)) < length:
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
    while _is(text[position], SPACE):
        position += 1
    while (position := _find(text, position, end, SPACE | SPECIAL)) < end:
        if _is(text[position], SPACE):
            break
        if text[position] == c"\\":
            position += 1
        elif text[position] == c'"' or text[position] == c"'" or text[position] == c"(":
            return False
        position += 1
    while _is(text[position], SPACE):
        position += 1
    return position >= end


# --------------------------------------------------------------------------------------- rules


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
            position = start = _after_gap(text, position, self.top)
            if text[start] == c"@":
                after = self.at_rule(text, start)
                if after < 0:
                    return start
                position = after
                continue
            position = _next(text, position, length, c";")
            if position >= length or text[position + 1] != c"{":
                position = _next_brace(text, start, length)
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
            position = _next_brace(text, position, length)
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
        while (position := _find(text, position, end, LIST)) < end:
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
        cdef Py_ssize_t end = _next(text, start, self.length, c";")
        if end >= self.length or text[end + 1] != c"{":
            return -1
        if not _may_apply(text + start + 1):
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
            relevant = _is_relevant(text, position, length)
            if relevant == UNKNOWN:
                relevant = starts_relevant(self.text, position) is not None
            if relevant:
                break
            end = _next(text, position, length, c";")
            if end >= length or text[end + 1] == c"{":
                break
            position = end + 1
        return position


cdef int _is_relevant(Char* text, Py_ssize_t position, Py_ssize_t length) noexcept:
    """Return whether a relevant declaration may start at *position*.

    Return ``UNKNOWN`` for names that need the regular expression.
    """
    cdef Py_ssize_t start, end
    cdef bint custom
    while _is(text[position], SPACE):
        position += 1
    start = end = position
    if not _is(text[start], RELEVANT_START):
        return False
    while _is(text[end], NAME):
        end += 1
    custom = text[start] == c"-" and text[start + 1] == c"-"
    if custom:
        while (
            end < length
            and not _is(text[end], SPACE)
            and text[end] != c":"
            and text[end] != c";"
            and text[end] != c"{"
            and text[end] != c"}"
            and text[end] != c"\\"
        ):
            end += 1
    if text[end] == c"\\" or (text[end] >= 128 and not custom):
        return UNKNOWN
    position = end
    while _is(text[position], SPACE):
        position += 1
    if text[position] != c":":
        return False
    return custom or _is_relevant_name(text + start, end - start)


cdef bint _has_relevant(Char* text, Py_ssize_t position, Py_ssize_t length) noexcept:
    """Return whether a relevant declaration may start between *position* and *length*.

    There are no braces in between; a semicolon is at *length*.
    """
    while position < length:
        if _is_relevant(text, position, length):
            return True
        position = _next(text, position, length, c";") + 1
    return False


cdef Py_ssize_t _copy_stripped(
    Char* text, Py_ssize_t start, Py_ssize_t end, Char* out
) noexcept:
    """Copy a piece of the text without white space around it, and return its length."""
    while start < end and _is(text[start], SPACE):
        start += 1
    while start < end and _is(text[end - 1], SPACE):
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


cdef bint _may_apply(Char* rule) noexcept:
    """Return False if the rules in an at-rule with this name never apply."""
    cdef Py_ssize_t end = 0, index
    while _is(rule[end], NAME):
        end += 1
    if rule[end] >= 128:
        return True
    for index in range(4):
        if strlen(AT_RULES[index]) == <size_t> end and _same(rule, AT_RULES[index], end):
            return True
    return False


cdef inline Py_ssize_t _next(
    Char* text, Py_ssize_t position, Py_ssize_t end, Py_UCS4 character
) noexcept:
    """Return the position of the next *character*, else *end*."""
    cdef void* found
    if Char is uint8_t:
        if position >= end:
            return position
        found = memchr(text + position, character, end - position)
        return end if found is NULL else <uint8_t*> found - text
    else:
        while position < end and text[position] != character:
            position += 1
        return position


cdef inline Py_ssize_t _next_brace(Char* text, Py_ssize_t position, Py_ssize_t end) noexcept:
    """Return the position of the next brace, else *end*."""
    cdef Py_ssize_t closing = _next(text, position, end, c"}")
    return _next(text, position, closing, c"{")


cdef Py_ssize_t _after_gap(Char* text, Py_ssize_t position, bint top) noexcept:
    """Return the position after white space and HTML comment delimiters (top level only)."""
    while True:
        if _is(text[position], SPACE):
            position += 1
        elif not top:
            return position
        elif text[position] == c"<":
            if text[position + 1] != c"!" or text[position + 2] != c"-" or text[position + 3] != c"-":
                return position
            position += 4
        elif text[position] == c"-" and text[position + 1] == c"-" and text[position + 2] == c">":
            position += 3
        else:
            return position


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


cdef bint _is_relevant_name(Char* name, Py_ssize_t length) noexcept:
    """Return whether *name* is that of a relevant property."""
    cdef Py_ssize_t index
    for index in range(RELEVANT_COUNT):
        if RELEVANT_LENGTHS[index] == length and _same(name, RELEVANT_NAMES[index], length):
            return True
    return False


cdef bint _same(Char* name, const char* expected, Py_ssize_t length) noexcept:
    """Return whether *name* equals *expected*, which is in lower case, ignoring case.

    The comparison also takes a carriage return for "-", but names contain none.
    """
    cdef Py_ssize_t position
    for position in range(length):
        if name[position] | 32 != <uint8_t> expected[position]:
            return False
    return True
