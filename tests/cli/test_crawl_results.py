"""Exit code and closing lines of ``newscrawl crawl``: the table of docs/reference/commands.md."""

import json
import re
import socket
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from samples import expected_pages
from tests.cli.test_extract_pages import newscrawl
from tests.servers.site import Answer, SiteServer, html

pytestmark = pytest.mark.slow

ALLOWED = ("-s", "NEWSCRAWL_ALLOWED_ADDRESSES=127.0.0.0/8")
OPTIONS = ("-s", "NEWSCRAWL_MAX_AGE=0", "-s", "DOWNLOAD_DELAY=0", "-s", "RETRY_TIMES=0")
ARTICLE = next(page for page in expected_pages() if page.is_article).file.read_bytes()
HOME = b"<title>News</title><a href='/2026/11/20/the-harbour-opens-its-gates'>The harbour opens</a>"
DOWN_PAGE = html("", 503)
HEALTHY = {"/": HOME, "/2026/11/20/the-harbour-opens-its-gates": ARTICLE}
EMPTY = {"/": b"<title>Imprint</title><p>Nothing here"}
FORBIDDEN = {**HEALTHY, "/robots.txt": b"User-agent: *\nDisallow: /\n"}
ROBOTS_500 = {**HEALTHY, "/robots.txt": DOWN_PAGE}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def crawl(folder: Path, *arguments: str) -> tuple[int, str]:
    """Return exit code and closing lines, with HOST for the hosts and TIME for the times."""
    done = newscrawl(folder, "crawl", *arguments, *OPTIONS)
    error = done.stderr.decode()
    assert "Traceback" not in error, error
    lines = error.rpartition("\u2518")[2].strip()
    lines = re.sub(r"127\.0\.0\.1:\d+|[a-z]+\.invalid", "HOST", lines)
    return done.returncode, re.sub(r"\d{4}-\d\d-\S+\d\d:\d\d(?=[;\s])", "TIME", lines)


def articles(folder: Path) -> int:
    feed = folder / "articles.jsonl"
    return len([json.loads(line) for line in feed.read_text("utf-8").splitlines()])


NONE = "newscrawl crawl: 0 articles written to articles.jsonl"
ONE = "newscrawl crawl: 1 articles written to articles.jsonl"
DOWN = "Sites that failed: 1 of 1: HOST (connection)"
TWO_DOWN = "Sites that failed: 2 of 2: HOST (connection), HOST (connection)"


@pytest.mark.parametrize(
    ("sites", "code", "lines"),
    [
        pytest.param([HEALTHY], 0, [ONE], id="articles"),
        pytest.param([None], 1, [f"Nothing could be fetched. {DOWN}", NONE], id="down"),
        pytest.param(
            [None, None], 1, [f"Nothing could be fetched. {TWO_DOWN}", NONE], id="all down"
        ),
        pytest.param(
            [HEALTHY, None, EMPTY],
            0,
            ["Sites that failed: 1 of 3: HOST (connection)", ONE],
            id="one of three down",
        ),
        pytest.param(
            [ROBOTS_500],
            1,
            [
                "Nothing could be fetched. Sites that failed: 1 of 1: HOST (robots.txt unreachable)",
                NONE,
            ],
            id="robots.txt 503",
        ),
        pytest.param(
            [FORBIDDEN],
            3,
            [
                "Sites that failed: 1 of 1: HOST (forbidden by robots.txt)",
                "No article was found",
                NONE,
            ],
            id="robots.txt forbids",
        ),
        pytest.param([EMPTY], 3, ["No article was found", NONE], id="no article"),
        pytest.param(
            [{"/": html("", 500)}],
            1,
            ["Nothing could be fetched. Sites that failed: 1 of 1: HOST (http_500)", NONE],
            id="http 500",
        ),
    ],
)
def test_first_crawl(
    tmp_path: Path, sites: list[Mapping[str, Answer | bytes] | None], code: int, lines: list[str]
):
    """A site is None if nothing listens at its port."""
    with ExitStack() as stack:
        urls = [
            f"http://127.0.0.1:{free_port()}/"
            if answers is None
            else f"{stack.enter_context(SiteServer(answers)).url}/"
            for answers in sites
        ]
        assert crawl(tmp_path, *urls, *ALLOWED) == (code, "\n".join(lines))


