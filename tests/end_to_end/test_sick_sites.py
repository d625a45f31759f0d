"""Sites that fail in different ways next to two healthy ones, in one crawl."""

import json
import signal
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.conftest import REPOSITORY
from tests.helpers.crawls import direct_environment
from tests.helpers.forked_scrapy import ForkedScrapy
from tests.servers.pages import article_page
from tests.servers.site import HANG, RESOLVER, Answer, SiteServer, html, link, page, redirect, text

HEALTHY = ("well-a.example", "well-b.example")
PENDING = tuple(f"{name}.example" for name in ("ruled", "silent", "slow", "styled", "waits"))
"""Sick sites of which no story has failed when the healthy ones are complete."""
STORIES = 6
LIMIT = 90
"""Seconds in which the healthy sites must be complete, many times what they need."""
DROPPED = Answer(drops=True)


def story(number: int) -> str:
    """Return an address like that of a further page, which a site reads after all others."""
    return f"/stories/council-votes-on-the-old-bridge-{number}"


def site(host: str, *stories: Answer) -> dict[str, Answer]:
    """Return the front page of *host* and its *stories*, the last one for all that follow."""
    links = "".join(f"<h2><a href='{story(n)}'>{story(n)}</a></h2>" for n in range(STORIES))
    answers = {f"{host}/": html(links), f"{host}/robots.txt": text("")}
    for number in range(STORIES):
        answers[host + story(number)] = stories[min(number, len(stories) - 1)]
    return answers


def sick_sites(port: int) -> dict[str, Answer]:
    """Return what sites answer that fail, stop, wait or lead nowhere."""
    refusal = html("wait", 429, Retry_After="250")
    styled = [page(n, link(f"http://sheets.example:{port}/{n}.css")) for n in range(STORIES)]
    return {
        **site("drops.example", DROPPED),
        **site("slow.example", Answer(article_page(1).encode(), delay=20)),
        **site("silent.example", HANG),
        **site("waits.example", refusal),
        **site("refuses.example", html("no", 429)),
        **site("fails.example", html("no", 503)),
        **site("styled.example", *styled),
        **{f"sheets.example/{n}.css": HANG for n in range(STORIES)},
        **site("turns.example", redirect(f"http://turns.example:{port}/a")),
        "turns.example/a": redirect(f"http://turns.example:{port}/b"),
        "turns.example/b": redirect(f"http://turns.example:{port}/a"),
        **site("ruled.example", DROPPED),
        "ruled.example/robots.txt": HANG,
        **site("hanging.example", DROPPED),
    }


@pytest.mark.slow
def test_healthy_sites_wait_for_no_other(tmp_path: Path):
    """Nor does the end of a stopped crawl; the next one has what the stop left out."""
    with SiteServer() as web:
        for url, answer in sick_sites(web.port).items():
            web.put(url, answer)
        hosts = sorted({url.partition("/")[0] for url in web.answers} - {"sheets.example"})
        heal(web, *HEALTHY)
        process = crawl(tmp_path, web, [*hosts, *HEALTHY])
        wanted = {host + story(number) for host in HEALTHY for number in range(STORIES)}
        end = time.monotonic() + LIMIT
        while not wanted <= set(web.requested) and process.poll() is None:
            if time.monotonic() > end:
                process.kill()
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        assert wanted <= set(web.requested)
        hosts.remove("hanging.example")
        heal(web, *hosts)
        process = crawl(tmp_path, web, [*hosts, *HEALTHY])
        assert process.wait(LIMIT) == 0
    lines = (tmp_path / "articles.jsonl").read_text(encoding="utf-8").splitlines()
    urls = [urlsplit(json.loads(line)["url"]) for line in lines]
    read = Counter(f"{url.hostname}{url.path}" for url in urls)
    assert set(read.values()) == {1}
    wanted = {host + story(number) for host in (*HEALTHY, *PENDING) for number in range(STORIES)}
    assert wanted <= read.keys()


def heal(web: SiteServer, *hosts: str) -> None:
    """Let all pages of *hosts* be read."""
    for host in hosts:
        for url, answer in site(host, *map(page, range(STORIES))).items():
            web.put(url, answer)


def crawl(folder: Path, web: SiteServer, hosts: list[str]) -> ForkedScrapy:
    """Start to crawl *hosts*; the articles are added to ``articles.jsonl``."""
    sites = folder / "sites.txt"
    sites.write_text("".join(f"http://{host}:{web.port}/\n" for host in hosts), encoding="utf-8")
    settings = {
        "CONCURRENT_REQUESTS": 6,
        "DOWNLOAD_DELAY": 0,
        "DOWNLOAD_TIMEOUT": 3600,
        "NEWSCRAWL_ALLOWED_ADDRESSES": "127.0.0.1",
        "NEWSCRAWL_CSS_STORE": folder / "sheets",
        "NEWSCRAWL_STATE": folder / "state.sqlite",
        "NEWSCRAWL_WORKERS": 1,
        "TWISTED_DNS_RESOLVER": RESOLVER,
    }
    options = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    command = ["crawl", "sitelist", "-a", f"sites={sites}", "-o", str(folder / "articles.jsonl")]
    log = folder / "crawl.log"
    return ForkedScrapy([*command, *options], REPOSITORY, direct_environment(), log)
