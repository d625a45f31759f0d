# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled columns of :mod:`newscrawl.body.block_features` and ``context_features``."""

from cpython cimport array
from libc.math cimport log2

from array import array as new_array

from newscrawl.body.blocks import cast_votes
from newscrawl.document.rows import TEXT
from newscrawl.text import squeeze

cdef str TEXT_NODE = TEXT
cdef array.array _DOUBLES = new_array("d")


cdef class Blocks:
    """Candidates of a page, with the columns of their features."""

    cdef list tags, parents, ends, before, links
    #: rows of the owner, of its parent and of the text nodes of each candidate
    cdef list owner, above, rows
    #: weighted characters of all candidates; of long candidates with few links, 0 for others
    cdef array.array sizes, longs
    cdef double whole_long
    #: feature name -> a number for each candidate
    cdef dict columns

    def __cinit__(self, document, list owner, list rows):
        self.tags, self.parents, self.ends = document.tag, document.parent, document.end
        self.before, self.links = document.chars_before, document.link_chars_before
        self.owner, self.rows = owner, rows
        self.above = [max(<Py_ssize_t> self.parents[row], 0) for row in owner]
        self.sizes, self.longs = _zeros(len(owner)), _zeros(len(owner))
        self.columns = {}

    cdef double* column(self, str name) except? NULL:
        """Add a column of zeros."""
        return _column(self.columns, name, len(self.owner))

    cdef int fill_sizes(self, double min_long, double max_link_density) except -1:
        cdef Py_ssize_t place, first, end, last = len(self.owner) - 1
        cdef double size, share
        cdef double* chars = self.column("chars")
        cdef double* density = self.column("link_density")
        cdef double* before = self.column("before_chars")
        cdef double* after = self.column("after_chars")
        cdef list mine
        for place in range(last + 1):
            mine = self.rows[place]
            first, end = mine[0], <Py_ssize_t> mine[len(mine) - 1] + 1
            size = <double> self.before[end] - <double> self.before[first] or 1.0
            share = (<double> self.links[end] - <double> self.links[first]) / size
            self.sizes.data.as_doubles[place] = size
            if size >= min_long and share < max_link_density:
                self.longs.data.as_doubles[place] = size
                self.whole_long += size
            chars[place] = log2(1 + size)
            density[place] = share
        for place in range(last + 1):
            before[place] = chars[place - 1] if place else -1
            after[place] = chars[place + 1] if place < last else -1
        return 0

    cdef int fill_markup(
        self, dict tag_codes, frozenset strong, frozenset emphasis, frozenset images,
        bytearray within, double outside,
    ) except -1:
        cdef Py_ssize_t place, row
        cdef double size
        cdef double* tag = self.column("tag")
        cdef double* parent_tag = self.column("parent_tag")
        cdef double* before_tag = self.column("before_tag")
        cdef double* within_article = self.column("within_article")
        cdef double* strong_share = self.column("strong")
        cdef double* emphasis_share = self.column("emphasis")
        cdef double* image = self.column("image")
        for place in range(len(self.owner)):
            row = self.owner[place]
            size = self.sizes.data.as_doubles[place]
            tag[place] = tag_codes.get(self.tags[row], 0.0)
            parent_tag[place] = tag_codes.get(self.tags[<Py_ssize_t> self.above[place]], 0.0)
            before_tag[place] = tag[place - 1] if place else -1
            within_article[place] = 1.0 if within[row] else outside
            strong_share[place] = self.stressed(place, strong) / size
            emphasis_share[place] = self.stressed(place, emphasis) / size
            image[place] = self.image_before(self.rows[place][0], images)
        return 0

    cdef double stressed(self, Py_ssize_t place, frozenset tags) except -1:
        """Return the characters in inline elements with one of the *tags*."""
        cdef double chars = 0
        cdef Py_ssize_t row, above, owner = self.owner[place]
        for row in self.rows[place]:
            above = self.parents[row]
            while above != owner:
                if self.tags[above] in tags:
                    chars += <double> self.before[row + 1] - <double> self.before[row]
                    break
                above = self.parents[above]
        return chars

    cdef double image_before(self, Py_ssize_t row, frozenset images) except -1:
        cdef Py_ssize_t back
        for back in range(1, min(row, 6) + 1):
            if self.tags[row - back] == TEXT_NODE:
                break
            if self.tags[row - back] in images:
                return 7 - back
        return 0

    cdef int fill_votes(self, bytearray votes) except -1:
        cdef Py_ssize_t place
        cdef unsigned char taken
        cdef double* voters = self.column("votes")
        for place in range(len(self.rows)):
            taken = votes[<Py_ssize_t> self.rows[place][0]]
            voters[place] = (taken & 1) + (taken >> 1 & 1) + (taken >> 2 & 1)
        self.fill_shares_before(votes, 1, self.column("nce_before"))
        return self.fill_shares_before(votes, 2, self.column("coreex_before"))

    cdef int fill_shares_before(self, bytearray votes, int voter, double* column) except -1:
        """Fill in the share of the text of *voter* that precedes a block."""
        cdef double taken = 0
        cdef Py_ssize_t place
        for place in range(len(self.rows)):
            column[place] = taken
            if votes[<Py_ssize_t> self.rows[place][0]] & voter:
                taken += self.sizes.data.as_doubles[place]
        for place in range(len(self.rows)):
            column[place] /= taken or 1.0
        return 0

    cdef int fill_parents(self, list depths) except -1:
        cdef list homes = [], ups = []
        cdef Py_ssize_t place, row, up, best = 0
        cdef bint is_container
        cdef double whole = <double> self.before[<Py_ssize_t> self.ends[0]] or 1.0
        cdef double* share = self.column("up_share")
        cdef double* depth = self.column("depth")
        for place in range(len(self.owner)):
            row, up = self.owner[place], self.above[place]
            is_container = <Py_ssize_t> self.rows[place][0] > row + 1
            homes.append(row if is_container and self.tags[row] not in ("li", "p") else up)
            ups.append(max(<Py_ssize_t> self.parents[up], 0))
            share[place] = (
                <double> self.before[<Py_ssize_t> self.ends[up]] - <double> self.before[up]
            ) / whole
        self.fill_shares_of_best(ups, self.column("up_long"))
        best = self.fill_shares_of_best(homes, self.column("home_long"))
        for place in range(len(self.owner)):
            row = self.owner[place]
            depth[place] = <Py_ssize_t> depths[row] - <Py_ssize_t> depths[best]
        return self.fill_blocks_of_parents()

    cdef Py_ssize_t fill_shares_of_best(self, list keys, double* column) except -1:
        """Fill in the long text of each key relative to the largest; return the key of the largest."""
        cdef list groups = _numbered(keys)
        cdef array.array held = _zeros(len(keys))
        cdef Py_ssize_t place, best = 0
        for place in range(len(keys)):
            held.data.as_doubles[<Py_ssize_t> groups[place]] += self.longs.data.as_doubles[place]
        for place in range(len(keys)):
            if _at(held, groups, place) > _at(held, groups, best):
                best = place
        for place in range(len(keys)):
            column[place] = _at(held, groups, place) / (_at(held, groups, best) or 1.0)
        return keys[best]

    cdef int fill_blocks_of_parents(self) except -1:
        cdef list groups = _numbered(self.above)
        cdef array.array counts = _zeros(len(groups))
        cdef Py_ssize_t place
        cdef double* blocks = self.column("up_blocks")
        for place in range(len(groups)):
            counts.data.as_doubles[<Py_ssize_t> groups[place]] += 1
        for place in range(len(groups)):
            blocks[place] = min(_at(counts, groups, place), 30.0)
        return 0

    cdef int fill_patterns(self, dict classes) except -1:
        cdef list own = [], above = []
        cdef Py_ssize_t place
        for place in range(len(self.owner)):
            row, up = self.owner[place], self.above[place]
            own.append((self.tags[row], classes.get(row), self.tags[up]))
            above.append((self.tags[up], classes.get(up), self.tags[row]))
        self.fill_pattern(own, "own")
        return self.fill_pattern(above, "above")

    cdef int fill_pattern(self, list keys, str name) except -1:
        """Fill in the number, mean size and share of long text of the blocks that share a key."""
        cdef list groups = _numbered(keys)
        cdef array.array counts = _zeros(len(keys)), sizes = _zeros(len(keys))
        cdef array.array longs = _zeros(len(keys))
        cdef double whole = self.whole_long or 1.0
        cdef double* count = self.column(name + "_count")
        cdef double* mean = self.column(name + "_mean")
        cdef double* long_share = self.column(name + "_long")
        cdef Py_ssize_t place, group
        for place in range(len(keys)):
            group = groups[place]
            counts.data.as_doubles[group] += 1
            sizes.data.as_doubles[group] += self.sizes.data.as_doubles[place]
            longs.data.as_doubles[group] += self.longs.data.as_doubles[place]
        for place in range(len(keys)):
            group = groups[place]
            count[place] = counts.data.as_doubles[group]
            mean[place] = log2(1 + sizes.data.as_doubles[group] / counts.data.as_doubles[group])
            long_share[place] = longs.data.as_doubles[group] / whole
        return 0

    cdef int fill_places(self, heading) except -1:
        cdef double start = 0 if heading is None else self.before[<Py_ssize_t> self.ends[heading]]
        cdef double whole = <double> self.before[len(self.before) - 1] or 1.0
        cdef double total = 0, earlier = 0, near
        cdef Py_ssize_t place, other, count = len(self.rows)
        cdef double* after_heading = self.column("after_heading")
        cdef double* share_before = self.column("place")
        cdef double* left = self.column("left")
        cdef double* window = self.column("window")
        for place in range(count):
            total += self.sizes.data.as_doubles[place]
        total = total or 1.0
        for place in range(count):
            first = self.rows[place][0]
            after_heading[place] = (<double> self.before[<Py_ssize_t> first] - start) / whole
            share_before[place] = earlier / total
            left[place] = log2(1 + total - earlier)
            earlier += self.sizes.data.as_doubles[place]
            near = 0
            for other in range(max(0, place - 3), min(count, place + 4)):
                near += self.longs.data.as_doubles[other]
            window[place] = log2(1 + near)
        return 0

    cdef int fill_texts(
        self, list texts, str description, Py_ssize_t prefix, Py_ssize_t min_prefix,
        Py_ssize_t max_symbol_text,
    ) except -1:
        cdef dict seen = {}
        cdef str text, start
        cdef Py_ssize_t place
        cdef double* ends = self.column("ends")
        cdef double* odd = self.column("odd")
        cdef double* described = self.column("described")
        cdef double* again = self.column("again")
        for place in range(len(texts)):
            text = texts[place]
            seen[text] = text in seen
            ends[place] = _ending(text)
            odd[place] = _count_symbols(text, max_symbol_text)
            described[place] = 0 if description else -1
            if description and len(text) >= min_prefix:
                start = _squeezed(text, prefix)
                described[place] = len(start) >= min_prefix and start in description
        for place in range(len(texts)):
            again[place] = <bint> seen[texts[place]]
        return 0


