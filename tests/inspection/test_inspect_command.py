"""``newscrawl inspect`` in a process of its own."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from samples import SampleSites
from tests.conftest import REPOSITORY
from tests.helpers.forked_scrapy import newscrawl

PAGE = Path(__file__).parents[1] / "pages/comments/pages/wordpress-classic.en.html"


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
        (
            (PAGE, "-o", "{tmp}/x.html", "--method", "best"),
            2,
            "unknown method 'best'; expected one of: ",
        ),
        (("ftp://a.example/", "-o", "{tmp}/x.html"), 2, "scheme 'ftp' is not supported"),
        (("{tmp}/none.html", "-o", "{tmp}/x.html"), 1, "No such file"),
        ((PAGE.parent, "-o", "{tmp}/x.html"), 2, "expected one page"),
        ((PAGE, "-o", "{tmp}/x.html", "--encoding", "utf-9"), 2, "unknown encoding"),
        (("-", "-o", "{tmp}/x.html"), 1, "not an HTML page"),
        (("https://a.example/", "-o", "{tmp}/x.html", "-s", "NAME"), 2, "expected NAME=VALUE"),
    ],
)
def test_errors_take_one_line(tmp_path: Path, args: tuple[Any, ...], code: int, message: str):
    """Wrong usage ends with 2, other failures with 1, with one line and without a file."""
    done = run_inspect(
        *(str(arg).replace("{tmp}", str(tmp_path)) for arg in args), data="\x00\x01\x02PNG" * 9
    )
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
