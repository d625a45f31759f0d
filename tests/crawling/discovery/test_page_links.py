"""Links of a page, and normalisation of URLs."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from newscrawl.crawling import urls as urls_module
from newscrawl.crawling.discovery.page_links import extract_links, read_page
from newscrawl.crawling.discovery.paging import ListingPages
from newscrawl.crawling.discovery.sitemaps import read_sitemap
from newscrawl.crawling.urls import absolute_url, page_key, registered_domain, site_key, trap_kind
from newscrawl.document.document import DocumentError, parse_document
from newscrawl.fields.kind.link_classifier import link_kind
from newscrawl.lab.corpora.corpus import load_corpus

URL = "https://www.news.example/world/"
STORY = "/2026/11/20/council-decides"


def read(body: str, head: str = "", **plain: Any) -> dict[str, Any]:
    html = f"<html><head>{head}</head><body>{body}</body></html>"
    return read_page(html.encode(), url=URL, domains=["news.example"], **plain)


def urls(entries: list[dict[str, Any]]) -> list[str]:
    return [entry.url for entry in entries]


def test_returns_articles_and_sections_in_page_order():
    found = read(
        f"<nav><a href='/sport/'>Sport</a><a href='/login'>Log in</a><a href='#top'>Up</a></nav>"
        f"<a href='{STORY}'><img></a><a href='{STORY}'>Council decides</a>"
        "<a href='a-long-slug-about-the-old-bridge-in-town'>The old bridge in town, a history</a>"
        "<a href='/files/report.pdf'>A report of the council about the bridge</a>"
        "<a href='javascript:void(0)'>No</a><a href='mailto:desk@news.example'>Mail</a>"
    )
    assert urls(found.articles) == [
        f"https://www.news.example{STORY}",
        "https://www.news.example/world/a-long-slug-about-the-old-bridge-in-town",
    ]
    assert urls(found.sections) == ["https://www.news.example/sport/"]
    assert found.articles[0].timestamp is not None


def test_skips_links_to_other_sites():
    found = read(
        f"<a href='https://blog.news.example{STORY}'>x</a><a href='https://other.example{STORY}'>y</a>"
    )
    assert urls(found.articles) == [f"https://blog.news.example{STORY}"]
    assert found.left_out == {"other_site": 1}


def test_resolves_base_and_finds_feeds():
    head = (
        "<base href='https://www.news.example/en/'>"
        "<link rel='alternate' type='application/rss+xml' href='feed.xml'>"
        "<link rel='alternate' type='Application/Atom+XML; charset=utf-8' href='/atom'>"
        "<link rel='alternate' type='application/feed+json' href='feed.json'>"
        "<link rel='alternate' hreflang='de' href='/de/'><link rel='alternate' type='text/html'>"
    )
    found = read("<a href='sport'>Sport</a>", head)
    assert urls(found.sections) == ["https://www.news.example/en/sport"]
    assert found.feeds == [
        "https://www.news.example/en/feed.xml",
        "https://www.news.example/atom",
        "https://www.news.example/en/feed.json",
    ]


def test_limits_the_number_of_links():
    many = "".join(f"<a href='{STORY}-{number}'>x</a>" for number in range(3000))
    found = read(many + f"<a href='/{'x' * 2_000_000}'>x</a>", limit=100)
    assert len(found.articles) == 100


@pytest.mark.parametrize(
    "tag",
    [
        "<link rel=alternate type=application/rss+xml href=/f{}>",
        "<iframe src=/f{}></iframe>",
        "<a href=/ressort-{}/>Ressort</a>",
        "<option value=/f/{}>x</option>",
    ],
)
@pytest.mark.parametrize("period", [{}, {"since": "2026-10-01", "until": "2026-10-31"}])
def test_each_list_of_links_is_limited(tag: str, period: dict[str, str]):
    found = read("".join(map(tag.format, range(300))), limit=20, **period)
    assert [len(getattr(found, name)) for name in ("feeds", "sections", "articles")] in (
        [200, 0, 0],
        [0, 20, 0],
        [0, 20, 20],
    )


def test_leaves_out_long_addresses():
    long = "2" * 2100
    found = read(f"<link rel=next href='/?page={long}'><a href=/page/2/>2</a>")
    assert found.next == "https://www.news.example/page/2/"
    assert read("", f"<link rel=alternate type=application/rss+xml href=/{long}>").feeds == []


def test_reads_the_links_of_an_article_only_if_requested():
    text = "<p>The council decided on the harbour after a long night of talks. " * 20
    article = f"<article><h1>Council decides</h1>{text}</article><a href='{STORY}'>Next</a>"
    teasers = (f"<h3><a href='{STORY}-{n}'>Council decides, part {n}</a></h3>" for n in range(100))
    index = "".join(f"<div>{teaser}</div>" for teaser in teasers)
    assert urls(read(article).articles) == [f"https://www.news.example{STORY}"]
    assert read(article, index_only=True).articles == []
    assert read(index, index_only=True) == read(index)
    assert read(index).kind == "index"
    assert len(read(index).articles) == 100


def test_rejects_data_that_is_not_html():
    with pytest.raises(DocumentError):
        read_page(b"%PDF-1.7", url=URL, domains=["news.example"])


@given(st.lists(st.text(st.characters(exclude_categories=["C"]), max_size=30), max_size=5))
def test_accepts_any_href(hrefs: list[str]):
    body = "".join(f'<a href="{href}">x</a>' for href in hrefs)
    assert isinstance(read(body).articles, list)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("http://news.example/a", "https://www.news.example/a/"),
        ("https://news.example/a?b=1&c=2", "https://news.example/a?c=2&b=1#top"),
        ("https://news.example/a?id=3", "https://news.example/a?id=3&utm_source=x&fbclid=y"),
        ("https://news.example/ä", "https://news.example/%C3%A4"),
        ("https://News.example:443", "http://news.example:80/"),
    ],
)
def test_page_key_of_equivalent_urls(first: str, second: str):
    assert page_key(first) == page_key(second)


@pytest.mark.parametrize(
    "other",
    ["https://news.example/a?id=2", "https://news.example/A", "https://news.example:8080/a?id=1"],
)
def test_page_key_of_different_pages(other: str):
    assert page_key("https://news.example/a?id=1") != page_key(other)


@given(st.from_regex(urls_module._PLAIN, fullmatch=True), st.sampled_from(["", URL]))
@example("http://xn--a.example/", "")
@example("http://1.2.3.4:443/a", "")
@example("http://www.news.example:80/a.b-c_d~/e/", URL)
def test_fast_path_gives_the_same_result(url: str, base: str):
    with pytest.MonkeyPatch.context() as patch:
        found = absolute_url(url, base), page_key.__wrapped__(url)
        patch.setattr(urls_module, "_PLAIN", re.compile(r"(?!)"))
        assert found == (absolute_url(url, base), page_key.__wrapped__(url))


@given(st.text())
def test_page_key_of_any_url(text: str):
    url = absolute_url(text, URL)
    if url is not None:
        assert url.startswith(("http://", "https://"))
        assert page_key(url) == page_key(absolute_url(url) or "")
        assert site_key(url)


@pytest.mark.parametrize(
    ("host", "registered"),
    [
        ("www.news.example.co.uk", "example.co.uk"),
        ("a.blogspot.com", "a.blogspot.com"),
        ("127.0.0.1:8080", "127.0.0.1:8080"),
        ("localhost:8080", "localhost:8080"),
        ("example.com:8080", "example.com"),
    ],
)
def test_registered_domain(host: str, registered: str):
    assert registered_domain(host) == registered


@pytest.mark.parametrize(
    "body",
    [
        f"<article data-href='{STORY}'><h2>Council decides</h2></article>",
        f"<div onclick=\"location.href='{STORY}'\"><h2>Council decides</h2></div>",
        f'<script id=__NEXT_DATA__>{{"stories":[{{"url":"{STORY}","image":"/a.jpg"}}]}}</script>',
        f'<script>[{{"url":"https:\\/\\/www.news.example{STORY}"}},{{"url":"//b.example/a"}}]</script>',
        f'<script>JSON.parse("[{{\\"url\\":\\"{STORY}\\"}}]")</script>',
    ],
)
def test_reads_addresses_of_scripts_from_pages_without_links(body: str):
    found = read(body)
    assert urls(found.articles) == [f"https://www.news.example{STORY}"]
    assert found.scripted
    found = read(f"<a href='{STORY}-again'>Council decides again</a>{body}")
    assert urls(found.articles) == [f"https://www.news.example{STORY}-again"]
    assert not found.scripted


def test_follows_lists_and_headlines_of_pages_without_addresses_of_articles():
    lists = ["http://sport.news.example/", "/?ressort=4", "/sitemap"]
    links = "".join(f"<a href='{path}'>More</a>" for path in ("/", "/a?b=1&c=2", *lists))
    links += "<select><option value=/county/>County<option value=1>One</select>"
    text = "Council of the county decides on the bridge in May"
    headlines = [f"<a href='/read?no={n}&to=x'>{text}</a>" for n in "ab"]
    headlines.append(f"<a href='/out?url={quote(STORY, safe='')}'>{text} after all</a>")
    found = read(links)
    paths = [url.removeprefix("https://www.news.example") for url in urls(found.sections)]
    assert sorted(paths) == sorted([*lists, "/county/"])
    assert not read("".join(headlines[:2])).articles
    found = read(links + "".join(headlines))
    assert len(found.articles) == 3
    assert f"https://www.news.example{STORY}" in urls(found.articles)
    assert not found.scripted
    assert "/county/" not in str(read(f"{links}<a href='{STORY}'>{text}</a>").sections)


@pytest.mark.parametrize("loaded", ["<a href='{}'>Council decides</a>", "{}"])
def test_reads_json_as_scripts_insert_it(loaded: str):
    data = json.dumps({"items": [loaded.replace("'", '"').format(STORY)]}).replace("<", "\\u003c")
    for text in (data, data.replace("/", "\\/")):
        found = read_page(text.encode(), url=URL, domains=["news.example"])
        assert urls(found.articles) == [f"https://www.news.example{STORY}"]


@pytest.mark.parametrize(
    "path",
    [
        "/archive/",
        "/archiv.html",
        "/archive/2024/",
        "/archive/2024/3/",
        "/archives/202403",
        "/2024/03/14/",
        "/?m=202403",
        "/archive?year=2024&month=3",
        "/calendar/2024/03/",
    ],
)
def test_follows_archive_pages_of_a_period(path: str):
    period = {"since": "2024-03-01T00:00:00Z", "until": "2024-04-01T00:00:00Z"}
    former = path.replace("2024", "2023")
    body = f"<a href='{path.replace('&', '&amp;')}'>Archive</a> <a href='{former}'>2023</a>"
    [section] = read(body, **period).sections
    assert section.url == f"https://www.news.example{path}"
    assert section.timestamp <= 1_711_929_600


@pytest.mark.parametrize(("articles", "followed"), [(2, True), (3, False)])
def test_follows_archive_pages_of_a_page_with_hardly_an_article(articles: int, *, followed: bool):
    links = "".join(
        f'<a href="/2026/05/11/storm-damages-the-bridge-{n}.html">Storm damages the bridge {n}</a>'
        for n in range(articles)
    )
    page = read(f'{links}<a href="/archive/2026/05/">May</a>')
    assert ("https://www.news.example/archive/2026/05/" in urls(page.sections)) == followed


def test_reads_the_days_of_teasers_for_a_period():
    def teaser(day: str, slug: str) -> str:
        link = (
            f"<a href='/news/{slug}-about-the-bridge-in-town'>A story about the bridge in town</a>"
        )
        return f"<div><p><time datetime='{day}T08:00'>x</time></p><h2>{link}</h2></div>"

    body = teaser("2024-05-02", "a") + teaser("2024-03-14", "b") + teaser("2024-01-30", "c")
    body += "<button data-next-page='/news?page=2'>More</button>"
    found = read(body, since="2024-03-01T00:00:00Z", until="2024-04-01T00:00:00Z")
    assert urls(found.articles) == ["https://www.news.example/news/b-about-the-bridge-in-town"]
    assert found.left_out == {"too_new": 1, "too_old": 1}
    assert found.next == "https://www.news.example/news?page=2"
    assert read(body).next == found.next


@pytest.mark.parametrize("href", ["/world/page/2/", "?paged=2", "/world?page=2", "page/2"])
def test_finds_the_second_page_by_its_address(href: str):
    teasers = "".join(f"<h3><a href='{STORY}-{n}'>Council decides, part {n}</a></h3>" for n in "ab")
    links = (
        f"<a href='/tag/town2/'>town 2</a><a href='/page/2/'>x</a><a href='{href}'>Older posts</a>"
    )
    found = read(teasers + links).next
    assert found == urljoin(URL, href)


@pytest.mark.parametrize(
    "link",
    [
        "<a class=more href='/latest?cursor=eyJpZCI6MTAwfQ%3D%3D'>Load more</a>",
        "<a rel=next href='/latest?cursor=eyJpZCI6MTAwfQ%3D%3D'>&raquo;</a>",
        "<a href='?before=2026-11-20T08:00:00Z&amp;section=city'>Ältere Beiträge</a>",
        "<a href='/latest?page_token=CAoQAA'>Mehr</a>",
        "<a rel=next href='/latest/older'>もっと見る</a>",
        "<link rel=next href='/latest/older'>",
    ],
)
def test_finds_the_next_page_by_a_cursor(link: str):
    teasers = "".join(
        f"<p><a href='/2026/11/22/story-{n}'>A story of the town {n}</a></p>" for n in range(9)
    )
    following = read(teasers + link).next
    assert following is not None
    assert ListingPages.of(following) is None
    assert following.startswith("https://www.news.example/")


def test_prefers_the_number_of_a_page_to_a_cursor():
    links = "<a href='?after=abc'>More</a><a href='?page=2'>2</a>"
    assert str(read(links).next).endswith("/?page=2")


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
