"""Pages in place of a story: consent, bot check, login, a missing page, or one without text.

The evidence is independent of the language where possible: addresses, names in markup, scripts of
consent platforms and bot checks, forms. A page is only looked at if it has little text outside of
links, and never if it declares an article. That a page is missing is said in words: its title, a
heading or the start of a short text has a word for a page and one for missing; above the texts of
other stories, title and heading.

A visible paywall is a box below a few paragraphs that asks the reader to subscribe. The wording
alone is not enough, as menus and newsletters use it, too. Class names are unreliable, as publishers
also mark the paragraphs behind it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, get_args
from urllib.parse import unquote, urlsplit

from newscrawl.document.document import rows_between
from newscrawl.document.repeats import outermost, prose
from newscrawl.items import Evidence
from newscrawl.language_words import pattern
from newscrawl.language_words import words as words_of
from newscrawl.patterns import lazy_regex
from newscrawl.text import weighted_length

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from newscrawl.document.document import Document

Barrier = Literal["challenge", "consent", "login", "needs_js", "soft_404"]
"""Kind of page in place of a story."""
BARRIERS: Final[frozenset[str]] = frozenset(get_args(Barrier))
NEEDS_JS: Final = "needs_js"
BARRIER_CONFIDENCE: Final = 0.9
"""Confidence that a page with such evidence is no article; set by hand."""

# Weighted characters of a page outside of links, and in links.
_MAX_CONSENT: Final = 8000
_MAX_BESIDE_CONSENT: Final = 600
_MAX_CHALLENGE: Final = 1500
_MAX_FORM: Final = 600
_MAX_EMPTY: Final = 300
_MAX_LINK_CHARS: Final = 1500
_MAX_FORM_LINK_CHARS: Final = 500
# Weighted characters of an extracted text that may be a story.
_MIN_BODY: Final = 140
# Weighted characters of a text under a heading, or one that says by itself, that the page is
# missing.
_MAX_MISSING: Final = 2500
_MAX_NOTICE: Final = 700
# Weighted characters of a heading that only says it; a headline has more.
_MAX_MESSAGE: Final = 40
# Characters of a title or heading, and of the start of a text, that are read.
_HEADING: Final = 80
_START: Final = 160
# Characters of a notice that scripts are needed.
_MIN_NOTICE: Final = 15
# Bytes of a page of a bot check, with its script.
_MAX_CHALLENGE_SIZE: Final = 128 * 1024
_MIN_CONSENT_SHARE: Final = 0.5
#: characters of text for each word about cookies and consent
_CONSENT_DENSITY: Final = 200

_CHALLENGE: Final = lazy_regex(
    rb"_cf_chl_|cf-browser-verification|cf-challenge|challenge-form|cf-im-under-attack|cf-error-details"
    rb"|/cdn-cgi/challenge-platform/h/|captcha-delivery\.com|sec-if-cpt|sec-cpt|/_sec/cp_challenge|bm-verify"
    rb"|errors\.edgesuite\.net|px-captcha|captcha\.px-c(?:dn|loud)|_pxblock|_incapsula_resource|incapsula incident"
    rb"|awswafintegration|gokuprops|awswaf\.com|aws-waf|sucuri_cloudproxy|ddos-guard|anubis_challenge"
    rb"|within\.website/x/cmd|_vercel/challenge|perfdrive\.com|ssconf|__qrator|_fs-ch-|/tspd/|bobcmn"
    rb"|acw_sc__v|x5secdata|_waf_|kpsdk|/\.well-known/(?:captcha|challenge)",
)
_CHALLENGE_HEADERS: Final = (
    "cf-mitigated",
    "x-datadome",
    "x-amzn-waf-action",
    "x-vercel-mitigated",
)
# Parts of bot checks that forms for comments and newsletters have, too.
_CAPTCHA: Final = lazy_regex(rb"captcha|turnstile|arkoselabs|geetest|altcha", re.IGNORECASE)
# A script that sets a cookie and loads the page again.
_SETS_COOKIE: Final = lazy_regex(rb"document\.cookie\s*=")
_LOADS_AGAIN: Final = lazy_regex(
    rb"location\.(?:reload|replace|assign)\s*\(|location(?:\.href)?\s*=[^=]|\.submit\s*\("
)
_PASSWORD: Final = lazy_regex(
    rb"<input\b[^>]{0,500}?(?:type=[\"']?password|autocomplete=[\"']?(?:username|current-password))"
    rb"|<form\b[^>]{0,500}?action=[\"']?[^\"'>]{0,200}?(?:log-?in|sign-?in|/auth|/sso|/session)",
    re.IGNORECASE,
)
_CONSENT_NAME: Final = lazy_regex(
    r"cookie|consent|onetrust|gdpr|dsgvo|rgpd|lgpd|privacy|didomi|usercentrics|sp_message|sourcepoint"
    r"|qc-cmp|truste|trustarc|cybot|klaro|iubenda|osano|borlabs|complianz|pur-?abo|(?:^|[\s_-])cmp",
    re.IGNORECASE,
)
_CONSENT_SCRIPT: Final = lazy_regex(
    rb"sourcepoint|sp-prod\.net|privacy-mgmt\.com|cookielaw\.org|onetrust|didomi|usercentrics|quantcast"
    rb"|consensu\.org|consentmanager|trustarc|cookiebot|iubenda|inmobi.{0,20}cmp|fundingchoices|[/.-]cmp[/.-]"
    rb"|[/.-]consent[/.-]",
    re.IGNORECASE,
)
_CONSENT_PART: Final = lazy_regex(
    r"(?:cookie-?)?(?:consent|wall)|cookies?|privacy-?(?:gate|wall|center)|myprivacy|gdpr|dsgvo|guce|cmp|pur"
)
_LOGIN_PART: Final = lazy_regex(
    r"log-?(?:in|on)|sign-?(?:in|up)|auth(?:enticate|entication|orize)?|sso|oauth2?|accounts?|register"
    r"|registration|subscribe|abo|paywall|anmeld(?:en|ung)|connexion|inloggen|logowanie|iniciar-sesion|accedi|entrar"
)
_404: Final = lazy_regex(
    r"(?:\W|error|fehler|erreur|errore|ошибка)*404(?!\d)|(?:\W*(?:sorry|oops|ups|hoppla)\W+)?"
    r"(?:not found|nicht gefunden|no encontrad[oa]|não encontrad[oa]|non trovat[oa]|niet gevonden)\W*$"
)
_TAG: Final = lazy_regex(rb"<style[^<]{0,5000}</style>|<[^<>]{0,5000}>", re.IGNORECASE)
_APP_ROOT: Final = lazy_regex(
    r"root|app|__next|__nuxt|___gatsby|svelte|main-?app|application|mount"
)
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


def find_barrier(
    document: Document, features: Mapping[str, float], url: str | None = None, *, body: str = ""
) -> Barrier | None:
    """Return what the page at *url* shows in place of a story, None for a page of another kind.

    *features*: see :func:`~newscrawl.fields.kind.kind_features.kind_features`; *body*: extracted
    text.
    """
    if not features["article_data"] and _is_missing(document, body):
        return "soft_404"
    return _find_gate(document, features, url, body)


def _find_gate(
    document: Document, features: Mapping[str, float], url: str | None, body: str
) -> Barrier | None:
    links = document.link_chars(0)
    prose = document.chars(0) - links
    is_declared = features["article_data"] > 0 or features["declared"] > 0
    has_text = not is_declared and weighted_length(body) >= _MIN_BODY
    is_story = has_text and features.get("date_kind", 0.0) > 0  # with a date on the page
    if prose > _MAX_CONSENT or is_story or is_declared:
        return None
    source = document.source
    is_form = prose <= _MAX_FORM and links <= _MAX_FORM_LINK_CHARS
    if prose <= _MAX_CHALLENGE and links <= _MAX_LINK_CHARS and len(source) <= _MAX_CHALLENGE_SIZE:
        if _CHALLENGE.search(source.lower()):
            return "challenge"
        checks = _CAPTCHA.search(source) or (prose <= _MAX_EMPTY and _checks_by_cookie(source))
        if is_form and checks and not _PASSWORD.search(source):
            return "challenge"
    if (
        links <= _MAX_LINK_CHARS
        and (not has_text or _is_about_consent(body.lower()))
        and _asks_for_consent(document, prose, links, url)
    ):
        return "consent"
    if is_form and _PASSWORD.search(source) and _shows_input(document):
        return "login"
    is_empty = prose <= _MAX_EMPTY and not has_text
    return NEEDS_JS if is_empty and _is_empty_app(document) else None


def _is_missing(document: Document, body: str) -> bool:
    """Return whether a heading, the title or a short text says that the page is missing.

    Above a long text, as of other stories, the title and a short heading say it, and no later line.
    """
    length, title = weighted_length(body), document.title[:_HEADING]
    is_long = length > _MAX_MISSING
    if is_long and not _says_missing(title):
        return False
    first, second = (list(filter(document.chars, document.rows_of(tag))) for tag in ("h1", "h2"))
    rows = first + second if is_long else first[:2] or second[:1]
    headings = [document.subtree_text(row)[:_HEADING] for row in rows]
    if is_long:
        messages = [text for text in headings if weighted_length(text) <= _MAX_MESSAGE]
        lines = body[_MAX_NOTICE:].splitlines()
        return any(map(_says_missing, messages)) and not any(
            _says_missing(line[:_START]) for line in lines
        )
    start = [body[:_START]] if length <= _MAX_NOTICE else []
    return any(map(_says_missing, [title, *headings, *start]))


def _says_missing(text: str) -> bool:
    text = text.lower()
    return bool(
        _404.match(text) or (pattern("missing").search(text) and pattern("page").search(text))
    )


def is_challenge(headers: Mapping[str, object], body: bytes) -> bool:
    """Return whether a page with an error status belongs to a bot check, by its start."""
    if any(name in headers for name in _CHALLENGE_HEADERS):
        return True
    return bool(_CHALLENGE.search(body.lower()) or _CAPTCHA.search(body)) or _checks_by_cookie(body)


def gate_of(requested: str, final: str) -> Barrier | None:
    """Return the kind of gate at the URL *final*, to which the URL *requested* redirects.

    None if it is another page: gates have names such as ``consent`` or ``login``, or their address
    contains the one to return to.
    """
    before, after = urlsplit(requested), urlsplit(final)
    if before.path == after.path:
        return None
    names = [*(after.hostname or "").split(".")[:-2], *after.path.lower().strip("/").split("/")]
    parts = [name.partition(".")[0] for name in names]
    if any(map(_CONSENT_PART.fullmatch, parts)):
        return "consent"
    if any(map(_LOGIN_PART.fullmatch, parts)):
        return "login"
    back = f"{before.path}?{before.query}" if before.query else before.path
    returns = len(back) > 1 and back in unquote(unquote(after.query))
    if not returns:
        return None
    return (
        "login" if re.search(r"login|signin|auth|account|abo|subscri", final.lower()) else "consent"
    )


def _checks_by_cookie(source: bytes) -> bool:
    sets_cookie = len(source) <= 64 * 1024 and _SETS_COOKIE.search(source)
    return bool(sets_cookie and _LOADS_AGAIN.search(source))


def _asks_for_consent(document: Document, prose: float, links: float, url: str | None) -> bool:
    marked = sum(document.chars(row) - document.link_chars(row) for row in _marked_rows(document))
    if marked >= _MIN_CONSENT_SHARE * prose > 0 and prose - marked <= _MAX_BESIDE_CONSENT:
        return True
    platform = any(
        _CONSENT_SCRIPT.search(attributes.encode()) for attributes, _ in document.scripts()
    )
    if max(prose, links) <= _MAX_EMPTY and platform and not _has_app_root(document):
        return True
    has_controls = any(document.rows_of(tag) for tag in ("button", "form", "input"))
    named = url is not None and gate_of("", url) == "consent"
    if links > prose or not (has_controls or named):
        return False
    # The dialog of a page with another text does not count.
    apart = list(_marked_rows(document)) if prose - marked > _MAX_BESIDE_CONSENT else []
    inside = {row for top in apart for row in range(top, document.end[top])}
    rows = [row for row in document.text_nodes() if row not in inside]
    text = " ".join(document.text[row] for row in rows).lower()
    is_known = named or platform or marked > 0 or pattern("cookies").search(text) is not None
    return is_known and _is_about_consent(text)


def _is_about_consent(text: str) -> bool:
    """Return whether the lower case *text* has many words about cookies and consent."""
    number = sum(1 for _ in pattern("cookies", "consent").finditer(text))
    return number >= max(2, weighted_length(text) / _CONSENT_DENSITY)


def without_consent(document: Document, rows: Sequence[int]) -> Sequence[int]:
    """Return the text nodes *rows* of a body without a request for consent at its end.

    It is in an element with buttons, apart from the story.
    """
    apart = None
    for above in document.ancestors(rows[-1]) if rows else ():
        if above <= rows[0]:
            break
        apart = above
    if (
        apart is None
        or not rows_between(document.rows_of("button"), apart, document.end[apart])
        or pattern("cookies", "consent").search(document.text[rows[-1]].lower()) is None
    ):
        return rows
    is_about = _is_about_consent(document.subtree_text(apart).lower())
    return [row for row in rows if row < apart] if is_about else rows


def _shows_input(document: Document) -> bool:
    return any(not document.hidden[document.parent[row]] for row in document.rows_of("input"))


def _marked_rows(document: Document) -> Iterator[int]:
    """Return the outermost elements that are named for consent, except the whole page."""
    names = document.attributes["class"].items(), document.attributes["id"].items()
    rows = (row for found in names for row, name in found if _CONSENT_NAME.search(name))
    return outermost(document, (row for row in rows if document.tag[row] not in {"html", "body"}))


def _is_empty_app(document: Document) -> bool:
    """Return whether scripts have to fill the page."""
    parts = (part.partition(b"</noscript")[0] for part in document.source.split(b"<noscript")[1:])
    without = [len(_TAG.sub(b"", b"<" + part).strip()) for part in parts]
    asks = max(without, default=0) > _MIN_NOTICE
    has_script = any(document.rows_of("script"))
    return has_script and sum(without) <= _MAX_FORM and (asks or _has_app_root(document))


def _has_app_root(document: Document) -> bool:
    """Return whether an element is named as the root of an application, or has an own tag."""
    named = document.attributes["id"].items()
    return any(_APP_ROOT.fullmatch(name.lower()) for row, name in named) or any(
        "-" in tag and document.chars(row) <= _MAX_EMPTY for row, tag in enumerate(document.tag)
    )


def find_paywall(document: Document, forest: Sequence[int]) -> Evidence | None:
    """Return the evidence that *document* shows only part of the article, the trees in *forest*."""
    shown = sum([prose(document, tree, document.end[tree]) for tree in forest])
    if not 0 < shown <= MAX_PROSE:
        return None
    is_cut = any(prose(document, 0, row) >= _MIN_PROSE_BEFORE for row in _prompts(document))
    return Evidence("shown", PAYWALL_CONFIDENCE) if is_cut else None


def _is_prompt(text: str) -> bool:
    if not _MIN_PROMPT <= len(text) <= _MAX_PROMPT:
        return False
    lower = text.lower()
    is_near = any(map(lower.__contains__, words_of("subscribers")))
    return is_near and pattern("paywall").search(lower) is not None


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
