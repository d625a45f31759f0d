from newscrawl.css.sheets._css_tokens cimport Char

cdef enum:
    MAX_FILTERED = 64  # open at-rules, fewer than rule_scanner.MAX_OPEN_BLOCKS
    MAX_KNOWN = 16


cdef struct Known:
    # Position and length of the prelude of an at-rule with the space before it, and its treatment
    Py_ssize_t start, length
    int treatment


cdef class RuleFilter:
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

    cdef Py_ssize_t open_block(
        self, Char* out, Py_ssize_t end, Char* text, Py_ssize_t position
    ) except -1
    cdef bint keeps_empty(self, Char* out) noexcept
    cdef int block_treatment(
        self, Char* out, Py_ssize_t end, Char* text, Py_ssize_t source_end
    ) except -1
    cdef int at_rule_treatment(self, Char* rule, Py_ssize_t length) except -1
    cdef Py_ssize_t close_block(self, Char* out, Py_ssize_t end, Py_ssize_t position) noexcept
