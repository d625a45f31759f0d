# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The loops of :mod:`newscrawl.neardup.sketch` over characters, words and hashes, compiled.

Each is the double of the Python function that it is named after, and gives the same.
"""

from libc.stdint cimport uint16_t, uint32_t, uint64_t

from numpy import empty, uint16, uint32, uint64

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    const void* PyUnicode_DATA(object text)
    Py_UCS4 PyUnicode_READ(int kind, const void* data, Py_ssize_t place) nogil
    bint Py_UNICODE_ISALNUM(Py_UCS4 character) nogil
    bint Py_UNICODE_ISDECIMAL(Py_UCS4 character) nogil

ctypedef fused Hash:
    uint16_t
    uint32_t

cdef Py_ssize_t LONG = 2**16
"""Steps of a loop that is worth giving up the GIL, which may take milliseconds to get back."""

cdef uint64_t ODD = 0x9E3779B97F4A7C15
cdef uint64_t RANGE = <uint64_t> 1 << 32
cdef enum:
    NUMBERS = 48
    ANCHORS = 8
    OPENING = 128
    # What a character is, if not what it becomes: see newscrawl.neardup.shingles.plain_characters.
    SEPARATOR = 0
    INVISIBLE = 1
    OTHER = 2


cdef struct Words:
    Py_ssize_t count
    Py_ssize_t numbers_count
    uint64_t numbers[NUMBERS]
    Py_ssize_t opening_count
    uint64_t opening[OPENING]


cdef inline uint64_t _mix(uint64_t value) noexcept nogil:
    """Return the value with every bit depending on all bits: the finalizer of SplitMix64."""
    value = (value ^ (value >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    value = (value ^ (value >> 27)) * <uint64_t> 0x94D049BB133111EB
    return value ^ (value >> 31)


cdef inline bint _is_spaceless(Py_UCS4 character) noexcept nogil:
    """Return True for a character that is a word: see :mod:`newscrawl.text`."""
    return character >= 0x0E00 and (
        character <= 0x0EFF
        or 0x1000 <= character <= 0x109F
        or 0x1780 <= character <= 0x17FF
        or 0x3040 <= character <= 0x30FF
        or 0x31F0 <= character <= 0x31FF
        or 0x3400 <= character <= 0x4DBF
        or 0x4E00 <= character <= 0x9FFF
        or 0xF900 <= character <= 0xFAFF
        or 0xFF66 <= character <= 0xFF9F
        or 0x20000 <= character <= 0x3FFFF
    )


cdef struct Word:
    uint64_t total
    uint64_t power
    bint is_number


cdef inline void _add_byte(Word* word, uint64_t byte) noexcept nogil:
    word.power *= ODD
    word.total += byte * word.power


cdef inline void _add_character(Word* word, uint64_t character) noexcept nogil:
    """Add the bytes of a character in UTF-8."""
    if character < 0x80:
        _add_byte(word, character)
    elif character < 0x800:
        _add_byte(word, 0xC0 | character >> 6)
        _add_byte(word, 0x80 | character & 0x3F)
    else:
        if character < 0x10000:
            _add_byte(word, 0xE0 | character >> 12)
        else:
            _add_byte(word, 0xF0 | character >> 18)
            _add_byte(word, 0x80 | character >> 12 & 0x3F)
        _add_byte(word, 0x80 | character >> 6 & 0x3F)
        _add_byte(word, 0x80 | character & 0x3F)


cdef void _end_word(Word* word, uint64_t* hashes, Words* found) noexcept nogil:
    """Note the hash of a word, and forget the word."""
    cdef uint64_t value
    cdef Py_ssize_t place
    _add_byte(word, 0x0A)
    value = _mix(word.total)
    hashes[found.count] = value
    found.count += 1
    if word.is_number and found.numbers_count < NUMBERS:
        for place in range(found.numbers_count):
            if found.numbers[place] == value:
                break
        else:
            found.numbers[found.numbers_count] = value
            found.numbers_count += 1
    word.total = 0
    word.power = 1


cdef bint _hash_words(
    str text, const uint16_t[::1] plain, bint is_folded, uint64_t* hashes, Words* found
):
    """Note the hashes of the words of a text; return False where it has to be folded before."""
    cdef int kind = PyUnicode_KIND(text)
    cdef const void* data = PyUnicode_DATA(text)
    cdef Py_ssize_t size = len(text), plain_size = 0x80 if is_folded else plain.shape[0]
    if size < LONG:
        return _hash_characters(kind, data, size, &plain[0], plain_size, is_folded, hashes, found)
    with nogil:
        return _hash_characters(kind, data, size, &plain[0], plain_size, is_folded, hashes, found)


cdef bint _hash_characters(
    int kind, const void* data, Py_ssize_t size, const uint16_t* plain, Py_ssize_t plain_size,
    bint is_folded, uint64_t* hashes, Words* found,
) noexcept nogil:
    cdef Py_ssize_t place
    cdef Py_UCS4 character
    cdef Word word = Word(0, 1, False)
    cdef bint is_inside = False, alone
    found.count = found.numbers_count = 0
    for place in range(size):
        character = PyUnicode_READ(kind, data, place)
        alone = False
        if <Py_ssize_t> character < plain_size:
            character = plain[character]
            if character == INVISIBLE:
                continue
            if character == OTHER:
                return False
        elif not is_folded:
            return False
        elif _is_spaceless(character):
            alone = True
        elif not Py_UNICODE_ISALNUM(character):
            character = SEPARATOR
        if is_inside and (alone or character == SEPARATOR):
            _end_word(&word, hashes, found)
            is_inside = False
        if character != SEPARATOR:
            if not is_inside:
                is_inside = True
                word.is_number = Py_UNICODE_ISDECIMAL(character)
            _add_character(&word, character)
            if alone:
                _end_word(&word, hashes, found)
                is_inside = False
    if is_inside:
        _end_word(&word, hashes, found)
    return True


cdef void _hash_runs(
    uint64_t* hashes, Py_ssize_t runs, Py_ssize_t size, uint64_t start
) noexcept nogil:
    """Put the hash of the *size* words from each place on in its place."""
    cdef Py_ssize_t place, later
    cdef uint64_t total
    for place in range(runs):
        total = start
        for later in range(place, place + size):
            total = total * ODD + hashes[later]
        hashes[place] = _mix(total) >> 32


cdef Py_ssize_t _keep_below(uint64_t* hashes, Py_ssize_t size, uint64_t limit) noexcept nogil:
    """Move the hashes below the limit to the front; return how many they are."""
    cdef Py_ssize_t place, count = 0
    for place in range(size):
        hashes[count] = hashes[place]
        count += hashes[place] < limit
    return count


cdef _distinct(const uint64_t* hashes, Py_ssize_t size, found, Hash like):
    """Return *found*, filled with the last bits of hashes: sorted, each once."""
    cdef Hash[::1] values = found
    cdef Py_ssize_t place, count = 0
    for place in range(size):
        values[place] = <Hash> hashes[place]
    found.sort()
    for place in range(size):
        if not place or values[place] != values[count - 1]:
            values[count] = values[place]
            count += 1
    return found if count == size else found[:count]


cdef Py_ssize_t _sample(
    uint64_t* hashes, Py_ssize_t runs, Py_ssize_t size, uint64_t start, uint64_t limit,
    uint64_t least_limit, Words* found,
) noexcept nogil:
    """Note the hashes of the runs that are kept, and those of the opening; return how many."""
    cdef Py_ssize_t place
    _hash_runs(hashes, runs, size, start)
    for place in range(min(runs, OPENING)):
        found.opening[place] = hashes[place]
    found.opening_count = _keep_below(found.opening, min(runs, OPENING), least_limit)
    return _keep_below(hashes, runs, limit)


def hash_text(
    str text not None, const uint16_t[::1] plain not None, fold, *,
    Py_ssize_t shingle, Py_ssize_t scale, Py_ssize_t short, uint64_t start,
):
    """Return the parts of a sketch: see :func:`newscrawl.neardup.sketch.sketch_in_python`.

    *plain* tells what becomes of a character, *fold* prepares a text of other characters.
    """
    cdef uint64_t[::1] hashes = empty(len(text) + 1, uint64)
    cdef Words found
    cdef Py_ssize_t runs, size, count
    cdef uint64_t kept = 1, least_limit = RANGE // <uint64_t> scale
    if not _hash_words(text, plain, False, &hashes[0], &found):
        text = fold(text)
        hashes = empty(len(text) + 1, uint64)
        _hash_words(text, plain, True, &hashes[0], &found)
    size = min(shingle, found.count)
    runs = found.count - size + 1 if size else 0
    while kept < <uint64_t> scale and runs > short * <Py_ssize_t> kept:
        kept *= 2
    if runs < LONG:
        count = _sample(&hashes[0], runs, size, start, RANGE // kept, least_limit, &found)
    else:
        with nogil:
            count = _sample(&hashes[0], runs, size, start, RANGE // kept, least_limit, &found)
    numbers = empty(found.numbers_count, uint16)
    opening = empty(found.opening_count, uint32)
    return (
        _distinct(&hashes[0], count, empty(count, uint32), <uint32_t> 0),
        kept,
        found.count,
        _distinct(found.numbers, found.numbers_count, numbers, <uint16_t> 0),
        _distinct(found.opening, found.opening_count, opening, <uint32_t> 0),
    )


def anchors(const uint32_t[::1] hashes not None, uint64_t site):
    """Return the anchors: see :func:`newscrawl.neardup.sketch.anchors_in_python`."""
    cdef uint32_t least[ANCHORS]
    cdef bint seen[ANCHORS]
    cdef Py_ssize_t place, kind, count = 0
    for kind in range(ANCHORS):
        seen[kind] = False
    for place in range(min(hashes.shape[0], 8 * ANCHORS)):
        kind = hashes[place] % ANCHORS
        if not seen[kind]:
            seen[kind] = True
            least[kind] = hashes[place]
            count += 1
    salted = empty(count, uint32)
    cdef uint32_t[::1] values = salted
    count = 0
    for kind in range(ANCHORS):
        if seen[kind]:
            values[count] = _mix(least[kind] | <uint64_t> kind << 32 | site << 40) >> 32
            count += 1
    return salted


cdef struct Overlap:
    Py_ssize_t shared
    Py_ssize_t left
    Py_ssize_t right


cdef Py_ssize_t _count_shared(
    const Hash* left, Py_ssize_t left_size, const Hash* right, Py_ssize_t right_size
) noexcept nogil:
    """Return how many hashes are in both: sorted, each once."""
    cdef Py_ssize_t one = 0, other = 0, shared = 0
    cdef Hash near, far
    # Without branches: which of two hashes is the smaller one cannot be foretold.
    while one < left_size and other < right_size:
        near = left[one]
        far = right[other]
        shared += near == far
        one += near <= far
        other += far <= near
    return shared


cdef Py_ssize_t _count_below(const uint32_t[::1] hashes, uint64_t limit) noexcept:
    cdef Py_ssize_t low = 0, high = hashes.shape[0], middle
    while low < high:
        middle = (low + high) // 2
        if hashes[middle] < limit:
            low = middle + 1
        else:
            high = middle
    return low


cdef Overlap _overlap(
    const uint32_t[::1] left, Py_ssize_t left_scale,
    const uint32_t[::1] right, Py_ssize_t right_scale,
):
    """Return what two sketches share of the hashes that both would keep."""
    cdef Overlap found = Overlap(0, left.shape[0], right.shape[0])
    if left_scale < right_scale:
        found.left = _count_below(left, RANGE // <uint64_t> right_scale)
    elif right_scale < left_scale:
        found.right = _count_below(right, RANGE // <uint64_t> left_scale)
    if not found.left or not found.right:
        return found
    if found.left + found.right < LONG:
        found.shared = _count_shared(&left[0], found.left, &right[0], found.right)
    else:
        with nogil:
            found.shared = _count_shared(&left[0], found.left, &right[0], found.right)
    return found


cdef inline double _containment(Overlap found):
    cdef Py_ssize_t smaller = min(found.left, found.right)
    return <double> found.shared / smaller if smaller else 0.0


cdef inline double _jaccard(Overlap found):
    cdef Py_ssize_t either = found.left + found.right - found.shared
    return <double> found.shared / either if found.shared else 0.0


def overlap(one, other):
    """Return the similarity: see :func:`newscrawl.neardup.sketch.overlap_in_python`."""
    cdef Overlap found = _overlap(one.hashes, one.scale, other.hashes, other.scale)
    return found.shared, _containment(found), _jaccard(found)


def matches(one, others, options):
    """Return the similarities: see :func:`newscrawl.neardup.sketch.matches_in_python`."""
    cdef const uint32_t[::1] hashes = one.hashes
    cdef const uint16_t[::1] numbers = one.numbers
    cdef Py_ssize_t scale = one.scale, words = one.words
    cdef Py_ssize_t least = options.least_shared, number_words = options.number_words
    cdef double containment = options.containment, jaccard = options.jaccard
    cdef double share = options.numbers
    cdef Overlap found
    cdef list result = []
    for other in others:
        found = _overlap(hashes, scale, other.hashes, other.scale)
        if (
            found.shared < least
            or _containment(found) < containment
            or _jaccard(found) < jaccard
            or (
                (words < number_words or <Py_ssize_t> other.words < number_words)
                and not _numbers_agree(numbers, other.numbers, share)
            )
        ):
            result.append(None)
        else:
            result.append((found.shared, _containment(found), _jaccard(found)))
    return result


cdef bint _numbers_agree(const uint16_t[::1] left, const uint16_t[::1] right, double share):
    cdef Py_ssize_t fewer = min(left.shape[0], right.shape[0])
    return fewer < 2 or share * fewer <= _count_shared(
        &left[0], left.shape[0], &right[0], right.shape[0]
    )


def without(const uint32_t[::1] hashes not None, const uint32_t[::1] others not None):
    """Return what is left of *hashes*: see :func:`newscrawl.neardup.sketch.without_in_python`."""
    kept = empty(hashes.shape[0], uint32)
    cdef uint32_t[::1] left = kept
    cdef Py_ssize_t place, other = 0, count = 0, last = others.shape[0]
    cdef uint32_t value
    for place in range(hashes.shape[0]):
        value = hashes[place]
        while other < last and others[other] < value:
            other += 1
        if other == last or others[other] != value:
            left[count] = value
            count += 1
    return kept[:count]
