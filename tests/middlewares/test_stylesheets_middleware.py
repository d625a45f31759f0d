"""Style sheets in a crawl."""

import asyncio
import json
import os
import pickle
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from newscrawl.middlewares import StylesheetMiddleware
from newscrawl.middlewares.sheet_history import MAX_AGE
from newscrawl.middlewares.stylesheet_middleware import MAX_SHEET_SIZE, MAX_SHEETS
from tests.end_to_end.test_startproject import PAGES as PROJECT_PAGES
from tests.end_to_end.test_startproject import assert_all_extracted, crawl_server
from tests.helpers.crawls import Crawl, crawl_pages, crawl_sites
from tests.servers.site import HANG, Answer, SiteServer, bomb, link, page, redirect

HOSTS = 6
PAGES = 15
#: seconds that pages wait for sheets without an answer
TIMEOUT = 6.0

THEME = "http://cdn.example/theme.css"

pytestmark = pytest.mark.slow


class Recorded(NamedTuple):
    """A crawl and the requests that the server received."""

    crawl: Crawl
    web: SiteServer

    def counts(self, prefix: str = "newscrawl/css/") -> dict[str, Any]:
        stats = self.crawl.stats
        return {k.removeprefix(prefix): v for k, v in stats.items() if k.startswith(prefix)}

    def sheets(self, name: str) -> set[str]:
        """Return the sheets that were requested from *name*'s host."""
        urls = self.web.request_counts()
        return {url for url in urls if url.startswith(f"{name}.example/") and url.endswith(".css")}

    def complete(self, name: str) -> bool | None:
        """Return ``style_complete`` of the page of *name*'s host."""
        (found,) = (item for item in self.crawl.items if f"/{name}.example/" in item["url"])
        return found["style_complete"]


