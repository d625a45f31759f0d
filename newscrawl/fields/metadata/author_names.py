"""Names of authors."""

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
# In these languages the word before a name is common inside names, but not in front of one.
_FOREIGN_BYLINE = re.compile(r"(?:[Vv]on|[Pp]ar|[Pp]or|[Dd]oor|[Dd]i)\s+(?=[A-ZÀ-Þ])")
_NO_NAME = re.compile(r"https?:|www\.|\S@\S|/|^\(|^\S*\.\S+$|\.(?:com|org|net)\b", re.IGNORECASE)
_SEPARATOR = re.compile(r"\s*[;|•·]\s*|,?\s+(?:and|und|et|y|og|och)\s+")
_LONGEST = 80
_MOST = 20


def clean_names(texts: Iterable[str], not_people: Collection[str] = ()) -> list[str]:
    """Return the names in *texts*, each once, in order: no "By", URLs, addresses or *not_people*.

    Commas separate names only where each part has the look of one: two to four words.
    """
    excluded = {name.casefold() for name in not_people}
    names: dict[str, str] = {}
    for text in texts:
        for name in _names(text):
            key = name.casefold()
            if name and len(name) <= _LONGEST and key not in excluded and _is_name(name):
                names.setdefault(key, name)
    return list(islice(names.values(), _MOST))


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
