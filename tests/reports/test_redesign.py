"""Two crawls of twenty sites, ten of which change their template in between."""

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from random import Random
from typing import Any, Self

import pytest

from newscrawl.reports.crawl_records import read_crawls
from newscrawl.reports.drift import find_alarms
from tests.conftest import REPOSITORY
from tests.helpers.forked_scrapy import newscrawl
from tests.helpers.scheduled_crawls import crawl_hours
from tests.servers import pages
from tests.servers.newsroom import Newsroom, NewsServer, Story

pytestmark = pytest.mark.slow

SEEDS = range(10)
TEAMS = "/workflows/8f3a/triggers/manual/paths/invoke?api-version=1&sig=x"
SECOND = 24
"""Hour of the second crawl, and of the change."""
ARTICLES = 12
"""Articles of a site in each crawl."""


@dataclass(frozen=True, slots=True)
class SignedStory(Story):
    """A story with an author, of random length."""

    #: hour from which the page is an application: author, date and most of the text come later
    redesigned: int = 10_000

    def text(self, version: int) -> list[str]:
        random = Random(self.number)
        whole = pages.paragraphs(self.number)
        return [random.choice(whole) for _ in range(random.randrange(4, 14))]

    def page(self, hour: int) -> bytes:
        headline, text = pages.title(self.number), self.text(0)
        if hour < self.redesigned:
            author = '<meta name="author" content="Jördis Löffler">'
            return (
                pages.dress(headline, text, meta_charset="utf-8")
                .replace("</head>", f"{author}</head>")
                .encode()
            )
        return (
            f'<!DOCTYPE html><html lang="de"><meta charset="utf-8"><title>{headline}</title>'
            f'<div id="app"><h1>{headline}</h1><section>{text[0]}</section>'
            '<button>Weiterlesen</button></div><script src="/app.js"></script>'
        ).encode()


def site(kind: str, seed: int) -> str:
    return f"{kind}-{seed}.example"


