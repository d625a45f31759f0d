"""Errors of ``newscrawl``: one line on standard error and an exit code, without a traceback."""

import gzip
import logging
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click import NoSuchOption

from newscrawl.cli.main import cli, run
from tests.extraction.test_extraction import PAGE

ERRORS = [
    # wrong usage
    ("crawl", 2, "Missing argument 'SITES...'"),
    ("extract --foo page.html", 2, NoSuchOption("--foo").message.rstrip(".")),
    ("extract page.html --format docx", 2, "'docx' is not one of 'json', 'jsonl'"),
    ("extract page.html --encoding nope", 2, "unknown encoding 'nope'"),
    ("extract page.html --method magic", 2, "unknown method 'magic'; expected one of"),
    ("extract page.html --parts magic", 2, "unknown part 'magic'; expected one of"),
    ("extract page.html --jobs -1", 2, "-1 is not in the range"),
    ("extract page.html page.html --url https://a.example/", 2, "--url needs one file"),
    ("extract page.html --url a.example", 2, "--url: not an http(s) URL: 'a.example'"),
    ("extract page.html -s LOG_FILE=missing/log", 1, "missing/log: No such file"),
    (
        "extract page.html -s RETRY_TIME=3",
        0,
        "unknown setting RETRY_TIME; did you mean RETRY_TIMES?",
    ),
    ("extract ftp://a.example/page.html", 2, "scheme 'ftp' is not supported; use http, https"),
    ("extract page.html -s NEWSCRAWL_DEADLINE=soon", 2, "DEADLINE: 'soon' is not a number"),
    ("extract page.html -s NEWSCRAWL_WORKERS=1.5", 2, "WORKERS: '1.5' is not a whole number"),
    (
        "extract page.html -s NEWSCRAWL_METOD=nce",
        2,
        "unknown setting NEWSCRAWL_METOD; did you mean",
    ),
    ("crawl a.example -s CONCURRENT_REQUESTS=many", 2, "REQUESTS: 'many' is not a number"),
    ("crawl a.example -s COOKIES_ENABLED=maybe", 2, "'maybe' is not True or False"),
    ("extract page.html -s NEWSCRAWL_DEADLINE", 2, "-s NEWSCRAWL_DEADLINE: expected NAME=VALUE"),
    ("crawl ftp://a.example/", 2, "not an http(s) URL: 'ftp://a.example/'; name a file or a URL"),
    ("crawl ''", 2, "not an http(s) URL: ''; name a file or a URL"),
    ("extract ''", 2, "the name of a source is empty"),
    ("crawl a.example b.example a.example", 2, "a.example is listed twice"),
    ("crawl a.example -a site=b.example", 2, "-a site is not needed"),
    ("crawl a.example --since yesterday", 2, "NEWSCRAWL_SINCE: 'yesterday' is not a day"),
    ("crawl a.example --since 2026-02-01 --until 2026-01-01", 2, "UNTIL: 2026-01-01 is before"),
    ("crawl a.example --alarm-exit", 2, "--alarm-exit needs --report"),
    ("crawl a.example -a depth=3", 2, "unknown argument 'depth'"),
    ("crawl a.example -a limit=0", 2, "limit must be a whole number of at least 1"),
    ("crawl a.example -o articles.docx", 2, "docx"),
    ("crawl a.example -o a.jsonl -O b.jsonl", 2, "only one of -o"),
    ("crawl a.example -o old.json", 2, "json cannot be appended to; use -O to replace it"),
    ("crawl a.example -o old.parquet", 2, "parquet cannot be appended to; use -O to replace it"),
    ("crawl a.example -o s3://b/a.csv", 2, "s3 cannot be appended to; use -O to replace it"),
    ("evaluate folder --method magic", 2, "unknown method 'magic'"),
    ("train folder", 2, "Missing option '-o'"),
    ("deliver folder", 2, "Missing option '--to'"),
    ("deliver folder --to mysql://a.example/b", 2, "a sink has a URL with one of s3://"),
    # inputs that cannot be read
    ("extract missing.html", 1, "missing.html: No such file"),
    ("extract missing.warc", 1, "missing.warc: No such file"),
    ("extract notes.txt", 1, "notes.txt: not an HTML page"),
    ("extract data.json", 1, "data.json: not an HTML page"),
    ("extract drawing.svg", 1, "drawing.svg: not an HTML page"),
    ("extract empty.html", 1, "empty.html: empty page"),
    ("extract cut.html.gz", 1, "cut.html.gz: damaged gzip data: the end is missing"),
    ("extract image.jpg", 1, "image.jpg: not an HTML page"),
    ("extract page.html -o missing/articles.jsonl", 1, "missing/articles.jsonl: No such file"),
    ("crawl missing.txt", 1, "missing.txt: No such file"),
    ("crawl empty.csv", 1, "empty.csv:1: url is missing"),
    ("urls missing.txt", 1, "missing.txt: No such file"),
    ("cluster missing.jsonl", 1, "missing.jsonl: No such file"),
    ("evaluate missing --method nce", 1, "no corpus at missing"),
    ("train missing -o .", 1, "no corpus at missing"),
    ("deliver missing --to s3://a/b", 1, "missing: no manifest of segments found"),
    ("train . -o missing", 1, "no folder missing"),
    # no article
    ("extract list.html", 3, "list.html: no article (not_article)"),
    ("extract folder", 3, ""),
]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder with the files that the commands name; return it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for name, content in (
        ("page.html", PAGE.encode()),
        ("list.html", b"<title>News</title><p>Nothing here"),
        ("notes.txt", b"hello world"),
        ("data.json", b'{"body": "<p>"}'),
        ("drawing.svg", b'<?xml version="1.0"?>\n<svg><title>Map</title></svg>'),
        ("image.jpg", b"\xff\xd8\xff\xe0" * 20),
        ("empty.html", b""),
        ("empty.csv", b"\n"),
        ("cut.html.gz", gzip.compress(PAGE.encode())[:-20]),
        ("old.json", b"[{}]"),
        ("old.parquet", b"PAR1"),
        ("folder/notes.txt", b"hello world"),
    ):
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.fixture(autouse=True)
def _log_level() -> Iterator[None]:
    """Undo the level of ``configure_logging``."""
    level = logging.root.level
    yield
    logging.root.setLevel(level)


