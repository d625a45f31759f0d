"""The words of languages: one section each, the table of the docs, and what finds them."""

import re

import pytest

from newscrawl.fields.metadata.places import label_of
from newscrawl.language_words import ANY, LISTS, pattern, word_table, words
from tools.language_table import TARGET, lacking, page

LANGUAGES = sorted(word_table().keys() - {ANY})
#: lists of the languages that most sites have
COMMON = ("updated", "tags", "advertising", "page")
MOST_READ = ("ar", "de", "el", "en", "es", "fr", "he", "hu", "it", "nl", "pl", "pt", "ru", "sv", "tr", "zh")  # fmt: skip


def test_table_of_the_docs_is_current():
    """After a change of the words: ``python -m tools.language_table``."""
    assert TARGET.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("language", LANGUAGES)
def test_sections_have_known_lists_of_words(language: str):
    assert re.fullmatch(r"[a-z]{2,3}(-[A-Z][a-z]{3})?", language)
    for name, found in word_table()[language].items():
        assert name in LISTS
        assert len(found) == len(set(found)) > 0
        assert all(word == word.strip() != "" for word in found)
        assert name == "and" or all(word == word.lower() for word in found)


@pytest.mark.parametrize("language", MOST_READ)
def test_most_read_languages_lack_no_common_list(language: str):
    assert not set(lacking(language)).intersection(COMMON)


def test_words_of_all_languages_are_found():
    assert label_of("Обновлено:") == label_of("Zuletzt aktualisiert am") == "modified"
    assert label_of("mitglied seit") == "other"
    assert label_of("Veröffentlicht:") == "published"
    assert pattern("missing").search("diese seite wurde nicht gefunden")
    assert {"schlagworte", "теги"} <= words("tags")


def test_patterns_prefer_longer_words():
    assert pattern("updated").match("updated")[0] == "updated"  # type: ignore[index]
