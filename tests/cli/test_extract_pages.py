"""``newscrawl extract``: folders, standard input, gzip, archives, formats and workers."""

import csv
import gzip
import io
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import samples
from newscrawl.items import Article
from samples import expected_pages
from tests.extraction.test_extraction import PAGE, TITLE, URL
from tests.helpers.forked_scrapy import run_command

SAMPLE_PAGE = (
    Path(samples.__file__).parent / "harbour-gazette/www/2026/11/20/ferry-terminal-vote.html"
)
CODE = "from newscrawl.cli.main import main; main()"


def newscrawl(
    folder: Path, *arguments: str, data: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in *folder* with *data* on standard input."""
    return run_command("newscrawl", folder, *arguments, data=data)


def rows(output: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


@pytest.mark.slow
def test_extracts_folder(tmp_path: Path):
    """A folder of 400 pages, in two workers: one row for each page, in order, with its source."""
    articles = [page for page in expected_pages() if page.is_article]
    (tmp_path / "pages" / "more").mkdir(parents=True)
    for number in range(400):
        folder = tmp_path / "pages" / ("more" if number % 2 else "")
        shutil.copy(articles[number % len(articles)].file, folder / f"{number:03}.html")
    (tmp_path / "pages" / "notes.txt").write_text("not a page", encoding="utf-8")
    done = newscrawl(
        tmp_path, "extract", "pages", "--jobs", "2", "--method", "nce", "-o", "articles.jsonl"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    found = rows((tmp_path / "articles.jsonl").read_bytes())
    assert len(found) == 400
    assert [row["source"] for row in found] == sorted(row["source"] for row in found)
    for row in found:
        expected = articles[int(row["source"][-8:-5]) % len(articles)]
        assert row["title"] == expected.title


@pytest.mark.slow
def test_extracts_standard_input(tmp_path: Path):
    """As it is and gzipped, with the URL."""
    for data in (PAGE.encode(), gzip.compress(PAGE.encode())):
        done = newscrawl(tmp_path, "extract", "-", "--url", URL, "--method", "nce", data=data)
        assert (done.returncode, done.stderr) == (0, b"")
        article = json.loads(done.stdout)
        assert (article["title"], article["url"]) == (TITLE, URL)
        assert "source" not in article


@pytest.mark.slow
def test_continues_after_errors(tmp_path: Path):
    """Pages, also gzipped ones, are extracted where other sources fail; the exit code is 1."""
    (tmp_path / "a.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "b.html.gz").write_bytes(gzip.compress(PAGE.encode()))
    done = newscrawl(tmp_path, "extract", "a.html", "missing.html", "b.html.gz", "--jobs", "1")
    assert done.returncode == 1
    assert [row["source"] for row in rows(done.stdout)] == ["a.html", "b.html.gz"]
    assert done.stderr.decode() == ("newscrawl extract: missing.html: No such file or directory\n")


@pytest.mark.slow
def test_formats(tmp_path: Path):
    """Several articles in each format; the name of the output file determines the format."""
    for name in ("a.html", "b.html"):
        (tmp_path / name).write_text(PAGE, encoding="utf-8")
    for output, start in (
        ("out.txt", f"{TITLE}\n\n2024-05-04"),
        ("out.md", f"# {TITLE}\n\n"),
        ("out.html", f"<article>\n<h1>{TITLE}</h1>\n<p>"),
    ):
        done = newscrawl(tmp_path, "extract", "a.html", "b.html", "--jobs", "0", "-o", output)
        assert (done.returncode, done.stderr) == (0, b""), output
        text = (tmp_path / output).read_text(encoding="utf-8")
        assert text.startswith(start)
        assert text.count(start) == 2
    done = newscrawl(tmp_path, "extract", "a.html", "b.html", "--jobs", "0", "--format", "csv")
    table = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert [(row["source"], row["title"]) for row in table] == [
        ("a.html", TITLE),
        ("b.html", TITLE),
    ]
    assert {"url", "date", "authors", "body"} <= table[0].keys() <= {"source", *Article.__slots__}


def test_one_page_imports_only_what_extraction_needs():
    program = f"""
import sys
sys.argv = ["newscrawl", "extract", {str(SAMPLE_PAGE)!r}, "--text"]
import newscrawl.cli
try:
    newscrawl.cli.start()
finally:
    slow = "asyncio charset_normalizer numpy pyarrow rich scrapy twisted w3lib.html yaml"
    print(sorted(set(slow.split()) & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert "Port Kerrin" in done.stdout
    assert done.stderr.strip() == "[]"


HOSTILE = """
import os, re
from newscrawl.cli import start
from newscrawl.defaults import DEFAULTS
from newscrawl.inspection import inspect_page
from newscrawl.workers import tasks

def hostile(function):
    def work(data, **arguments):
        if b"SLOW" in data:
            os.write(2, b"started\\n")
            re.match("(a+)+b", "a" * 60)
        if b"LARGE" in data:
            bytes(2**31)
        if b"CRASH" in data:
            os.abort()
        return function(data, **arguments)
    return work

DEFAULTS["NEWSCRAWL_DEADLINE"] = {deadline}
tasks.extract_page = hostile(tasks.extract_page)
inspect_page.inspect_page = hostile(inspect_page.inspect_page)
start()
"""


def hostile_command(folder: Path, *arguments: str, deadline: float) -> subprocess.Popen[str]:
    """Start a command that takes long, much memory, or dies at pages with such a word."""
    (folder / "pages").mkdir()
    for name in ("CRASH", "LARGE", "SLOW", "plain"):
        (folder / "pages" / f"{name}.html").write_text(PAGE.replace(TITLE, f"{TITLE} {name}"))
    command = [sys.executable, "-c", HOSTILE.format(deadline=deadline), *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a copy of the process")
def test_continues_after_hostile_pages(tmp_path: Path):
    """Without workers, too: they end by the limits of a page, and the next one is extracted."""
    process = hostile_command(tmp_path, "extract", "pages", "--jobs", "0", deadline=1)
    output, errors = process.communicate()
    assert [row["title"] for row in rows(output.encode())] == [f"{TITLE} plain"]
    crash, large, _, slow = errors.splitlines()
    assert crash == "newscrawl extract: pages/CRASH.html: the process died (exit code -6)"
    assert large == "newscrawl extract: pages/LARGE.html: MemoryError"
    assert slow == "newscrawl extract: pages/SLOW.html: no answer in 1 s"
    assert process.returncode == 1


@pytest.mark.skipif(sys.platform != "linux", reason="needs a copy of the process")
def test_inspects_hostile_page(tmp_path: Path):
    process = hostile_command(
        tmp_path, "inspect", "pages/SLOW.html", "-o", "marked.html", deadline=1
    )
    _, errors = process.communicate()
    assert errors.splitlines()[1:] == ["newscrawl inspect: pages/SLOW.html: no answer in 1 s"]
    assert process.returncode == 1


@pytest.mark.skipif(sys.platform != "linux", reason="needs a copy of the process")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_in_a_page(tmp_path: Path, number: signal.Signals):
    """At once, although the page has hours, and with the process that works on it."""
    process = hostile_command(tmp_path, "extract", "pages/SLOW.html", deadline=1e6)
    assert process.stderr
    assert process.stderr.readline() == "started\n"
    process.send_signal(number)
    # The pipe ends with the last process that has it.
    assert process.communicate()[1].strip() == "newscrawl extract: interrupted"
    assert process.returncode == 130
