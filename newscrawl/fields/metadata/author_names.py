"""Author names in bylines and structured data."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_BYLINE = re.compile(
    r"(?:(?:view all |all )?(?:written|posted|published|reported|words|text|story|posts|articles)\s+)?"
    r"by(?:\s+|:\s*)"
    r"|(?:authors?|auteurs?|autor(?:e|en|es)?|reporters?)\s*:\s*",
    re.IGNORECASE,
)
# These words also occur inside names, but not at their start.
_FOREIGN_BYLINE = re.compile(r"(?:[Vv]on|[Pp]ar|[Pp]or|[Dd]oor|[Dd]i)\s+(?=[A-ZÀ-Þ])")
_NO_NAME = re.compile(r"https?:|www\.|\S@\S|/|^\(|^\S*\.\S+$|\.(?:com|org|net)\b", re.IGNORECASE)
_SEPARATOR = re.compile(r"\s*[;|•·]\s*|,?\s+(?:and|und|et|y|og|och)\s+")
_MAX_LENGTH = 80
_MAX_NAMES = 20


def clean_names(texts: Iterable[str], not_people: Collection[str] = ()) -> list[str]:
    """Return the distinct names in *texts*, without "By", URLs, e-mail addresses and *not_people*.

    Commas separate names only if each part has two to four words.
    """
    excluded = {name.casefold() for name in not_people}
    names: dict[str, str] = {}
    for text in texts:
        for name in _names(text):
            key = name.casefold()
            if name and len(name) <= _MAX_LENGTH and key not in excluded and _is_name(name):
                names.setdefault(key, name)
    return list(islice(names.values(), _MAX_NAMES))


def _is_name(text: str) -> bool:
    return text.replace(" ", "").isalpha() or _NO_NAME.search(text) is None


def _names(text: str) -> Iterator[str]:
    text = text.strip()
    byline = _BYLINE.match(text) or _FOREIGN_BYLINE.match(text)
    for part in _SEPARATOR.split(text[byline.end() :] if byline else text):
        for name in _split_at_commas(part):
            yield name.strip(" ,;:-–—|")


def _split_at_commas(text: str) -> list[str]:
    if "," not in text:
        return [text]
    parts = text.strip(" ,").split(",")
    return parts if all(2 <= len(part.split()) <= 4 for part in parts) else [text]
