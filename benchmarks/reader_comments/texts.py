"""Sentences, names and dates of generated pages in ten languages, from ``texts.json``."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

TEXTS = Path(__file__).with_name("texts.json")
_SPACELESS = frozenset({"zh", "ja"})
_NUMERIC_DATES = {
    "en": "{day:02}/{month:02}/2026 {time}",
    "de": "{day:02}.{month:02}.2026, {time} Uhr",
    "ru": "{day:02}.{month:02}.2026 {time}",
    "zh": "2026-{month:02}-{day:02} {time}",
    "ja": "2026/{month:02}/{day:02} {time}",
}
_LONG_DATES = {
    "en": "{name} {day}, 2026 {at} {time}",
    "de": "{day}. {name} 2026 {at} {time} Uhr",
    "zh": "2026年{name}{day}日 {time}",
    "ja": "2026年{name}{day}日 {time}",
}
_SLOT = re.compile(r"\{(person|place|n)\}")


@cache
def _texts() -> dict[str, dict[str, Any]]:
    texts: dict[str, dict[str, Any]] = json.loads(TEXTS.read_text(encoding="utf-8"))
    return texts


def languages() -> list[str]:
    """Return the languages of the texts."""
    return list(_texts())


class Writer:
    """Random texts in one language; sentences repeat only when all of their kind are used."""

    def __init__(self, language: str, rng: random.Random) -> None:
        self.language = language
        self.rng = rng
        self._texts = _texts()[language]
        self._unused: dict[str, list[str]] = {}

    def ui(self, name: str, number: int | None = None) -> str:
        """Return a label such as ``reply``; *number* replaces ``{n}``."""
        text: str = self._texts["ui"][name]
        return text.replace("{n}", str(self.rng.randint(2, 40) if number is None else number))

    def one(self, kind: str) -> str:
        """Return a text of *kind*, such as ``title`` or ``nick``."""
        if not self._unused.get(kind):
            self._unused[kind] = self.rng.sample(self._texts[kind], len(self._texts[kind]))
        return _SLOT.sub(lambda slot: self._value(slot[1]), self._unused[kind].pop())

    def reserve(self, kind: str, other: str) -> None:
        """Divide the texts of *kind* so that *other* has one half of them."""
        sentences = self._texts[kind]
        self._texts = {**self._texts, kind: sentences[::2], other: sentences[1::2]}

    def paragraph(self, kind: str, sentences: int) -> str:
        """Return a paragraph of texts of *kind*."""
        space = "" if self.language in _SPACELESS else " "
        return space.join(self.one(kind) for _ in range(sentences))

    def labels(self, kind: str) -> Sequence[str]:
        """Return all texts of *kind*."""
        texts: list[str] = self._texts[kind]
        return texts

    def long_date(self) -> str:
        """Return a date in words with a time."""
        form = _LONG_DATES.get(self.language, "{day} {name} 2026 {at} {time}")
        place = self.rng.randrange(3)
        name = self._texts["months"][place]
        return form.format(
            day=self.rng.randint(1, 28), name=name, at=self.ui("at"), time=self.time()
        )

    def numeric_date(self) -> str:
        """Return a date in numbers with a time."""
        form = _NUMERIC_DATES.get(self.language, "{day:02}/{month:02}/2026 {time}")
        day, month = self.rng.randint(1, 28), self.rng.choice([1, 5, 10])
        return form.format(day=day, month=month, time=self.time())

    def time(self) -> str:
        """Return a time of day."""
        return f"{self.rng.randint(6, 23):02}:{self.rng.randint(0, 59):02}"

    def _value(self, slot: str) -> str:
        if slot == "n":
            return str(self.rng.randint(11, 990))
        return str(self.rng.choice(self._texts[slot]))
