# cython: language_level=3, boundscheck=False, wraparound=False
"""The loops over blocks of text in :mod:`newscrawl.body` and :mod:`newscrawl.fields`, compiled.

Each is the double of the Python function that it names, and gives the same.
"""

from cpython cimport array

from array import array as new_array

from newscrawl.text import squeeze

cdef array.array _DOUBLES = new_array("d")


def split_text(document, *, frozenset bounds not None):
    """Return owners and rows: see :func:`newscrawl.body.blocks.split_in_python`."""
    cdef list tags = document.tag, parents = document.parent
    cdef list owners = [], rows = [], mine = []
    cdef Py_ssize_t row, owner, last = -1, before = -1
    for row in document.shown:
        owner = parents[row]
        while owner > 0 and tags[owner] not in bounds:
            owner = parents[owner]
        if owner != last or _ends_block(tags, before + 1, row, bounds):
            mine = [row]
            owners.append(owner)
            rows.append(mine)
        else:
            mine.append(row)
        last, before = owner, row
    return owners, rows


cdef bint _ends_block(list tags, Py_ssize_t first, Py_ssize_t end, frozenset bounds) except -1:
    cdef Py_ssize_t row, breaks = 0
    for row in range(first, end):
        if tags[row] in bounds:
            return True
        breaks += tags[row] == "br"
    return breaks > 1


def text_columns(
    list texts not None, str description not None,
    *, str odd not None, str stops not None, str closing not None, Py_ssize_t most_looked_at,
    Py_ssize_t beginning, Py_ssize_t least_described, Py_ssize_t most_described,
):
    """Return the columns: see :func:`newscrawl.body.blocktexts.texts_in_python`."""
    cdef list ends = [], odds = [], described = [], again = []
    cdef dict seen = {}
    cdef str text, start
    cdef double known = 0.0 if description else -1.0
    for text in texts:
        seen[text] = text in seen
        ends.append(_ending(text, stops, closing))
        odds.append(_count_of(text, most_looked_at, odd))
        if description and len(text) >= least_described:
            start = _squeezed(text, beginning, most_described)
            described.append(1.0 if len(start) >= least_described and start in description else 0.0)
        else:
            described.append(known)
    for text in texts:
        again.append(1.0 if seen[text] else 0.0)
    return {"ends": ends, "odd": odds, "described": described, "again": again}


cdef double _ending(str text, str stops, str closing):
    """Return what *text* ends with: 2 a sentence, 1 an announcement."""
    cdef Py_ssize_t size = len(text), place = size - 1, first = max(0, size - 8)
    while place >= first and text[place] in closing:
        place -= 1
    if place >= first and text[place] in stops:
        return 2.0
    return 1.0 if size and text[size - 1] in u":：" else 0.0


cdef double _count_of(str text, Py_ssize_t most, str characters):
    cdef Py_ssize_t place, count = 0
    for place in range(min(len(text), most)):
        if text[place] in characters:
            count += 1
    return count


cdef str _squeezed(str text, Py_ssize_t size, Py_ssize_t most):
    """Return the first *size* characters of the first *most* of *text*, white space squeezed."""
    cdef Py_ssize_t place, last = min(len(text), size) - 1
    for place in range(last + 1):
        if text[place].isspace() and (
            text[place] != u" " or place == last or text[place + 1].isspace()
        ):
            return squeeze(text[:most])[:size]
    return text[:size]


def longest_run(document, *, frozenset inline not None, double least, double alone):
    """Return the weighted characters: see :func:`newscrawl.fields.kind.longest_in_python`."""
    cdef list tags = document.tag, parents = document.parent
    cdef list before = document.chars_before, links = document.link_chars_before
    cdef array.array chars = array.clone(_DOUBLES, len(tags), zero=True)
    cdef array.array runs = array.clone(_DOUBLES, len(tags) + 1, zero=True)
    cdef Py_ssize_t row, block, home
    cdef double size, longest = 0
    for row in document.shown:
        if <double> links[row] == <double> links[row + 1]:
            block = parents[row]
            while tags[block] in inline and <Py_ssize_t> parents[block] >= 0:
                block = parents[block]
            chars.data.as_doubles[block] += <double> before[row + 1] - <double> before[row]
    for block in range(len(tags)):
        size = chars.data.as_doubles[block]
        if size >= least:
            home = block if size >= alone and tags[block] != "p" else parents[block]
            runs.data.as_doubles[home + 1] += size
            longest = max(longest, runs.data.as_doubles[home + 1])
    return longest
