# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Compiled loops of :mod:`newscrawl.neardup.sketch` over characters, words and hashes.

Each function returns the same as the Python function of its name.
"""

from libc.stdint cimport uint16_t, uint32_t, uint64_t

from numpy import empty, uint32, uint64

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    const void* PyUnicode_DATA(object text)
    Py_UCS4 PyUnicode_READ(int kind, const void* data, Py_ssize_t index) nogil
    bint Py_UNICODE_ISALNUM(Py_UCS4 character) nogil

ctypedef fused Hash:
    uint16_t
    uint32_t

cdef Py_ssize_t MIN_STEPS_WITHOUT_GIL = 2**16
"""Minimum steps of a loop that releases the GIL, as it may take milliseconds to get it back."""

cdef uint64_t ODD = 0x9E3779B97F4A7C15
cdef uint64_t RANGE = <uint64_t> 1 << 32
cdef enum:
    ANCHORS = 8
    OPENING = 128
    # Codes of newscrawl.neardup.shingles.plain_characters.
    SEPARATOR = 0
    INVISIBLE = 1
    OTHER = 2


cdef struct Words:
    Py_ssize_t count
    Py_ssize_t opening_count
    uint64_t opening[OPENING]


cdef inline uint64_t _mix(uint64_t value) noexcept nogil:
    """Mix the bits of a value: the finalizer of SplitMix64."""
    value = (value ^ (value >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    value = (value ^ (value >> 27)) * <uint64_t> 0x94D049BB133111EB
    return value ^ (value >> 31)


cdef inline bint _is_spaceless(Py_UCS4 character) noexcept nogil:
    """Return whether a character is a word by itself: see :mod:`newscrawl.text`."""
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


cdef inline void _add_byte(Word* word, uint64_t byte) noexcept nogil:
    word.power *= ODD
    word.total += byte * word.power


cdef inline void _add_character(Word* word, uint64_t character) noexcept nogil:
    """Add the UTF-8 bytes of a character."""
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
    """Append the hash of a word, and reset the word."""
    _add_byte(word, 0x0A)
    hashes[found.count] = _mix(word.total)
    found.count += 1
    word.total = 0
    word.power = 1


cdef bint _hash_words(
    str text, const uint16_t[::1] plain, bint is_folded, uint64_t* hashes, Words* found
):
    """Append the hashes of the words of a text; return False if the text must be folded first."""
    cdef int kind = PyUnicode_KIND(text)
    cdef const void* data = PyUnicode_DATA(text)
    cdef Py_ssize_t size = len(text), plain_size = 0x80 if is_folded else plain.shape[0]
    if size < MIN_STEPS_WITHOUT_GIL:
        return _hash_characters(kind, data, size, &plain[0], plain_size, is_folded, hashes, found)
    with nogil:
        return _hash_characters(kind, data, size, &plain[0], plain_size, is_folded, hashes, found)


cdef bint _hash_characters(
    int kind, const void* data, Py_ssize_t size, const uint16_t* plain, Py_ssize_t plain_size,
    bint is_folded, uint64_t* hashes, Words* found,
) noexcept nogil:
    cdef Py_ssize_t index
    cdef Py_UCS4 character
    cdef Word word = Word(0, 1)
    cdef bint is_inside = False, is_word
    found.count = 0
    for index in range(size):
        character = PyUnicode_READ(kind, data, index)
        is_word = False
        if <Py_ssize_t> character < plain_size:
            character = plain[character]
            if character == INVISIBLE:
                continue
            if character == OTHER:
                return False
        elif not is_folded:
            return False
        elif _is_spaceless(character):
            is_word = True
        elif not Py_UNICODE_ISALNUM(character):
            character = SEPARATOR
        if is_inside and (is_word or character == SEPARATOR):
            _end_word(&word, hashes, found)
            is_inside = False
        if character != SEPARATOR:
            is_inside = True
            _add_character(&word, character)
            if is_word:
                _end_word(&word, hashes, found)
                is_inside = False
    if is_inside:
        _end_word(&word, hashes, found)
    return True


cdef void _hash_runs(
    uint64_t* hashes, Py_ssize_t runs, Py_ssize_t size, uint64_t start
) noexcept nogil:
    """Replace the hash of each word by that of the run of *size* words that begins with it."""
    cdef Py_ssize_t index, later
    cdef uint64_t total
    for index in range(runs):
        total = start
        for later in range(index, index + size):
            total = total * ODD + hashes[later]
        hashes[index] = _mix(total) >> 32


cdef Py_ssize_t _keep_below(uint64_t* hashes, Py_ssize_t size, uint64_t limit) noexcept nogil:
    """Move the hashes below the limit to the front; return their number."""
    cdef Py_ssize_t index, count = 0
    for index in range(size):
        hashes[count] = hashes[index]
        count += hashes[index] < limit
    return count


cdef _distinct(const uint64_t* hashes, Py_ssize_t size):
    """Return the low bits of the hashes: sorted, distinct."""
    found = empty(size, uint32)
    cdef uint32_t[::1] values = found
    cdef Py_ssize_t index, count = 0
    for index in range(size):
        values[index] = <uint32_t> hashes[index]
    found.sort()
    for index in range(size):
        if not index or values[index] != values[count - 1]:
            values[count] = values[index]
            count += 1
    return found if count == size else found[:count]


cdef Py_ssize_t _sample(
    uint64_t* hashes, Py_ssize_t runs, Py_ssize_t size, uint64_t start, uint64_t limit,
    uint64_t opening_limit, Words* found,
) noexcept nogil:
    """Store the sampled hashes and those of the opening; return the number of sampled hashes."""
    cdef Py_ssize_t index
    _hash_runs(hashes, runs, size, start)
    for index in range(min(runs, OPENING)):
        found.opening[index] = hashes[index]
    found.opening_count = _keep_below(found.opening, min(runs, OPENING), opening_limit)
    return _keep_below(hashes, runs, limit)


def hash_text(
    str text not None, const uint16_t[::1] plain not None, fold, *,
    Py_ssize_t shingle, Py_ssize_t scale, Py_ssize_t full_limit, uint64_t seed,
):
    """Return the fields of a sketch: see :func:`newscrawl.neardup.sketch.hash_text`."""
    cdef uint64_t[::1] hashes = empty(len(text) + 1, uint64)
    cdef Words found
    cdef Py_ssize_t runs, size, count
    cdef uint64_t start = (seed + 1) * ODD
    cdef uint64_t kept = 1, opening_limit = RANGE // <uint64_t> scale
    if not _hash_words(text, plain, False, &hashes[0], &found):
        text = fold(text)
        hashes = empty(len(text) + 1, uint64)
        _hash_words(text, plain, True, &hashes[0], &found)
    size = min(shingle, found.count)
    runs = found.count - size + 1 if size else 0
    while kept < <uint64_t> scale and runs > full_limit * <Py_ssize_t> kept:
        kept *= 2
    if runs < MIN_STEPS_WITHOUT_GIL:
        count = _sample(&hashes[0], runs, size, start, RANGE // kept, opening_limit, &found)
    else:
        with nogil:
            count = _sample(&hashes[0], runs, size, start, RANGE // kept, opening_limit, &found)
    return (
        _distinct(&hashes[0], count),
        kept,
        found.count,
        _distinct(found.opening, found.opening_count),
    )


def anchor_hashes(const uint32_t[::1] hashes not None, uint64_t site):
    """Return the anchors: see :func:`newscrawl.neardup.sketch.anchor_hashes`."""
    cdef uint32_t smallest[ANCHORS]
    cdef bint seen[ANCHORS]
    cdef Py_ssize_t index, kind, count = 0
    for kind in range(ANCHORS):
        seen[kind] = False
    for index in range(min(hashes.shape[0], 8 * ANCHORS)):
        kind = hashes[index] % ANCHORS
        if not seen[kind]:
            seen[kind] = True
            smallest[kind] = hashes[index]
            count += 1
    salted = empty(count, uint32)
    cdef uint32_t[::1] values = salted
    count = 0
    for kind in range(ANCHORS):
        if seen[kind]:
            values[count] = _mix(smallest[kind] | <uint64_t> kind << 32 | site << 40) >> 32
            count += 1
    return salted


cdef struct Overlap:
    Py_ssize_t shared
    Py_ssize_t left
    Py_ssize_t right


cdef Py_ssize_t _count_shared(
    const Hash* left, Py_ssize_t left_size, const Hash* right, Py_ssize_t right_size
) noexcept nogil:
    """Return the number of hashes in both sorted, distinct arrays."""
    cdef Py_ssize_t i = 0, j = 0, shared = 0
    cdef Hash left_hash, right_hash
    # Branchless: comparisons of hashes are unpredictable.
    while i < left_size and j < right_size:
        left_hash = left[i]
        right_hash = right[j]
        shared += left_hash == right_hash
        i += left_hash <= right_hash
        j += right_hash <= left_hash
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
    """Return the overlap of two sketches at the coarser of their scales."""
    cdef Overlap found = Overlap(0, left.shape[0], right.shape[0])
    if left_scale < right_scale:
        found.left = _count_below(left, RANGE // <uint64_t> right_scale)
    elif right_scale < left_scale:
        found.right = _count_below(right, RANGE // <uint64_t> left_scale)
    if not found.left or not found.right:
        return found
    if found.left + found.right < MIN_STEPS_WITHOUT_GIL:
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


def overlap(left, right):
    """Return the similarity: see :func:`newscrawl.neardup.sketch.overlap`."""
    cdef Overlap found = _overlap(left.hashes, left.scale, right.hashes, right.scale)
    return found.shared, _containment(found), _jaccard(found)


def matches(query, others, options):
    """Return the similarities: see :func:`newscrawl.neardup.sketch.matches`."""
    cdef const uint32_t[::1] hashes = query.hashes
    cdef const uint16_t[::1] numbers = query.numbers, names = query.names
    cdef Py_ssize_t scale = query.scale, words = query.words
    cdef Py_ssize_t min_shared = options.min_shared
    cdef Py_ssize_t short_words = options.short_words
    cdef double containment = options.containment, jaccard = options.jaccard
    cdef double short_containment = max(options.short_containment, containment)
    cdef double replaceable = 1 - options.details
    cdef Overlap found
    cdef list result = []
    for other in others:
        found = _overlap(hashes, scale, other.hashes, other.scale)
        if (
            found.shared < min_shared
            or _containment(found) < (
                short_containment if min(words, <Py_ssize_t> other.words) < short_words else containment
            )
            or _jaccard(found) < jaccard
            or not _details_agree(numbers, other.numbers, names, other.names, replaceable)
        ):
            result.append(None)
        else:
            result.append((found.shared, _containment(found), _jaccard(found)))
    return result


cdef bint _details_agree(
    const uint16_t[::1] left_numbers, const uint16_t[::1] right_numbers,
    const uint16_t[::1] left_names, const uint16_t[::1] right_names, double replaceable,
):
    """Compare numbers and names: see :func:`newscrawl.neardup.sketch.details_agree`."""
    cdef Py_ssize_t numbers = min(left_numbers.shape[0], right_numbers.shape[0])
    cdef Py_ssize_t names = min(left_names.shape[0], right_names.shape[0])
    cdef Py_ssize_t replaced = 0
    if numbers:
        replaced = numbers - _count_shared(
            &left_numbers[0], left_numbers.shape[0], &right_numbers[0], right_numbers.shape[0]
        )
    if replaced > max(1.0, replaceable * numbers):
        return False
    if names:
        replaced += names - _count_shared(
            &left_names[0], left_names.shape[0], &right_names[0], right_names.shape[0]
        )
    return replaced <= max(1.0, replaceable * (numbers + names))


def without(const uint32_t[::1] hashes not None, const uint32_t[::1] others not None):
    """Return the other *hashes*: see :func:`newscrawl.neardup.sketch.without`."""
    kept = empty(hashes.shape[0], uint32)
    cdef uint32_t[::1] values = kept
    cdef Py_ssize_t index, other = 0, count = 0, last = others.shape[0]
    cdef uint32_t value
    for index in range(hashes.shape[0]):
        value = hashes[index]
        while other < last and others[other] < value:
            other += 1
        if other == last or others[other] != value:
            values[count] = value
            count += 1
    return kept[:count]
