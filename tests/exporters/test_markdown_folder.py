"""Folders of Markdown files: safe names, one file for a URL, crawls and feeds that write them."""

import json
import re
import unicodedata
from datetime import date
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from newscrawl import Article, ExtractOptions
from newscrawl.exporters.markdown_folder import MarkdownFolder
from tests.helpers.forked_scrapy import newscrawl
from tests.servers.site import SiteServer
from tests.site_rules.stubborn_sites import STORY, page, paragraphs


def article(title: str | None, url: str = "https://a.example/1", body: str = "Text") -> Article:
    return Article(url=url, title=title, date=date(2026, 11, 20), body=body, body_markdown=body)


def files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())}


def test_names_have_day_and_title(tmp_path: Path):
    folder = MarkdownFolder(tmp_path / "new" / "folder")
    titles = (
        "Council votes 6–3: “Rebuild!”",
        "CON",
        None,
        "Bürger: 道路は",
        "x" * 300,
        "../../etc",
    )
    for number, title in enumerate(titles):
        folder.write_article(article(title, f"https://a.example/{number}"))
    folder.write_article(Article(url="https://a.example/undated", body_markdown=""))
    names = [re.sub(r"[0-9a-f]{10}\.md$", "#", name) for name in files(tmp_path / "new" / "folder")]
    day = "2026-11-20-"
    assert sorted(names) == sorted(
        ["#", f"{day}#", f"{day}bürger-道路は-#", f"{day}con-#", f"{day}etc-#",
         f"{day}council-votes-6-3-rebuild-#", f"{day}{'x' * 60}-#"]
    )  # fmt: skip


@given(st.text(max_size=300))
def test_any_title_gives_a_safe_name(tmp_path_factory: pytest.TempPathFactory, title: str):
    folder = tmp_path_factory.mktemp("articles")
    MarkdownFolder(folder).write_article(article(title))
    (path,) = folder.iterdir()
    assert len(path.name.encode()) < 200
    assert not re.search(r'[<>:"/\\|?*\x00-\x1f\s]', path.name)
    assert path.name == unicodedata.normalize("NFC", path.name)
    assert not path.stem.endswith((".", " ", "-"))


def test_updates_in_place(tmp_path: Path):
    """The file of a URL keeps its name when title and text change, also in a later crawl."""
    MarkdownFolder(tmp_path).write_article(article("First title"))
    (name,) = files(tmp_path)
    later = MarkdownFolder(tmp_path)
    later.write_article(article("Another title", body="New text"))
    later.write_article(article("First title", url="https://a.example/2"))
    found = files(tmp_path)
    assert len(found) == 2
    front, _, body = found[name].partition("\n---\n")
    assert (yaml.safe_load(front)["title"], body.strip()) == ("Another title", "New text")
    deleted = article("Another title", body="")
    deleted.flags.append("deleted")
    later.write_article(deleted)
    assert files(tmp_path) == found


def test_plain_sets_are_types_of_formats(tmp_path: Path):
    """The example of the error message passes mypy."""
    with pytest.raises(ValueError, match=re.escape("ExtractOptions(formats={'markdown'})")):
        MarkdownFolder(tmp_path).write_article(Article(url="https://a.example/", body="Text"))
    options = ExtractOptions(formats={"markdown"}, parts={"lists"})
    assert options.requested == {"body_markdown"}
    assert files(tmp_path) == {}


FAST = ("-s", "NEWSCRAWL_ALLOWED_ADDRESSES=127.0.0.1", "-s", "DOWNLOAD_DELAY=0")
PAGES = {
    f"/{n}": page(f"<h1>Bridge {n} to close for two years</h1>{paragraphs()}").encode()
    for n in range(3)
}


def test_crawl_and_feed(tmp_path: Path):
    """A crawl writes files next to a feed; ``extract`` makes the same files of the feed."""
    with SiteServer(PAGES) as server:
        (tmp_path / "urls.txt").write_text("\n".join(f"{server.url}{path}" for path in PAGES))
        for _ in range(2):
            done = newscrawl(
                tmp_path, "urls", "urls.txt", "-o", "articles", "-o", "a.jsonl", "--markdown", *FAST
            )
            assert done.returncode == 0, done.stderr
    found = files(tmp_path / "articles")
    assert len(found) == len(PAGES)
    assert all(
        text.endswith("\n".join(["", *"\n\n".join(STORY).split("\n"), ""]))
        for text in found.values()
    )
    done = newscrawl(tmp_path, "extract", "a.jsonl", "--markdown", "-o", "again/")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert files(tmp_path / "again") == found
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    for row in rows:
        del row["body_markdown"]
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, [*rows, {"x": 1}])))
    done = newscrawl(tmp_path, "extract", "b.jsonl", "--markdown", "-o", "plain/")
    assert done.returncode == 1
    assert done.stderr == "newscrawl extract: b.jsonl: rows that are not articles: 1\n"
    assert files(tmp_path / "plain") == found


@pytest.mark.parametrize(
    ("command", "args", "message"),
    [
        ("urls", ("-o", "x.md"), "x.md: each article gets a Markdown file of its own; use -o x/ --markdown"),
        ("urls", ("-o", "x/"), "x/: a folder; with --markdown it gets a file for each article"),
        ("urls", ("-o", "x"), "x: no suffix; use .csv, .json, .jsonl, .parquet, .xml, or FILE:FORMAT"),
        ("urls", ("-o", "x.tsv"), "x.tsv: no format has the suffix '.tsv'; use .csv, .json, "),
        ("urls", ("-O", "x/", "--markdown"), "x/: the files of a folder are updated in place; use -o"),
        ("urls", ("-o", "u", "--markdown"), "u: a file; name a folder"),
        ("extract", ("-o", "x/", "--text"), "x/: a folder; only --markdown writes one"),
    ],
)  # fmt: skip
def test_wrong_outputs(tmp_path: Path, command: str, args: tuple[str, ...], message: str):
    (tmp_path / "u").write_text("https://a.example/1")
    done = newscrawl(tmp_path, command, "u", *args)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert done.stderr.startswith(f"newscrawl {command}: {message}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["u"]


def test_feed_of_a_project_needs_the_format(tmp_path: Path):
    (tmp_path / "u").write_text("https://a.example/1")
    done = newscrawl(tmp_path, "urls", "u", "-s", 'FEEDS={"x/": {"format": "markdown"}}')
    assert 'FEEDS: markdown requires NEWSCRAWL_EXTRA_FIELDS = ["body_markdown"]' in done.stderr
