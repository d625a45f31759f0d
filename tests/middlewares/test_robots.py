"""robots.txt according to RFC 9309."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.crawls import MAX_READ, Crawl, crawl_pages
from tests.servers.site import HANG, TEXT, Answer, SiteServer, html, redirect, text, xml

DENY = "User-agent: *\nDisallow: /private\n"


@pytest.fixture
def web() -> Iterator[SiteServer]:
    with SiteServer() as served:
        yield served


def crawl_paths(folder: Path, web: SiteServer, *pages: str, **settings: object) -> Crawl:
    """Crawl *pages* (URLs without scheme and port) of *web*."""
    for page in pages:
        web.put(page, html("<p>page"))
    given = {"RETRY_TIMES": 1, "DOWNLOAD_TIMEOUT": 8}
    done = crawl_pages(folder, web.urls(*pages), **given, **settings)
    assert done.returncode == 0, done.output[-5000:]
    assert done.errors() == []
    return done


def fetched(web: SiteServer) -> set[str]:
    """Return the fetched URLs except robots.txt."""
    return {url for url in web.request_counts() if not url.endswith("/robots.txt")}


@pytest.mark.slow
def test_status_of_robots_txt_decides(tmp_path: Path, web: SiteServer):
    unknown = "nowhere.example"  # has no address
    huge = "User-agent: *\nDisallow: /private\n" + "# x\n" * 2_700_000  # 10.8 MB
    late = DENY.replace("private", "first") + "# x\n" * 131_072 + DENY
    web.put("rules.example/robots.txt", text(DENY))
    web.put("none.example/robots.txt", text("", 404))
    web.put("gone.example/robots.txt", text("", 410))
    web.put("login.example/robots.txt", text("", 401))
    web.put("broken.example/robots.txt", text("", 500))
    web.put("flaky.example/robots.txt", text("", 503), text(DENY))
    web.put("drops.example/robots.txt", Answer(drops=True))
    web.put("hangs.example/robots.txt", HANG)
    web.put("html.example/robots.txt", html("<p>Disallow: /"))
    web.put("binary.example/robots.txt", Answer(bytes(range(256)) * 50, headers=TEXT))
    web.put("huge.example/robots.txt", text(huge))
    web.put("late.example/robots.txt", text(late))
    for n in range(5):
        target = f"/hop-{n}" if n < 4 else "/rules"
        web.put(f"hops.example/{'robots.txt' if n == 0 else f'hop-{n - 1}'}", redirect(target))
    web.put("hops.example/rules", text(DENY))
    web.put("loops.example/robots.txt", redirect("/robots.txt"))
    names = ["rules", "none", "gone", "login", "broken", "flaky", "drops", "hangs", "html"]
    names += ["binary", "huge", "late", "hops", "loops"]
    pages = [f"{name}.example/{path}" for name in names for path in ("open", "private")]
    crawl = crawl_paths(tmp_path, web, *pages, f"{unknown}/x", NEWSCRAWL_BACKOFF_DELAY=1)
    allowed = {f"{name}.example/open" for name in names} - {
        f"{name}.example/open" for name in ("broken", "drops", "hangs")
    }
    allowed |= {
        f"{name}.example/private" for name in ("none", "gone", "login", "html", "binary", "loops")
    }
    allowed.add("late.example/private")  # rules after 512 KB are ignored
    assert {url for url in fetched(web) if url.endswith(("/open", "/private"))} == allowed
    assert crawl.stats["newscrawl/robots/unreachable_count"] == 4
    assert crawl.stats["robotstxt/forbidden"] == 4
    # Each robots.txt is fetched once, and only its first 512 KB.
    assert web.request_counts()["rules.example/robots.txt"] == 1
    assert crawl.stats["downloader/response_bytes"] < 4 * 2**20
    assert crawl.stats["reactor/read"] <= MAX_READ


@pytest.mark.slow
def test_rules_apply_to_the_product_token(tmp_path: Path, web: SiteServer):
    """The configured agent's own group applies, or that of all crawlers."""
    web.put("parts.example/robots.txt", text("User-agent: pypi\nUser-agent: news\nDisallow: /\n"))
    web.put("own.example/robots.txt", text(f"{DENY}\nUser-agent: NewsCrawl/1.0\nDisallow: /open\n"))
    web.put(
        "delay.example/robots.txt",
        text("User-agent: newscrawl\nCrawl-delay: 0.1\nUser-agent: *\nDisallow: /private\n"),
    )
    pages = [
        f"{name}.example/{path}"
        for name in ("parts", "own", "delay")
        for path in ("open", "private")
    ]
    crawl_paths(tmp_path, web, *pages)
    assert fetched(web) == {
        "parts.example/open",
        "parts.example/private",
        "own.example/private",
        "delay.example/open",
    }
    web.log.clear()
    crawl_paths(tmp_path, web, *pages, ROBOTSTXT_USER_AGENT="pypi")
    assert fetched(web) == {"own.example/open", "delay.example/open"}


@pytest.mark.slow
def test_sitelist_fetches_robots_txt_once(tmp_path: Path, web: SiteServer):
    base = web.url
    web.put("127.0.0.1/robots.txt", text(f"{DENY}Sitemap: {base}/map.xml\n"))
    web.put("127.0.0.1/map.xml", xml("<urlset></urlset>"))
    web.put("127.0.0.1/", html("front"))
    web.put("127.0.0.1/private", html("page"))
    crawl = web.crawl(tmp_path)
    assert crawl.returncode == 0
    assert crawl.errors() == []
    paths = "robots.txt", "map.xml", ""
    assert [web.request_counts()[f"127.0.0.1/{path}"] for path in paths] == [1, 1, 1]
    # Another crawl of the same day reads its sitemap again, but not robots.txt.
    again = web.crawl(tmp_path, NEWSCRAWL_ALL_DUE=True)
    assert again.errors() == []
    assert [web.request_counts()[f"127.0.0.1/{path}"] for path in paths] == [1, 2, 2]
    # Its rules apply to the next crawl, too, which does not fetch it.
    pages = [f"{base}/private", f"{base}/map.xml"]
    assert crawl_pages(tmp_path, pages).errors() == []
    assert web.request_counts()["127.0.0.1/map.xml"] == 3
    assert web.request_counts()["127.0.0.1/robots.txt"] == 1
    assert "127.0.0.1/private" not in web.request_counts()


@pytest.mark.slow
def test_sitemaps_without_obeying_robots_txt(tmp_path: Path, web: SiteServer):
    web.put("127.0.0.1/robots.txt", text("User-agent: *\nDisallow: /\nSitemap: /map.xml\n"))
    web.put("127.0.0.1/map.xml", xml("<urlset></urlset>"))
    web.put("127.0.0.1/", html("front"))
    crawl = web.crawl(tmp_path, ROBOTSTXT_OBEY=False)
    assert crawl.errors() == []
    assert web.request_counts()["127.0.0.1/map.xml"] == 1
