# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled loops over the texts of a page: of :mod:`newscrawl.fields.kind.kind_features`."""

from cpython.unicode cimport (
    PyUnicode_DATA, PyUnicode_KIND, PyUnicode_READ, Py_UNICODE_ISDECIMAL,
)

from bisect import bisect_left

from newscrawl.document._phrases cimport is_digit


cdef enum:
    NO_ROW = -2  # nor a parent


cdef Py_ssize_t _block_of(list tags, list parents, Py_ssize_t row, frozenset inline_tags) except -1:
    """Return the closest ancestor of the text node *row* that is not an inline element."""
    cdef Py_ssize_t block = parents[row]
    while tags[block] in inline_tags and <Py_ssize_t> parents[block] >= 0:
        block = parents[block]
    return block


def measure_texts(
    document, *, frozenset inline_tags, frozenset sentence_ends, double min_headline,
    double min_paragraph, double min_link_density,
):
    """See :func:`newscrawl.fields.kind.kind_features.measure_texts`."""
    cdef list before = document.chars_before, links = document.link_chars_before
    cdef list tags = document.tag, parents = document.parent, ends = document.end
    cdef list texts = document.text, shown = document.shown_rows, headlines = []
    cdef double size, headline_chars = 0, paragraph_chars = 0, chars
    cdef Py_ssize_t row, block, end, teasers = 0, paragraphs = 0, sentences = 0
    cdef bint after_headline = False
    cdef str text
    for row in shown:
        size = <double> before[row + 1] - <double> before[row]
        if size < min_headline:
            continue
        if <double> links[row + 1] > <double> links[row]:
            block = _block_of(tags, parents, row, inline_tags)
            end = ends[block]
            chars = <double> before[end] - <double> before[block]
            if chars and (<double> links[end] - <double> links[block]) / chars >= min_link_density:
                headlines.append(row)
                headline_chars += size
                after_headline = True
            continue
        teasers += after_headline
        after_headline = False
        text = texts[row]
        sentences += text[len(text) - 1] in sentence_ends
        if size >= min_paragraph:
            paragraphs += 1
            paragraph_chars += size
    return headlines, headline_chars, teasers, paragraphs, paragraph_chars, sentences


def block_chars(document, *, frozenset inline_tags):
    """See :func:`newscrawl.fields.kind.longest_run.block_chars`."""
    cdef list before = document.chars_before, links = document.link_chars_before
    cdef list tags = document.tag, parents = document.parent, shown = document.shown_rows
    cdef dict blocks = {}
    cdef Py_ssize_t row
    cdef double size
    for row in shown:
        if <double> links[row] == <double> links[row + 1]:
            size = <double> before[row + 1] - <double> before[row]
            block = _block_of(tags, parents, row, inline_tags)
            blocks[block] = <double> blocks.get(block, 0.0) + size
    return blocks


def measure_forest(document, list forest not None):
    """See :func:`newscrawl.fields.kind.forest_measures.measure_forest`."""
    cdef list before = document.chars_before, links = document.link_chars_before
    cdef list tags = document.tag, parents = document.parent, ends = document.end
    cdef list shown = document.shown_rows
    cdef double chars = 0, longest = 0, own = 0, in_items = 0, size, group
    cdef double largest_group = 0
    cdef Py_ssize_t root, end, row, place, texts = 0, last = NO_ROW
    cdef bint in_item = False
    cdef dict groups = {}
    for root in forest:
        end = ends[root]
        place = bisect_left(shown, root)
        while place < len(shown):
            row = shown[place]
            if row >= end:
                break
            size = <double> before[row + 1] - <double> before[row]
            texts += 1
            chars += size
            longest = max(longest, size)
            place += 1
        size = <double> before[end] - <double> before[root]
        own += size - <double> links[end] + <double> links[root]
        parent = parents[root]
        groups[parent] = group = <double> groups.get(parent, 0.0) + size
        largest_group = max(largest_group, group)
        if parent != last or tags[root] == "li":
            row = root
            while row >= 0 and tags[row] != "li":
                row = parents[row]
            in_item = row >= 0
            last = NO_ROW if row == root else <Py_ssize_t> parent
        if in_item:
            in_items += size
    return texts, chars, longest, own, largest_group, in_items


def dates_and_prices(
    list rows not None, list texts not None, *, find_date, find_copyright, find_price,
):
    """See :func:`newscrawl.fields.kind.kind_features.dates_and_prices`."""
    cdef Py_ssize_t row, prices = 0
    cdef list dates = []
    cdef str text
    for row in rows:
        text = texts[row]
        if _may_be_price(text) and find_price(text):
            prices += 1
        if _may_be_date(text) and find_date(text) and not find_copyright(text):
            dates.append(row)
    return dates, prices


cdef bint _may_be_price(str text) except -1:
    """Return whether *text* has a sign of a currency."""
    cdef Py_UCS4 character
    for character in text:
        if character == u"$" or character == 0xa3 or character == 0xa5 or 0x20a0 <= character <= 0x20cf:
            return True
    return False


cdef bint _may_be_date(str text) except -1:
    """Return whether *text* has a year, three numbers with separators, or digits of other scripts."""
    cdef int kind = PyUnicode_KIND(text), separators = 0, digits = 0
    cdef void* data = PyUnicode_DATA(text)
    cdef Py_ssize_t place, size = len(text)
    cdef Py_UCS4 character, first = 0, second = 0
    for place in range(size + 1):
        character = PyUnicode_READ(kind, data, place) if place < size else 0
        if is_digit(character):
            if not digits:
                first = character
            elif digits == 1:
                second = character
            digits += 1
            continue
        if character > 127 and Py_UNICODE_ISDECIMAL(character):
            return True
        if digits == 4 and (
            (first == u"1" and second == u"9") or (first == u"2" and second == u"0")
        ):
            return True
        if digits and (character == u"." or character == u"/" or character == u"-"):
            separators += 1
            if separators > 1:
                return True
        digits = 0
    return False