def test_unknown_host(tmp_path: Path):
    code, lines = crawl(tmp_path, "http://nowhere.invalid/")
    assert code == 1
    assert lines == f"Nothing could be fetched. Sites that failed: 1 of 1: HOST (dns)\n{NONE}"


def test_site_that_was_down(tmp_path: Path):
    """It is requested at once by the next crawl, once, and crawled as soon as it answers."""
    port = free_port()
    for _ in range(2):
        code, lines = crawl(tmp_path, f"http://127.0.0.1:{port}/", *ALLOWED)
        assert (code, lines) == (1, f"Nothing could be fetched. {DOWN}\n{NONE}")
    with SiteServer(HEALTHY, port=port) as server:
        assert crawl(tmp_path, f"{server.url}/", *ALLOWED) == (0, ONE)


def test_forgotten_setting(tmp_path: Path):
    with SiteServer(HEALTHY) as server:
        url = f"{server.url}/"
        code, lines = crawl(tmp_path, url)
        assert code == 1
        assert lines == (
            "Nothing could be fetched. Sites that failed: 1 of 1: HOST "
            f"(not a public address, see NEWSCRAWL_ALLOWED_ADDRESSES)\n{NONE}"
        )
        assert server.received == []
        assert crawl(tmp_path, url, *ALLOWED) == (0, ONE)


def test_second_crawl(tmp_path: Path):
    """Nothing is due; --force finds nothing new; a site that goes down is requested once."""
    port = free_port()
    url = f"http://127.0.0.1:{port}/"
    with SiteServer(HEALTHY, port=port) as server:
        assert crawl(tmp_path, url, *ALLOWED) == (0, ONE)
        server.received.clear()
        assert crawl(tmp_path, url, *ALLOWED) == (
            0,
            f"Nothing is due before TIME; newscrawl crawl --force does not wait\n{NONE}",
        )
        assert server.received == []
        code, lines = crawl(tmp_path, url, *ALLOWED, "--force")
        assert code == 0
        assert lines.startswith("Nothing new. From former crawls: articles known: 1")
        assert "/" in server.paths
    code, lines = crawl(tmp_path, url, *ALLOWED, "--force")
    assert (code, lines.splitlines()[0]) == (1, f"Nothing could be fetched. {DOWN}")
    with SiteServer({**HEALTHY, "/": DOWN_PAGE}, port=port) as server:
        assert crawl(tmp_path, url, *ALLOWED)[0] == 1
        assert server.paths.count("/") == 1
    with SiteServer(HEALTHY, port=port):
        code, lines = crawl(tmp_path, url, *ALLOWED)
        assert (code, lines.split(".")[0]) == (0, "Nothing new")
    assert articles(tmp_path) == 1


def test_report_of_an_outage(tmp_path: Path):
    """The report shows what failed, and raises an alarm for a site that never answered."""
    crawl(tmp_path, f"http://127.0.0.1:{free_port()}/", *ALLOWED)
    state = ".scrapy/newscrawl/sitelist.sqlite"
    done = newscrawl(tmp_path, "report", state, "-o", "report")
    assert done.returncode == 4
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "All requests failed: 2 connection." in page
    down = ("crawl", f"http://127.0.0.1:{free_port()}/", *ALLOWED, "--report", "new")
    (tmp_path / "cron").mkdir()
    assert newscrawl(tmp_path / "cron", *down).returncode == 1
    assert newscrawl(tmp_path / "cron", *down, "--alarm-exit").returncode == 4
    assert (tmp_path / "cron/new/index.html").exists()
    assert "failed: 2 connection" in page
