"""Tests of words and lengths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.text import (
    count_digits,
    folded,
    folded_words,
    squeeze,
    tokens,
    unescape,
    weighted_length,
    words,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Fer\u00adry, at 12:30 – “again”.", ["the", "ferry", "at", "12", "30", "again"]),
        ("E\u0301te\u0301", ["été"]),
        ("한국어 단어", ["한국어", "단어"]),
        ("東京2026年、JR東", ["東", "京", "2026", "年", "jr", "東"]),
        ("ไทย", ["ไ", "ท", "ย"]),
    ],
)
def test_words(text: str, expected: list[str]):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bego&ntilde;a N&#250;&#xF1;ez &copy 2026 &eacute", "Begoña Núñez © 2026 é"),
        ("/j.jpg?w=1&copy=2&sect=3&region4", "/j.jpg?w=1&copy=2&sect=3&region4"),
        ("?a=1&amp;copy=2", "?a=1&copy=2"),
        ("AT&T, R&D &unknown; &;&#;", "AT&T, R&D &unknown; &;&#;"),
    ],
)
def test_unescape(text: str, expected: str):
    assert unescape(text) == expected


def test_words_of_windows_1252_are_those_of_the_patterns():
    for code in range(0x3000):
        text = f"a{chr(code)}B {chr(code)}"
        assert words(text) == folded_words(folded(text)), hex(code)


def test_tokens_are_parts_between_spaces_or_characters():
    assert tokens("The ferry, again.") == ["The", "ferry,", "again."]
    assert tokens("新しい灯台が金曜日に点灯する") == list("新しい灯台が金曜日に点灯する")
    assert tokens("") == []


def test_counts_digits_of_all_scripts():
    characters = [chr(code) for code in range(0x110000)]
    assert [one for one in characters if count_digits(one)] == list(filter(str.isdigit, characters))
    assert count_digits("1 of 24 m²") == 4


def test_wide_characters_count_for_two_and_a_half():
    assert weighted_length("café") == 4
    assert weighted_length("日本 한") == 3 * 2.5 + 1


@given(st.text())
def test_words_of_words_are_the_same(text: str):
    once = words(text)
    assert words(" ".join(once)) == once


@given(st.text(), st.text())
def test_weighted_lengths_add_up(one: str, other: str):
    assert weighted_length(one + other) == weighted_length(one) + weighted_length(other)


@given(st.text())
def test_squeeze_keeps_tokens_and_is_idempotent(text: str):
    assert squeeze(text).split() == text.split()
    assert squeeze(squeeze(text)) == squeeze(text)
