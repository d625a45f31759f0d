"""Sinks: versions, formats, repeated and concurrent deliveries, refused rows and failures."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from botocore.config import Config
from scrapy.settings import Settings

from newscrawl.cli.exit_codes import DONE, FAILED, USAGE
from newscrawl.cli.main import cli, run
from newscrawl.crawling.output.segments import SegmentSpan, list_segments, read_segments, write_span
from newscrawl.items import EXTRA_FIELDS, Article
from newscrawl.sinks.delivery import deliver
from newscrawl.sinks.opensearch import _ARTICLES
from newscrawl.sinks.sink import MAX_KEY_BYTES, article_key
from tests.conftest import REPOSITORY
from tests.crawling.output.test_segments import Run, urls_of
from tests.helpers.sink_killer import PAGES, write_segments
from tests.servers.cut_connection import CutConnection
from tests.servers.opensearch import LOGIN, OpenSearchServer
from tests.servers.postgres import PASSWORD, PostgresServer
from tests.sinks.conftest import Target, as_lines, make_target, newest

DATABASES = ["postgresql", "opensearch"]
DAY = "2026-11-22"
SITE = "https://site.example"


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Target:
    """Return an empty sink that is a database."""
    return make_target(request, request.param, tmp_path)


def story(number: int, hour: int = 10, **fields: Any) -> dict[str, Any]:
    """Return an article."""
    item = {
        "url": f"{SITE}/2026/11/22/story-{number}-of-the-town",
        "title": f"Story {number}",
        "date": "2026-11-22",
        "body": f"Text {number}, hour {hour}",
        "fetched_at": f"2026-11-22T{hour:02}:00:00+00:00",
        **fields,
    }
    return {name: value for name, value in item.items() if value is not None}


def write(folder: Path, items: Iterable[dict[str, Any]], first: int = 1):
    """Write a segment."""
    stored = [(n, json.dumps(item)) for n, item in enumerate(items, first)]
    span = SegmentSpan("0123abcd", DAY, first, first + len(stored) - 1)
    write_span(folder, span, stored)
    return folder


def command(*arguments: object) -> int:
    """Run ``newscrawl deliver``."""
    return run(cli, ["deliver", *map(str, arguments)], "newscrawl")


def test_newer_version_replaces_older(database: Target, tmp_path: Path):
    """Never the reverse, whatever the order of the deliveries."""
    for number, hours in enumerate(([11], [10], [12, 9], [12])):
        folder = write(tmp_path / str(number), [story(1, hour) for hour in hours])
        assert not deliver(folder, database.url, Settings()).problems
        assert [item["body"] for item in database.items()] == [f"Text 1, hour {max(11, *hours)}"]
        if number < 2:
            continue
        assert database.items() == [story(1, 12)]


def test_items_are_stored_as_they_are(database: Target, tmp_path: Path):
    """Of articles with all kinds of fields."""
    image = {"url": f"{SITE}/a.jpg", "caption": None, "credit": "Ada"}
    evidence = {"title": {"source": "json-ld", "confidence": 0.9}}
    fields = {"date": "2026-11-22T10:00:00+09:00", "image": image, "evidence": evidence}
    stories = [
        story(1, **fields, cluster={"id": "a", "size": 2}, tags=["one", "two"]),
        story(2, date=None, paywalled=True, flags=["updated"]),
    ]
    items = [Article.from_dict(item).to_dict() for item in stories]
    folder = write(tmp_path, items)
    assert not deliver(folder, database.url, Settings()).problems
    assert database.items() == items


def test_delivers_each_segment_once(target: Target, tmp_path: Path):
    write_segments(tmp_path / "segments", 0, 3)
    done = [deliver(tmp_path / "segments", target.url, Settings()) for _ in range(2)]
    assert [(it.segments, it.items) for it in done] == [(3, 24), (0, 0)]
    write_segments(tmp_path / "segments", 3, 1)
    done = [deliver(tmp_path / "segments" / DAY, target.url, Settings())]
    assert [(it.segments, it.items) for it in done] == [(1, 8)]


def test_copy_of_an_s3_prefix_is_a_segment_folder(s3: Any, request: Any, tmp_path: Path):
    """Of several machines, whose segments differ."""
    target = make_target(request, "s3", tmp_path)
    write_segments(tmp_path / "a", 0, 2)
    write_segments(tmp_path / "b", 2, 2)
    for folder in ("a", "b"):
        deliver(tmp_path / folder, target.url, Settings())
    items = [item for folder in ("a", "b") for item in read_segments(tmp_path / folder)]
    assert as_lines(target.items()) == as_lines(items)


def test_concurrent_deliveries(target: Target, tmp_path: Path):
    """Of two machines and twice of each, in any order."""
    for number in range(2):
        write_segments(tmp_path / str(number), 4 * number, 4)
    with ThreadPoolExecutor(4) as threads:
        folders = [tmp_path / str(number % 2) for number in range(4)]
        random.Random(3).shuffle(folders)
        done = list(threads.map(lambda it: deliver(it, target.url, Settings()), folders))
    assert [it.problems for it in done] == [[]] * 4
    items = [item for number in range(2) for item in read_segments(tmp_path / str(number))]
    if target.url.startswith("s3:"):
        assert as_lines(target.items()) == as_lines(items)
    else:
        assert target.items() == newest(items)


def test_refused_row_is_set_aside(
    database: Target, tmp_path: Path, capfd: pytest.CaptureFixture[str], request: Any
):
    """The others are delivered, and ``--retry`` delivers it when the cause is gone."""
    bad = story(3, title="x" * 50, date_modified="yesterday")
    folder = write(tmp_path, [story(1), story(2), bad, story(4), story(5)])
    deliver(write(tmp_path / "first", [story(1)]), database.url, Settings())
    repair = _refuse(database, request)
    assert command(folder / DAY, "--to", database.url) == FAILED
    lines = capfd.readouterr().err.splitlines()
    assert "refused item 3 of 0123abcd-000000000001-000000000005.jsonl" in lines[0]
    assert bad["url"] in lines[0]
    assert "4 items in 1 segments delivered" in lines[1]
    assert lines[1].endswith("1 refused")
    assert len(lines) == 2
    assert database.items() == [story(1), story(2), story(4), story(5)]
    assert command(folder / DAY, "--to", database.url) == DONE
    assert len(database.items()) == 4
    assert command(folder / DAY, "--to", database.url, "--retry") == FAILED
    repair()
    assert command(folder / DAY, "--to", database.url, "--retry") == DONE
    assert [item["title"] for item in database.items()][2] == bad["title"]


def _refuse(database: Target, request: Any) -> Any:
    """Make the database refuse the item; return the function that ends it."""
    if database.url.startswith("opensearch"):
        server: OpenSearchServer = request.getfixturevalue("opensearch")
        properties = server.indices[database.url.rpartition("/")[2]].properties
        return lambda: properties.pop("date_modified")
    postgres: PostgresServer = request.getfixturevalue("postgres")
    table = database.url.rpartition("=")[2]
    postgres.execute(f'ALTER TABLE "{table}" ADD CONSTRAINT short CHECK (length(title) < 40)')
    return lambda: postgres.execute(f'ALTER TABLE "{table}" DROP CONSTRAINT short')


def test_postgresql_refuses_null_characters(postgres: PostgresServer, request: Any, tmp_path: Path):
    """In items of a project's own class; articles have none."""
    database = make_target(request, "postgresql", tmp_path)
    folder = write(tmp_path, [story(1), story(2, body="a\0b"), story(3, tags=["a\0b"])])
    done = deliver(folder, database.url, Settings())
    assert [row.number for row in done.refused[next(iter(done.refused))]] == [2, 3]
    assert database.items() == [story(1)]