def record(
    folder: Path, answers: Mapping[str, Answer], *pages: str, **settings: object
) -> Recorded:
    """Crawl *pages* (URLs without scheme)."""
    with SiteServer(answers) as web:
        urls = [f"http://{url}" for url in pages]
        settings = {"NEWSCRAWL_CSS_TIMEOUT": 60} | settings
        done = crawl_pages(folder, urls, web.proxy_environment(), **settings)
    assert done.returncode == 0, done.output[-5000:]
    assert done.errors() == []
    return Recorded(done, web)


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Six sites of 15 pages, each site with two sheets of its own and one shared by all."""
    answers = {"cdn.example/theme.css": Answer()}
    for host in (f"paper{n}.example" for n in range(HOSTS)):
        head = link(THEME), link("/own.css"), "<style>@import 'fonts.css';</style>"
        answers |= {f"{host}/{n}.html": page(n, *head) for n in range(PAGES)}
        answers |= {f"{host}/own.css": Answer(), f"{host}/fonts.css": Answer()}
    pages = [url for url in answers if url.endswith(".html")]
    return record(tmp_path_factory.mktemp("healthy"), answers, *pages)


def test_fetches_each_sheet_once(healthy: Recorded):
    times = healthy.web.request_counts()
    sheets = {url: n for url, n in times.items() if url.endswith(".css")}
    assert len(sheets) == 2 * HOSTS + 1
    assert set(sheets.values()) == {1}
    counts = healthy.counts()
    assert counts["requested_count"] == counts["fetched_count"] == 13
    assert counts["shared_count"] == 3 * HOSTS * PAGES - 13


def test_styles_are_complete(healthy: Recorded):
    assert len(healthy.crawl.items) == HOSTS * PAGES
    assert all(item["style_complete"] for item in healthy.crawl.items)
    assert healthy.counts()["complete_page_count"] == HOSTS * PAGES


def test_requests_have_accept_and_referer(healthy: Recorded):
    own = healthy.web.headers("paper0.example/own.css")
    assert own["accept"].startswith("text/css")
    assert own["referer"].startswith("http://paper0.example/")
    assert own["referer"].endswith(".html")
    theme = healthy.web.headers("cdn.example/theme.css")
    assert theme["referer"].endswith(".example/")
    assert "cookie" not in own


#: name of the fault -> responses for the sheets of a page, and the expected stats
FAULTS: dict[str, tuple[list[Answer], str, int]] = {
    "missing": ([Answer(b"", 404)], "failed_count/http_404", 1),
    "html": ([Answer(headers={"Content-Type": "text/html"})], "failed_count/content_type", 1),
    "large": ([Answer(b" " * (MAX_SHEET_SIZE + 1))], "failed_count/too_large", 2),
    "bomb": ([bomb(5)], "failed_count/too_large", 2),
    "hang": ([HANG], "failed_count/timeout", 1),
    "loop": ([redirect("http://css-loop.example/0.css")], "failed_count/redirects", 1),
    "forbidden": ([Answer()], "failed_count/robots", 1),
    "broken": ([Answer(b"", 500)] * 8, "failed_count/http_500", 5),
    "drop": ([Answer(drops=True)] * 8, "failed_count/connection", 5),
    "many": ([Answer()] * (MAX_SHEETS + 4), "fetched_count", 0),
}


def faulty_web() -> dict[str, Answer]:
    answers = {
        "css-forbidden.example/robots.txt": Answer(b"User-agent: *\nDisallow: /"),
        "schemes.example/p.html": page(
            1,
            link("ftp://css.example/0.css"),
            link("file:///etc/passwd"),
            link("http://a:x/b.css"),
            link("https:///c.css"),
            link("//a..b/d.css"),
        ),
        "print.example/p.html": page(1, link("/print.css", "media=print")),
        "plain.example/p.html": page(1),
        "unstyled.example/p.html?unstyled": page(1, link("/0.css")),
        "empty.example/p.html": Answer(
            link("/0.css").encode(), headers={"Content-Type": "text/html"}
        ),
        "chain.example/p.html": page(1, link("/0.css")),
        **{f"chain.example/{n}.css": Answer(b"@import '%d.css';" % (n + 1)) for n in range(6)},
        "ring.example/p.html": page(1, link("/0.css")),
        **{f"ring.example/{n}.css": Answer(b"@import '%d.css';" % (1 - n)) for n in range(2)},
        "moved.example/p.html": page(1, link("/0.css")),
        "moved.example/0.css": redirect("http://css-moved.example/x/0.css"),
        "css-moved.example/x/0.css": Answer(b"@import '1.css';"),
        "css-moved.example/x/1.css": Answer(),
    }
    for name, (sheets, _, _) in FAULTS.items():
        urls = [f"css-{name}.example/{n}.css" for n in range(len(sheets))]
        answers[f"{name}.example/p.html"] = page(1, *(link(f"http://{url}") for url in urls))
        answers |= dict(zip(urls, sheets, strict=True))
    return answers


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """One page for each fault of a sheet."""
    answers = faulty_web()
    pages = [url for url in answers if "/p.html" in url]
    return record(
        tmp_path_factory.mktemp("faulty"),
        answers,
        *pages,
        NEWSCRAWL_CSS_TIMEOUT=15,
        RETRY_TIMES=1,
        NEWSCRAWL_MIN_BODY=0,
        NEWSCRAWL_KEEP="article,index,other",
    )


def test_faulty_sheets_lose_no_page(faulty: Recorded):
    assert len(faulty.crawl.items) == len([url for url in faulty_web() if "/p.html" in url])


@pytest.mark.parametrize("name", FAULTS)
def test_counts_faults_by_reason(faulty: Recorded, name: str):
    _, count, number = FAULTS[name]
    counts = faulty.counts()
    assert counts.get(count, 0) >= number
    if count != "fetched_count":
        assert counts[count] == number


@pytest.mark.parametrize("name", sorted(FAULTS.keys() - {"large"}))
def test_faults_make_styles_incomplete(faulty: Recorded, name: str):
    assert faulty.complete(name) is False


def test_does_not_retry_failures(faulty: Recorded):
    sheets = {url: n for url, n in faulty.web.request_counts().items() if url.endswith(".css")}
    assert sheets.pop("css-loop.example/0.css") == 4  # redirects to itself
    # Twisted repeats a request if a keep-alive connection was closed.
    dropped = {url for url in sheets if url.startswith("css-drop.example/")}
    assert {url for url, n in sheets.items() if n > 1} <= dropped


def test_obeys_robots_txt(faulty: Recorded):
    assert faulty.web.request_counts()["css-forbidden.example/robots.txt"] == 1
    assert "css-forbidden.example/0.css" not in faulty.web.request_counts()


@pytest.mark.parametrize("name", ["broken", "drop"])
def test_skips_host_after_five_failures(faulty: Recorded, name: str):
    assert len(faulty.sheets(f"css-{name}")) == 5
    assert faulty.counts()["refused_count/host_failures"] == 6


def test_refuses_other_schemes_and_invalid_urls(faulty: Recorded):
    assert faulty.counts()["refused_count/scheme"] == 2
    assert faulty.counts()["refused_count/url"] == 3


def test_limits_sheets_of_a_page(faulty: Recorded):
    assert len(faulty.sheets("css-many")) == MAX_SHEETS


@pytest.mark.parametrize(
    ("name", "once"),
    [
        ("print", None),
        ("plain", None),
        ("ring", "ring.example/0.css"),  # imports in a circle
        ("moved", "css-moved.example/x/1.css"),  # imported after a redirect
    ],
)
def test_complete_pages(faulty: Recorded, name: str, once: str | None):
    assert faulty.complete(name) is True
    assert once is None or faulty.web.request_counts()[once] == 1


@pytest.mark.parametrize("name", ["unstyled", "empty"])
def test_skips_pages_by_request_or_without_paragraphs(faulty: Recorded, name: str):
    assert f"{name}.example/0.css" not in faulty.web.request_counts()
    assert faulty.complete(name) is False


def test_limits_import_depth(faulty: Recorded):
    assert faulty.sheets("chain") == {f"chain.example/{n}.css" for n in range(3)}
    assert faulty.complete("chain") is False


def test_page_waits_for_timeout_only(tmp_path: Path):
    """With one concurrent request, too."""
    answers = {f"css{n}.example/0.css": HANG for n in range(3)}
    sheets = [link(f"http://{url}") for url in answers]
    pages = {f"paper.example/{n}.html": page(n, *sheets) for n in range(9)}
    settings = {"CONCURRENT_REQUESTS": 1, "ROBOTSTXT_OBEY": False, "NEWSCRAWL_CSS_TIMEOUT": TIMEOUT}
    found = record(tmp_path, answers | pages, *pages, **settings)
    assert [item["style_complete"] for item in found.crawl.items] == [False] * 9
    assert found.counts()["failed_count/timeout"] == 3


class BarrierWeb(SiteServer):
    """Answers requests for sheets once all of them were received."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        super().__init__(answers)
        self._missing = {url for url in answers if url.endswith(".css")}
        self._all_asked = asyncio.Event()

    async def answer(self, request: Any, writer: asyncio.StreamWriter) -> bool:
        """Send what there is for the URL."""
        self._missing.discard(f"{request.host}{request.target}")
        if not self._missing:
            self._all_asked.set()
        if request.target.endswith(".css"):
            await self._all_asked.wait()
        return await super().answer(request, writer)


