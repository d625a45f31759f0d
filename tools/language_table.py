"""Table of the words that each language has: docs/internals/languages.md.

``python -m tools.language_table`` writes it; a test compares it.
"""

from __future__ import annotations

from pathlib import Path

from newscrawl.language_words import ANY, LISTS, word_table

TARGET = Path(__file__).resolve().parents[1] / "docs" / "internals" / "languages.md"
START = "<!-- table -->\n"


def lacking(language: str) -> list[str]:
    """Return the names of the lists that *language* does not have."""
    return [name for name in LISTS if not word_table()[language].get(name)]


def table() -> str:
    """Return the number of words of each language in each list."""
    rows = [("language", *LISTS), ("---", *("---" for _ in LISTS))]
    for language, lists in sorted(word_table().items()):
        if language != ANY:
            rows.append((language, *(str(len(lists.get(name, ())) or "") for name in LISTS)))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def page() -> str:
    """Return the page with the current table."""
    return TARGET.read_text(encoding="utf-8").partition(START)[0] + START + "\n" + table()


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
