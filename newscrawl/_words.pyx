# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled :func:`newscrawl.text.words`: text of windows-1252 needs no copies in other forms."""

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.unicode cimport PyUnicode_FromKindAndData

from newscrawl.text import folded, folded_words

cdef enum:
    CODES = 0x2123  # the trade mark sign is the last character of windows-1252
    SPACE = 0  # also all characters that belong to no word
    SOFT_HYPHEN = 1
    OTHER = 2  # not in windows-1252
    SHORT = 512

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


def words(str text not None):
    """See :func:`newscrawl.text.words`."""
    cdef unsigned short[SHORT] short_word
    cdef unsigned short* word = short_word
    cdef list found = []
    cdef Py_ssize_t size = 0
    cdef Py_UCS4 character
    cdef unsigned short lower
    if len(text) > SHORT:
        word = <unsigned short*> PyMem_Malloc(len(text) * sizeof(unsigned short))
        if word is NULL:
            raise MemoryError
    try:
        for character in text:
            lower = LOWER[character] if character < CODES else OTHER
            if lower > OTHER:
                word[size] = lower
                size += 1
            elif lower == OTHER:
                return folded_words(folded(text))
            elif lower == SPACE and size:
                found.append(PyUnicode_FromKindAndData(2, word, size))
                size = 0
        if size:
            found.append(PyUnicode_FromKindAndData(2, word, size))
    finally:
        if word != short_word:
            PyMem_Free(word)
    return found