def test_fetches_sheets_concurrently(tmp_path: Path):
    """With one concurrent request, too."""
    answers = {f"css{n}.example/0.css": Answer() for n in range(3)}
    sheets = [link(f"http://{url}") for url in answers]
    pages = {f"paper.example/{n}.html": page(n, *sheets) for n in range(9)}
    with BarrierWeb(answers | pages) as web:
        urls = [f"http://{url}" for url in pages]
        given = {"CONCURRENT_REQUESTS": 1, "ROBOTSTXT_OBEY": False, "NEWSCRAWL_CSS_TIMEOUT": 60}
        crawl = crawl_pages(tmp_path, urls, web.proxy_environment(), **given)
    assert [item["style_complete"] for item in crawl.items] == [True] * 9
    assert crawl.stats["newscrawl/css/requested_count"] == 3


def test_failures_count_for_their_site_only(tmp_path: Path):
    """Missing sheets of a site on a shared host do not disable the host for other sites."""
    missing = {f"cdn.example/{n}.css": Answer(b"", 403) for n in range(5)}
    answers = missing | {
        "cdn.example/theme.css": Answer(b"@import 'fonts.css';"),
        "cdn.example/fonts.css": Answer(),
        "www.bad.example/1.html": page(1, *(link(f"http://{url}") for url in missing)),
        "bad.example/2.html": replace(page(2, link(THEME)), delay=2),
        "paper.example/3.html": replace(page(3, link(THEME)), delay=4),
    }
    pages = [url for url in answers if url.endswith(".html")]
    found = record(tmp_path, answers, *pages, ROBOTSTXT_OBEY=False)
    assert found.complete("www.bad") is found.complete("bad") is False
    assert found.complete("paper") is True
    assert found.counts()["refused_count/host_failures"] == 1


