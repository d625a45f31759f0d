"""The demo: serves the sample sites, crawls them and compares the articles."""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from samples import SITE_NAMES, SampleSites, expected_pages
from samples.__main__ import crawl
from tests.conftest import REPOSITORY

DISALLOWED = ("/print/", "/drafts/", "/readers/", "/intern/", "/leser/", "/anmelden", "/members/")


class Demo(NamedTuple):
    """A finished ``make demo``."""

    folder: Path
    done: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """Run the demo."""
    folder = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        [sys.executable, "-m", "samples", "--crawl", str(folder / "articles.jsonl")],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    return Demo(folder, done)


def test_demo_extracts_every_article(demo: Demo):
    """``make demo`` emits all articles with the right title, date and body, and no other page."""
    total = sum(page.is_article for page in expected_pages())
    assert demo.done.returncode == 0, demo.done.stdout + demo.done.stderr
    assert (
        f"\n{total} of {total} articles found; {total} without a difference\n" in demo.done.stdout
    )
    assert "Traceback" not in demo.done.stderr
    assert " ERROR" not in demo.done.stderr
    lines = (demo.folder / "articles.jsonl").read_text(encoding="utf-8").splitlines()
    articles = [json.loads(line) for line in lines]
    assert len(articles) == total
    assert {article["kind"] for article in articles} == {"article", "gallery"}
    assert demo.done.stdout.count("3 near-duplicates: ") == 1
    assert sorted(article["cluster"]["size"] for article in articles) == [1] * (total - 2) + [2, 3]
    assert not list(demo.folder.glob("*neardup*"))


def test_demo_shows_the_result(demo: Demo):
    """The table of the sites, an article, then commands; the log is a file."""
    (page, *_) = (page for page in expected_pages() if page.is_article)
    shown, _, commands = demo.done.stdout.partition("Next:\n")
    title, byline, first = (
        place
        for place in (
            shown.find(f"  {page.title}\n"),
            shown.find(f" - {', '.join(page.authors)}\n"),
            shown.find(page.body[:60]),
        )
    )
    assert -1 < title < byline < first
    assert commands.count("newscrawl ") == 3
    assert demo.done.stderr.count(" 127.0.0.1:") == len(SITE_NAMES)
    assert "'finish_reason': 'finished'" in (demo.folder / "articles.log").read_text(
        encoding="utf-8"
    )


@pytest.mark.slow
def test_crawl_respects_robots(tmp_path: Path):
    """Pages that robots.txt disallows are never requested."""
    with SampleSites() as sites:
        outcome = crawl(sites, tmp_path / "articles.jsonl")
        requested = [request.target for request in sites.requests]
    assert outcome.complete, outcome.lines()
    assert [target for target in requested if target.startswith(DISALLOWED)] == []
    pages = [(r.site, r.target) for r in sites.requests if r.target != "/robots.txt"]
    assert len(set(pages)) == len(pages)
