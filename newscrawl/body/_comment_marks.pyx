# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled search for marks of comments: a quick test rules out almost all texts.

A pattern then decides on the others. The quick tests accept every text that the patterns accept.
"""

from cpython.unicode cimport (
    PyUnicode_DATA, PyUnicode_KIND, PyUnicode_READ, Py_UNICODE_ISALNUM, Py_UNICODE_ISDECIMAL,
    Py_UNICODE_ISSPACE,
)

from newscrawl.document._phrases cimport Phrases, is_digit, lower, prepared

from newscrawl.document.rows import WIDGET as _WIDGET

cdef int WIDGET = _WIDGET


def reply_rows(
    rows not None, list texts not None, bytearray hidden not None,
    *, is_reply, Py_ssize_t max_reply, tuple starts,
):
    """See :func:`newscrawl.body.comment_records.reply_rows`; *starts* begin all such texts."""
    cdef Phrases words = prepared(starts, (), False)
    cdef Py_ssize_t row
    cdef list found = []
    cdef str text
    for row in rows:
        text = texts[row]
        if len(text) <= max_reply and (not hidden[row] or hidden[row] == WIDGET):
            if begins_letters(text, words) and is_reply(text):
                found.append(row)
    return found


cdef bint begins_letters(str text, Phrases words) except -1:
    """Return whether the first letters of *text*, without other characters, begin a word."""
    cdef Py_UCS4 character, first = 0
    for character in text:
        if Py_UNICODE_ISALNUM(character) and not Py_UNICODE_ISDECIMAL(character):
            if not first:
                first = lower(character)
                if first > 127 and words.has_start(first, 0):
                    return True
            else:
                return words.has_start(first, lower(character))
    return False


def date_rows(
    list rows not None, list texts not None, list numbers not None,
    *, find_date, find_ago, has_date, tuple words, tuple parts,
):
    """See :func:`newscrawl.body.comment_records.date_rows`.

    All texts that *find_ago* accepts contain one of the *words* or *parts*.
    """
    cdef Phrases ago = prepared(parts, words, False)
    cdef Py_ssize_t row, place = 0, count = len(numbers)
    cdef list found = []
    cdef str text
    for row in rows:
        text = texts[row]
        if ago.is_in(text):
            if find_ago("\n".join([texts[row] for row in rows])):
                return [row for row in rows if has_date(texts[row])]
            break
    for row in rows:
        while place < count and <Py_ssize_t> numbers[place] < row:
            place += 1
        if place < count and <Py_ssize_t> numbers[place] == row:
            text = texts[row]
            if may_be_date(text) and find_date(text):
                found.append(row)
    return found


def has_date(str text not None, *, find_date, find_ago, tuple words, tuple parts):
    """See :func:`newscrawl.body.comment_records.has_date`."""
    if may_be_date(text) and find_date(text):
        return True
    return prepared(parts, words, False).is_in(text) and find_ago(text) is not None


def start_of_comments(
    document, *, double min_length, double min_chars, double min_text_before
):
    """See :func:`newscrawl.body.comments.start_of_comments`."""
    cdef list before = document.chars_before, links = document.link_chars_before
    cdef list texts = document.text, rows = document.text_rows
    cdef bytearray hidden = document.hidden
    cdef Py_ssize_t row
    cdef double size, chars = 0
    cdef str text
    for row in rows:
        text = texts[row]
        if len(text) < min_length or hidden[row]:
            continue
        size = <double> before[row + 1] - <double> before[row]
        if size >= min_chars and <double> links[row + 1] == <double> links[row]:
            chars += size
            if chars >= min_text_before:
                return row + 1
    return len(texts)


cdef bint may_be_date(str text) except -1:
    """Return whether *text* may have a day with a year, a time, a day in numbers or an age."""
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    cdef Py_ssize_t place = 0, start, size = len(text)
    cdef Py_UCS4 character, following
    cdef int runs = 0, years = 0
    while place < size:
        character = PyUnicode_READ(kind, data, place)
        if not is_digit(character):
            if character > 127 and Py_UNICODE_ISDECIMAL(character):
                return True
            place += 1
            continue
        start = place
        while place < size and is_digit(PyUnicode_READ(kind, data, place)):
            place += 1
        runs += 1
        years += place - start == 4 and (
            text[start : start + 2] == "19" or text[start : start + 2] == "20"
        )
        if place == size:
            break
        character = PyUnicode_READ(kind, data, place)
        following = PyUnicode_READ(kind, data, place + 1) if place + 1 < size else 0
        if character == u":" or character == u"." or character == u"/" or character == u"-":
            if is_digit(following) or following > 127:
                return True
        elif Py_UNICODE_ISSPACE(character):
            character = following
        if character == u"h" or character == u"m" or character == u"d" or character == u"w":
            return True
    return years > 0 and runs > 1


def named_rows(document, double min_chars, *, names_comments, tuple names):
    """See :func:`newscrawl.body.comments.named_rows`; *names* occur in all such names."""
    cdef list ends = document.end
    cdef list chars = document.chars_before, links = document.link_chars_before
    cdef dict attributes = document.attributes
    cdef dict classes = attributes["class"], ids = attributes["id"], types = attributes["itemtype"]
    cdef Phrases words = prepared(names, (), True)
    cdef Py_ssize_t row = 0, stop, last = len(ends)
    cdef list found = []
    cdef double own
    while row < last:
        stop = ends[row]
        own = <double> chars[stop] - <double> chars[row] - <double> links[stop] + <double> links[row]
        if own < min_chars:
            row = stop
            continue
        class_, id_, type_ = classes.get(row), ids.get(row), types.get(row)
        if (
            (class_ is not None and words.is_in(class_))
            or (id_ is not None and words.is_in(id_))
            or (type_ is not None and words.is_in(type_))
        ) and names_comments(class_, id_, type_):
            found.append(row)
        row += 1
    return found


def heading_rows(
    rows, list texts not None, bytearray hidden not None,
    *, is_heading, Py_ssize_t max_heading, tuple phrases,
):
    """See :func:`newscrawl.body.comments.heading_rows`; *phrases* occur in all headings."""
    cdef Phrases words = prepared(phrases, (), True)
    cdef Py_ssize_t row
    cdef list found = []
    cdef str text
    for row in rows:
        text = texts[row]
        if len(text) <= max_heading and not hidden[row]:
            if words.is_in(text) and is_heading(text):
                found.append(row)
    return found
