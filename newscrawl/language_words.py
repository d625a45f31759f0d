"""Words of languages by which labels, notices and marks are found: ``language_words.toml``.

A section is a language, a list in it has a name of :data:`LISTS`. Words are in lower case; most are
searched as parts of a text, so one may be the start of several: ``publi``.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

LISTS = {
    "common": "frequent in texts of the language, rare in those of others",
    "updated": "before the date of an update",
    "published": "before the date of publication",
    "other_dates": "before the date of something else: a picture, a member, an event",
    "tags": "before tags",
    "subjects": "before tags with a colon; headings of menus, too",
    "advertising": "labels of advertisements",
    "rights": "notices of rights",
    "cookies": "texts about cookies",
    "consent": "questions for consent, and about personal data",
    "page": "what may be missing: a page, an article",
    "missing": "that something is not there",
    "next_pages": "of links to the next page of a story",
    "subscribers": "of which each prompt to subscribe has one: a quick test",
    "paywall": "prompts to subscribe in place of the rest of a story",
    "furniture": "rare in stories: in sign-ups, advertisements, notices",
    "controls": "of controls of a page, also in stories",
    "labels": "before a colon and an author",
    "fillers": "around the words of labels",
    "written": "before by: written by",
    "by": "before an author",
    "local_by": "as by, only on pages in the language, as it is part of names in others",
    "our": "after by, before a role: by our correspondent",
    "in": "after an author, before a place",
    "and": "between authors; case counts",
    "and_full": "between authors of two words, as it is part of names, too",
    "roles": "of authors",
    "ranks": "before a role: executive editor",
    "placeholders": "accounts, labels and roles in place of a name: admin, your name",
    "before_placeholders": "before those words",
    "houses": "in the names of papers, agencies and offices",
    "firms": "legal forms at the end of a company's name",
    "credits": "of pictures and editors, before their names",
}
"""Name of a list -> place of its words."""

ANY = "any"
"""Section of signs and words that belong to no language."""


@cache
def words(name: str, language: str | None = None) -> frozenset[str]:
    """Return the words of all languages, or of one, in the list *name*, of :data:`LISTS`."""
    return frozenset(
        word
        for section, lists in word_table().items()
        if language in {None, section}
        for word in lists.get(name, ())
    )


@cache
def pattern(*names: str) -> re.Pattern[str]:
    """Return the pattern of the words of all languages in the lists *names*, longer ones first."""
    found = (word for name in names for word in words(name))
    return re.compile("|".join(sorted(found, key=lambda word: (-len(word), word))))


@cache
def word_table() -> dict[str, dict[str, list[str]]]:
    """Return the lists of each language by their names; :data:`ANY` is the first."""
    import tomllib  # noqa: PLC0415  # slow to import, and only for pages with such texts

    table = files("newscrawl").joinpath("language_words.toml")
    return tomllib.loads(table.read_text(encoding="utf-8"))
