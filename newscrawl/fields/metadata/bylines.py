"""Author names in the visible bylines of a page: next to the title, by markup, link or wording."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.document.document import rows_between
from newscrawl.document.rows import BLOCK_LEVEL
from newscrawl.fields.dates.visible_dates import read_dates
from newscrawl.fields.metadata.author_names import (
    AFTER_DATE,
    CREDIT,
    IN_PLACE,
    MAX_DATE,
    clean_names,
    ends_with_label,
    is_by,
    is_byline,
    is_full_name,
    is_joint,
    is_lower,
    is_organization,
    is_person,
    is_role,
    match_by,
    may_be_name,
    without_brackets,
)
from newscrawl.fields.metadata.metadata import CONFIDENCE
from newscrawl.fields.metadata.places import label_of
from newscrawl.items import Evidence
from newscrawl.patterns import CJKPattern, lazy_regex
from newscrawl.text import count_digits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from newscrawl.document.document import Document
    from newscrawl.fields.metadata.metadata import Metadata

# Text nodes that are searched before and after the start of the title.
_NODES_BEFORE = 15
_NODES_AFTER = 45
# Before and after the end of the body.
_NODES_AT_END = 4
# Longer texts are paragraphs.
_MAX_TEXT = 120
# Characters of an element whose class applies to the names in it.
_MAX_ELEMENT = 250
# Characters of a byline in a line of its own.
_MAX_LINE = 60
_BREAKS = BLOCK_LEVEL | {"br"}
_MAX_LEVELS = 4
# Text nodes from the title to a name without a mark.
_MAX_FROM_TITLE = 4
# Text nodes between two names of one byline.
_MAX_GAP = 6
# Characters of the sign of an agency, which is in lower case: "dpa".
_MAX_SIGN = 5
_DATE_PART = CJKPattern(
    r"[|,·•]|\s[-–—]\s|(?<=[\u4e00-\u9fff가-힣])\s(?=\d)|\s(?=(?:on|am|vom|le|el|em|il|op|den)\s.{0,20}\d)"
)
_WORDS_BEFORE = lazy_regex(r"(?:[\s,|]{1,3}[a-zß-ÿа-я]{1,3})?[\s,|]{0,3}$")
# "Analysis by Ada Meyer", "Müəllif: Aysel Əliyeva", in an element of an author.
_LABEL = lazy_regex(
    r"[^:：|,]{2,25}[:：]\s*(?=\S)|(?:[^\W\d_]+\s){1,3}(?:[Bb]y|[Vv]on|[Pp]ar|[Pp]or|[Dd]oor|av|af|[Oo]leh)\s+(?=[^\W\d_a-zß-ÿ])"
)
# In English, "door" is no "by" as in Dutch: "Door Straps".
_TWO_WORDS = lazy_regex(r"(?!By )[A-Z][a-z]+ [A-Z][a-z]+")
_BEFORE_LABEL = lazy_regex(r"^.{1,60}?\s(?=(?:作者|记者|記者|文|撰文)[:：])")
_OTHER_PLACES = frozenset({"figure", "figcaption", "nav", "menu", "blockquote"})
_OTHER_ENDS = frozenset({"aside", "footer"})
# In lower case: case-insensitive patterns are five times slower.
_AUTHOR = lazy_regex(r"by-?_?line|auth?or(?!i[tsz])|auteur|writer|vcard|contributor")
_AUTHOR_ICON = lazy_regex(
    r"\b(?:fa|bi|icon|glyphicon|ion|ti)-(?:[a-z-]{0,10}-)?(?:user|person|author)\b"
)
# Other parts of an author's box.
_OTHER_PART = lazy_regex(
    r"bio|categor|desc|role|position|job(?![a-z])|date|time|social|share|twitter|follow|caption|comment|related"
)
_AUTHOR_PAGE = lazy_regex(
    r"/(?:auth?or|auteur|writer|staff|contributor|journalist|reporter)[a-z]{0,3}(?:/|\.\w+\?|-)[^/?#]"
    r"|[?&]author="
)
_NO_PERSON = lazy_regex(r"/(?:log-?in|log-?out|sign-?(?:in|up)|register|settings|list|all)\b")
# Pages of other people, too: the address must name the author. "/teams/" are those of a sport.
_PERSON_PAGE = lazy_regex(r"/(?:by|team|(?:profile|user|producer)s?)/(.+)")
_WORD = lazy_regex(r"[^\W\d_]{2,}")
# "By", which is part of names in other languages.
_LOCAL_BY = {
    language: lazy_regex(rf"^\s*(?i:{word})(?:\s*+:?$|(?:\s*+:\s*+|\s++)(?=\S++\s\S))")
    for language, word in {
        "af": "Deur", "ca": "Per", "fil": "Ni", "ga": "Le", "ro": "De", "sq": "Nga", "sw": "Na",
        "tl": "Ni", "vi": "Theo",
    }.items()
}  # fmt: skip


class _Name(NamedTuple):
    #: position among the shown text nodes
    position: int
    #: ``byline``, ``link``, ``class`` or ``place``
    source: str
    #: tag and class of the element
    markup: tuple[str, str]
    names: list[str]


def find_authors(
    document: Document, metadata: Metadata, start: int | None, end: int | None = None
) -> tuple[list[str], Evidence] | None:
    """Return the authors of a page that states no people: of a byline, or the site.

    *start* is the row of the title, next to which a byline is searched, *end* the first row after
    the body, next to which an explicit one or a full name is searched; None: there is none.
    """
    confidence = CONFIDENCE["authors"]
    if start is not None and (byline := find_byline(document, start, metadata.language, end)):
        names, source = byline
        sites = {name.casefold() for name in metadata.site_names}
        # Only an explicit byline of people outweighs an organisation in the metadata.
        if (
            metadata.site_authors is None
            or sites.issuperset(map(str.casefold, metadata.site_authors[0]))
            or (source == "byline" and " " in names[0])
        ):
            return names, Evidence(source, confidence[source])
    if metadata.site_authors is not None:
        names, source = metadata.site_authors
        return names, Evidence(f"site:{source}", confidence["site"])
    return None


def without_byline(document: Document, rows: Sequence[int]) -> Sequence[int]:
    """Return the text nodes *rows* of a body without a byline in its first line."""
    size = 1
    while size < min(len(rows), _MAX_GAP) and _BREAKS.isdisjoint(
        document.tag[rows[size - 1] + 1 : rows[size]]
    ):
        size += 1
    text = document.join_texts(rows[:size])
    if size >= len(rows) or len(text) > _MAX_LINE or not is_byline(text):
        return rows
    names = clean_names([text])
    return rows[size:] if names and all(map(is_person, names)) else rows


def find_byline(
    document: Document, start: int, language: str | None = None, end: int | None = None
) -> tuple[list[str], str] | None:
    """Return the names in the byline closest to the row *start* of the title, or to *end*.

    The source is ``byline`` (a text that begins with "by"), ``link`` (to the page of an author),
    ``class`` (of the element) or ``place`` (a name next to a date below the title).
    """
    byline: list[_Name] = []
    for position, name in _names(document, start, language, end):
        is_near = bool(byline) and 0 <= position - byline[-1].position <= _MAX_GAP
        if byline and not is_near and not _is_weak(byline[0]):
            break
        if name is None or (name.source == "class" and not may_be_name(name.names[0], language)):
            continue
        if not byline or (_is_weak(byline[0]) and not _is_weak(name)):
            byline = [name]
        elif is_near and (name.source, name.markup) == (byline[0].source, byline[0].markup):
            byline.append(name)
    people = clean_names([name for part in byline for name in part.names])
    return (people, byline[0].source) if people else None


def _is_weak(name: _Name) -> bool:
    """Return whether *name* has no mark, or may be a label: a single word, of a cased script."""
    only = name.names[0]
    is_word = " " not in only and only.lower() != only.upper()
    return name.source == "place" or (name.source == "class" and is_word)


def _names(
    document: Document, start: int, language: str | None, end: int | None
) -> Iterator[tuple[int, _Name | None]]:
    """Yield the positions around *start* and *end* and their marked names, those after the title first."""
    rows = document.shown_rows
    middle, head = bisect_left(rows, start), bisect_left(rows, document.end[start])
    stop = min(middle + _NODES_AFTER, len(rows))
    positions = [*range(middle, stop), *range(max(0, middle - _NODES_BEFORE), middle)]
    near = len(positions)
    if end is not None:
        last = bisect_left(rows, end)
        positions += range(max(last - _NODES_AT_END, stop), min(last + _NODES_AT_END, len(rows)))
    local_by = _LOCAL_BY.get((language or "").partition("-")[0])
    after_by = after_name = False
    for count, position in enumerate(positions):
        text = document.text[rows[position]]
        if local_by:
            text = local_by.sub("By ", text, count=1)
        introduces = (is_by(text) and _may_introduce(document, rows[position])) or (
            after_name and is_joint(text)
        )
        name = None
        if not introduces and len(text) <= _MAX_TEXT:
            name = _name(document, position, text, language, after_by=after_by)
            if count >= near and name is not None and name.source != "byline":
                above = {document.tag[it] for it in document.ancestors(rows[position])}
                if above & _OTHER_ENDS or not all(map(is_full_name, name.names)):
                    name = None  # of another story
            if name is None and head <= position < head + _MAX_FROM_TITLE:
                first = position < head + 2
                if names := _name_by_place(document, position, text, language, first=first):
                    name = _Name(position, "place", ("", ""), names)
        yield position, name
        after_by, after_name = introduces, name is not None and name.source == "byline"


def _name(
    document: Document, position: int, text: str, language: str | None, *, after_by: bool
) -> _Name | None:
    """Return the marked names in a text node; with *after_by*, the text before it is "By"."""
    row = document.shown_rows[position]
    head, _, last = text.rstrip().rpartition(" ")
    text = head if head and "@" in last else text
    text = _BEFORE_LABEL.sub("", text) if "：" in text else text
    text = without_brackets(_without_date(text, language))
    is_label = match_by(text) and _may_introduce(document, row)
    is_byline = after_by or is_label or ends_with_label(text)
    source = "byline" if is_byline else _source(document, row)
    if source is None or _is_elsewhere(document, row):
        return None
    if source == "class" or count_digits(text):
        text = _without_label(_without_dates(text, language))
    found = clean_names([text if source == "link" else f"By {text}"])
    if any(is_lower(name) and (len(name) > _MAX_SIGN or name == found[0]) for name in found):
        return None  # a sentence: "Published by Port Games and released in May"
    names = [name for name in found if is_person(name) and label_of(name) != "modified"]
    if is_label and (language or "").startswith("en") and _TWO_WORDS.fullmatch(text):
        return None
    if not names or _is_date_word(names[0], document.text[row], is_marked=source == "class"):
        return None
    parent = document.parent[row]
    markup = (document.tag[parent], document.attributes["class"].get(parent, ""))
    return _Name(position, source, markup, names)


def _name_by_place(
    document: Document, position: int, text: str, language: str | None, *, first: bool
) -> list[str]:
    """Return the names in a line below the title next to a date or role.

    If *first*, also those that are repeated or in a place ("Ada Meyer in Oslo").
    Their words are not in lower case elsewhere on the page.
    """
    rows, above = document.shown_rows, islice(document.ancestors(document.shown_rows[position]), 4)
    is_word = len(text.split()) == 1 and "," not in text
    if is_word or len(text) > _MAX_LINE or any(map(document.attributes["href"].get, above)):
        return []
    names = clean_names([f"By {_without_dates(_without_date(text, language), language)}"])
    if not names or not all(map(is_full_name, names)):
        return []
    around = [
        document.text[it][: _MAX_LINE + 1] for it in rows[max(0, position - 1) : position + 3]
    ]
    parts = re.split(r"(?:(?<!\s)\s++)?[|,]\s*+", text)[1:]
    has_role = any(map(is_role, (*around[2:], *parts))) or any(map(is_organization, parts))
    dates = (it for text in around[:3] for it in read_dates(text, language=language))
    is_repeated = first and any(
        document.text[it].startswith(names[0]) for it in rows[position + 1 :]
    )
    is_known = has_role or is_repeated or any(it.has_year for it in dates)
    is_placed = first and IN_PLACE.search(text) and not _is_elsewhere(document, rows[position])
    if not (is_known or is_placed) or not (has_role or _is_line(document, position)):
        return []
    page = document.join_texts(rows).replace(text, "", 1)
    page = page if is_known else page.lower()  # a story names its people again
    words = (word for name in names for word in name.split() if not is_lower(word))
    is_other = any(re.search(rf"\b{re.escape(word.lower())}\b", page) for word in words)
    return [] if is_other else names


def _is_line(document: Document, position: int) -> bool:
    """Return whether breaks or numbers separate a text node from others."""
    rows = document.shown_rows[max(0, position - 1) : position + 2]
    return all(
        _block(document, first) != _block(document, second)
        or "br" in document.tag[first + 1 : second]
        or count_digits(document.text[first] + document.text[second])
        for first, second in pairwise(rows)
    )


def _block(document: Document, row: int) -> int:
    return next((it for it in document.ancestors(row) if document.tag[it] in BLOCK_LEVEL), 0)


def _without_dates(text: str, language: str | None) -> str:
    """Return *text* without the dates in it, and the words before them: "Ada Meyer on"."""
    for date in reversed(read_dates(text, language=language)):
        text = f"{_WORDS_BEFORE.sub('', text[: date.start])} | {text[date.end :]}"
    return text


def _without_label(text: str) -> str:
    """Return *text* without a label of any language before a name."""
    label = _LABEL.match(text)
    return text[label.end() :] if label and not CREDIT.match(text) else text


def _is_date_word(name: str, text: str, *, is_marked: bool) -> bool:
    """Return whether a single word is part of a date or its label: "Sat, 20 Dec", "Publicerad"."""
    if " " in name:
        return False
    is_dated = is_marked and name.isascii() and count_digits(text) > 0
    return is_dated or label_of(name) == "published"


def _may_introduce(document: Document, row: int) -> bool:
    """Return whether the text node *row* begins its block, or follows a date in it."""
    text = document.text[row]
    if text[:2].lower() == "by":
        return True
    before = document.join_texts(rows_between(document.shown_rows, _block(document, row), row))
    is_dated = len(before) <= MAX_DATE and count_digits(before) > 0
    return not before or is_dated or is_by(before)


def _without_date(text: str, language: str | None) -> str:
    """Return the part of *text* before or after a date in it: "Ada Meyer, 1.12.2021"."""
    if not count_digits(text):
        return text
    dated = AFTER_DATE.match(text)
    if dated and is_byline(text[dated.end() :]):
        before = text[: dated.end()]  # no number of a headline
        if ":" in before or read_dates(before, language=language):
            text = text[dated.end() :]
    parts = [part.strip() for part in _DATE_PART(text).split(text)]
    parts = [part for part in parts if part and not count_digits(part)]
    first = next((index for index, part in enumerate(parts) if is_byline(part)), 0)
    return " | ".join(parts[first:]) or text


def _is_elsewhere(document: Document, row: int) -> bool:
    """Return whether the text node *row* is in a caption or a menu."""
    above = islice(document.ancestors(row), _MAX_LEVELS)
    return any(document.tag[ancestor] in _OTHER_PLACES for ancestor in above)


def _source(document: Document, row: int) -> str | None:
    classes, ids = document.attributes["class"], document.attributes["id"]
    addresses = document.attributes["href"]
    source = "class" if _role(classes.get(row - 1, ""), "")[2] else None
    for above in islice(document.ancestors(row), _MAX_LEVELS):
        chars = document.chars(above)
        if chars > _MAX_ELEMENT:
            break
        address = addresses.get(above) if document.tag[above] == "a" else None
        if address is not None and _is_author_page(address, document.text[row]):
            return "link"
        if source is None and (above in classes or above in ids):
            is_author, is_other, _ = _role(classes.get(above, ""), ids.get(above, ""))
            dated = is_author and count_digits(document.text[row])
            if is_other and not dated and chars < _MAX_TEXT:
                return None
            source = "class" if is_author else None
    return source


@lru_cache(maxsize=1024)
def _role(classes: str, identifier: str) -> tuple[bool, bool, bool]:
    """Return whether class and id name an author, another part of a box, and an author's icon."""
    mark = f"{classes} {identifier}".lower()
    is_author, is_other = _AUTHOR.search(mark) is not None, _OTHER_PART.search(mark) is not None
    return is_author, is_other, _AUTHOR_ICON.search(classes) is not None


def _is_author_page(address: str, text: str) -> bool:
    address = address.lower()
    if _AUTHOR_PAGE.search(address):
        return _NO_PERSON.search(address) is None
    page = _PERSON_PAGE.search(address)
    if page is None or _NO_PERSON.search(address):
        return False
    names = _WORD.findall(text.lower())
    if len(names) > 1:
        return any(word in page[1] for word in names)
    return names == re.split(r"[/?.]", page[1])[:1]  # no "Clip" of "/users/clippings"
