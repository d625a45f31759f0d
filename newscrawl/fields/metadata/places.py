"""Places on a page whose dates are not those of its story, and labels of dates."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Literal

from newscrawl.document.document import rows_between

if TYPE_CHECKING:
    from collections.abc import Collection

    from newscrawl.document.document import Document

Label = Literal["published", "modified", "other", ""]
"""Meaning of the words before a date."""

Place = Literal["story", "aside", "other"]
"""Place of a date."""

_TAGS = frozenset({"figcaption", "blockquote", "nav"})
_CLASSES = re.compile(
    r"(?<![a-z])(?:comments?(?:[-_]?(?:list|body|content|date|item|area|author|text))?(?![a-z_-])"
    r"|teasers?(?![a-z])|related|sidebar|recent[-_]?(?:posts?|entries)|embed(?:ded)?(?![a-z-])|tweet|instagram"
    r"|twitter-|(?:wp|image|img|photo|picture|media|fig|figure)[-_]{0,2}caption|credits?(?![a-z])|trending|most-?(?:read|popular)|today(?![a-z]))"
)
_OWN_CLASSES = re.compile(r"byline|entry-meta|post-meta|article-meta|dateline|publish")
_MODIFIED = re.compile(
    r"updated?(?! by)|last (?:modified|changed?|edited|revised)|modified|revised|aktualisiert|letzte (?:änderung|aktualisierung)"
    r"|zuletzt (?:geändert|aktualisiert|bearbeitet)|geändert|mis(?:e)? à jour|modifié|dernière modification"
    r"|actualizad[oa]|actualización|última (?:modificación|atualização)|modificado|atualizad[oa]|aggiornat[oa]"
    r"|ultim[oa] (?:aggiornamento|modifica)|modificat[oa]?|bijgewerkt|gewijzigd|laatste (?:wijziging|update)"
    r"|uppdaterad|senast ändrad|ändrad|opdateret|oppdatert|sist endret|endret|päivitetty|muokattu|frissítve"
    r"|módosítva|zaktualizowan[oa]|aktualizacja|ostatnia (?:zmiana|modyfikacja)|aktualizováno|aktualizace|upraveno"
    r"|aktualizované|actualit?zat|ažurirano|atnaujin|atjaun|uuendatud|muudetud|обновлен[оа]|обновено|изменен[оа]|оновлен[оа]|отредактировано|ενημερώθηκε|τελευταία ενημέρωση"
    r"|posodobljeno|обновена|uppfært|përditësuar|ажурирано"
    r"|güncellen(?:me|di)|güncelleme|diperbarui|kemas ?kini|cập nhật|最終更新|更新(?:日|于|於|时间|時間)?|修改|수정|업데이트"
    r"|최종|آخر تحديث|تحديث|به[ \u200c]?روز[ \u200c]?رسانی|עודכן|अपडेट|আপডেট|সংশোধিত|อัปเดต|แก้ไข"
)
_OTHER = re.compile(
    r"member since|joined|registriert|mitglied seit|membre depuis|inscrit|miembro desde|registrad[oa]|iscritto"
    r"|lid sinds|medlem (?:sedan|siden)|zarejestrowan[ya]|зарегистрирован|photo|foto|bild|image|picture|©|copyright|expires"
    r"|valid until|\bwhen:|event date|date of event|\bwann:|veranstaltung|accessed|retrieved|received|accepted|abgerufen"
)
_PUBLISHED = re.compile(
    r"publi|posted|veröffentlicht|erstellt|опубликован|发布|發布|公開|掲載|입력|등록|yayın|نشر"
)
_ITEMS = frozenset({"li", "a"})
_LABELS: dict[Label, re.Pattern[str]] = {
    "published": _PUBLISHED,
    "other": _OTHER,
    "modified": _MODIFIED,
}
_MAX_LEVELS = 12
# Characters of a link to another story; a link with only a date is shorter.
_MIN_TEASER = 28
_MAX_LABEL = 30
# Entries of a list of posts.
_MIN_ENTRIES = 3
_MAX_ENTRIES = 10
_MAX_ENTRY_LEVELS = 4


def place_of(
    document: Document, row: int, title_row: int | None, teasers: Collection[int] = ()
) -> Place:
    """Return where *row* is: ``other`` is a caption, one of *teasers*, embedded post or comment."""
    classes, ids = document.attributes["class"], document.attributes["id"]
    place: Place = "story"
    for above in islice(document.ancestors(row), _MAX_LEVELS):
        if title_row is not None and above <= title_row < document.end[above]:
            break
        if document.tag[above] in _TAGS or above in teasers:
            return "other"
        if document.tag[above] in _ITEMS and _has_teaser(document, above):
            return "other"
        if above in classes or above in ids:
            mark = _place_of_class(classes.get(above, ""), ids.get(above, ""))
            if mark == "other":
                return mark
            place = mark if mark == "aside" else place
        if document.tag[above] == "aside":
            place = "aside"
    return place


def _has_teaser(document: Document, row: int) -> bool:
    """Return whether *row* is, or contains, a link with the length of a title."""
    if document.tag[row] == "a":
        return document.chars(row) > _MIN_TEASER
    links = rows_between(document.rows_of("a"), row, document.end[row])
    return any(document.chars(link) > _MIN_TEASER for link in links)


def place_in_list(
    document: Document, row: int, title_row: int | None
) -> Literal["own", "other", ""]:
    """Return whether *row* is in a list of posts, and in the entry of this page, by its title."""
    above = islice(document.ancestors(row), _MAX_ENTRY_LEVELS)
    entry = next((it for it in above if document.tag[it] == "li"), None)
    if entry is None:
        return ""
    links = rows_between(document.rows_of("a"), entry, document.end[entry])[:_MIN_ENTRIES]
    if title_row is not None and links:
        title = document.shown_text(title_row).casefold()
        if any(document.shown_text(link).casefold() == title for link in links):
            return "own"
    return "other" if links and _is_list_of_posts(document, document.parent[entry]) else ""


def _is_list_of_posts(document: Document, row: int) -> bool:
    """Return whether several entries of the list *row* have a link and a number."""
    entries = rows_between(document.rows_of("li"), row, document.end[row])[:_MAX_ENTRIES]
    columns = document.rows_of("a"), document.number_rows
    dated = (
        all(rows_between(column, entry, document.end[entry]) for column in columns)
        for entry in entries
    )
    return sum(dated) >= _MIN_ENTRIES


@lru_cache(maxsize=1024)
def _place_of_class(classes: str, identifier: str) -> Place:
    mark = f"{classes} {identifier}".lower()
    found = _CLASSES.search(mark)
    if found is None or _OWN_CLASSES.search(mark):
        return "story"
    return "aside" if found[0] == "sidebar" else "other"


def label_of(before: str) -> Label:
    """Return the meaning of the text before a date, by its last words."""
    text = before[-_MAX_LABEL:].lower()
    last: Label = ""
    place = -1
    for label, pattern in _LABELS.items():
        for match in pattern.finditer(text):
            if match.start() > place:
                last, place = label, match.start()
    return last
