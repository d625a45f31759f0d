"""Sources and output files of ``newscrawl extract``: folders, links, hidden files, suffixes."""

import gzip
import json
import os
from pathlib import Path

import pytest

from newscrawl.cli.main import cli, run
from tests.extraction.test_extraction import PAGE, TITLE


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to the folder ``.home/work``, next to ``.home/pages`` with three pages; return it."""
    for name in ("pages/a.html", "pages/more/b", "pages/.hidden/c.html", "pages/.d.html"):
        path = tmp_path / ".home" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PAGE, encoding="utf-8")
    folder = tmp_path / ".home" / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def extract(*arguments: str) -> int:
    return run(cli, ["extract", *arguments, "--jobs", "0", "--method", "nce"], "newscrawl")


def sources(text: str) -> list[str]:
    """Return the sources of JSON Lines; each has the article."""
    rows = [json.loads(line) for line in text.splitlines()]
    assert {row["title"] for row in rows} <= {TITLE}
    return [row["source"] for row in rows]


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["../pages"], ["../pages/a.html", "../pages/more/b"]),
        (["../pages/."], ["../pages/a.html", "../pages/more/b"]),
        ([".."], ["../pages/a.html", "../pages/more/b"]),
        (["../../.home/pages/more"], ["../../.home/pages/more/b"]),
        (["../pages/.hidden"], ["../pages/.hidden/c.html"]),
        (["../pages/.d.html", "../pages/.hidden"], ["../pages/.d.html", "../pages/.hidden/c.html"]),
        (["../pages/a.html", "../pages"], ["../pages/a.html", "../pages/more/b"]),
    ],
)
def test_hidden_is_relative_to_the_folder(
    work: Path, capfd: pytest.CaptureFixture[str], names: list[str], found: list[str]
):
    """Only files and folders below the given folder are hidden; a named one is always read."""
    assert extract(*names) == 0
    captured = capfd.readouterr()
    assert sources(captured.out) == found
    assert captured.err == ""


def test_absolute_path_below_a_hidden_folder(work: Path, capfd: pytest.CaptureFixture[str]):
    pages = work.parent / "pages"
    assert extract(str(pages)) == 0
    assert sources(capfd.readouterr().out) == [f"{pages}/a.html", f"{pages}/more/b"]


def test_follows_links(work: Path, capfd: pytest.CaptureFixture[str]):
    """Links to files and folders are read, each folder once: loops end."""
    (work / "file.html").symlink_to("../pages/a.html")
    (work / "folder").symlink_to("../pages")
    (work / "self").symlink_to(".")
    (work / "above").symlink_to("..")
    (work / "broken.html").symlink_to("missing")
    (work / "circle").symlink_to("circle")
    os.mkfifo(work / "pipe")
    assert extract(".") == 0
    found = sources(capfd.readouterr().out)
    assert len(found) == 3
    assert found[-1] == "file.html" or "file.html" in found
    assert extract("folder") == 0
    assert sources(capfd.readouterr().out) == ["folder/a.html", "folder/more/b"]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "it is empty"),
        ({".a.html": PAGE, ".git/b.html": PAGE, ".git/c.html": PAGE}, "left out: 2 hidden"),
        ({"a.txt": "text", "a.pdf": "%PDF-1.7 <xmp>", "a.js": "'<p>'", "b": "PK\3\4<a>"},
         "left out: 4 not an HTML page"),
        ({"a.html": "", ".b": ""}, "left out: 1 hidden, 1 empty"),
        ({"a.mhtml": "From: <Saved>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n"
          "\r\n<html><p>"}, "left out: 1 MHTML; save the page as HTML"),
    ],
)  # fmt: skip
def test_says_why_no_page_was_found(
    work: Path, capfd: pytest.CaptureFixture[str], files: dict[str, str], reason: str
):
    """Exit code 3, one line, and the output file of an earlier run is not replaced."""
    (work / "pages").mkdir()
    for name, text in files.items():
        (work / "pages" / name).parent.mkdir(exist_ok=True)
        (work / "pages" / name).write_text(text, encoding="utf-8")
    (work / "old.csv").write_text("old", encoding="utf-8")
    for output in ("-", "new.jsonl", "new.csv", "old.csv"):
        assert extract("pages", "-o", output) == 3
        captured = capfd.readouterr()
        assert captured.err == f"newscrawl extract: no page found in pages: {reason}\n"
        assert captured.out == ""
    assert sorted(path.name for path in work.iterdir()) == ["old.csv", "pages"]
    assert (work / "old.csv").read_text(encoding="utf-8") == "old"


def test_unusual_files(work: Path, capfd: pytest.CaptureFixture[str]):
    """Gzipped pages by content, names without suffix; damaged pages fail; a named page is read."""
    packed = gzip.compress(PAGE.encode())
    (work / "pages").mkdir()
    for name, data in (
        ("a.htm.gz", packed),
        ("b", packed),
        ("cut.html.gz", packed[:-20]),
        ("notes.txt", b"text"),
        ("story.js", PAGE.encode()),
    ):
        (work / "pages" / name).write_bytes(data)
    assert extract("pages") == 1
    captured = capfd.readouterr()
    assert sources(captured.out) == ["pages/a.htm.gz", "pages/b"]
    assert captured.err.count("\n") == 1
    assert "pages/cut.html.gz: damaged gzip data: the end is missing" in captured.err
    assert extract("pages/notes.txt", "pages", "pages/story.js") == 1
    captured = capfd.readouterr()
    assert "pages/notes.txt: not an HTML page" in captured.err
    assert sources(captured.out) == ["pages/a.htm.gz", "pages/b", "pages/story.js"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root reads all files")
def test_unreadable_files(work: Path, capfd: pytest.CaptureFixture[str]):
    """Files and folders that cannot be read are failures, the others are read."""
    for name in ("a.html", "more"):
        (work.parent / "pages" / name).chmod(0)
    assert extract("../pages/", "../pages/.d.html") == 1
    captured = capfd.readouterr()
    (work.parent / "pages/more").chmod(0o700)
    assert sources(captured.out) == ["../pages/.d.html"]
    assert "../pages/a.html: Permission denied" in captured.err
    assert "../pages/more: Permission denied" in captured.err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("extract a.html -o out.parquet", "out.parquet: no format has the suffix '.parquet'"),
        ("extract a.html -o out.xml", "no format has the suffix '.xml'; use .csv, .htm, .html,"),
        ("extract a.html -o out.jsonl.gz", "no format has the suffix '.gz'"),
        (
            "crawl a.example -o out.xls",
            "out.xls: no format has the suffix '.xls'; use .csv, .json,",
        ),
        ("urls urls.txt -o out.xls", "out.xls: no format has the suffix '.xls'; use .csv, .json,"),
        ("cluster a.jsonl -o out.csv", "no format has the suffix '.csv'"),
        ("cluster a.jsonl --clusters out.jsonl.gz", "no format has the suffix '.gz'"),
        ("inspect a.html -o out.pdf", "no format has the suffix '.pdf'; use .htm, .html"),
        ("report a.jsonl -o report.html", "report.html: name a folder"),
        ("crawl a.example --report r.html", "r.html: name a folder"),
    ],
)
def test_refuses_suffixes_without_a_format(
    work: Path, capfd: pytest.CaptureFixture[str], line: str, message: str
):
    """Before anything is read or written."""
    (work / "a.html").write_text(PAGE, encoding="utf-8")
    (work / "a.jsonl").write_text("", encoding="utf-8")
    (work / "urls.txt").write_text("http://a.example/b\n", encoding="utf-8")
    assert run(cli, line.split(), "newscrawl") == 2
    assert message in capfd.readouterr().err
    assert not [path.name for path in work.iterdir() if path.name.startswith(("out", "report"))]


def test_json_files(work: Path):
    """``.json`` is one document, ``.jsonl`` lines; ``--format`` decides for other names."""
    for names, titles in ((["../pages/a.html"], [TITLE]), (["../pages"], [TITLE, TITLE])):
        assert extract(*names, "-o", "out.jsonl") == 0
        lines = (work / "out.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line)["title"] for line in lines] == titles
        assert extract(*names, "-o", "out.json") == 0
        document = json.loads((work / "out.json").read_text(encoding="utf-8"))
        assert [row["title"] for row in (document if len(titles) > 1 else [document])] == titles
    assert extract("../pages", "--text", "-o", "out.xyz") == 0
    assert (work / "out.xyz").read_text(encoding="utf-8").count(TITLE) == 2