@pytest.mark.parametrize("kind", ["postgresql", "opensearch", "s3"])
@pytest.mark.parametrize("problem", ["credentials", "down"])
def test_failure_is_one_line_without_secrets(
    kind: str,
    problem: str,
    request: Any,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    """The other sinks get their segments, and the next delivery the rest."""
    target = make_target(request, kind, tmp_path)
    other = make_target(request, "postgresql", tmp_path)
    folder = write(tmp_path / "segments", [story(1)])
    url = target.url
    if kind == "s3":
        _break_s3(problem, request.getfixturevalue("s3_server"), monkeypatch)
    elif problem == "down":
        port = url.rpartition("@")[2].partition("/")[0].partition(":")[2]
        url = url.replace(f":{port}/", ":9/")
    else:
        password = LOGIN[1].replace("%", "%25") if kind == "opensearch" else PASSWORD
        url = url.replace(password, "wrong%25secret")
    assert command(folder, "--to", url, "--to", other.url) == FAILED
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 3, lines
    assert lines[0].startswith(url.partition(":")[0])
    assert not [word for word in ("hush", "secret@", "wrong") if word in "".join(lines)], lines
    expected = {
        ("postgresql", "credentials"): "password authentication failed",
        ("postgresql", "down"): "onnection refused",
        ("opensearch", "credentials"): "401",
        ("opensearch", "down"): "onnection refused",
        ("s3", "credentials"): "InvalidAccessKeyId",
        ("s3", "down"): "Could not connect to the endpoint",
    }
    assert expected[kind, problem] in lines[0], lines
    assert other.items() == [story(1)]


def _break_s3(problem: str, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if problem == "down":
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        once = Config(retries={"total_max_attempts": 1})  # the others come after long waits
        monkeypatch.setattr("newscrawl.sinks.s3._CONFIG", once)
        return
    from moto import settings
    from moto.core import responses

    monkeypatch.setattr(settings, "INITIAL_NO_AUTH_ACTION_COUNT", 0)
    monkeypatch.setattr(responses.ActionAuthenticatorMixin, "request_count", 0)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrongsecret")


def test_connection_that_is_cut(
    target: Target, request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """After each part of a delivery: it fails in one line, and the next one delivers the rest."""
    monkeypatch.setattr("newscrawl.sinks.s3._CONFIG", Config(retries={"total_max_attempts": 1}))
    items = [story(number) for number in range(30)]
    folder = write(write(tmp_path / "segments", items[:20]), items[20:], first=21)
    is_s3 = target.url.startswith("s3:")
    address = request.getfixturevalue("s3_server") if is_s3 else target.url
    port = urlsplit(address).port
    with CutConnection(port) as proxy:
        url = target.url if is_s3 else target.url.replace(f":{port}/", f":{proxy.port}/")
        if is_s3:
            monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{proxy.port}")
        failed = 0
        for limit in (10, 300, 700, 1_500, 2_500, 4_000, 6_000):
            for direction in ("sent", "received"):
                setattr(proxy, direction, limit)
                problems = deliver(folder, url, Settings()).problems
                setattr(proxy, direction, 2**40)
                assert len(problems) <= 1, problems
                failed += len(problems)
        assert failed > 3
        assert not deliver(folder, url, Settings()).problems
    assert as_lines(target.items()) == as_lines(items)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:hush hush@[host/db",
        "postgresql://ada:hushhush@host/db?unknown=1",
        "mysql://ada:hushhush@host/db",
        "opensearch://ada:hushhush@host",
        "opensearch://ada:hushhush@host:port/index",
        "s3://ada:hushhush@bucket/news",
        "s3:news",
        "",
    ],
)
def test_invalid_url_is_wrong_usage(url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    folder = write(tmp_path, [story(1)])
    assert command(folder, "--to", url) == USAGE
    error = capfd.readouterr().err
    assert len(error.splitlines()) == 1
    assert "hush" not in error


def test_skips_items_without_url(database: Target, tmp_path: Path):
    folder = write(tmp_path, [story(1), {"text": "a quote"}, story(2, title=["a", "list"])])
    done = deliver(folder, database.url, Settings())
    assert (done.items, done.skipped) == (len(database.items()), 1)
    assert str(done).endswith("1 without URL skipped") or done.refused_count


def test_damaged_segment(target: Target, tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    """The other segments are delivered."""
    write_segments(tmp_path, 0, 3)
    (path, _) = list_segments(tmp_path)[1]
    path.write_bytes(path.read_bytes()[:-1])
    assert command(tmp_path, "--to", target.url) == FAILED
    lines = capfd.readouterr().err.splitlines()
    assert "bytes instead of" in lines[0]
    assert "16 items in 2 segments delivered" in lines[1]


def test_folder_without_segments(target: Target, tmp_path: Path, capfd: Any):
    assert command(tmp_path, "--to", target.url) == FAILED
    assert "no manifest" in capfd.readouterr().err


def test_opensearch_retries_rejected_documents(
    opensearch: OpenSearchServer, request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A full queue is not a refusal; a lost quorum ends the delivery, until the next one."""
    monkeypatch.setattr("time.sleep", lambda _: None)
    database = make_target(request, "opensearch", tmp_path)
    folder = write(tmp_path, [story(number) for number in range(5)])
    opensearch.rejections = 3
    assert not deliver(folder, database.url, Settings()).problems
    assert len(database.items()) == 5
    folder = write(tmp_path, [story(number, 12) for number in range(5)], first=6)
    opensearch.rejections = 100
    (problem,) = deliver(folder, database.url, Settings()).problems
    opensearch.rejections = 0
    assert "the queue is full" in problem
    opensearch.failure = 503
    (problem,) = deliver(folder, database.url, Settings()).problems
    opensearch.failure = None
    assert "HTTP status 503" in problem
    assert not deliver(folder, database.url, Settings()).problems
    assert database.items() == [story(number, 12) for number in range(5)]


def test_opensearch_documents_that_fail(opensearch: OpenSearchServer, request: Any, tmp_path: Path):
    """A shard that is lost in the middle of a segment ends the delivery, until the next one."""
    database = make_target(request, "opensearch", tmp_path)
    folder = write(tmp_path, [story(number) for number in range(5)])
    opensearch.rejections, opensearch.rejection = 2, 503
    (problem,) = deliver(folder, database.url, Settings()).problems
    opensearch.rejection = 429
    assert "rejected_execution_exception" in problem
    assert len(database.items()) == 3
    assert not deliver(folder, database.url, Settings()).problems
    assert database.items() == [story(number) for number in range(5)]


def test_postgresql_disk_that_is_full(postgres: PostgresServer, request: Any, tmp_path: Path):
    """It refuses no row, but ends the delivery; the segments before are delivered."""
    database = make_target(request, "postgresql", tmp_path)
    table = database.url.rpartition("=")[2]
    folder = write(tmp_path / "segments", [story(1)])
    deliver(folder, database.url, Settings())
    postgres.execute(
        """CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END$$"""
    )
    condition = "FOR EACH ROW WHEN (NEW.title = 'Story 3') EXECUTE FUNCTION fill()"
    postgres.execute(f'CREATE TRIGGER filled BEFORE INSERT ON "{table}" {condition}')
    write(folder, [story(2)], first=2)
    write(folder, [story(4), story(3)], first=3)
    done = deliver(folder, database.url, Settings())
    assert (done.items, done.refused) == (1, {})
    assert "could not extend file" in done.problems[0]
    assert database.items() == [story(1), story(2)]
    postgres.execute(f'DROP TRIGGER filled ON "{table}"')
    assert not deliver(folder, database.url, Settings()).problems
    assert database.items() == [story(number) for number in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("url", "canonical", "key"),
    [
        ("/2026/11/22/a-b-c?utm_source=x", None, "site.example/2026/11/22/a-b-c"),
        ("/2026/11/22/a-b-c/amp", "/2026/11/22/a-b-c", "site.example/2026/11/22/a-b-c"),
        # declared everywhere
        ("/2026/11/22/a-b-c", "/", "site.example/2026/11/22/a-b-c"),
        ("/2026/11/22/a-b-c", "/politics", "site.example/2026/11/22/a-b-c"),
        # of the agency, or invalid
        ("/2026/11/22/a-b-c", "https://agency.example/1", "site.example/2026/11/22/a-b-c"),
        ("/2026/11/22/a-b-c", "https://[", "site.example/2026/11/22/a-b-c"),
        ("/2026/11/22/a-b-c", 7, "site.example/2026/11/22/a-b-c"),
    ],
)
def test_article_key(url: str, canonical: Any, key: str):
    if isinstance(canonical, str) and canonical.startswith("/"):
        canonical = f"https://www.site.example{canonical}"
    assert article_key(f"{SITE}{url}", canonical) == key


def test_long_keys_are_cut_and_differ():
    keys = {article_key(f"{SITE}/{'ü' * 300}{end}", None) for end in "ab"}
    assert len(keys) == 2
    assert max(len(key.encode()) for key in keys) <= MAX_KEY_BYTES


@pytest.mark.slow
def test_crawl_delivers_at_its_end(request: Any, tmp_path: Path):
    """A sink that is down fails the crawl, and the next crawl delivers the rest."""
    target = make_target(request, "postgresql", tmp_path)
    down = f"postgresql://ada:{PASSWORD}@127.0.0.1:9/db"
    log = _crawl(tmp_path, 3, f"{down},{target.url}", returncode=1)
    assert f"Could not deliver: {down.replace(f'ada:{PASSWORD}@', '')}: " in log
    assert "exit code 1" in log
    assert {item["url"] for item in target.items()} == urls_of(3)
    log = _crawl(tmp_path, 5, target.url, returncode=0)
    assert {item["url"] for item in target.items()} == urls_of(5)
    stats = json.loads((tmp_path / "stats.json").read_text())
    assert stats["newscrawl/sinks/segment_count"] == 1
    assert stats["newscrawl/sinks/item_count"] >= len(urls_of(5)) - len(urls_of(3))


def _crawl(folder: Path, pages: int, sinks: str, returncode: int) -> str:
    extensions = ("output.segment_writer.SegmentWriter", "delivery.SinkDelivery")
    paths = (f"newscrawl.crawling.{extensions[0]}", f"newscrawl.sinks.{extensions[1]}")
    settings = {"NEWSCRAWL_SINKS": sinks, "EXTENSIONS": json.dumps(dict.fromkeys(paths, 500))}
    run = Run(folder, pages, **settings)
    log = run.output()
    assert run.returncode == returncode, log
    assert "Traceback" not in log
    assert PASSWORD not in log
    return log


@pytest.mark.slow
def test_feed_to_s3(s3: Any, tmp_path: Path):
    """By Scrapy's feed exports, once the crawl is complete."""
    s3.create_bucket(Bucket="feeds")
    Run(tmp_path, 3, "-o", "s3://feeds/day/articles.jsonl:jsonlines").log()
    body = s3.get_object(Bucket="feeds", Key="day/articles.jsonl")["Body"].read()
    assert {json.loads(line)["url"] for line in body.splitlines()} == urls_of(3)


def test_opensearch_names_the_refused_document_among_rejected_ones(
    opensearch: OpenSearchServer, request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Whatever the order of the answers."""
    monkeypatch.setattr("time.sleep", lambda _: None)
    database = make_target(request, "opensearch", tmp_path)
    bad = [story(number, date_modified="yesterday") for number in (2, 5)]
    folder = write(tmp_path, [story(1), bad[0], story(3), story(4), bad[1]])
    opensearch.rejections = 2
    (refused,) = deliver(folder, database.url, Settings()).refused.values()
    assert sorted((row.number, row.url) for row in refused) == [
        (2, bad[0]["url"]),
        (5, bad[1]["url"]),
    ]


def test_postgresql_deferred_constraints(postgres: PostgresServer, request: Any, tmp_path: Path):
    """They refuse rows, not whole segments."""
    database = make_target(request, "postgresql", tmp_path)
    deliver(write(tmp_path / "first", [story(1)]), database.url, Settings())
    table = database.url.rpartition("=")[2]
    unique = "ADD CONSTRAINT one_title UNIQUE (title) DEFERRABLE INITIALLY DEFERRED"
    postgres.execute(f'ALTER TABLE "{table}" {unique}')
    folder = write(tmp_path / "next", [story(2, title="Story 1"), story(3)])
    (refused,) = deliver(folder, database.url, Settings()).refused.values()
    assert [row.number for row in refused] == [1]
    assert database.items() == [story(1), story(3)]


KILLS = 20


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_rows_equal_items_after_kills(target: Target, tmp_path: Path):
    """The process group of a delivery is killed twenty times."""
    folder = tmp_path / "segments"
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "tests.helpers.sink_killer"),
            *(str(folder), target.url, str(KILLS), "19"),
        ],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout
    result = json.loads(ran.stdout)
    items = list(read_segments(folder))
    assert result["killed"] == KILLS
    assert result["items"] == len(items) > 2 * PAGES
    if target.url.startswith("s3:"):
        assert as_lines(target.items()) == as_lines(items)
    else:
        assert target.items() == newest(items)
        assert len(target.items()) == len({item["canonical_url"] for item in items})


#: fields whose type OpenSearch chooses by their values
DYNAMIC = {
    "breadcrumbs", "date_raw", "image", "pages", "paywalled", "rendered", "style_complete"
}  # fmt: skip


def test_each_field_is_mapped_or_dynamic():
    """A new field of ``Article`` needs a type in the mapping, or an entry in ``DYNAMIC``."""
    mapped = _ARTICLES["mappings"]["properties"].keys() - EXTRA_FIELDS
    assert Article().to_dict().keys() == mapped | DYNAMIC