@pytest.mark.parametrize(("line", "code", "message"), ERRORS, ids=[line for line, *_ in ERRORS])
def test_errors(files: Path, capfd: pytest.CaptureFixture[str], line: str, code: int, message: str):
    """The line starts with the command and names the cause."""
    assert run(cli, shlex.split(line), "newscrawl") == code
    error = capfd.readouterr().err
    assert message in error
    if message:
        assert error.startswith(f"newscrawl {line.split(maxsplit=1)[0]}: ")
        lines = [text for text in error.splitlines() if "articles in 0 records" not in text]
        assert len(lines) == 1, error


@pytest.mark.parametrize(
    ("name", "line", "extra"),
    [("sklearn", "train . -o .", "train"), ("pyarrow", "crawl a.example -o a.parquet", "parquet")],
)
def test_missing_extra(
    files: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    line: str,
    extra: str,
):
    """A missing package is reported with the extra that installs it, with exit code 2."""
    (files / "truth.jsonl").write_text("", encoding="utf-8")
    (files / "pages").mkdir()
    monkeypatch.setattr(
        "newscrawl.optional.find_spec", lambda module: None if module == name else module
    )
    assert run(cli, line.split(), "newscrawl") == 2
    assert f"pip install 'newscrawl[{extra}]'" in capfd.readouterr().err


@pytest.mark.slow
def test_ends_quietly_when_the_reader_ends(files: Path):
    """``newscrawl extract ... | head -1`` prints no error."""
    for number in range(200):
        (files / "folder" / f"{number}.html").write_text(PAGE, encoding="utf-8")
    code = "from newscrawl.cli.main import main; main()"
    command = [sys.executable, "-c", code, "extract", "folder", "--method", "nce", "--jobs", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        os.read(process.stdout.fileno(), 10)
        process.stdout.close()
        assert process.stderr.read() == b""
