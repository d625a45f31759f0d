"""Crawler traps, and article URLs that look similar."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.crawling.discovery.page_links import extract_links, read_page
from newscrawl.crawling.discovery.sitemaps import read_sitemap
from newscrawl.crawling.urls import absolute_url, page_key, trap_kind
from newscrawl.document.document import parse_document
from newscrawl.fields.kind.link_classifier import link_kind
from newscrawl.lab.corpora.corpus import load_corpus

SITE = "https://paper.example"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/" + "/".join(map(str, range(20))), "depth"),
        ("/x/y/x/y/x/y", "repeats"),
        ("/sport/archive/sport/archive/", "repeats"),
        ("/sport/sport/sport", "repeats"),
        ("/calendar/2031/05/", "calendar"),
        ("/en/calendar/2031-05-17", "calendar"),
        ("/events/month/2031-05/", "calendar"),
        ("/veranstaltungen/kalender/2031/5/1", "calendar"),
        ("/events?year=2031&month=5", "calendar"),
        ("/events/?tribe-bar-date=2031-05-01&eventDisplay=month", "calendar"),
        ("/?" + "&".join(f"a{n}={n}" for n in range(20)), "query"),
        ("/?" + "&".join(f"a={n}" for n in range(5)), "query"),
        ("/?next=" + "x" * 600, "query"),
        ("/login?next=%2Flogin%3Fnext%3D%252Flogin%253Fnext%253D%25252F", "query"),
    ],
)
def test_detects_traps(path: str, reason: str):
    assert trap_kind(SITE + path) == reason


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/news/news/2026/11/20/story",
        "/2026/11/20/calendar-of-events-for-may/",
        "/events/2026/05/17/crowds-at-the-spring-fair/",
        "/2026/11/",
        "/article?id=12345&page=2",
        "/index.php?option=com_content&view=article&id=17:story&catid=3&Itemid=5",
        "/story?year=2026",
        "/view.php?month=5&id=17",
        "/search?q=%25",
    ],
)
def test_accepts_articles_archives_and_lists(path: str):
    assert trap_kind(SITE + path) is None


@pytest.mark.parametrize(
    ("url", "clean"),
    [
        ("/a.html;jsessionid=2CFCDC06A94F.node1?id=5", "/a.html?id=5"),
        ("/(S(lit3py55t21z5v55vlm25s55))/a.aspx", "/a.aspx"),
        ("/a?PHPSESSID=0123456789abcdef&id=5", "/a?id=5"),
        ("/a?CFID=1&CFTOKEN=2", "/a"),
        ("/a(S)/b;x=1", "/a(S)/b;x=1"),
    ],
)
def test_removes_session_ids(url: str, clean: str):
    assert absolute_url(url, SITE) == SITE + clean
    assert page_key(SITE + url) == page_key(SITE + clean)


def test_skips_traps_in_listings():
    paths = ("/2026/11/20/a-story-of-the-day-with-a-name.html", "/sport/sport/sport/1-story.html")
    urls = "".join(f"<url><loc>{SITE}{path}</loc></url>" for path in paths)
    sitemap = f"<urlset>{urls}</urlset>".encode()
    plain = {"url": f"{SITE}/map.xml", "domains": ["paper.example"]}
    assert read_sitemap(sitemap, **plain).left_out == {"trap": 1}
    page = "".join(f'<a href="{path}">A story of the day with a headline</a>' for path in paths)
    assert read_page(page.encode(), **plain).left_out == {"trap": 1}


@given(st.text(max_size=300), st.text(max_size=300))
def test_accepts_any_url(path: str, query: str):
    url = absolute_url(f"{SITE}/{path}?{query}")
    assert url is None or trap_kind(url) in {None, "depth", "repeats", "calendar", "query"}


def test_time_is_linear_in_the_length():
    for piece in ("/calendar", "/events/2031-05", "-w1", "%25", "&year=1", "a=1&"):
        for start in ("/", "/?", "/calendar/", "/events/2031"):
            trap_kind(SITE + start + piece * (2000 // len(piece)))


@pytest.mark.corpus
def test_no_article_of_the_corpora_is_a_trap(corpus_dir: Path):
    urls = {
        json.loads(line)["url"]
        for name in ("news212", "fundus", "css-sites", "near-duplicates")
        for line in (corpus_dir / name / "truth.jsonl").read_text("utf-8").splitlines()
    }
    assert len(urls) > 1600
    assert [url for url in urls if trap_kind(url)] == []


@pytest.mark.corpus
@pytest.mark.slow
def test_no_linked_article_is_a_trap(corpus_dir: Path):
    articles = set()
    for page in load_corpus(corpus_dir / "fundus").pages:
        links = extract_links(parse_document(page.html()), page.url)
        articles |= {url for url, text in links if link_kind(url, text) == "article"}
    assert len(articles) > 1000
    assert [url for url in articles if trap_kind(url)] == []
