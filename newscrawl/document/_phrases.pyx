# cython: language_level=3, boundscheck=False, wraparound=False
"""Search for phrases in short texts: a quick test before a pattern is tried."""

from cpython.unicode cimport (
    PyUnicode_DATA, PyUnicode_KIND, PyUnicode_READ, Py_UNICODE_ISALNUM,
)

cdef enum:
    ANY = 0  # second character of a phrase of one character


cdef inline bint is_word(Py_UCS4 character) noexcept:
    return Py_UNICODE_ISALNUM(character) or character == u"_"


cdef inline int bucket(Py_UCS4 first, Py_UCS4 second) noexcept:
    return (<unsigned int> first * 31 + <unsigned int> second * 7) & (BUCKETS - 1)


cdef class Phrases:
    """Phrases that are searched for in texts, by their first two characters.

    Of *words*, those next to another letter are not found.
    """

    def __init__(self, tuple phrases not None, tuple words not None, *, bint ignore_case):
        cdef Py_ssize_t index
        cdef str phrase
        cdef int place
        self.phrases, self.words, self.ignore_case = words + phrases, len(words), ignore_case
        if len(self.phrases) > 256:
            raise ValueError("more than 256 phrases")
        for index in range(BUCKETS):
            self.first[index] = -1
        for index in range(len(self.phrases)):
            phrase = self.phrases[index]
            place = bucket(phrase[0], phrase[1] if len(phrase) > 1 else ANY)
            self.following[index], self.first[place] = self.first[place], index

    cdef bint is_in(self, str text) except -1:
        """Return whether *text* contains one of the phrases."""
        cdef Py_ssize_t place, size = len(text)
        cdef int kind = PyUnicode_KIND(text)
        cdef void* data = PyUnicode_DATA(text)
        cdef Py_UCS4 character, following
        if not size:
            return False
        following = self.read(kind, data, 0)
        for place in range(size):
            character = following
            following = self.read(kind, data, place + 1) if place + 1 < size else ANY
            if self.begins(text, place, self.first[bucket(character, following)]):
                return True
            if character > 127 and self.begins(text, place, self.first[bucket(character, ANY)]):
                return True
        return False

    cdef bint has_start(self, Py_UCS4 first, Py_UCS4 second) noexcept:
        """Return whether a phrase may begin with these characters; for *second* 0, it has one."""
        return self.first[bucket(first, second)] >= 0

    cdef inline Py_UCS4 read(self, int kind, void* data, Py_ssize_t place) noexcept:
        cdef Py_UCS4 character = PyUnicode_READ(kind, data, place)
        return lower(character) if self.ignore_case else character

    cdef bint begins(self, str text, Py_ssize_t place, int index) except -1:
        """Return whether the phrase *index*, or another in its bucket, is at *place* in *text*."""
        cdef str phrase
        cdef Py_ssize_t size, offset
        cdef int kind = PyUnicode_KIND(text)
        cdef void* data = PyUnicode_DATA(text)
        while index >= 0:
            phrase = self.phrases[index]
            size = len(phrase)
            if place + size <= len(text):
                offset = 0
                while offset < size and self.read(kind, data, place + offset) == phrase[offset]:
                    offset += 1
                if offset == size and not (index < self.words and is_inside(text, place, size)):
                    return True
            index = self.following[index]
        return False


cdef bint is_inside(str text, Py_ssize_t place, Py_ssize_t size) except -1:
    """Return whether a character of a word is next to the phrase."""
    if place and is_word(text[place - 1]):
        return True
    return place + size < len(text) and is_word(text[place + size])


cdef dict _PREPARED = {}


cdef Phrases prepared(tuple phrases, tuple words, bint ignore_case):
    """Return the :class:`Phrases`, which are made once; *words* are those that are whole words."""
    cdef Phrases found = _PREPARED.get(phrases)
    if found is None:
        found = _PREPARED[phrases] = Phrases(phrases, words, ignore_case=ignore_case)
    return found
