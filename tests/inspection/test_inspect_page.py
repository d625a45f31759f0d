"""The page of ``newscrawl inspect``: findings, safety, and its use in Chromium."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from newscrawl.extraction.extract import extract
from newscrawl.extraction.method import Trace
from newscrawl.extraction.methods import available_methods
from newscrawl.inspection.findings import MAX_BLOCKS, Finding, find_all
from newscrawl.inspection.inspect_page import inspect_page, marked_page
from newscrawl.items import Article
from samples import SampleSites
from tests.conftest import REPOSITORY
from tests.helpers.browser import (
    DESKTOP,
    PHONE,
    SCHEMES,
    browse,
    low_contrasts,
    needs_chromium,
    overflow,
    tab_stops,
)
from tests.helpers.forked_scrapy import newscrawl

PAGE = Path(__file__).parents[1] / "pages/comments/pages/wordpress-classic.en.html"
URL = "https://news.example/2026/10/ferry.html"
PROSE = "The harbour board decided on Tuesday evening that the ferry sails all winter, every day. "


def findings_of(html: bytes | str, **options: str) -> tuple[Article, list[Finding], Trace]:
    trace = Trace()
    article = extract(html, URL, trace=trace, **options)
    return article, find_all(article, trace), trace


def of_kind(findings: list[Finding], kind: str) -> list[Finding]:
    return [finding for finding in findings if finding.kind == kind]


def test_trace_does_not_change_the_article():
    article, _, _ = findings_of(PAGE.read_bytes())
    plain = extract(PAGE.read_bytes(), URL, fetched_at=article.fetched_at)
    assert plain == article


def test_findings_agree_with_the_article():
    """Fields, the blocks of the body, removed comments and the separator node are findings."""
    article, findings, trace = findings_of(PAGE.read_bytes())
    (title,) = of_kind(findings, "title")
    assert (title.text, title.source) == (article.title, article.evidence["title"].source)
    assert [trace.document.tag[row] for row in title.places] == ["h1"]
    (date,) = of_kind(findings, "date")
    assert date.text.startswith("2026-10-14")
    assert [trace.document.subtree_text(row) for row in date.places] == ["14 October 2026"]
    assert [finding.text for finding in of_kind(findings, "authors")] == article.authors
    blocks = of_kind(findings, "body")
    assert [" ".join(block.text.split()) for block in blocks] == [
        text[:299] + "…" if len(text) > 300 else text for text in article.body.split("\n\n")
    ]
    assert all(block.probability is not None and block.places for block in blocks)
    assert "says:" in of_kind(findings, "comments")[0].text
    (separator,) = of_kind(findings, "separator")
    assert separator.text == "div.entry-content"
    assert separator.reason.startswith("Its children are the parts of the article: 7 trees.")


def test_rejected_candidates():
    """Other titles, other days and blocks that were not selected are listed with the reason."""
    box = "<div class='newsletter'><p>" + "Sign up for our letter of the week. " * 8 + "</p></div>"
    html = (
        "<title>Ferry sails all winter</title><h1>Ferry sails all winter</h1>"
        "<p>4 March 2026</p><h1>Weather and tides today</h1>"
        f"<article>{f'<p>{PROSE * 3}</p>' * 3}{box}<p>{PROSE * 4}</p></article>"
    )
    _, findings, _ = findings_of(html)
    lost = of_kind(findings, "lost")
    assert ("Weather and tides today", "title: h1") in [(item.text, item.source) for item in lost]
    (letter,) = (finding for finding in lost if finding.text.startswith("Sign up"))
    assert letter.reason.startswith("In an excluded region")
    assert letter.places
    article, findings, _ = findings_of(PAGE.read_bytes())
    (heading,) = (item for item in of_kind(findings, "lost") if item.text == article.title)
    assert heading.reason.startswith("Less probable than the last selected block")
    assert heading.probability is not None
    assert heading.probability < 0.5


@pytest.mark.parametrize("method", available_methods())
def test_every_method_can_be_inspected(method: str):
    """Published methods have a body, too; each finding is in the page unless it says otherwise."""
    article, findings, trace = findings_of(PAGE.read_bytes(), method=method)
    assert trace.parsed is not None
    html = marked_page(trace.parsed, findings, URL)
    for number, finding in enumerate(findings):
        assert bool(finding.places) == any(
            f'data-nc="{marks}"' in html for marks in _with(number, len(findings))
        )
    assert bool(of_kind(findings, "body")) == bool(article.body and method != "metadata")


def _with(number: int, count: int) -> list[str]:
    others = [str(other) for other in range(count)]
    return [str(number), *(f"{number} {o}" for o in others), *(f"{o} {number}" for o in others)]


def test_runs_of_text_are_wrapped():
    """Paragraphs that ``<br><br>`` separates have marks of their own; the text stays the same."""
    text = "<br><br>".join(PROSE * 3 + f"Part {number}." for number in range(4))
    html = f"<title>Ferry</title><h1>Ferry sails all winter</h1><div>{text}</div>"
    _, findings, trace = findings_of(html)
    before = "".join(trace.parsed.root.itertext())
    marked = marked_page(trace.parsed, findings, URL)
    assert marked.count("<newscrawl-text ") == len(of_kind(findings, "body")) == 4
    style = trace.parsed.root.find("head/style").text
    assert "".join(trace.parsed.root.itertext()).replace(style, "") == before


def test_number_of_blocks_is_limited():
    html = "<h1>Ferry</h1>" + f"<p>{PROSE * 3}</p>" * (MAX_BLOCKS + 200)
    _, findings, _ = findings_of(html)
    assert len(findings) < MAX_BLOCKS + 50


HOSTILE = f"""<!DOCTYPE html><html onclick="alert(1)"><head>
<base href="javascript:alert(2)"><meta http-equiv="refresh" content="0;url=https://evil.example/">
<meta http-equiv="Content-Security-Policy" content="img-src 'none'">
<title>&lt;/title&gt;&lt;script&gt;alert(3)&lt;/script&gt; "&gt; {{{{7*7}}}}</title>
<script>alert(4)</script><link rel="preload" href="/x.js" as="script"></head>
<body onload="alert(5)"><h1>"&gt;&lt;/iframe&gt;&lt;img src=x onerror=alert(6)&gt; {{{{7*7}}}}</h1>
<p class='author "&gt;&lt;script&gt;'>By Eve&lt;script&gt;alert(7)&lt;/script&gt;</p>
<img src="data:image/png;base64,x" onerror="alert(8)" srcset="/big.png 2x">
<svg><script>alert(9)</script><a xlink:href=" java&#10;script:alert(10)"><text>x</text></a>
<animate attributeName="href" to="javascript:alert(11)"/></svg>
<iframe srcdoc="<script>alert(12)</script>"></iframe><object data="/x.swf"></object>
<form action="javascript:alert(13)"><button formaction="javascript:alert(14)" autofocus>go</button></form>
<a href="javascript:alert(15)" accesskey="a" target="_top">link</a>
<math><mtext><style><img src=x onerror=alert(16)></style></mtext></math>
{"<p>" + PROSE * 4 + "</p>"}<p>{PROSE * 4}</p><p>{PROSE * 5}</p></body></html>"""


def test_active_content_is_removed():
    """The copy has no scripts, handlers, frames, forms' targets, refreshes or active addresses."""
    _, findings, trace = findings_of(HOSTILE)
    assert trace.parsed is not None
    html = marked_page(trace.parsed, findings, URL).lower()
    for active in (
        "<script",
        " onload=",
        " onclick=",
        'onerror="',
        "<iframe",
        "<object",
        "refresh",
    ):
        assert active not in html, active
    for attribute in ('="javascript:', "java\nscript", "autofocus", "accesskey", "target="):
        assert attribute not in html, attribute
    assert html.count("content-security-policy") == 1
    assert '<base href="https://news.example/' in html


