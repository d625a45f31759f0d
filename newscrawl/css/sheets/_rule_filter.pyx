# cython: language_level=3, boundscheck=False, wraparound=False
"""Filter that drops irrelevant rules while a style sheet is masked."""

from cpython.unicode cimport PyUnicode_FromKindAndData
from libc.string cimport memcmp

from newscrawl.css.sheets._css_tokens cimport (
    Char, after_gap, find_character, is_relevant, may_apply,
)

from newscrawl.css.sheets import rule_scanner

cdef object block_applies = rule_scanner.block_applies

assert MAX_FILTERED < rule_scanner.MAX_OPEN_BLOCKS


# Treatment of a block: kept, dropped without relevant declarations, dropped, or entered.
cdef enum:
    KEEP, FILTER, DROP, ENTER


cdef class RuleFilter:
    """Drops rules that the scan skips from masked text while it is written.

    These are rules without nested blocks, directly in a sheet or in at-rules that apply, and
    at-rules that do not apply or become empty. The filter ends at a stray brace, after which the
    parser skips a rule.
    """

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
        return out[after_gap(out, self.start, not self.outer) + 1] | 32 == c"l"

    cdef int block_treatment(
        self, Char* out, Py_ssize_t end, Char* text, Py_ssize_t source_end
    ) except -1:
        """Return the treatment of the block that is opened at *end*."""
        cdef Py_ssize_t position, next_item, length = source_end - self.source
        cdef int treatment
        cdef Known* known
        self.start = self.item
        while True:
            position = after_gap(out, self.start, not self.outer)
            next_item = find_character(out, position, end, c";")
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
        if not may_apply(rule):
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
            dropped = self.start >= 0 and after_gap(out, self.bodies[self.outer], False) == end
        else:
            self.active = dropped = False
        self.source = position + 1
        self.item = self.start if dropped else end + 2
        return self.item


cdef bint _has_relevant(Char* text, Py_ssize_t position, Py_ssize_t length) noexcept:
    """Return whether a relevant declaration may start between *position* and *length*.

    There are no braces in between; a semicolon is at *length*.
    """
    while position < length:
        if is_relevant(text, position, length):
            return True
        position = find_character(text, position, length, c";") + 1
    return False
