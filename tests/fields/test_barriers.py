"""Pages in place of stories, and short stories that have the same marks."""

from __future__ import annotations

import pytest
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError

from newscrawl import extract
from newscrawl.crawl.reporting.outcomes import failure_reason
from newscrawl.fields.kind.barriers import BARRIERS, gate_of
from tests.pages.barriers import TEMPLATES, TEXTS, barrier_page

CASES = [(outcome, name) for outcome, pages in TEMPLATES.items() for name in pages]
STORY = "https://site.example/politics/2026/11/a-new-bridge.html"
PARAGRAPH = (
    "The council has decided on Thursday to build a new bridge over the river, after a debate of five "
    "hours about its costs. Work begins in spring."
)


@pytest.mark.parametrize(("outcome", "template"), CASES)
def test_recognises_pages_in_every_language(outcome: str, template: str):
    found = {
        language: extract(barrier_page(outcome, template, language), STORY).evidence["kind"].source
        for language in TEXTS
    }
    assert found == dict.fromkeys(TEXTS, outcome)


@pytest.mark.parametrize(
    "beside",
    [
        "<div id=onetrust-banner-sdk class=cookie-banner>{consent}<button>{accept}</button></div>",
        "<div class=login><form action=/login><input name=u><input type=password></form></div>",
        "<form><div class=g-recaptcha></div></form><script>window._pxAppId='PX1'</script>",
        "<noscript>{scripts}</noscript><div id=root></div><script src=/main.js></script>",
        "<script>document.cookie='seen=1';function go(){{location.reload()}}</script>",
    ],
)
@pytest.mark.parametrize("language", TEXTS)
def test_keeps_short_stories(language: str, beside: str):
    """A story of three sentences with a dialog, a form, or the marks of an application."""
    menu = "".join(f"<a href=/s{n}/>Section {n}</a> " for n in range(30))
    page = (
        f"<html lang={language}><title>A new bridge</title><body><nav>{menu}</nav><h1>A new bridge</h1>"
        f"<p>24 November 2026, 18:30</p><p>{PARAGRAPH}</p>{beside.format(**TEXTS[language])}</body></html>"
    )
    article = extract(page, STORY)
    assert article.evidence["kind"].source not in BARRIERS
    assert PARAGRAPH in article.body


def test_story_about_cookies_is_no_request_for_consent():
    text = "The court ruled on cookies and consent on Monday. " * 3 + PARAGRAPH * 3
    page = f"<title>Court</title><h1>Court</h1><p>2026-11-24</p><p>{text}</p><form><input></form>"
    assert extract(page, STORY).evidence["kind"].source not in BARRIERS


@pytest.mark.parametrize(
    ("final", "outcome"),
    [
        ("https://consent.site.example/?returnUrl=https%3A%2F%2Fsite.example%2Fx", "consent"),
        ("https://myprivacy.group.example/consent?siteKey=1", "consent"),
        ("https://site.example/cookie-wall?to=/politics/2026/11/a-new-bridge.html", "consent"),
        ("https://site.example/gate/?u=%2Fpolitics%2F2026%2F11%2Fa-new-bridge.html", "consent"),
        ("https://login.group.example/?next=abc", "login"),
        ("https://site.example/signin?next=%2Fpolitics", "login"),
        ("https://id.group.example/auth/realms/x?redirect_uri=https://site.example", "login"),
        ("https://site.example/politics/2026/11/consent-law-passed.html", None),
        ("https://site.example/sport/login-problems-at-the-club/", None),
        (f"{STORY}?from=/politics/2026/11/a-new-bridge.html", None),
    ],
)
def test_gates_by_their_address(final: str, outcome: str | None):
    assert gate_of(STORY, final) == outcome


@pytest.mark.parametrize(
    ("headers", "body", "reason"),
    [
        ({}, barrier_page("challenge", "cloudflare", "de").encode(), "challenge"),
        ({"cf-mitigated": "challenge"}, b"", "challenge"),
        ({"x-datadome": "protected"}, b"<p>Blocked", "challenge"),
        ({}, b"<html><h1>Forbidden</h1>", "http_403"),
    ],
)
def test_error_pages_of_bot_checks(headers: dict[str, str], body: bytes, reason: str):
    response = Response(STORY, 403, headers, body)
    assert failure_reason(HttpError(response, "ignored")) == reason
