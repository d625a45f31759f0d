"""Servers of the sinks, started by the tests."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from newscrawl.crawling.output.segments import read_segments
from newscrawl.sinks.sink import article_key
from tests.conftest import skip_missing
from tests.servers.opensearch import OpenSearchServer
from tests.servers.postgres import PostgresServer, program

SINKS = ["postgresql", "opensearch", "s3"]

_numbers = count()


@dataclass(frozen=True)
class Target:
    """An empty sink, with a function that returns the items that it holds."""

    url: str
    items: Callable[[], list[dict[str, Any]]]


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Run PostgreSQL."""
    if program("initdb") is None:
        skip_missing("needs PostgreSQL (.ci/install-postgresql)")
    with PostgresServer() as server:
        yield server


@pytest.fixture(scope="session")
def opensearch() -> Iterator[OpenSearchServer]:
    """Run the server with OpenSearch's API."""
    with OpenSearchServer() as server:
        yield server


@pytest.fixture(params=SINKS)
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Target:
    """Return an empty sink of each kind."""
    return make_target(request, request.param, tmp_path)


def make_target(request: pytest.FixtureRequest, kind: str, folder: Path) -> Target:
    """Return an empty sink, on a server that other tests use too."""
    name = f"test{next(_numbers)}"
    if kind == "postgresql":
        return _postgresql(request.getfixturevalue("postgres"), name)
    if kind == "opensearch":
        return _opensearch(request.getfixturevalue("opensearch"), name)
    return _s3(request.getfixturevalue("s3"), name, folder / "downloaded")


def _postgresql(server: PostgresServer, name: str) -> Target:
    def items() -> list[dict[str, Any]]:
        rows = server.execute(f'SELECT key, url, body, item FROM "{name}" ORDER BY key')
        assert all(item["url"] == url for _, url, _, item in rows)
        assert [row[0] for row in rows] == [key_of(row[3]) for row in rows]
        return [{**item, "body": body} for _, _, body, item in rows]

    return Target(f"{server.url}?table={name}", items)


def _opensearch(server: OpenSearchServer, name: str) -> Target:
    def items() -> list[dict[str, Any]]:
        documents = sorted(server.indices[name].documents.items())
        assert [key for key, _ in documents] == [key_of(item) for _, (_, item) in documents]
        return [item for _, (_, item) in documents]

    return Target(server.url(name), items)


def _s3(client: Any, name: str, folder: Path) -> Target:
    client.create_bucket(Bucket=name)

    def items() -> list[dict[str, Any]]:
        for entry in client.list_objects_v2(Bucket=name).get("Contents", ()):
            path = folder / entry["Key"]
            path.parent.mkdir(parents=True, exist_ok=True)
            client.download_file(name, entry["Key"], str(path))
        return list(read_segments(folder / "news"))

    return Target(f"s3://{name}/news", items)


def key_of(item: dict[str, Any]) -> str:
    """Return the key of *item*."""
    return article_key(item["url"], item.get("canonical_url"))


def newest(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the newest version of each page, in order of the keys."""
    versions: dict[str, dict[str, Any]] = {}
    for item in sorted(items, key=lambda item: item["fetched_at"]):
        versions[key_of(item)] = item
    return [versions[key] for key in sorted(versions)]


def as_lines(items: list[dict[str, Any]]) -> list[str]:
    """Return *items* as sorted lines of JSON."""
    return sorted(json.dumps(item, sort_keys=True) for item in items)
