"""Sites that show something else in place of stories."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from newscrawl.reports.crawl_records import read_crawls
from newscrawl.reports.drift import find_alarms
from tests.helpers.crawls import crawl_sites
from tests.pages.barriers import barrier_page
from tests.servers.pages import article_page
from tests.servers.site import Answer, SiteServer, html, redirect, xml

GONE = {
    "en": "The story that you are looking for has been moved or removed. Use the search or go to our "
    "front page, where you find the latest news of the day.",
    "de": "Der gesuchte Artikel ist leider nicht mehr verfügbar. Bitte benutzen Sie unsere Suche oder "
    "kehren Sie zur Startseite zurück, dort finden Sie die neuesten Nachrichten des Tages.",
    "pl": "Szukany artykuł nie jest już dostępny. Prosimy skorzystać z wyszukiwarki albo przejść na "
    "stronę główną, gdzie znajdą Państwo najnowsze wiadomości dnia z kraju i ze świata.",
}


@pytest.mark.slow
@pytest.mark.parametrize("language", GONE)
def test_repeated_short_text_is_no_article(tmp_path: Path, language: str) -> None:
    """One short text under several addresses; the first is not known to be one."""
    paths = [f"/2026/11/{day}/a-story-of-the-day-with-a-name-{day}.html" for day in range(10, 16)]
    with SiteServer() as web:
        links = (f"<p><a href='{path}'>A story of the day {path}</a></p>" for path in paths)
        web.put("127.0.0.1/", html("".join(links)))
        for number, path in enumerate(paths):
            gone = f"<title>Courier</title><h1>Courier</h1><p>{GONE[language]}</p>"
            page = article_page(number) if number < 3 else gone
            web.put(f"127.0.0.1{path}", html(page))
        crawl = web.crawl(tmp_path, NEWSCRAWL_KEEP="article,other,index")
        site = crawl.site_counts(web.site)
    found = {item["url"].rpartition("/")[2] for item in crawl.items}
    assert {path.rpartition("/")[2] for path in paths[:3]} <= found
    assert len(found) <= 4
    assert site["dropped_count/soft_404"] >= 2


@pytest.mark.slow
def test_outcomes_of_pages_in_place_of_stories(tmp_path: Path) -> None:
    """Each has its outcome in stats and table, none is an article, and an alarm is raised."""
    paths = [f"/news/2026/11/{day}/a-story-of-the-day-{day}.html" for day in range(10, 26)]
    pages = {
        "consent": [
            redirect(f"/gate/?returnUrl=http%3A%2F%2F127.0.0.1{path}") for path in paths[:3]
        ],
        "redirected_home": [redirect("/"), redirect("/?error=404"), redirect("/news/")],
        "challenge": [
            Answer(barrier_page("challenge", "cloudflare", "fr").encode(), 403, {}),
            html(barrier_page("challenge", "incapsula", "pl")),
        ],
        "login": [redirect("/login?next=x"), html(barrier_page("login", "form", "ja"))],
        "needs_js": [html(barrier_page("needs_js", "root", "de"))],
    }
    outcomes = [(outcome, answer) for outcome, answers in pages.items() for answer in answers]
    outcomes += [
        ("consent", html(barrier_page("consent", name, "es"))) for name in ("class", "own-form")
    ]
    with SiteServer() as web:
        links = "".join(f"<p><a href='{path}'>A story of the day {path}</a></p>" for path in paths)
        menu = "".join(f"<a href='/news/section{n}/'>Section {n}</a>" for n in range(8))
        for path in ("/", "/news/"):
            web.put(f"127.0.0.1{path}", html(f"<a href=/news/>News</a>{menu}{links}"))
        for path in paths[:3]:
            web.put(
                f"127.0.0.1/gate/?returnUrl=http%3A%2F%2F127.0.0.1{path}", html("<h1>Gate</h1>")
            )
        web.put("127.0.0.1/login?next=x", html(barrier_page("login", "form", "en")))
        web.put("127.0.0.1/?error=404", html("<h1>Front page</h1>"))
        for path, (_, answer) in zip(paths, outcomes, strict=False):
            web.put(f"127.0.0.1{path}", answer)
        for number, path in enumerate(paths[len(outcomes) :]):
            web.put(f"127.0.0.1{path}", html(article_page(number)))
        crawl = web.crawl(tmp_path, RETRY_ENABLED=False)
        site = crawl.site_counts(web.site)
        counts = {
            outcome: site[f"failed_count/{outcome}"] + site[f"dropped_count/{outcome}"]
            for outcome in pages
        }
        assert counts == {outcome: sum(o == outcome for o, _ in outcomes) for outcome in pages}
        assert {item["url"].removeprefix(web.url) for item in crawl.items} == set(
            paths[len(outcomes) :]
        )

        web.put("127.0.0.1/", html(f"{menu}{links}"))
        for path in paths:
            web.put(f"127.0.0.1{path}", html(barrier_page("consent", "own-form", "de")))
        again = web.crawl(tmp_path, NEWSCRAWL_ALL_DUE=True)
    assert "pages ask for consent" in again.output
    [alarm] = find_alarms(read_crawls(str(tmp_path / "state.sqlite")))
    assert (alarm.measure, "ask for consent" in alarm.message) == ("no_story", True)


RSS = "<rss version='2.0'><channel><title>N</title>{}</channel></rss>"


@pytest.mark.slow
def test_sources_of_a_site_whose_front_page_has_no_story(tmp_path: Path) -> None:
    """Barriers and errors hide neither declared nor usual feeds, and are named all the same."""
    declared = "<link rel=alternate type=application/rss+xml href=/own.xml>"
    script = barrier_page("needs_js", "root", "de")
    consent = barrier_page("consent", "own-form", "de")
    fronts = {
        "127.0.0.1": ("needs_js", script.replace("</head>", f"{declared}</head>"), "/own.xml"),
        "127.0.0.3": ("needs_js", script, "/feed/"),
        "127.0.0.4": ("consent", consent.replace("</head>", f"{declared}</head>"), "/own.xml"),
        "127.0.0.5": ("http_500", "Sorry", "/rss.xml"),
        "127.0.0.6": ("http_403", declared, "/own.xml"),
    }
    with ExitStack() as stack:
        webs = {}
        for number, (address, (reason, front, feed)) in enumerate(fronts.items()):
            web = webs[address] = stack.enter_context(SiteServer(address=address))
            path = f"/2026/11/22/a-story-of-the-day-{number}.html"
            item = f"<item><title>A story</title><link>{web.url}{path}</link></item>"
            web.put(f"{address}/", html(front, int(reason[5:]) if reason[:4] == "http" else 200))
            web.put(f"{address}{feed}", xml(RSS.format(item)))
            web.put(f"{address}{path}", html(article_page(number)))
        crawl = crawl_sites(
            tmp_path,
            [f"{web.url}/" for web in webs.values()],
            RETRY_ENABLED=False,
            NEWSCRAWL_ALLOWED_ADDRESSES="127.0.0.0/8",
        )
        for address, (reason, _, _) in fronts.items():
            site = crawl.site_counts(f"{address}:{webs[address].port}")
            assert site["article_count"] == 1, address
            assert site[f"start_page_count/{reason}"] == 1, address
    assert "start page: 1 needs_js" in " ".join(crawl.output.split())