def newsrooms() -> list[Newsroom]:
    rooms = []
    for place, kind in enumerate(("stays", "changes")):
        redesigned = SECOND if kind == "changes" else 10_000
        for seed in SEEDS:
            first = 10_000 * place + 1000 * seed
            stories = tuple(
                SignedStory(first + k, 0 if k < ARTICLES else 1 + k % 5, redesigned=redesigned)
                for k in range(2 * ARTICLES)
            )
            rooms.append(Newsroom(site(kind, seed), "news", stories))
    return rooms


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the state file of the two crawls."""
    folder = tmp_path_factory.mktemp("redesign")
    with NewsServer(newsrooms()) as server:
        crawls, log = crawl_hours(folder, server, (0, SECOND), NEWSCRAWL_UPDATE_WINDOW=0)
    numbers = [len(crawl.items) for crawl in crawls]
    assert numbers[0] == ARTICLES * 20, log[-3000:]
    return folder / "state.sqlite"


def test_alarms(state: Path):
    """Each of the ten changed sites raises an alarm, none of the ten others does."""
    crawls = read_crawls(str(state))
    assert len(crawls) == 2
    assert len(crawls[0].sites) == 20
    alarms = find_alarms(crawls)
    assert {alarm.site for alarm in alarms} == {site("changes", seed) for seed in SEEDS}
    assert find_alarms(crawls[:1]) == []


def test_record_has_counts(state: Path):
    """The state has the counts and articles of each site."""
    record = read_crawls(str(state))[0].sites[site("stays", 3)]
    assert record.counts["article"] == len(record.articles) == ARTICLES
    assert record.counts["fetched"] == ARTICLES
    assert {article.authors for article in record.articles} == {1}
    assert all(article.published and article.confidence for article in record.articles)


class Webhook:
    """Server on loopback that records the bodies of POST requests."""

    def __init__(self) -> None:
        self.bodies: list[tuple[str | None, dict[str, Any]]] = []
        webhook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                webhook.bodies.append((self.headers["Content-Type"], json.loads(body)))
                self.send_response({"/alarm": 204, TEAMS: 202}.get(self.path, 500))
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    with Webhook() as server:
        yield server


def run_report(*args: object) -> subprocess.CompletedProcess[str]:
    return newscrawl(REPOSITORY, "report", *args)


def copied(state: Path, folder: Path) -> Path:
    """Return a copy of *state* without the alarms of other tests."""
    return Path(shutil.copy(state, folder))


def test_command(state: Path, tmp_path: Path, webhook: Webhook):
    """The command writes the report, sends the alarms and ends with exit code 4."""
    output, state = tmp_path / "report", copied(state, tmp_path)
    hook = f"NEWSCRAWL_ALARM_WEBHOOK={webhook.url}/alarm"
    allowed = "NEWSCRAWL_ALLOWED_ADDRESSES=127.0.0.1"
    done = run_report(state, "-o", output, "-s", hook, "-s", allowed)
    assert done.returncode == 4, done.stderr
    assert "alarm: changes-3.example: authors: Articles with authors: 0 of" in done.stderr
    assert len(list((output / "sites").iterdir())) == 20
    ((content_type, body),) = webhook.bodies
    assert content_type == "application/json"
    shown = body["text"].splitlines()  # by Slack and Mattermost
    assert [line for line in done.stderr.splitlines() if line.startswith("alarm: ")] == shown
    assert "attachments" not in body
    assert {alarm["site"] for alarm in body["alarms"]} == {site("changes", s) for s in SEEDS}
    assert set(body["alarms"][0]) == {"site", "measure", "before", "after", "message"}
    again = run_report(state, "-o", output, "-s", hook, "-s", allowed)
    assert again.returncode == 4
    assert len(webhook.bodies) == 1
    assert all(line.startswith("alarm open since ") for line in again.stderr.splitlines()[:-1])


def test_teams(state: Path, tmp_path: Path, webhook: Webhook):
    """A workflow of Teams gets a card with a block for each alarm, and nothing that it must map."""
    state = copied(state, tmp_path)
    done = run_report(
        state, "-o", tmp_path / "report", "-s", f"NEWSCRAWL_ALARM_WEBHOOK={webhook.url}{TEAMS}",
        "-s", "NEWSCRAWL_ALLOWED_ADDRESSES=127.0.0.1",
    )  # fmt: skip
    assert done.returncode == 4, done.stderr
    ((content_type, body),) = webhook.bodies
    assert content_type == "application/json"
    assert body["type"] == "message"
    (attachment,) = body["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    card = attachment["content"]
    assert (card["type"], card["version"]) == ("AdaptiveCard", "1.4")
    assert {(block["type"], block["wrap"]) for block in card["body"]} == {("TextBlock", True)}
    alarms = [line for line in done.stderr.splitlines() if line.startswith("alarm: ")]
    assert [block["text"] for block in card["body"]][1:] == alarms


def test_webhook_is_under_the_safety_rules(state: Path, tmp_path: Path, webhook: Webhook):
    """A private address is refused unless allowed; the message does not have the path."""
    hook, state = f"NEWSCRAWL_ALARM_WEBHOOK={webhook.url}/alarm-secret", copied(state, tmp_path)
    done = run_report(state, "-o", tmp_path / "report", "-s", hook)
    assert done.returncode == 1
    assert "not a public address" in done.stderr
    assert "secret" not in done.stderr
    assert webhook.bodies == []
    assert (tmp_path / "report/index.html").exists()
    failed = run_report(
        state, "-o", tmp_path / "report", "-s", hook,
        "-s", "NEWSCRAWL_ALLOWED_ADDRESSES=127.0.0.1", "-s", "RETRY_ENABLED=0",
    )  # fmt: skip
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-1].endswith("HTTP status 500")
