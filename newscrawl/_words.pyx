# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled loops of :mod:`newscrawl.text`: text of windows-1252 needs no copies in other forms."""

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.unicode cimport PyUnicode_FromKindAndData
from libc.stdint cimport uint64_t
from libc.string cimport memset

from newscrawl.text import folded, folded_words

cdef enum:
    CODES = 0x2123  # the trade mark sign is the last character of windows-1252
    SPACE = 0  # also all characters that belong to no word
    SOFT_HYPHEN = 1
    OTHER = 2  # not in windows-1252
    SHORT = 512
    SLOTS = 1024  # of the words that are searched for

# Of the FNV-1a hash.
cdef uint64_t START = 0xcbf29ce484222325, FACTOR = 0x100000001b3

# Lower case of the characters of words.
cdef unsigned short[CODES] LOWER


cdef int _fill() except -1:
    cdef Py_ssize_t code
    for code in range(CODES):
        LOWER[code] = OTHER
    for code in range(256):
        character = bytes([code]).decode("cp1252", "replace")
        if character != "\ufffd":
            is_letter = character.isalnum() or character == "_"
            LOWER[<Py_ssize_t> ord(character)] = ord(character.lower()) if is_letter else SPACE
    LOWER[0xad] = SOFT_HYPHEN
    return 0


_fill()


cdef inline str _exact(text):
    """Return a string of a subclass as ``str``."""
    return <str> text if type(text) is str else str.__str__(text)


def words(text):
    """See :func:`newscrawl.text.words`."""
    cdef str exact = _exact(text)
    cdef unsigned short[SHORT] short_word
    cdef unsigned short* word = short_word
    cdef list found = []
    cdef Py_ssize_t size = 0
    cdef Py_UCS4 character
    cdef unsigned short lower
    if len(exact) > SHORT:
        word = <unsigned short*> PyMem_Malloc(len(exact) * sizeof(unsigned short))
        if word is NULL:
            raise MemoryError
    try:
        for character in exact:
            lower = LOWER[character] if character < CODES else OTHER
            if lower > OTHER:
                word[size] = lower
                size += 1
            elif lower == OTHER:
                return folded_words(folded(exact))
            elif lower == SPACE and size:
                found.append(PyUnicode_FromKindAndData(2, word, size))
                size = 0
        if size:
            found.append(PyUnicode_FromKindAndData(2, word, size))
    finally:
        if word != short_word:
            PyMem_Free(word)
    return found


def words_among(list texts not None, frozenset wanted not None):
    """See :func:`newscrawl.text.words_among`."""
    cdef uint64_t[SLOTS] slots
    cdef uint64_t hashed
    cdef unsigned char[SLOTS] seen
    cdef Py_ssize_t start, place, slot, count = 0
    cdef unsigned short lower
    cdef Py_UCS4 character
    cdef str text, word
    cdef set found = set()
    if 4 * len(wanted) > SLOTS:
        return _among_all(texts, wanted)
    memset(slots, 0, sizeof(slots))
    memset(seen, 0, sizeof(seen))
    for word in wanted:
        hashed = START
        for character in word:
            hashed = (hashed ^ <uint64_t> character) * FACTOR
        slots[_slot_of(slots, hashed)] = hashed
    for text in texts:
        hashed, start = START, -1
        for place in range(len(text) + 1):
            lower = SPACE
            if place < len(text):
                character = text[place]
                lower = LOWER[character] if character < CODES else OTHER
            if lower > OTHER:
                hashed = (hashed ^ lower) * FACTOR
                if start < 0:
                    start = place
            elif lower == OTHER:
                return _among_all(texts, wanted)
            elif lower == SPACE and start >= 0:
                count += 1
                slot = _slot_of(slots, hashed)
                if slots[slot] and not seen[slot]:
                    seen[slot] = 1
                    found.update(words(text[start:place]))
                hashed, start = START, -1
    return wanted & found, count > 0


def without_controls(text, *, remove):
    """See :func:`newscrawl.text.without_controls`."""
    cdef Py_UCS4 character
    for character in _exact(text):
        if character < 0xa0:
            if character < 0x20:
                if character != u"\n" and character != u"\t":
                    return remove("", text)
            elif character >= 0x7f:
                return remove("", text)
        elif character == 0x202d or character == 0x202e:
            return remove("", text)
    return text


cdef inline Py_ssize_t _slot_of(const uint64_t* slots, uint64_t hashed) noexcept:
    """Return the slot of a word, or the empty one where it would be."""
    cdef Py_ssize_t slot = hashed & (SLOTS - 1)
    while slots[slot] and slots[slot] != hashed:
        slot = (slot + 1) & (SLOTS - 1)
    return slot


cdef tuple _among_all(list texts, frozenset wanted):
    cdef set found = set()
    for text in texts:
        found.update(words(text))
    return wanted & found, len(found) > 0
