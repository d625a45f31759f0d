"""Site rules on the command line: crawls, ``extract``, ``inspect``, ``rules check``."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from newscrawl import Article
from tests.helpers.forked_scrapy import newscrawl
from tests.servers.site import SiteServer
from tests.site_rules.stubborn_sites import SITES, STORY, page, paragraphs

SITE = next(site for site in SITES if site.name == "second-story-below")
HOST = "127.0.0.1"
FAST = ("-s", f"NEWSCRAWL_ALLOWED_ADDRESSES={HOST}", "-s", "DOWNLOAD_DELAY=0")
TEASER = (
    "<h1>Bridge to close for two years</h1><p class=t>{}</p><a id=all href=/print>Whole story</a>"
)
PAGES = {
    "/story": SITE.html.encode(),
    "/teaser": page(
        TEASER.format("</p><p>".join((STORY[0], STORY[1], STORY[2][:70] + "…")))
    ).encode(),
    "/print": page(f"<h1>Bridge to close for two years</h1>{paragraphs()}").encode(),
}


@pytest.fixture
def server() -> Iterator[SiteServer]:
    with SiteServer(PAGES) as served:
        yield served


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules").mkdir()
    return tmp_path


def write(folder: Path, rules: Mapping[str, str]) -> None:
    for host, rule in rules.items():
        (folder / "rules" / f"{host}.txt").write_text(rule, encoding="utf-8")


def crawl(folder: Path, *urls: str, args: tuple[str, ...] = ()) -> tuple[list[Article], str]:
    """Return the articles of *urls*, and what the command says."""
    (folder / "urls.txt").write_text("\n".join(urls))
    done = newscrawl(
        folder, "urls", "urls.txt", "-O", "a.jsonl", "--site-rules", "rules", *FAST, *args
    )
    lines = (folder / "a.jsonl").read_text(encoding="utf-8").splitlines()
    return [Article.from_dict(json.loads(line)) for line in lines], done.stderr


def test_crawl_uses_rules(folder: Path, server: SiteServer):
    """A problem of the file of a host is named once, with its line; other files are not read."""
    write(folder, {HOST: f"{SITE.rule}\ntitel: x", "b.example": "title: //h1["})
    urls = [f"{server.url}/story", f"{server.url}/print"]
    articles, said = crawl(folder, *urls)
    (article,) = (it for it in articles if it.url == urls[0])
    assert article.body.split("\n\n") == [*STORY]
    assert article.evidence["body"].source == "site rule"
    assert said.count(f"rules/{HOST}.txt:2: unknown directive 'titel: x'") == 1
    assert "b.example" not in said
    write(folder, {HOST: "body: //div\ntitle: //h1["})
    articles, said = crawl(folder, *urls)
    assert [it.evidence["body"].source for it in articles] == ["blocks", "blocks"]
    assert said.count(f"rules/{HOST}.txt:2: invalid XPath '//h1['") == 1


def test_stale_rule_of_a_crawl(folder: Path, server: SiteServer):
    """What no page has is logged at the end; the method is used."""
    write(folder, {HOST: "body: //div[@id='gone']\ntitle: //h1\nauthor: //p[@class='by']"})
    articles, said = crawl(folder, f"{server.url}/story", f"{server.url}/print")
    assert len(articles) == 2
    assert {"stale_rule_body", "stale_rule_author"} == {f for a in articles for f in a.flags}
    assert "is stale: no body on 2 pages" in said
    assert "no title" not in said


def test_single_page_replaces_the_first(folder: Path, server: SiteServer):
    write(folder, {HOST: "single_page_link: //a[@id='all']\nstrip: //a[@id='all']"})
    (article,), _ = crawl(folder, f"{server.url}/teaser")
    assert article.body.split("\n\n") == [*STORY]
    assert (article.pages, article.next_pages) == (1, ())
    assert [path for path in server.paths if path != "/teaser"] == ["/print"]


def test_headers_need_the_name_of_the_rule(folder: Path, server: SiteServer):
    """Headers of a rule are sent only if the user names its host."""
    rule = f"{SITE.rule}\nhttp_header(user-agent): Other/1\nhttp_header(cookie): seen=1"
    write(folder, {HOST: rule})
    for args in ((), ("-s", f"NEWSCRAWL_SITE_RULE_HEADERS={HOST}")):
        crawl(folder, f"{server.url}/story", args=args)
    first, second = (it.headers for it in server.received if it.target != "/robots.txt")
    assert first["user-agent"].startswith("newscrawl/")
    assert "cookie" not in first
    assert (second["user-agent"], second["cookie"]) == ("Other/1", "seen=1")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("-s", "NEWSCRAWL_SITE_RULES=none"), "NEWSCRAWL_SITE_RULES: none: not a folder"),
        (("--site-rules", "none"), "--site-rules: none: not a folder"),
        (("-s", "NEWSCRAWL_SITE_RULE_HEADERS=a.example"), "needs NEWSCRAWL_SITE_RULES"),
        (
            ("--site-rules", "rules", "-s", "NEWSCRAWL_SITE_RULE_HEADERS=a.example"),
            "NEWSCRAWL_SITE_RULE_HEADERS: rules has no headers for a.example",
        ),
    ],
)
def test_wrong_settings(folder: Path, args: tuple[str, ...], message: str):
    (folder / "urls.txt").write_text("https://a.example/1")
    done = newscrawl(folder, "urls", "urls.txt", *args)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def extract(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    (folder / "story.html").write_text(SITE.html, encoding="utf-8")
    return newscrawl(folder, "extract", "story.html", "--url", "https://www.a.example/1", *args)


def test_extract(folder: Path):
    write(folder, {"a.example": SITE.rule, ".b.example": "body: //nav/x"})
    for args in (("--site-rules", "rules"), ("-s", "NEWSCRAWL_SITE_RULES=rules")):
        done = extract(folder, *args)
        assert json.loads(done.stdout)["body"].split("\n\n") == [*STORY], done.stderr
    done = extract(folder, "--site-rules", "rules", "--url", "https://x.b.example/1")
    assert "story.html: the rule of the site is stale: no body" in done.stderr


def test_deadline_of_expressions(folder: Path):
    """An expression that takes too long ends with the page."""
    write(folder, {"a.example": "body: //*[count(//*[count(//*[count(//*)>1])>1])>1]"})
    (folder / "big.html").write_text(page("<div><p>Text</p></div>" * 3000), encoding="utf-8")
    args = ("--url", "https://a.example/1", "--site-rules", "rules", "-s", "NEWSCRAWL_DEADLINE=1")
    done = newscrawl(folder, "extract", "big.html", *args)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "newscrawl extract: big.html: no answer in 1 s\n"


def test_inspect_shows_and_drafts_rules(folder: Path):
    """The draft gives the article that it was made from; an existing file is kept."""
    extract(folder)
    write(folder, {"a.example": SITE.rule})
    inspect = ("inspect", "story.html", "-o", "page.html")
    url = ("--url", "https://www.a.example/1")
    done = newscrawl(folder, *inspect, *url, "--site-rules", "rules", "--write-rule", "drafts")
    assert (done.returncode, done.stderr) == (0, "Wrote page.html\nWrote drafts/a.example.txt\n")
    assert "Selected by the rule of the site." in (folder / "page.html").read_text()
    draft = (folder / "drafts" / "a.example.txt").read_text(encoding="utf-8")
    assert draft.startswith(
        "title: //h1\nbody: //main/div[1]\n\ntest_url: https://www.a.example/1\n"
    )
    assert json.loads(extract(folder, "--site-rules", "drafts").stdout)["body"].split("\n\n") == [
        *STORY
    ]
    again = newscrawl(folder, *inspect, *url, "--write-rule", "drafts")
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)
    assert "drafts/a.example.txt: exists" in again.stderr
    assert "needs the URL" in newscrawl(folder, *inspect, "--write-rule", "new").stderr


def test_draft_of_what_is_marked(folder: Path):
    """The smallest element with the texts, also inline ones; a text that is nowhere fails."""
    html = page(f"<h1>Bridge <b>to</b> close</h1><div class=main-text>{paragraphs()}</div>"
                "<p class=hint>Our guide</p><p id=byline>By Ann</p>")  # fmt: skip
    (folder / "p.html").write_text(html, encoding="utf-8")
    args = ("inspect", "p.html", "-o", "page.html", "--url", "https://a.example/1")
    marks = [
        "title=Bridge to close", f"body={STORY[0][:20]}", f"body={STORY[2][-20:]}",
        "strip=Our guide", "author=By Ann",
    ]  # fmt: skip
    options = [word for mark in marks for word in ("--mark", mark)]
    done = newscrawl(folder, *args, "--write-rule", "rules", *options)
    assert done.returncode == 0, done.stderr
    lines = (folder / "rules" / "a.example.txt").read_text(encoding="utf-8").splitlines()
    css = "//{}[contains(concat(' ', normalize-space(@class), ' '), ' {} ')]"
    assert lines[:4] == [
        "title: //h1",
        f"body: {css.format('div', 'main-text')}",
        "author: //p[@id='byline']",
        f"strip: {css.format('p', 'hint')}",
    ]
    done = newscrawl(folder, *args, "--write-rule", "new", "--mark", "date=tomorrow")
    assert (done.returncode, done.stderr) == (
        1, "newscrawl inspect: p.html: no element has 'tomorrow'\n"
    )  # fmt: skip
    done = newscrawl(folder, *args, "--write-rule", "new", "--mark", "text=x")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--mark text=x: expected one of title, body" in done.stderr


def test_check(folder: Path, server: SiteServer):
    """Pages come from the web, then from disk; a rule that fails sets the exit code."""
    test = (
        f"test_url: {server.url}/story\ntest_contains: will be diverted to the  northern crossing"
    )
    write(folder, {HOST: f"{SITE.rule}\n{test}", "b.example": "title: //h1"})
    check = ("rules", "check", "rules", *FAST, "--pages", "pages")
    done = newscrawl(folder, *check)
    assert (done.returncode, done.stdout) == (
        0, f"{HOST}.txt: holds: 1 page\nb.example.txt: unchecked: no test_url\n",
    ), done.stderr  # fmt: skip
    assert done.stderr == "newscrawl rules check: 2 rules: 1 holds, 1 unchecked\n"
    assert newscrawl(folder, *check).stdout == done.stdout
    assert server.paths == ["/story"]
    stale = (
        f"{SITE.rule}\ndate: //time\n{test}\ntest_contains: nothing\ntest_url: {server.url}/none"
    )
    write(folder, {HOST: stale, "b.example": "title: //h1["})
    done = newscrawl(folder, *check)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    url = f"({server.url}/story)"
    assert lines[0] == (
        f"{HOST}.txt: stale: no date {url}; the body lacks 'nothing' {url}; "
        f"HTTP status 404 ({server.url}/none)"
    )
    assert lines[1].startswith("error: rules/b.example.txt:1: invalid XPath")
    assert done.stderr == "newscrawl rules check: 2 rules: 1 stale, 1 in error\n"


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("none",), 2, "none: not a folder"),
        (("rules", "--pages", "rules/a.html"), 2, "rules/a.html: name a folder"),
        (("rules",), 1, "rules: no rule"),
    ],
)
def test_wrong_use_of_check(folder: Path, args: tuple[str, ...], code: int, message: str):
    done = newscrawl(folder, "rules", "check", *args)
    assert (done.returncode, done.stderr.count("\n")) == (code, 1)
    assert message in done.stderr


@pytest.mark.parametrize(
    "args", [("--metadata-only",), ("-s", "NEWSCRAWL_METADATA_ONLY=1")], ids=["option", "setting"]
)
def test_metadata_only(folder: Path, server: SiteServer, args: tuple[str, ...]):
    """Articles without bodies, none too short; other kinds of pages stay out."""
    short = page("<h1>Bridge to close for two years</h1><article><p>Closed from May.</p></article>",
                 '<meta property="og:type" content="article">'
                 '<meta property="article:published_time" content="2025-03-14T08:00:00Z">'
                 "<title>Bridge to close for two years</title>")  # fmt: skip
    (folder / "short.html").write_text(short, encoding="utf-8")
    url = ("--url", "https://a.example/2025/03/14/bridge-to-close-for-two-years.html")
    assert newscrawl(folder, "extract", "short.html", *url).returncode == 3
    done = newscrawl(folder, "extract", "short.html", *url, *args)
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    assert (row["title"], row["body"]) == ("Bridge to close for two years", "")
    (folder / "rules" / "x.txt").write_text("")
    articles, _ = crawl(folder, f"{server.url}/story", f"{server.url}/print", args=args)
    assert [(it.title, it.body) for it in articles] == [(row["title"], "")] * 2
