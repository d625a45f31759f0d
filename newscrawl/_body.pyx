# cython: language_level=3, boundscheck=False, wraparound=False
"""The loops over all rows of a page in :mod:`newscrawl.body`, compiled.

Each is the double of the Python function that it is named after, and gives the same.
"""

from cpython cimport array
from libc.math cimport log2

from array import array as new_array

from newscrawl.rows import TEXT
from newscrawl.text import tokens

cdef str TEXT_NODE = TEXT
cdef array.array _DOUBLES = new_array("d")


def count_terminals(document, bytearray skipped, frozenset forms not None, double largest):
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


def number_columns(
    document, list owner not None, list rows not None, votes, heading,
    *, dict tag_groups not None, frozenset strong_tags not None,
    frozenset emphasis_tags not None, frozenset images not None,
    double least_long, double few_links,
):
    """Return the columns: see :func:`newscrawl.body.blockfeatures.numbers_in_python`."""
    cdef list tags = document.tag, parents = document.parent
    cdef list before = document.chars_before, links = document.link_chars_before
    cdef bytearray articles = _mask(document.rows_of("article"), document.end)
    cdef array.array sizes = _zeros(len(owner)), longs = _zeros(len(owner))
    cdef list above = [], chars = [], density = [], own_tag = [], above_tag = [], within = []
    cdef list image = [], strong = [], emphasis = []
    cdef Py_ssize_t place, row, first, end, up
    cdef double size, share
    cdef list mine
    for place in range(len(owner)):
        row = owner[place]
        up = max(<Py_ssize_t> parents[row], 0)
        mine = rows[place]
        first, end = mine[0], mine[len(mine) - 1] + 1
        size = <double> before[end] - <double> before[first] or 1.0
        share = (<double> links[end] - <double> links[first]) / size
        sizes.data.as_doubles[place] = size
        if size >= least_long and share < few_links:
            longs.data.as_doubles[place] = size
        above.append(up)
        chars.append(log2(1 + size))
        density.append(share)
        own_tag.append(tag_groups.get(tags[row], 0.0))
        above_tag.append(tag_groups.get(tags[up], 0.0))
        within.append(<double> articles[row])
        image.append(_image_before(tags, first, images))
        strong.append(_stressed(tags, parents, before, mine, row, strong_tags) / size)
        emphasis.append(_stressed(tags, parents, before, mine, row, emphasis_tags) / size)
    return {
        "chars": chars,
        "link_density": density,
        "tag": own_tag,
        "parent_tag": above_tag,
        "within_article": within,
        "strong": strong,
        "emphasis": emphasis,
        "image": image,
        "before_chars": [-1.0, *chars[: len(chars) - 1]],
        "after_chars": [*chars[1:], -1.0],
        "before_tag": [-1.0, *own_tag[: len(chars) - 1]],
        **_vote_columns(votes, rows, sizes),
        **_parent_columns(document, owner, above, rows, longs),
        **_pattern_columns(document, owner, above, sizes, longs),
        **_place_columns(document, rows, heading, sizes, longs),
    }


cdef array.array _zeros(Py_ssize_t count):
    return array.clone(_DOUBLES, count, zero=True)


cdef double _sum(array.array numbers):
    cdef double total = 0
    cdef Py_ssize_t place
    for place in range(len(numbers)):
        total += numbers.data.as_doubles[place]
    return total


cdef bytearray _mask(forest, list ends):
    cdef bytearray inside = bytearray(len(ends))
    cdef Py_ssize_t root, row
    for root in forest:
        for row in range(root, <Py_ssize_t> ends[root]):
            inside[row] = 1
    return inside


cdef double _image_before(list tags, Py_ssize_t row, frozenset images) except -1:
    cdef Py_ssize_t back
    for back in range(1, min(row, 6) + 1):
        if tags[row - back] == TEXT_NODE:
            break
        if tags[row - back] in images:
            return 7 - back
    return 0


cdef double _stressed(
    list tags, list parents, list before, list rows, Py_ssize_t owner, frozenset stressing
) except -1:
    """Return the characters in inline elements of the tags *stressing*."""
    cdef double chars = 0
    cdef Py_ssize_t row, above
    for row in rows:
        above = parents[row]
        while above != owner:
            if tags[above] in stressing:
                chars += <double> before[row + 1] - <double> before[row]
                break
            above = parents[above]
    return chars


cdef dict _vote_columns(votes, list rows, array.array sizes):
    cdef list all_votes = [0.0] * len(rows), shares
    cdef dict columns = {"votes": all_votes}
    cdef bytearray inside
    cdef double taken, whole
    cdef Py_ssize_t place, first
    for name, inside in votes.items():
        taken = 0
        shares = []
        for place in range(len(rows)):
            shares.append(taken)
            first = rows[place][0]
            if inside[first]:
                taken += sizes.data.as_doubles[place]
                all_votes[place] += 1.0
        if name != "econ":
            whole = taken or 1.0
            columns[f"{name}_before"] = [<double> share / whole for share in shares]
    return columns