@pytest.mark.parametrize("obeys", [True, False])
def test_crawl_does_not_stay_open_for_sheets(tmp_path: Path, obeys: bool):
    """Downloads that no page waits for are cancelled, robots.txt of the sheet's host included."""
    with SiteServer() as web:
        url = f"{web.url}/p.html"
        sheets = [f"http://hanging.example/{n}.css" for n in range(3)]
        web.put("127.0.0.1/p.html", page(1, *map(link, sheets)))
        given = {
            "NEWSCRAWL_CSS_TIMEOUT": 2,
            "NEWSCRAWL_TDM_OPT_OUT_OBEY": True,
            "ROBOTSTXT_OBEY": obeys,
        }
        crawl = crawl_pages(tmp_path, [url], **given)
    assert crawl.errors() == []
    assert len(crawl.items) == 1
    assert crawl.stats["finish_reason"] == "finished"
    assert crawl.stats["newscrawl/css/cancelled_count"] == 3
    assert not [name for name in crawl.stats if name.startswith("newscrawl/css/failed_count")]


def test_closing_cancels_downloads(tmp_path: Path):
    answers = {f"css{n}.example/a.css": HANG for n in range(30)}
    pages = {
        f"paper{n}.example/p.html": page(n, link(f"http://css{n}.example/a.css")) for n in range(30)
    }
    settings = {"CLOSESPIDER_ITEMCOUNT": 2}
    found = record(tmp_path, answers | pages, *pages, **settings, NEWSCRAWL_CSS_TIMEOUT=TIMEOUT)
    assert found.crawl.stats["finish_reason"] == "closespider_itemcount"
    assert found.counts().get("failed_count/timeout", 0) < 30


async def test_response_meta_can_be_pickled():
    """For JOBDIR."""
    request = Request("http://paper.example/1.html")
    answer = page(1, link("/a.css"), link("/b.css"))
    response = HtmlResponse(request.url, body=answer.body, request=request)
    middleware = StylesheetMiddleware.from_crawler(get_crawler())
    assert middleware.process_response(request, response) is response
    await middleware.close()
    assert pickle.loads(pickle.dumps(response.meta)) == {
        "newscrawl_css": ["http://paper.example/a.css", "http://paper.example/b.css"]
    }


def test_requests_a_sheet_once_a_week(tmp_path: Path):
    """A later crawl uses it without a request, and one after a week asks whether it changed."""
    sheet = Answer(
        b"@import 'b.css'; p { color: red }", headers={"ETag": '"1"', "Content-Type": "text/css"}
    )
    answers = {
        "paper.example/1.html": page(1, link("/a.css")),
        "paper.example/a.css": sheet,
        "paper.example/b.css": Answer(),
    }

    def crawl(**changed: Answer) -> Recorded:
        found = record(
            tmp_path,
            answers | {f"paper.example/{name}.css": it for name, it in changed.items()},
            "paper.example/1.html",
        )
        assert found.crawl.items[-1]["style_complete"] is True
        return found

    def sheets(found: Recorded) -> set[str]:
        return {url for url in found.web.request_counts() if url.endswith(".css")}

    assert sheets(crawl()) == {"paper.example/a.css", "paper.example/b.css"}
    again = crawl()
    assert sheets(again) == set()
    assert again.counts()["kept_count"] == 2
    for file in tmp_path.rglob("*.url"):  # a week passes
        known = json.loads(file.read_bytes())
        file.write_text(json.dumps(known | {"checked": known["checked"] - MAX_AGE}))
    later = crawl(a=Answer(b"", status=304))
    assert sheets(later) == {"paper.example/a.css", "paper.example/b.css"}
    assert later.counts()["unchanged_count"] == 1
    assert later.web.headers("paper.example/a.css")["if-none-match"] == '"1"'
    for file in tmp_path.rglob("*.json"):  # the store was emptied
        file.unlink()
    assert sheets(crawl()) == {"paper.example/a.css", "paper.example/b.css"}


