"""Author names in bylines and structured data."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_BYLINE = re.compile(
    r"(?:(?:view all |all )?(?:written|posted|published|reported|reporting|words|text|story|posts"
    r"|articles|created|updated)\s+)?by(?:\s+|:\s*)"
    r"|(?:authors?|auteurs?|autor(?:e|en|es)?|reporters?)\s*:\s*",
    re.IGNORECASE,
)
# These words also occur inside names, but not at their start.
_FOREIGN_BYLINE = re.compile(r"(?:[Vv]on|[Pp]ar|[Pp]or|[Dd]oor|[Dd]i|[Aa]v)\s+(?=[A-ZÀ-Þ])")
BY = re.compile(f"(?i:{_BYLINE.pattern})|{_FOREIGN_BYLINE.pattern}")
"""Start of a byline."""

_NO_NAME = re.compile(r"https?:|www\.|\S@\S|/|^\(|^\S*\.\S+$|\.(?:com|org|net)\b", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_SEPARATOR = re.compile(r"\s*[;|•·]\s*|,?\s+(?:and|und|et|y|og|och|&)\s+")
# The sign of an author, "Ada Meyer (am)", and "reporter" after a Korean name.
_SIGN = re.compile(r"(?<=\S)\s(?:\([a-zß-ÿ]{1,5}\.?\)|기자)$")
_MAX_LENGTH = 80
_MAX_NAMES = 20
_MAX_PERSON_WORDS = 5
_MAX_PARTICLE = 3
_MAX_BY = 25
_MAX_JOINT = 5
_MAX_LISTED_WORDS = 4


def clean_names(texts: Iterable[str], not_people: Collection[str] = ()) -> list[str]:
    """Return the distinct names in *texts*, without "By", signs, URLs, addresses and *not_people*."""
    excluded = {name.casefold() for name in not_people}
    names: dict[str, str] = {}
    for text in texts:
        for name in _names(text):
            key = name.casefold()
            if name and len(name) <= _MAX_LENGTH and key not in excluded and _is_name(name):
                names.setdefault(key, name)
    return list(islice(names.values(), _MAX_NAMES))


def is_person(name: str) -> bool:
    """Return whether a visible text looks like a name: a few capitalized words and particles."""
    parts = name.split()
    return (
        1 <= len(parts) <= _MAX_PERSON_WORDS
        and not any(map(str.isdigit, name))
        and not any(part[0].islower() and len(part) > _MAX_PARTICLE for part in parts)
        and not (parts[0][0].islower() or parts[-1][0].islower())
        and all(_LETTER.search(part) for part in parts)
        and len(name) > 1
        and name[-1] not in ":：?!…»>，"
    )


def is_by(text: str) -> bool:
    """Return whether *text* only introduces a name: "By", "Author:"."""
    if len(text) > _MAX_BY:
        return False
    return bool(BY.fullmatch(f"{text.rstrip(':：')}: ") or BY.fullmatch(f"{text} X"))


def is_joint(text: str) -> bool:
    """Return whether *text* only separates two names: "and", ","."""
    return len(text) <= _MAX_JOINT and _SEPARATOR.fullmatch(f" {text.strip(',')} ") is not None


def _is_name(text: str) -> bool:
    if text.replace(" ", "").isalpha():
        return True
    return _NO_NAME.search(text) is None and _LETTER.search(text) is not None


def _names(text: str) -> Iterator[str]:
    text = text.strip()
    byline = BY.match(text)
    for part in _SEPARATOR.split(text[byline.end() :] if byline else text):
        for name in _split_at_commas(part):
            yield _SIGN.sub("", name.strip(" ,;:-–—|"))


def _may_be_another(part: str) -> bool:
    """Return whether *part*, after a comma, is a name; agencies have signs such as "dpa"."""
    return 2 <= len(part.split()) <= _MAX_LISTED_WORDS or part.islower()


def _split_at_commas(text: str) -> list[str]:
    """Return the names in *text*. A capitalized word after a name is a title or a place."""
    if "," not in text:
        return [text]
    parts = [part.strip() for part in text.strip(" ,").split(",")]
    if len(parts) == 2 and " " not in parts[0] and not parts[1].isupper():
        return [f"{parts[1]} {parts[0]}"]  # "Meyer, Ada"
    return [parts[0], *(part for part in parts[1:] if _may_be_another(part))]
