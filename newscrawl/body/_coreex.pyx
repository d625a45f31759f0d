# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled loops of :mod:`newscrawl.body.coreex`."""

from cpython.unicode cimport PyUnicode_DATA

from newscrawl.text import tokens

cdef enum:
    LINK = 1
    FORM = 2


def count_rows(document, bytearray ignored, frozenset forms not None, double max_form_chars):
    """See :func:`newscrawl.body.coreex.count_rows`."""
    cdef list ends = document.end, texts = document.text, chars_before = document.chars_before
    cdef bytearray kinds = _links_and_forms(document, forms)
    cdef list words = [0], links = [0]
    cdef Py_ssize_t row, end, after = 0, words_now = 0, links_now = 0, longest = 0, size
    cdef object words_before = 0, links_before = 0
    cdef str text
    for row in range(len(ends)):
        size = 0
        if row >= after and not ignored[row]:
            text = texts[row]
            if len(text):
                size = _count_tokens(text)
                longest = max(longest, size)
            elif kinds[row] == LINK:
                after = ends[row]
                size = after > row + 1
                if size:
                    links_now += 1
                    links_before = links_now
            elif kinds[row] == FORM:
                end = ends[row]
                if <double> chars_before[end] - <double> chars_before[row] <= max_form_chars:
                    after = end
        if size:
            words_now += size
            words_before = words_now
        words.append(words_before)
        links.append(links_before)
    return words, links, longest


cdef bytearray _links_and_forms(document, frozenset forms):
    """Return LINK or FORM for each row that is one, else 0."""
    cdef bytearray kinds = bytearray(len(document.tag))
    cdef Py_ssize_t row
    for tag in forms:
        for row in document.rows_of(tag):
            kinds[row] = FORM
    for row in document.rows_of("a"):
        kinds[row] = LINK
    return kinds


cdef Py_ssize_t _count_tokens(str text) except -1:
    """Return the number of :func:`~newscrawl.text.tokens`."""
    cdef Py_ssize_t count = 0, place
    cdef bint inside = False
    cdef Py_UCS4 character
    cdef const unsigned char* byte
    if text.isascii():
        byte = <const unsigned char*> PyUnicode_DATA(text)
        for place in range(len(text)):
            # ASCII white space and control characters; few other bytes reach the second test.
            if byte[place] <= 32 and (byte[place] == 32 or (<Py_UCS4> byte[place]).isspace()):
                inside = False
            elif not inside:
                inside = True
                count += 1
    else:
        for character in text:
            if character.isspace():
                inside = False
            elif not inside:
                inside = True
                count += 1
    return count if len(text) <= 12 * count else len(tokens(text))


def find_main_content_node(document, counts, parameters):
    """See :func:`newscrawl.body.coreex.find_main_content_node`."""
    cdef list words = counts.words, links = counts.links, ends = document.end
    cdef list level_order = [0]
    cdef bint subset = parameters.subset
    cdef double weight_text = parameters.weight_text, weight_ratio = 1.0 - weight_text
    cdef double threshold = parameters.threshold, score, best_score = 0
    cdef Py_ssize_t min_words = counts.longest if weight_text else 1
    cdef Py_ssize_t best = -1, place = 0, whole = words[len(words) - 1]
    cdef Py_ssize_t row, child, after, last, size, linked, set_text, set_linked, text
    if not counts.longest:
        return None
    while place < len(level_order):
        row = level_order[place]
        place += 1
        child, last = row + 1, ends[row]
        set_text = set_linked = 0
        while child < last:
            after = ends[child]
            size = <Py_ssize_t> words[after] - <Py_ssize_t> words[child]
            if size:
                linked = <Py_ssize_t> links[after] - <Py_ssize_t> links[child]
                if (size - linked) / <double> size > threshold:
                    set_text += size
                    set_linked += linked
                if size >= min_words:
                    level_order.append(child)
            child = after
        if subset and <Py_ssize_t> words[last] > <Py_ssize_t> words[row + 1]:
            text, linked = set_text, set_linked
        else:
            text = <Py_ssize_t> words[last] - <Py_ssize_t> words[row]
            linked = <Py_ssize_t> links[last] - <Py_ssize_t> links[row]
        score = weight_ratio * ((text - linked) / <double> text) if text else 0
        score += weight_text * text / whole
        if score > best_score:
            best, best_score = row, score
    return best if best >= 0 else None


def content_children(document, counts, Py_ssize_t node, double threshold):
    """See :func:`newscrawl.body.coreex.content_children`."""
    cdef list words = counts.words, links = counts.links, ends = document.end, found = []
    cdef Py_ssize_t child = node + 1, last = ends[node], after, size, linked
    cdef double ratio
    while child < last:
        after = ends[child]
        size = <Py_ssize_t> words[after] - <Py_ssize_t> words[child]
        linked = <Py_ssize_t> links[after] - <Py_ssize_t> links[child]
        ratio = (size - linked) / <double> size if size else 0
        if ratio > threshold:
            found.append(child)
        child = after
    return found