@needs_chromium
def test_hostile_page_runs_nothing(tmp_path: Path):
    """A hostile page neither runs code nor leaves its frame; title and authors are text."""
    path = tmp_path / "page.html"
    path.write_text(inspect_page(HOSTILE, URL, assets=False), encoding="utf-8")
    with browse(path) as (page, messages):
        page.wait_for_timeout(300)
        assert page.locator("h1").inner_text().endswith("{{7*7}}")
        assert page.locator("iframe").count() == 1
        assert page.evaluate("document.scripts.length") == 1
        assert page.frames[1].evaluate("document.scripts.length") == 0
        assert page.url == path.as_uri()
        assert [message for message in messages if "dialog" in message or "script" in message] == []


@pytest.fixture(scope="module")
def inspected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("inspect") / "page.html"
    path.write_text(inspect_page(PAGE.read_bytes(), URL), encoding="utf-8")
    return path


@needs_chromium
@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_layout(inspected: Path, scheme: str, width: int):
    """Light and dark, wide and narrow: no error, nothing overflows, text has enough contrast.

    Wide, the page is left of the findings and both fill the window; narrow, it is above them.
    """
    with browse(inspected, scheme=scheme, width=width) as (page, messages):
        assert low_contrasts(page) == []
        assert overflow(page) == 0
        frame, panel = (page.locator(name).bounding_box() for name in ("iframe", "aside"))
        if width == DESKTOP:
            assert frame["x"] + frame["width"] <= panel["x"]
            assert frame["height"] == panel["height"] > 600
        else:
            assert frame["width"] == panel["width"] == PHONE
            assert frame["y"] + frame["height"] <= panel["y"] + 2
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
        assert messages == []