def feature_columns(
    document, list owner not None, list rows not None, bytearray votes not None, heading,
    list texts not None, str description not None,
    *, dict tag_codes not None, frozenset strong_tags not None,
    frozenset emphasis_tags not None, frozenset image_tags not None,
    double min_long, double max_link_density, Py_ssize_t prefix, Py_ssize_t min_prefix,
    Py_ssize_t max_symbol_text,
):
    """See :func:`newscrawl.body.block_features.feature_columns`."""
    cdef Blocks blocks = Blocks(document, owner, rows)
    blocks.fill_sizes(min_long, max_link_density)
    articles = cast_votes(document.end, [document.rows_of("article")])
    outside = 0.0 if document.rows_of("article") or document.rows_of("main") else -1.0
    blocks.fill_markup(tag_codes, strong_tags, emphasis_tags, image_tags, articles, outside)
    blocks.fill_votes(votes)
    blocks.fill_parents(document.depth)
    blocks.fill_patterns(document.attributes["class"])
    blocks.fill_places(heading)
    blocks.fill_texts(texts, description, prefix, min_prefix, max_symbol_text)
    return blocks.columns


def context_columns(
    features, list probabilities not None, list chars not None, double expected_f1, double cut,
    *, dict neighbours not None, dict windows not None, dict groups not None,
):
    """See :func:`newscrawl.body.context_features.context_columns`."""
    cdef Py_ssize_t place, first, end, count = len(probabilities)
    cdef dict columns = {}
    cdef array.array rates = new_array("d", probabilities), sizes = new_array("d", chars)
    cdef array.array mass_before = _zeros(count + 1), chars_before = _zeros(count + 1)
    cdef double* rated = rates.data.as_doubles
    cdef double* size = sizes.data.as_doubles
    cdef double* mass = mass_before.data.as_doubles
    cdef double* before = chars_before.data.as_doubles
    cdef double* above_cut
    cdef double* earlier
    cdef double* means
    cdef double whole, total
    if not count:
        return columns
    for place in range(count):
        mass[place + 1] = mass[place] + rated[place] * size[place]
        before[place + 1] = before[place] + size[place]
    whole, total = mass[count] or 1.0, before[count] or 1.0
    columns["probability"] = rates
    above_cut, earlier = _column(columns, "above_cut", count), _column(columns, "earlier", count)
    for place in range(count):
        above_cut[place] = rated[place] - cut
        earlier[place] = mass[place] / whole
    for name, shift in neighbours.items():
        means = _column(columns, name, count)
        first = shift
        for place in range(count):
            means[place] = rated[place + first] if 0 <= place + first < count else -1
    for name, reach in windows.items():
        means = _column(columns, name, count)
        for place in range(count):
            first, end = max(0, place - <Py_ssize_t> reach), min(count, place + <Py_ssize_t> reach + 1)
            means[place] = (mass[end] - mass[first]) / (before[end] - before[first] or 1.0)
    for name, keys in groups.items():
        _fill_group(columns, name, _keys([new_array("d", features[key]) for key in keys]), rates, sizes, total)
    for name, value in (
        ("expected_f1", expected_f1), ("cut", cut), ("best", max(probabilities)),
        ("level", mass[count] / total),
    ):
        columns[name] = new_array("d", [value]) * count
    return columns


