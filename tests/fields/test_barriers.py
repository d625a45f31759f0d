"""Pages in place of stories, and short stories that have the same marks."""

import pytest
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError

from newscrawl import extract
from newscrawl.crawling.network.failures import failure_reason
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


MISSING = [
    ("Error 404 - Gazette", "The address may be wrong, or the page may have moved."),
    ("Seite nicht gefunden | Gazette", "Bitte nutzen Sie die Suche oder die Startseite."),
    ("Diesen Artikel gibt es leider nicht", "Bitte nutzen Sie die Suche oder die Startseite."),
    ("No hemos encontrado la página", "Compruebe la dirección o vuelva a la portada."),
    ("Cette page n’existe plus", "Vérifiez l’adresse ou revenez à la page d’accueil."),
    ("Pagina niet gevonden", "Controleer het adres of ga terug naar de voorpagina."),
    ("Esta notícia não está disponível", "Confira o endereço ou volte para a página inicial."),
    ("Nie można znaleźć artykułu", "Sprawdź adres albo wróć na stronę główną."),
    ("Материал не найден", "Проверьте адрес или вернитесь на главную."),
    ("Aradığınız sayfa bulunamadı", "Haber yayından kaldırılmış veya adresi değişmiş olabilir."),
    ("記事が見つかりませんでした", "掲載期間が終了したか、URLが変更された可能性があります。"),
    ("找不到頁面", "您要找的網頁已經移動或刪除，請檢查網址或使用搜尋功能。"),
    ("الصفحة المطلوبة غير موجودة", "تحقق من العنوان أو عد إلى الصفحة الرئيسية."),
    ("העמוד המבוקש לא נמצא", "בדקו את הכתובת או חזרו לעמוד הראשי."),
]


@pytest.mark.parametrize(("title", "text"), MISSING)
def test_missing_page_in_words(title: str, text: str):
    """In title and heading, or only in the text; also at the dated URL of a story."""
    menu = "".join(f"<a href=/s{n}/>Section {n}</a> " for n in range(30))
    teasers = "".join(f"<div><h3><a href=/t{n}>{PARAGRAPH[:70]}</a></h3></div>" for n in range(8))
    for tag, name, start in (("h1", title, ""), ("h2", "Gazette", ""), ("b", "Gazette", title)):
        heading = f"<{tag}>{'' if start else title}</{tag}>"
        notice = f"<main>{heading}<p>{start} {text * 2}</p></main>"
        page = f"<title>{name}</title><nav>{menu}</nav>{notice}<aside>{teasers}</aside>"
        article = extract(page, STORY)
        assert (article.kind, article.evidence["kind"].source) == ("other", "soft_404")


@pytest.mark.parametrize(("title", "text"), MISSING[::3])
def test_missing_page_above_other_stories(title: str, text: str):
    """The stories have dates and more text than most articles."""
    stories = "".join(
        f"<h3><a href=/t{n}>{PARAGRAPH[n:70]}</a></h3><p>{n + 1} November 2026</p><p>{PARAGRAPH * 2}</p>"
        for n in range(20)
    )
    for name in (title, f"{title} | Gazette"):
        page = f"<title>{name}</title><h1></h1><h2>{title}</h2><p>{text}</p><main>{stories}</main>"
        assert extract(page, STORY).evidence["kind"].source == "soft_404"


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("FBI says address book of the mayor cannot be found", "It was last seen on Monday."),
        ("404 errors", "Error 404 is shown by servers."),
        ("Page not found", "The band's second album is as good as the first."),
    ],
)
def test_story_about_a_missing_page(title: str, text: str):
    """A headline says more than such a message, a guide repeats it, a story has a title."""
    paragraphs = f"<p>{PARAGRAPH * 3}</p>" * 9
    name = "The year in music" if text.startswith("The band") else title
    page = f"<title>{name}</title><h1>{title}</h1><p>24 November 2026</p>{paragraphs}<p>{text}</p>"
    assert extract(page, STORY).kind == "article"


@pytest.mark.parametrize("start", ["The page was found in a drawer.", "Der Artikel fehlte nicht."])
def test_story_about_a_page_is_not_missing(start: str):
    page = f"<title>{start}</title><h1>{start}</h1><p>24 November 2026</p><p>{start} {PARAGRAPH * 3}</p>"
    assert extract(page, STORY).kind == "article"


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
