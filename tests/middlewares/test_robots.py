"""robots.txt according to RFC 9309."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from protego import Protego

from newscrawl.crawl.network.robots_rules import own_groups
from tests.helpers.crawls import MAX_READ, Crawl, crawl_pages, crawl_sites
from tests.servers.direct_web import RESOLVER, TEXT, DirectWeb, direct_environment, html, text
from tests.servers.styled_web import HANG, Answer, redirect

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AGENT = "newscrawl/0.1 (+https://pypi.org/project/newscrawl/)"
DENY = "User-agent: *\nDisallow: /private\n"

_LINES = st.lists(
    st.sampled_from(
        [
            "User-agent: *", "User-agent: newscrawl", "user-agent: NEWS*", "User-agent: other # x",
            "Disallow: /a", "Disallow: /", "Allow: /a/b", "Disallow:", "Crawl-delay: 3",
            "Sitemap: https://a.example/s.xml", "# a comment", "", "nonsense", "Host: a.example",
        ]
    ),
    max_size=30,
)  # fmt: skip


@given(_LINES)
@example(["User-agent: *", "nonsense", "User-agent: other # x", "Disallow: /a"])
def test_own_groups_keep_the_rules(lines: list[str]):
    whole = "\n".join(lines)
    full, cut = Protego.parse(whole), Protego.parse(own_groups(whole, AGENT))
    for path in ("/", "/a", "/a/b", "/x"):
        url = f"https://a.example{path}"
        assert full.can_fetch(url, AGENT) == cut.can_fetch(url, AGENT)
    assert full.crawl_delay(AGENT) == cut.crawl_delay(AGENT)


def test_own_groups_remove_other_user_agents():
    names = "".join(f"User-agent: bot-{n}\n" for n in range(600))
    rules = "".join(f"Disallow: /a{n}\n" for n in range(8000))
    cut = own_groups(f"{names}User-agent: *\n{rules}", AGENT)
    assert (cut.count("User-agent:"), cut.count("Disallow:")) == (1, 8000)
    rules_kept = Protego.parse(cut)
    assert not rules_kept.can_fetch("https://a.example/a7999", AGENT)


@pytest.fixture
def web() -> Iterator[DirectWeb]:
    with DirectWeb() as served:
        yield served


def crawl_paths(folder: Path, web: DirectWeb, *pages: str, **settings: object) -> Crawl:
    """Crawl *pages* (URLs without scheme and port) of *web*."""
    for page in pages:
        web.put(page, html("<p>page"))
    hosts = [page.split("/", 1) for page in pages]
    urls = [f"http://{host}:{web.port}/{path}" for host, path in hosts]
    given = {"TWISTED_DNS_RESOLVER": RESOLVER, "RETRY_TIMES": 1, "DOWNLOAD_TIMEOUT": 2}
    done = crawl_pages(folder, urls, direct_environment(), **given, **settings)
    assert done.returncode == 0, done.output[-5000:]
    assert done.errors() == []
    return done


def fetched(web: DirectWeb) -> set[str]:
    """Return the fetched URLs except robots.txt."""
    return {url for url in web.request_counts() if not url.endswith("/robots.txt")}


@pytest.mark.slow
def test_status_of_robots_txt_decides(tmp_path: Path, web: DirectWeb):
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
def test_large_rules_do_not_block_the_crawl(tmp_path: Path, web: DirectWeb):
    names = "".join(f"User-agent: bot-{n}\n" for n in range(600))
    rules = "".join(f"Disallow: /a{n}\n" for n in range(30_000))
    stars = "".join(f"Disallow: /*{n}*x$\n" for n in range(20_000))
    web.put("names.example/robots.txt", text(names + rules))
    web.put("stars.example/robots.txt", text("User-agent: *\n" + stars))
    crawl = crawl_paths(tmp_path, web, "names.example/open", "stars.example/open")
    assert fetched(web) == {"names.example/open", "stars.example/open"}
    assert crawl.stats["reactor/read"] <= MAX_READ
    assert crawl.stats["thread/read"] > 500_000


@pytest.mark.slow
def test_disabled_by_robotstxt_obey(tmp_path: Path, web: DirectWeb):
    web.put("rules.example/robots.txt", text(DENY))
    crawl_paths(tmp_path, web, "rules.example/private", ROBOTSTXT_OBEY=False)
    assert web.request_counts() == {"rules.example/private": 1}


@pytest.mark.slow
def test_sitelist_fetches_robots_txt_once(tmp_path: Path, web: DirectWeb):
    base = f"http://127.0.0.1:{web.port}"
    web.put("127.0.0.1/robots.txt", text(f"{DENY}Sitemap: {base}/map.xml\n"))
    web.put("127.0.0.1/map.xml", Answer(b"<urlset></urlset>", headers={"Content-Type": "text/xml"}))
    web.put("127.0.0.1/", html("front"))
    crawl = crawl_sites(tmp_path, [f"{base}/"], direct_environment())
    assert crawl.returncode == 0
    assert crawl.errors() == []
    times = web.request_counts()
    assert times["127.0.0.1/robots.txt"] == 1
    assert times["127.0.0.1/map.xml"] == 1
    assert times["127.0.0.1/"] == 1


@pytest.mark.slow
def test_skips_site_with_unreachable_robots_txt(tmp_path: Path, web: DirectWeb):
    web.put("127.0.0.1/robots.txt", text("", 500))
    web.put("127.0.0.1/", html("front"))
    base = f"http://127.0.0.1:{web.port}"
    crawl = crawl_sites(
        tmp_path, [f"{base}/"], direct_environment(), RETRY_TIMES=1, NEWSCRAWL_BACKOFF_DELAY=1
    )
    assert crawl.returncode == 0
    assert set(web.request_counts()) == {"127.0.0.1/robots.txt"}
    counts = crawl.site_counts(f"127.0.0.1:{web.port}")
    assert counts["discovery_failed_count/robots_unreachable"] == 3
    assert f"Could not fetch robots.txt for {base} (http_500)" in crawl.output