cdef int _fill_group(
    dict columns, str name, list keys, array.array rates, array.array sizes, double total
) except -1:
    """Fill in the mean and the largest probability and the share of text of the blocks of a key."""
    cdef list groups = _numbered(keys)
    cdef Py_ssize_t place, group, count = len(keys)
    cdef array.array masses = _zeros(count), chars = _zeros(count), largest = _zeros(count)
    cdef double* mean = _column(columns, name + "_probability", count)
    cdef double* best = _column(columns, name + "_best", count)
    cdef double* share = _column(columns, name + "_share", count)
    cdef double rate, size
    for place in range(count):
        group = groups[place]
        rate, size = rates.data.as_doubles[place], sizes.data.as_doubles[place]
        masses.data.as_doubles[group] += rate * size
        chars.data.as_doubles[group] += size
        largest.data.as_doubles[group] = max(largest.data.as_doubles[group], rate)
    for place in range(count):
        size = _at(chars, groups, place)
        mean[place] = _at(masses, groups, place) / (size or 1.0)
        best[place] = _at(largest, groups, place)
        share[place] = size / total
    return 0


cdef list _keys(list parts):
    """Return the bytes of the numbers of each row, which are hashed faster than numbers."""
    cdef Py_ssize_t place, part, size = len(parts)
    cdef array.array numbers = _zeros(size), first = parts[0]
    cdef const char* data = numbers.data.as_chars
    cdef list keys = []
    for place in range(len(first)):
        for part in range(size):
            numbers.data.as_doubles[part] = (<array.array> parts[part]).data.as_doubles[place]
        keys.append(data[:size * sizeof(double)])
    return keys