def test_fetches_no_sheets_of_fonts_and_icons(tmp_path: Path):
    fonts = (
        "http://fonts.googleapis.com/css?family=X",
        "/lib/font-awesome/css/all.min.css",
        "/css/fontawesome-5.min.css?v=1",
    )
    answers = {
        "paper.example/1.html": page(1, *map(link, fonts), link("/a.css")),
        "paper.example/a.css": Answer(),
    }
    found = record(tmp_path, answers, "paper.example/1.html")
    assert [url for url in found.web.request_counts() if "css" in url] == ["paper.example/a.css"]
    assert found.crawl.items[0]["style_complete"] is True


def test_disabled_middleware_fetches_no_sheets(tmp_path: Path):
    answers = {"paper.example/1.html": page(1, link("/a.css")), "paper.example/a.css": Answer()}
    found = record(tmp_path, answers, "paper.example/1.html", NEWSCRAWL_CSS_ENABLED=False)
    assert "paper.example/a.css" not in found.web.request_counts()
    assert found.crawl.items[0]["style_complete"] is None


def test_sitelist_fetches_sheets_of_articles_only(tmp_path: Path):
    url = "paper.example/2026/03/14/lokales/was-aus-dem-umbau-wird-1.html"
    sitemap = f"<urlset><url><loc>http://{url}</loc></url></urlset>".encode()
    answers = {
        "paper.example/robots.txt": Answer(b"Sitemap: http://paper.example/sitemap.xml"),
        "paper.example/sitemap.xml": Answer(sitemap, headers={"Content-Type": "application/xml"}),
        "paper.example/": page(2, link("/front.css")),
        "paper.example/front.css": Answer(),
        url: page(1, link("/a.css")),
        "paper.example/a.css": Answer(),
    }
    with SiteServer(answers) as web:
        environment = web.proxy_environment()
        done = crawl_sites(tmp_path, ["http://paper.example/"], environment, NEWSCRAWL_MAX_AGE=0)
    assert {item["url"]: item["style_complete"] for item in done.items} == {f"http://{url}": True}
    assert (
        web.request_counts()["paper.example/"] == web.request_counts()["paper.example/a.css"] == 1
    )
    assert "paper.example/front.css" not in web.request_counts()


def test_uses_proxy_of_page(tmp_path: Path):
    answers = {
        "paper.example/1.html": page(1, link("http://css.example/a.css")),
        "css.example/a.css": Answer(b"@import 'b.css';"),
        "css.example/b.css": Answer(),
    }
    with SiteServer(answers) as web:
        url, proxy = "http://paper.example/1.html", web.url.replace("//", "//me:secret@")
        done = crawl_pages(tmp_path, [url], os.environ, PAGE_PROXY=proxy, ROBOTSTXT_OBEY=False)
    assert done.items[0]["style_complete"] is True
    assert {web.headers(url)["proxy-authorization"] for url in answers} == {
        "Basic " + b64encode(b"me:secret").decode()
    }


def test_works_in_other_projects(tmp_path: Path):
    """With the middleware and the pipeline only."""
    sheets = {"127.0.0.1/a.css": Answer(), "127.0.0.1/b.css": Answer(b"@import 'a.css';")}
    papers = {
        f"127.0.0.1/2026/03/14/{n}-artikel.html": page(n, link("/b.css"))
        for n in range(PROJECT_PAGES)
    }
    lines = (
        'DOWNLOADER_MIDDLEWARES = {"newscrawl.middlewares.StylesheetMiddleware": 545}\n'
        'ITEM_PIPELINES = {"newscrawl.pipelines.NewsExtractPipeline": 300}'
    )
    with SiteServer(sheets | papers) as web:
        log = crawl_server(web.url, tmp_path, lines)
        assert [web.request_counts()[url] for url in sheets] == [1, 1]
    assert_all_extracted(log)
    assert f"'newscrawl/css/complete_page_count': {PROJECT_PAGES}" in log
    assert (tmp_path / "daily" / ".scrapy" / "newscrawl-css").is_dir()
