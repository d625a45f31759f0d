"""Words and lengths."""

from hypothesis import given
from hypothesis import strategies as st

from newscrawl.text import count_digits, squeeze, tokens, weighted_length, words


def test_words_of_spaced_scripts() -> None:
    """Words are lower case, without punctuation, soft hyphens and zero-width characters."""
    assert words("The Fer\u00adry, at 12:30 – “again”.") == [
        "the",
        "ferry",
        "at",
        "12",
        "30",
        "again",
    ]
    assert words("E\u0301te\u0301") == ["été"]
    assert words("한국어 단어") == ["한국어", "단어"]


def test_words_of_scripts_without_spaces() -> None:
    """There a character is a word, also beside Latin words."""
    assert words("東京2026年、JR東") == ["東", "京", "2026", "年", "jr", "東"]
    assert words("ไทย") == ["ไ", "ท", "ย"]


def test_tokens() -> None:
    """Tokens are cheap words: parts between spaces, or characters where there are none."""
    assert tokens("The ferry, again.") == ["The", "ferry,", "again."]
    assert tokens("新しい灯台が金曜日に点灯する") == list("新しい灯台が金曜日に点灯する")
    assert tokens("") == []


def test_digits_of_all_scripts() -> None:
    """All that :meth:`str.isdigit` knows are counted, and nothing else."""
    characters = [chr(code) for code in range(0x110000)]
    assert [one for one in characters if count_digits(one)] == list(filter(str.isdigit, characters))
    assert count_digits("1 of 24 m²") == 4


def test_weighted_length() -> None:
    """A CJK, kana or Hangul character counts for two and a half Latin ones."""
    assert weighted_length("café") == 4
    assert weighted_length("日本 한") == 3 * 2.5 + 1


@given(st.text())
def test_words_are_stable(text: str) -> None:
    """The words of a text of words are those words."""
    once = words(text)
    assert words(" ".join(once)) == once


@given(st.text(), st.text())
def test_weighted_length_adds_up(one: str, other: str) -> None:
    """Lengths of parts sum up to the whole's."""
    assert weighted_length(one + other) == weighted_length(one) + weighted_length(other)


@given(st.text())
def test_squeeze(text: str) -> None:
    """Squeezed text has the same tokens, and squeezes to itself."""
    assert squeeze(text).split() == text.split()
    assert squeeze(squeeze(text)) == squeeze(text)
