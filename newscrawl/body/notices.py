"""Blocks left out of the body after all: notices, references to other stories, copies."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from newscrawl.body.block_features import SENTENCE, ending
from newscrawl.body.blocks import MIN_LONG
from newscrawl.document.document import rows_between

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from newscrawl.body.blocks import Blocks
    from newscrawl.document.document import Document

# For lower case. Parts of a text are strings: their search is many times as fast as a pattern.
_CLAIM = re.compile(
    r"\W{0,3}(?:©|\(c\) ?\d{4}|copyright\b[^.]{0,40}\d{4})|(?:免[责責])?[声聲]明[:：]|[（(【]?责(?:任编辑|编)[:：]|[^@]{0,60}@[\w-]++\.[\w.-]++\W*$"
)
_CLAIMS = (
    "all rights reserved", "alle rechte vorbehalten", "tous droits réservés", "tous droits de reproduction",
    "derechos reservados", "direitos reservados", "riproduzione riservata", "все права защищены",
    "активная ссылка", "активная гиперссылка", "may not be published", "may not be reproduced",
    "may not be copied", "版权所有", "版权声明", "版權所有", "版權声明", "不得转载", "禁止转载", "無断転載",
    "무단전재", "무단 전재", "جميع الحقوق محفوظة", "सर्वाधिकार सुरक्षित",
)  # fmt: skip
_MAX_CLAIM, _MIN_BEFORE_NOTICE = 600, 3
# Labels of advertisements in lower case, in their place.
_ADVERTISEMENT = re.compile(
    r"\W*(?:advertise?ments?(?: - continue reading below)?|(?:scroll to continue|article continues below|continue reading below|story continues below)[\w ]{0,40}"
    r"|(?:- )?(?:anzeige|werbung|publicit[ée]|publicidad[e]?|pubblicità|advertentie|annons|annonse|reklam[aeiy]?|iklan|mainos|reklāma|hirdetés|publicitate"
    r"|реклама|διαφήμιση|إعلان|פרסומת|विज्ञापन|โฆษณา|広告|广告|廣告|광고|quảng cáo))\W*",
)
_MAX_CAPTION = 100
_IMAGE_HOLDERS, _INLINE = frozenset({"div", "p"}), frozenset({"em", "font", "i", "small", "span"})
_MIN_LINK_SHARE = 0.9
_MAX_LABEL, _MIN_HEADLINE = 40, 16
_MAX_UNMARKED, _MIN_ALONE = 20, 30  # of a label without a colon, dash or bracket and its headline
_COLONS = (":", "：")
_WITHIN = ",;.!?…'’"  # signs after a link within a sentence
_HOST = re.compile(r"(?:https?:)?//(?:www\.)?([^/?#]+)|(?![a-z]+:|#)", re.IGNORECASE)
_CELLS = frozenset({"dd", "dt", "li", "td", "th"})


def without_notices(
    document: Document, blocks: Blocks, places: list[int], url: str | None
) -> list[int]:
    """Return *places* without notices, labels, and references to other pages of *url*."""
    site, kept = host(url), places[:]
    while len(kept) > _MIN_BEFORE_NOTICE:
        text = blocks.text(document, kept[-1])
        if len(text) > _MAX_CLAIM:
            break
        text = text.lower()
        is_claim = _CLAIM.match(text) is not None or any(map(text.__contains__, _CLAIMS))
        if not is_claim:
            break
        kept.pop()
    links = document.link_chars_before
    accepted: set[int] = set()
    chosen: list[int] = []
    for place in reversed(kept):  # labels depend on the block after them
        rows, text = blocks.rows[place], blocks.text(document, place)
        is_left_out = (len(text) <= _MAX_CAPTION and _is_label(document, blocks, place, text)) or (
            links[rows[0]] != links[rows[-1] + 1] and _is_reference(document, blocks, place, site)
        )
        if is_left_out and place != kept[0]:
            continue
        accepted.add(place)
        if not _is_left_label(document, blocks, place, text, accepted):
            chosen.append(place)
    return chosen[::-1]


def _is_label(document: Document, blocks: Blocks, place: int, text: str) -> bool:
    """Return whether a block is the label of an advertisement, or the inline caption of an image."""
    rows, owner = blocks.rows[place], blocks.owner[place]
    if len(text) <= _MAX_LABEL and _ADVERTISEMENT.fullmatch(text.lower()):
        return True
    parents = {document.parent[row] for row in rows}
    return (
        document.tag[owner] in _IMAGE_HOLDERS
        and len(parents) == 1
        and document.tag[min(parents)] in _INLINE
        and ending(text) != SENTENCE
        and bool(rows_between(document.rows_of("img"), owner, rows[0]))
        and document.chars(owner) == blocks.chars(document, [place])[0]
    )


def _is_reference(document: Document, blocks: Blocks, place: int, site: str | None) -> bool:
    """Return whether a block is headlines that link to the site, before or after a label ("Read also:")."""
    rows, links, before = blocks.rows[place], document.link_chars_before, document.chars_before
    first, end = rows[0], rows[-1] + 1
    chars = links[end] - links[first]
    if chars < _MIN_HEADLINE or before[end] - before[first] - chars > _MAX_LABEL:
        return False
    linked = [row for row in rows if links[row + 1] > links[row]]
    label = " ".join([document.text[row] for row in rows if row < linked[0]]).strip()
    after = " ".join([document.text[row] for row in rows if row > linked[-1]]).strip()
    if after and (label or after[0].isalnum() or after[0] in _WITHIN or ending(after) == SENTENCE):
        return False
    label = label or after
    headline = document.text[linked[0]].lstrip()
    is_sentence = len(label) > _MAX_UNMARKED or len(headline) < _MIN_ALONE or headline[0].islower()
    return (
        chars >= _MIN_HEADLINE * len(linked)
        and document.tag[blocks.owner[place]] not in _CELLS
        and any(map(str.isalpha, label))
        and not (is_sentence and not after and label[-1].isalnum() and not label.isupper())
        and all(leads_to_site(address(document, row) or "#", site) for row in linked)
    )


def host(url: str | None) -> str | None:
    """Return the host of *url* without ``www.``, None without one."""
    found = _HOST.match(url or "")
    return found and found[1]


def leads_to_site(link: str, site: str | None) -> bool:
    """Return whether *link* is relative, or to the host *site*."""
    found = _HOST.match(link)
    return found is not None and found[1] in {None, site}


def address(document: Document, row: int) -> str | None:
    """Return the link around *row*."""
    addresses = document.attributes["href"]
    return next((addresses[above] for above in document.ancestors(row) if above in addresses), None)


def _is_left_label(
    document: Document, blocks: Blocks, place: int, text: str, accepted: AbstractSet[int]
) -> bool:
    """Return whether a block labels an item that is not *accepted*, or a link, which is boilerplate."""
    if len(text) > _MAX_LABEL or not (
        text.endswith(_COLONS) or all(it.isupper() or it == " " for it in text)
    ):
        return False
    place += 1
    if place == len(blocks):
        return False
    if document.tag[blocks.owner[place]] == "li":
        return place not in accepted
    first, last = blocks.rows[place][0], blocks.rows[place][-1]
    links = document.link_chars_before
    return links[last + 1] - links[first] >= _MIN_LINK_SHARE * blocks.chars(document, [place])[0]


def without_copies(document: Document, blocks: Blocks, places: list[int]) -> list[int]:
    """Return *places* without long blocks that repeat one in a container of another name.

    Pages have a second copy for other widths of the screen, for mail or for print.
    """
    sizes = blocks.chars(document, places)
    equal = Counter([size for size in sizes if size >= MIN_LONG])
    texts = [
        blocks.text(document, place)
        for place, size in zip(places, sizes, strict=True)
        if equal[size] > 1
    ]
    if len(set(texts)) == len(texts):  # the common case
        return places
    containers: dict[str, str] = {}
    names: dict[int, str] = {}
    copies: set[str] = set()
    kept = []
    for place, size in zip(places, sizes, strict=True):
        container = _container_name(document, blocks.owner[place], names)
        first = containers.setdefault(blocks.text(document, place), container)
        if container != first and (size >= MIN_LONG or container in copies):
            copies.add(container)
        else:
            kept.append(place)
    return kept


def _container_name(document: Document, row: int, known: dict[int, str]) -> str:
    """Return class and id of the closest ancestor that has one; *known*: those of rows."""
    classes, ids = document.attributes["class"], document.attributes["id"]
    passed, name = [], ""
    for above in document.ancestors(row):
        name = known.get(above, f"{classes.get(above, '')}#{ids.get(above, '')}")
        passed.append(above)
        if above in known or name != "#":
            break
    known.update(dict.fromkeys(passed, name))
    return name
