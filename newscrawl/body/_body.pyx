# cython: language_level=3, boundscheck=False, wraparound=False
"""The loops over all rows of a page in :mod:`newscrawl.body`, compiled.

Each is the double of the Python function that it is named after, and gives the same.
"""

from cpython.unicode cimport PyUnicode_DATA

from newscrawl.document.flatten import TEXT
from newscrawl.text import tokens

cdef str TEXT_NODE = TEXT

cdef enum:
    LINK = 1
    FORM = 2


def count_terminals(document, bytearray skipped, frozenset forms not None, double largest):
    """Return the columns of counts: see :func:`newscrawl.body.coreex.count_in_python`."""
    cdef list ends = document.end, texts = document.text, chars_before = document.chars_before
    cdef bytearray told = _told(document, forms)
    cdef list words = [0], links = [0]
    cdef Py_ssize_t row, end, after = 0, words_now = 0, links_now = 0, longest = 0, size
    cdef object words_before = 0, links_before = 0
    cdef str text
    for row in range(len(ends)):
        size = 0
        if row >= after and not skipped[row]:
            text = texts[row]
            if len(text):
                size = _count_tokens(text)
                longest = max(longest, size)
            elif told[row] == LINK:
                after = ends[row]
                size = after > row + 1
                if size:
                    links_now += 1
                    links_before = links_now
            elif told[row] == FORM:
                end = ends[row]
                if <double> chars_before[end] - <double> chars_before[row] <= largest:
                    after = end
        if size:
            words_now += size
            words_before = words_now
        words.append(words_before)
        links.append(links_before)
    return words, links, longest


cdef bytearray _told(document, frozenset forms):
    """Return which rows are links and forms."""
    cdef bytearray told = bytearray(len(document.tag))
    cdef Py_ssize_t row
    for tag in forms:
        for row in document.rows_of(tag):
            told[row] = FORM
    for row in document.rows_of("a"):
        told[row] = LINK
    return told


cdef Py_ssize_t _count_tokens(str text) except -1:
    """Return the number of :func:`~newscrawl.text.tokens`."""
    cdef Py_ssize_t count = 0, place
    cdef bint inside = False
    cdef Py_UCS4 character
    cdef const unsigned char* byte
    if text.isascii():
        byte = <const unsigned char*> PyUnicode_DATA(text)
        for place in range(len(text)):
            # All white space of ASCII is below the first letter, and so is little else.
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


def read_text(document, parameters):
    """Return where punctuation and fathers are: see :func:`newscrawl.body.econ.read_in_python`."""
    cdef list texts = document.text, parents = document.parent
    cdef list in_links = document.link_chars_before
    cdef bint link_marks = parameters.link_marks, decimal_marks = parameters.decimal_marks
    cdef bytearray hidden = document.hidden
    cdef bytearray fathers = bytearray(len(texts))
    cdef list marks_before = [0]
    cdef object before = 0
    cdef Py_ssize_t row, marks = 0
    cdef str text
    for row in range(len(texts)):
        text = texts[row]
        if text and not hidden[row]:
            fathers[<Py_ssize_t> parents[row]] = 1
            if link_marks or <double> in_links[row] == <double> in_links[row + 1]:
                if _has_mark(text, decimal_marks):
                    marks += 1
                    before = marks
        marks_before.append(before)
    return marks_before, fathers


cdef bint _has_mark(str text, bint decimal_marks) except -1:
    """Return whether *text* has a period or comma: with *decimal_marks*, before a digit, too."""
    cdef Py_ssize_t place, last = len(text) - 1
    for place in range(last + 1):
        if text[place] in u".,，．。、､｡،۔।॥":
            if decimal_marks or place == last or not text[place + 1].isdecimal():
                return True
    return False


def find_text_node_sets(
    document, parameters, list marks_before, bytearray fathers,
    *, frozenset big_tags not None, frozenset block_level not None,
):
    """Return first rows and ends: see :func:`newscrawl.body.econ.sets_in_python`."""
    cdef list tags = document.tag, parents = document.parent, ends = document.end
    cdef list shown = document.chars_before
    cdef bint nested = parameters.nested, empty_parts = parameters.empty_parts
    cdef list firsts = [], lasts = []
    cdef dict latest = {}
    cdef Py_ssize_t row = 0, after, child, place
    cdef bint has_text, is_big, is_named
    cdef str tag
    while row < len(tags):
        tag = tags[row]
        after = ends[row]
        place = latest.get(parents[row], -1)
        has_text = <double> shown[row] != <double> shown[after]
        is_named = tag in big_tags
        is_big = False
        if has_text:
            if not (fathers[row] or is_named):
                is_big = not nested and tag == TEXT_NODE
            elif nested or is_named:
                is_big = True
            else:
                is_big = True
                child = row + 1
                while child < after:
                    if tags[child] in block_level:
                        is_big = False
                        break
                    child = ends[child]
        if place >= 0 and lasts[place] == row and (
            is_big or (not has_text and (not empty_parts or is_named))
        ):
            lasts[place] = after
        elif is_big or (
            has_text and tag != TEXT_NODE and marks_before[row] == marks_before[after]
        ):
            if is_big:
                latest[parents[row]] = len(firsts)
            firsts.append(row)
            lasts.append(after)
        elif has_text:
            row += 1
            continue
        row = row + 1 if is_big and nested else after
    return firsts, lasts


def find_named_rows(document, double least):
    """Return the rows with names: see :func:`newscrawl.body.comments.named_in_python`."""
    cdef list ends = document.end
    cdef list before = document.chars_before, links = document.link_chars_before
    cdef dict classes = document.attributes["class"], ids = document.attributes["id"]
    cdef dict types = document.attributes["itemtype"]
    cdef list found = []
    cdef Py_ssize_t row = 0, stop, last = len(ends)
    cdef double chars, linked
    while row < last:
        stop = ends[row]
        chars = <double> before[stop] - <double> before[row]
        linked = <double> links[stop] - <double> links[row]
        if chars - linked < least:
            row = stop
            continue
        if row in classes or row in ids or row in types:
            found.append(row)
        row += 1
    return found
