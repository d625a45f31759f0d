"""Paywalls that a page shows, whatever its structured data says.

A stub ends in a box that asks the reader to subscribe, and holds no more than a few paragraphs.
Newsrooms ask the same in menus and newsletters of pages that are whole, so the words do not
suffice: the story must be short, and the box stand right after it. Names of elements tell
nothing: publishers call the paragraphs behind the wall "paywall", too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from newscrawl.document.repeats import prose

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from newscrawl.document.document import Document

_WORDS = re.compile(
    r"(?:subscribe|register|log ?in|sign (?:in|up)|account|free trial)[^.]{0,30} to (?:continue|keep) "
    r"reading|to (?:read|continue reading) the (?:full|rest|whole)|to (?:unlock|access) (?:this|the full)"
    r"|(?:reserved|exclusive(?:ly)?|only|available) (?:for|to) (?:our )?(?:paid )?(?:subscribers|members)"
    r"|(?:article|story|content) is (?:for|available to) (?:our )?subscribers"
    r"|you(?:'|’)ve reached your (?:article )?limit"
    r"|weiterlesen mit|(?:exklusiv|nur) für abonnent|mit (?:einem )?(?:abo|plus) weiterlesen|abonnenten lesen"
    r"|réservée?s? aux abonnés|reste \d+\s?% de cet article|pour lire la suite"
    r"|(?:exclusiv[oa]|sol[oa]) para (?:suscriptores|assinantes)|para seguir leyendo|continuar lendo"
    r"|riservat[oi] agli abbonati|per continuare a leggere|om verder te lezen|alleen voor abonnees"
    r"|för att läsa (?:hela|vidare)|for å lese (?:hele|videre)|tylko dla (?:prenumerat|subskryb)"
    r"|только подписчик|подписчикам|чтобы (?:читать|прочитать) (?:дальше|полностью)"
    r"|この記事は[^。]{0,8}会員限定|有料会員限定の記事|続きを読むには|残り\s?[:：]?\s?\d+\s?文字|订阅后|付费阅读|剩余\d+字"
    r"|구독자 전용|유료 회원|للمشتركين فقط|לקריאת הכתבה המלאה|למנויים בלבד"
)
"""In lower case, and to be looked for in that: regardless of case it would take five times as long."""
_PARTS = (
    "read", "unlock", "access", "subscribers", "members", "reached your", "weiterlesen", "abonn",
    "de cet article", "la suite", "suscriptores", "assinantes", "leyendo", "lendo", "abbonati",
    "a leggere", "te lezen", "läsa", "å lese", "tylko dla", "подписчик", "чтобы", "会員限定",
    "続きを読むには", "残り", "订阅后", "付费阅读", "剩余", "구독자", "유료", "للمشتركين", "לקריאת",
    "למנויים",
)  # fmt: skip
"""All of these words hold one of these: to see that there is none takes a third of the time."""
PAYWALL_CONFIDENCE = 0.8
"""Set by hand: right on the 8 made stubs, wrong on none of the 679 pages of the corpora, of which
none is a stub that its structured data does not call so."""

_SHORTEST, _LONGEST = 10, 200
"""Characters of a text that asks for a subscription."""
_PARAGRAPH = 80
"""Weighted characters of a text that is a paragraph of the story."""
_NEAR = 8
"""Most texts between the story and the box: tags, an author's address, buttons to share."""
MAX_PROSE = 2500
"""Weighted characters outside of links: a page that shows more is no stub."""
_BEFORE = 100
"""Weighted characters outside of links that stand before the box: a stub begins with a story."""


def shows_paywall(document: Document, forest: Sequence[int]) -> bool:
    """Return whether *document* shows a part of the story only, whose subtrees are *forest*."""
    story = sum(prose(document, tree, document.end[tree]) for tree in forest)
    if not 0 < story <= MAX_PROSE:
        return False
    return any(prose(document, 0, row) >= _BEFORE for row in _boxes(document))


def _asks(lower: str) -> bool:
    return any(map(lower.__contains__, _PARTS)) and _WORDS.search(lower) is not None


def _boxes(document: Document) -> Iterator[int]:
    """Yield the rows of texts that ask for a subscription, soon after a paragraph."""
    chars, links = document.chars_before, document.link_chars_before
    distance = _NEAR + 1
    for row in document.text_nodes():
        distance += 1
        text = document.text[row]
        if distance <= _NEAR and _SHORTEST <= len(text) <= _LONGEST and _asks(text.lower()):
            yield row
        if chars[row + 1] - chars[row] >= _PARAGRAPH and links[row + 1] == links[row]:
            distance = 0