@needs_chromium
def test_keyboard(inspected: Path):
    """Tab reaches each control once, arrows move through the findings, the page follows."""
    with browse(inspected) as (page, messages):
        stops = tab_stops(page)
        assert stops[:3] == [
            "Skip to the findings",
            "Dark theme",
            "The page with marks, without scripts",
        ]
        assert [stop.split(" (")[0] for stop in stops[3:-1]] == [
            "Title", "Date", "Authors", "Body", "Removed comments", "Candidates that lost",
            "Separator node",
        ]  # fmt: skip
        assert stops[-1].startswith("Ferry to Skellan Island")
        items = page.locator("[data-finding]")
        items.first.focus()
        status, current = page.locator("#status"), page.frames[1].locator("[data-nc-current]")
        page.keyboard.press("ArrowDown")
        assert status.inner_text() == "Date 1 of 1: shown in the page."
        assert current.inner_text() == "14 October 2026"
        page.keyboard.press("End")
        assert status.inner_text() == "Separator node 1 of 1: shown in the page."
        page.keyboard.press("ArrowDown")
        assert page.locator("[aria-pressed=true][data-finding]").count() == 1
        page.keyboard.press("ArrowUp")
        # The last of them: how many there are is the method's.
        assert re.match(r"Candidates that lost (\d+) of \1: ", status.inner_text())
        page.keyboard.press("Home")
        assert current.evaluate("element => element.tagName") == "H1"
        page.keyboard.press("Enter")
        assert items.first.get_attribute("aria-pressed") == "true"
        page.locator(".skip").focus()
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "findings"
        assert messages == []


@needs_chromium
def test_mouse(inspected: Path):
    """The theme button, the filters, a finding and a mark in the page react to clicks."""
    with browse(inspected) as (page, messages):
        light = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.get_by_role("button", name="Dark theme").click()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
        page.get_by_role("button", name="Light theme").click()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == light
        mark = page.frames[1].locator("[data-nc-kind~=body]").first
        outline = "element => getComputedStyle(element).outlineStyle"
        for box in page.get_by_role("checkbox").all():
            section = page.locator(f"#{box.get_attribute('data-kind')}")
            box.click()
            assert not section.is_visible()
            if box.get_attribute("data-kind") == "body":
                assert mark.evaluate(outline) != "solid"
            box.click()
            assert section.is_visible()
        assert mark.evaluate(outline) == "solid"
        page.get_by_role("button", name="On the island itself").click()
        assert page.locator("#status").inner_text() == "Body 6 of 7: shown in the page."
        assert page.frames[1].locator("[data-nc-current]").inner_text().startswith("On the island")
        assert messages == []


