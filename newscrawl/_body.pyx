# cython: language_level=3, boundscheck=False, wraparound=False
"""The loops over all rows of a page in :mod:`newscrawl.body`, compiled.

Each is the double of the Python function that it is named after, and gives the same.
"""

from newscrawl.rows import TEXT
from newscrawl.text import tokens

cdef str TEXT_NODE = TEXT


def count_terminals(document, bytearray skipped, forms, double largest):
    """Return the columns of counts: see :func:`newscrawl.body.coreex.count_in_python`."""
    cdef list tags = document.tag, ends = document.end, texts = document.text
    cdef list chars_before = document.chars_before
    cdef list words = [0], links = [0]
    cdef Py_ssize_t row, end, after = 0, words_now = 0, links_now = 0, longest = 0, size
    cdef object words_before = 0, links_before = 0
    cdef str tag
    cdef bint is_link
    for row in range(len(tags)):
        tag = tags[row]
        size = 0
        is_link = False
        if row >= after and not skipped[row]:
            if tag == TEXT_NODE:
                size = _count_tokens(texts[row])
                longest = max(longest, size)
            elif tag == "a":
                after = ends[row]
                is_link = after > row + 1
                size = is_link
            elif tag in forms:
                end = ends[row]
                if <double> chars_before[end] - <double> chars_before[row] <= largest:
                    after = end
        if size:
            words_now += size
            words_before = words_now
        if is_link:
            links_now += 1
            links_before = links_now
        words.append(words_before)
        links.append(links_before)
    return words, links, longest


cdef Py_ssize_t _count_tokens(str text) except -1:
    """Return the number of :func:`~newscrawl.text.tokens`."""
    cdef Py_ssize_t count = 0
    cdef bint inside = False
    cdef Py_UCS4 character
    for character in text:
        if character.isspace():
            inside = False
        elif not inside:
            inside = True
            count += 1
    return count if len(text) <= 12 * count else len(tokens(text))
