"""``newscrawl.crawl()``, ``acrawl()`` and ``urls()``: crawls in a process of their own."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import psutil
import pytest

import newscrawl
from samples import SampleSites

pytestmark = pytest.mark.slow

SETTINGS = {
    "DOWNLOAD_DELAY": 0,
    "NEWSCRAWL_ALLOWED_ADDRESSES": ["127.0.0.1"],
    "NEWSCRAWL_MAX_AGE": 0,
    "NEWSCRAWL_WORKERS": 0,
}
SLOW = {**SETTINGS, "DOWNLOAD_DELAY": 0.5}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def sites() -> Iterator[list[str]]:
    with SampleSites() as served:
        yield list(served.urls.values())


def crawls() -> list[psutil.Process]:
    """Return the processes of crawls that this process has started."""
    found = psutil.Process().children(recursive=True)
    return [child for child in found if any("python_crawl" in word for word in child.cmdline())]


def test_yields_articles(sites: list[str]):
    found = list(newscrawl.crawl(sites, settings=SETTINGS))
    assert len(found) == 23
    assert len({article.url for article in found}) == 23
    assert all(isinstance(article, newscrawl.Article) and article.date for article in found)
    assert len(sorted(article.published for article in found if article.published)) == 23
    assert crawls() == []


def test_messages_name_no_output(sites: list[str], capfd: pytest.CaptureFixture[str]):
    """The caller has the articles; the command of its own names its file."""
    settings = {**SETTINGS, "NEWSCRAWL_PROGRESS_ENABLED": True}
    assert len(list(newscrawl.crawl(sites[0], limit=2, settings=settings))) == 2
    assert capfd.readouterr().err.endswith("newscrawl crawl: 2 articles\n")


def test_limit_and_period(sites: list[str]):
    assert len(list(newscrawl.crawl(sites[0], limit=2, settings=SETTINGS))) == 2
    day = date(2026, 11, 20)
    found = list(newscrawl.crawl(sites, since=day, until=day, settings=SETTINGS))
    assert found
    assert {str(article.date)[:10] for article in found} == {"2026-11-20"}


# A process in the background inherits that Ctrl-C is ignored.
HANDLED = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"


def test_ends_with_the_iteration(sites: list[str]):
    articles = newscrawl.crawl(sites[0], settings=SLOW)
    next(articles)
    assert len(crawls()) == 1
    articles.close()
    assert crawls() == []


def test_ends_with_the_process_of_the_caller(sites: list[str]):
    """After Ctrl-C, and after a kill, without a guard of the main module."""
    for number in (signal.SIGINT, signal.SIGKILL):
        program = f"{HANDLED}import newscrawl\nfor a in newscrawl.crawl({sites[0]!r}, settings={SLOW}): print(a.url, flush=True)"
        caller = subprocess.Popen(
            [sys.executable, "-c", program],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert caller.stdout is not None
        caller.stdout.readline()
        process, *_ = crawls()
        os.kill(caller.pid, number)
        _, errors = caller.communicate(timeout=60)
        assert ("KeyboardInterrupt" in errors) == (number == signal.SIGINT)
        psutil.wait_procs([process], timeout=60)
        assert not process.is_running()


def test_in_a_running_event_loop(sites: list[str]):
    """As in a notebook; the twin also yields to other tasks, and ends when it is cancelled."""

    async def run() -> list[Any]:
        blocking = list(newscrawl.crawl(sites[0], limit=1, settings=SETTINGS))
        found = [a async for a in newscrawl.acrawl(sites[0], limit=1, settings=SETTINGS)]

        async def endless() -> None:
            async for _ in newscrawl.acrawl(sites[0], settings=SLOW):
                started.set()

        started = asyncio.Event()
        task = asyncio.create_task(endless())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return [*blocking, *found]

    first, second = asyncio.run(run())
    assert first.to_dict() == {**second.to_dict(), "fetched_at": first.to_dict()["fetched_at"]}
    assert crawls() == []


def test_lists_articles(sites: list[str]):
    listed = list(newscrawl.urls(sites[0], settings=SETTINGS))
    assert len(listed) > 5
    assert all(entry.url.startswith(sites[0]) and entry.source for entry in listed)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"settings": {"NEWSCRAWL_SITE_LIMITT": 1}}, "did you mean NEWSCRAWL_SITE_LIMIT"),
        ({"settings": {"NEWSCRAWL_WORKERS": "many"}}, "NEWSCRAWL_WORKERS"),
        ({"since": "yesterday"}, "NEWSCRAWL_SINCE: 'yesterday' is not a day"),
        ({"limit": 0}, "limit: 0 is less than 1"),
        ({"sites": "ftp://site.example/"}, "not an http"),
        ({"sites": []}, "no sites"),
    ],
)
def test_rejects_wrong_arguments(options: dict[str, Any], message: str):
    given = {"sites": "http://127.0.0.1:9/", **options}
    with pytest.raises(ValueError, match=message):
        list(newscrawl.crawl(given.pop("sites"), **given))


def test_raises_for_sites_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as in a notebook
    with pytest.raises(newscrawl.CrawlError, match=r"127\.0\.0\.1:9") as raised:
        list(newscrawl.crawl("http://127.0.0.1:9/", settings=SETTINGS))
    assert "\x1b" not in str(raised.value)
    with pytest.raises(newscrawl.CrawlError, match=r"none\.txt"):
        list(newscrawl.crawl("none.txt", settings=SETTINGS))