@needs_chromium
def test_click_on_a_mark(inspected: Path):
    with browse(inspected) as (page, messages):
        # Locators in the frame would add listeners, which the sandbox reports as blocked scripts.
        place = page.evaluate(
            """() => {
              const frame = document.getElementById("page"), outer = frame.getBoundingClientRect();
              const mark = frame.contentDocument.querySelector("[data-nc-kind=date]");
              const inner = mark.getBoundingClientRect();
              return [outer.x + inner.x + 5, outer.y + inner.y + 5];
            }"""
        )
        page.mouse.click(*place)
        assert page.locator("#status").inner_text() == "Date 1 of 1: shown in the page."
        assert messages == []


@needs_chromium
def test_screen_reader(inspected: Path):
    """Landmarks, headings, lists and the names of controls describe the page."""
    with browse(inspected) as (page, _):
        tree = page.locator("body").aria_snapshot()
        for line in (
            '- link "Skip to the findings"',
            "- banner:",
            '- main "The page":',
            "- iframe",
            '- complementary "Findings":',
            '- group "Show":',
            "- status: No finding selected.",
            '- region "Removed comments":',
            '- heading "Separator node" [level=2]',
            "- listitem:",
        ):
            assert line in tree, tree


def run_inspect(*args: object, data: str = "") -> subprocess.CompletedProcess[str]:
    return newscrawl(REPOSITORY, "inspect", *args, data=data)


@pytest.fixture
def site() -> Iterator[str]:
    with SampleSites() as sites:
        yield sites.urls["harbour-gazette"]


def test_file_and_standard_input(tmp_path: Path):
    """The same page from a file and from standard input; --no-assets loads nothing."""
    written = []
    for number, source in enumerate((str(PAGE), "-")):
        output = tmp_path / f"{number}.html"
        text = PAGE.read_text(encoding="utf-8")
        done = run_inspect(source, "-o", output, "--url", "https://a.example/b", data=text)
        assert (done.returncode, done.stderr) == (0, f"Wrote {output}\n")
        written.append(output.read_text(encoding="utf-8"))
    assert written[0] == written[1]
    assert "https://a.example/b" in written[0]
    assert "img-src * data:" in written[0]
    run_inspect(PAGE, "-o", tmp_path / "2.html", "--no-assets")
    assert "img-src *" not in (tmp_path / "2.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_url(tmp_path: Path, site: str):
    """A URL is fetched under the rules of crawls: private addresses only where allowed."""
    output = tmp_path / "page.html"
    url = f"{site}2026/11/20/ferry-terminal-vote.html"
    refused = run_inspect(url, "-o", output)
    assert refused.returncode == 1
    assert "not a public address" in refused.stderr
    assert not output.exists()
    done = run_inspect(url, "-o", output, "-s", "NEWSCRAWL_ALLOWED_ADDRESSES=127.0.0.1")
    assert done.returncode == 0, done.stderr
    assert url in output.read_text(encoding="utf-8")
    missing = run_inspect(
        f"{site}none.html", "-o", output, "-s", "NEWSCRAWL_ALLOWED_ADDRESSES=127.0.0.1"
    )
    assert (missing.returncode, missing.stderr.count("\n")) == (1, 1)
    assert "HTTP status 404" in missing.stderr


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        ((PAGE,), 2, "Missing option '-o'"),
        ((PAGE, "-o", "{tmp}/x.html", "--method", "best"), 2,
         "unknown method 'best'; expected one of: "),
        (("ftp://a.example/", "-o", "{tmp}/x.html"), 2, "scheme 'ftp' is not supported"),
        (("{tmp}/none.html", "-o", "{tmp}/x.html"), 1, "No such file"),
        ((PAGE.parent, "-o", "{tmp}/x.html"), 2, "expected one page"),
        ((PAGE, "-o", "{tmp}/x.html", "--encoding", "utf-9"), 2, "unknown encoding"),
        (("-", "-o", "{tmp}/x.html"), 1, "not an HTML page"),
        (("https://a.example/", "-o", "{tmp}/x.html", "-s", "NAME"), 2, "expected NAME=VALUE"),
    ],
)  # fmt: skip
def test_errors_take_one_line(tmp_path: Path, args: tuple[Any, ...], code: int, message: str):
    """Wrong usage ends with 2, other failures with 1, with one line and without a file."""
    done = run_inspect(
        *(str(arg).replace("{tmp}", str(tmp_path)) for arg in args), data="\x00\x01\x02PNG" * 9
    )
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
