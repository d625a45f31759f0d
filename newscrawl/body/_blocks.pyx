# cython: language_level=3, boundscheck=False, wraparound=False
"""Loops over nodes and blocks of text in :mod:`newscrawl.body` and :mod:`newscrawl.fields`, compiled.

Each is the double of the Python function that it names, and gives the same.
"""

from cpython cimport array

from array import array as new_array

from newscrawl.document.flatten import LEADING as _LEADING
from newscrawl.document.flatten import TEXT, TRAILING as _TRAILING

cdef int LEADING = _LEADING, TRAILING = _TRAILING
cdef str TEXT_NODE = TEXT
cdef str PARAGRAPH = "\n\n"
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


def find_prose(document, list rows not None, Py_ssize_t first, *, double least, double few_links):
    """Return the places: see :func:`newscrawl.body.block_features.prose_in_python`."""
    cdef list before = document.chars_before, links = document.link_chars_before, mine
    cdef set places = set()
    cdef Py_ssize_t place, start, end
    cdef double size
    for place in range(first, len(rows)):
        mine = rows[place]
        start, end = mine[0], <Py_ssize_t> mine[len(mine) - 1] + 1
        size = <double> before[end] - <double> before[start]
        if size >= least and <double> links[end] - <double> links[start] < few_links * size:
            places.add(place)
    return places


def find_roots(document, list rows not None):
    """Return the roots: see :func:`newscrawl.body.blocks.roots_in_python`."""
    cdef list before = document.chars_before, ends = document.end, parents = document.parent
    cdef list forest = []
    cdef array.array kept_before = array.clone(_DOUBLES, len(before), zero=False)
    cdef double* kept = kept_before.data.as_doubles
    cdef Py_ssize_t row, root, above, end, done = 0
    cdef double total = 0
    for row in rows:
        while done <= row:
            kept[done] = total
            done += 1
        total += <double> before[row + 1] - <double> before[row]
    while done < len(before):
        kept[done] = total
        done += 1
    end = 0
    for row in rows:
        if row < end:
            continue
        root, above, end = row, parents[row], row + 1
        while above >= 0:
            done = ends[above]
            if kept[done] - kept[above] != <double> before[done] - <double> before[above]:
                break
            root, above, end = above, parents[above], done
        forest.append(root)
    return forest


def longest_runs(document, *, frozenset inline not None, double least, double alone):
    """Return the weighted characters: see :func:`newscrawl.fields.kind.longest_run.runs_in_python`."""
    cdef list tags = document.tag, parents = document.parent
    cdef list before = document.chars_before, links = document.link_chars_before
    cdef array.array chars = array.clone(_DOUBLES, len(tags), zero=True)
    cdef array.array runs = array.clone(_DOUBLES, len(tags) + 1, zero=True)
    cdef Py_ssize_t row, block, home
    cdef double size, longest = 0, second = 0
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
    for home in range(len(tags) + 1):
        size = runs.data.as_doubles[home]
        if size > longest:
            longest, second = size, longest
        elif size > second:
            second = size
    return longest, second


def find_main_content_node(document, counts, parameters):
    """Return its row: see :func:`newscrawl.body.coreex.node_in_python`."""
    cdef list words = counts.words, links = counts.links, ends = document.end
    cdef list level_order = [0]
    cdef bint subset = parameters.subset
    cdef double weight_text = parameters.weight_text, weight_ratio = 1.0 - weight_text
    cdef double threshold = parameters.threshold, score, best_score = 0
    cdef Py_ssize_t least = counts.longest if weight_text else 1
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
                if size >= least:
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


def write_forest(
    flow, document, forest, skip, *, dict breaks not None, frozenset block_level not None
):
    """Write subtrees of no preformatted text: see :func:`newscrawl.body.render.forest_in_python`."""
    cdef list tags = document.tag, ends = document.end, parents = document.parent
    cdef list pieces = flow.pieces, texts = document.text
    cdef bytearray hidden = document.hidden, space = document.space
    cdef Py_ssize_t root, last = -1
    cdef str tag
    for root in forest:
        if last < 0 or ends[last] != root or parents[last] != parents[root]:
            _mark(pieces, PARAGRAPH)
        last = root
        tag = tags[root]
        if tag != TEXT_NODE:
            _write_tree(pieces, tags, ends, texts, hidden, space, root, skip, breaks)
            if space[root] & TRAILING and tag not in block_level:
                _write_space(pieces)
        elif not hidden[root] and root not in skip:
            _write_text(pieces, texts[root], space[root])


cdef int _write_tree(
    list pieces, list tags, list ends, list texts, bytearray hidden, bytearray space,
    Py_ssize_t root, skip, dict breaks,
) except -1:
    cdef list open_rows = []
    cdef Py_ssize_t row = root, last = ends[root], closed
    cdef str tag
    while row < last:
        tag = tags[row]
        if tag == TEXT_NODE:
            if row not in skip:
                _write_text(pieces, texts[row], space[row])
        elif hidden[row] or row in skip:
            _mark(pieces, breaks.get(tag))
            if row != root:
                _write_tail(pieces, tag, space[row], breaks)
            row = <Py_ssize_t> ends[row] - 1
        else:
            open_rows.append(row)
            if tag != "br":
                _mark(pieces, breaks.get(tag))
            if space[row] & LEADING and tag not in breaks:
                _write_space(pieces)
        row += 1
        while open_rows and <Py_ssize_t> ends[open_rows[len(open_rows) - 1]] == row:
            closed = open_rows.pop()
            tag = tags[closed]
            _mark(pieces, breaks.get(tag))
            if closed != root:
                _write_tail(pieces, tag, space[closed], breaks)
    return 0


cdef int _write_text(list pieces, str text, int space) except -1:
    if space & LEADING:
        text = " " + text
    if space & TRAILING:
        text = text + " "
    pieces.append(text.replace("\n", " "))
    return 0


cdef int _write_tail(list pieces, str tag, int space, dict breaks) except -1:
    if space & TRAILING and tag not in breaks:
        _write_space(pieces)
    return 0


cdef int _write_space(list pieces) except -1:
    if pieces[len(pieces) - 1] != PARAGRAPH:
        pieces.append(" ")
    return 0


cdef int _mark(list pieces, str mark) except -1:
    if mark is not None and pieces[len(pieces) - 1] != PARAGRAPH:
        pieces.append(mark)
    return 0
