"""Visible paywalls, independent of structured data.

A truncated article has a few paragraphs followed by a box that asks the reader to subscribe. The
wording alone is not enough, as menus and newsletters use it, too. Class names are unreliable, as
publishers also mark the paragraphs behind the paywall.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from newscrawl.document.repeats import prose
from newscrawl.items import Evidence
from newscrawl.patterns import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from newscrawl.document.document import Document

_PROMPT = lazy_regex(
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
"""Subscription prompts in lower-case text; a case-insensitive pattern would be five times slower."""
_PROMPT_PARTS = (
    "read", "unlock", "access", "subscribers", "members", "reached your", "weiterlesen", "abonn",
    "de cet article", "la suite", "suscriptores", "assinantes", "leyendo", "lendo", "abbonati",
    "a leggere", "te lezen", "läsa", "å lese", "tylko dla", "подписчик", "чтобы", "会員限定",
    "続きを読むには", "残り", "订阅后", "付费阅读", "剩余", "구독자", "유료", "للمشتركين", "לקריאת",
    "למנויים",
)  # fmt: skip
"""Fast pre-check: every prompt contains one of these parts."""
PAYWALL_CONFIDENCE = 0.8
"""Confidence in a visible paywall; set by hand."""

# Characters of a prompt.
_MIN_PROMPT, _MAX_PROMPT = 10, 200
# Weighted characters of a paragraph of the article.
_MIN_PARAGRAPH = 80
# Texts between the article and the prompt: tags, an author's address, share buttons.
_MAX_TEXTS_BETWEEN = 8
MAX_PROSE = 2500
"""Maximum weighted characters outside of links of a truncated article."""
# Weighted characters outside of links before the prompt.
_MIN_PROSE_BEFORE = 100


def find_paywall(document: Document, forest: Sequence[int]) -> Evidence | None:
    """Return the evidence of a visible paywall, None without one."""
    return Evidence("shown", PAYWALL_CONFIDENCE) if shows_paywall(document, forest) else None


def shows_paywall(document: Document, forest: Sequence[int]) -> bool:
    """Return whether *document* shows only part of the article, the subtrees in *forest*."""
    shown = sum(prose(document, tree, document.end[tree]) for tree in forest)
    if not 0 < shown <= MAX_PROSE:
        return False
    return any(prose(document, 0, row) >= _MIN_PROSE_BEFORE for row in _prompts(document))


def _is_prompt(text: str) -> bool:
    if not _MIN_PROMPT <= len(text) <= _MAX_PROMPT:
        return False
    lower = text.lower()
    return any(map(lower.__contains__, _PROMPT_PARTS)) and _PROMPT.search(lower) is not None


def _prompts(document: Document) -> Iterator[int]:
    """Yield the rows of subscription prompts shortly after a paragraph."""
    chars, links = document.chars_before, document.link_chars_before
    distance = _MAX_TEXTS_BETWEEN + 1
    for row in document.text_nodes():
        distance += 1
        if distance <= _MAX_TEXTS_BETWEEN and _is_prompt(document.text[row]):
            yield row
        if chars[row + 1] - chars[row] >= _MIN_PARAGRAPH and links[row + 1] == links[row]:
            distance = 0