cdef dict _parent_columns(document, list owner, list above, list rows, array.array longs):
    cdef list tags = document.tag, parents = document.parent, ends = document.end
    cdef list before = document.chars_before, depths = document.depth
    cdef array.array by_home = _zeros(len(tags)), by_up = _zeros(len(tags))
    cdef array.array children = _zeros(len(tags))
    cdef list homes = [], ups = []
    cdef double whole = before[ends[0]] - before[0] or 1.0, best_up = 0
    cdef Py_ssize_t place, row, home, up, best = 0
    for place in range(len(owner)):
        row = owner[place]
        home = up = above[place]
        if <Py_ssize_t> rows[place][0] > row + 1 and tags[row] not in ("li", "p"):
            home = row
        children.data.as_doubles[up] += 1
        up = max(<Py_ssize_t> parents[up], 0)
        by_home.data.as_doubles[home] += longs.data.as_doubles[place]
        by_up.data.as_doubles[up] += longs.data.as_doubles[place]
        best_up = max(best_up, by_up.data.as_doubles[up])
        homes.append(home)
        ups.append(up)
    if homes:
        best = homes[0]
    for home in homes:
        if by_home.data.as_doubles[home] > by_home.data.as_doubles[best]:
            best = home
    return {
        "home_long": _over(by_home, homes, by_home.data.as_doubles[best] or 1.0),
        "up_long": _over(by_up, ups, best_up or 1.0),
        "depth": [<double> (<Py_ssize_t> depths[row] - <Py_ssize_t> depths[best]) for row in owner],
        "up_share": [
            (<double> before[ends[up]] - <double> before[up]) / whole for up in above
        ],
        "up_blocks": [min(children.data.as_doubles[<Py_ssize_t> up], 30.0) for up in above],
    }


cdef list _over(array.array numbers, list places, double whole):
    cdef Py_ssize_t place
    return [numbers.data.as_doubles[place] / whole for place in places]


cdef dict _pattern_columns(
    document, list owner, list above, array.array sizes, array.array longs
):
    cdef list tags = document.tag
    cdef dict classes = document.attributes["class"]
    cdef list own_keys = [], above_keys = []
    cdef Py_ssize_t place
    for place in range(len(owner)):
        row, up = owner[place], above[place]
        own_keys.append((tags[row], classes.get(row), tags[up]))
        above_keys.append((tags[up], classes.get(up), tags[row]))
    return {
        **_pattern_statistics("own", own_keys, sizes, longs),
        **_pattern_statistics("above", above_keys, sizes, longs),
    }


cdef dict _pattern_statistics(str name, list keys, array.array sizes, array.array longs):
    cdef dict numbers = {}
    cdef list groups = [numbers.setdefault(key, len(numbers)) for key in keys]
    cdef array.array counts = _zeros(len(numbers)), size_of = _zeros(len(numbers))
    cdef array.array long_of = _zeros(len(numbers))
    cdef Py_ssize_t place, group
    for place in range(len(groups)):
        group = groups[place]
        counts.data.as_doubles[group] += 1
        size_of.data.as_doubles[group] += sizes.data.as_doubles[place]
        long_of.data.as_doubles[group] += longs.data.as_doubles[place]
    for group in range(len(numbers)):
        size_of.data.as_doubles[group] = log2(
            1 + size_of.data.as_doubles[group] / counts.data.as_doubles[group]
        )
    return {
        f"{name}_count": _over(counts, groups, 1.0),
        f"{name}_mean": _over(size_of, groups, 1.0),
        f"{name}_long": _over(long_of, groups, _sum(longs) or 1.0),
    }


cdef dict _place_columns(
    document, list rows, heading, array.array sizes, array.array longs
):
    cdef list before = document.chars_before
    cdef double start = 0 if heading is None else before[document.end[heading]]
    cdef double whole = before[len(before) - 1] or 1.0, total = _sum(sizes) or 1.0, earlier = 0, near
    cdef list after_heading = [], places = [], left = [], window = []
    cdef Py_ssize_t place, other, count = len(rows)
    for place in range(count):
        after_heading.append((<double> before[rows[place][0]] - start) / whole)
        places.append(earlier / total)
        left.append(log2(1 + total - earlier))
        earlier += sizes.data.as_doubles[place]
        near = 0
        for other in range(max(0, place - 3), min(count, place + 4)):
            near += longs.data.as_doubles[other]
        window.append(log2(1 + near))
    return {"after_heading": after_heading, "place": places, "left": left, "window": window}