cdef double* _column(dict columns, str name, Py_ssize_t count) except? NULL:
    """Add a column of zeros."""
    cdef array.array column = _zeros(count)
    columns[name] = column
    return column.data.as_doubles


cdef array.array _zeros(Py_ssize_t count):
    return array.clone(_DOUBLES, count, zero=True)


cdef list _numbered(list keys):
    """Number the distinct *keys*; return the number of each."""
    cdef dict numbers = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


cdef inline double _at(array.array held, list groups, Py_ssize_t place) except? -1:
    return held.data.as_doubles[<Py_ssize_t> groups[place]]


cdef double _ending(str text) except -1:
    """Return 2 if *text* ends a sentence, 1 if it ends with a colon, else 0."""
    cdef Py_ssize_t size = len(text), place = size - 1, first = max(0, size - 8)
    while place >= first and text[place] in u"\"'”’»)]」』":
        place -= 1
    if place >= first and text[place] in u".!?…。！？؟۔।॥":
        return 2.0
    return 1.0 if size and text[size - 1] in u":：" else 0.0


cdef double _count_symbols(str text, Py_ssize_t max_chars) except -1:
    cdef Py_ssize_t count = 0
    cdef Py_UCS4 character
    for character in text[:max_chars]:
        if character == u" " or u"A" <= character <= u"z":
            continue
        if character in u"©®|•»›→▶►@#/":
            count += 1
    return count


cdef str _squeezed(str text, Py_ssize_t size):
    """Collapse white space at the start of *text*; return *size* characters."""
    cdef str start = text[:size]
    cdef bint is_plain = True, is_space = False
    cdef Py_UCS4 character
    for character in start:
        if character.isspace():
            is_plain = character == u" " and not is_space
            is_space = True
            if not is_plain:
                break
        else:
            is_space = False
    return start if is_plain and not is_space else squeeze(text[:4 * size])[:size]
