"""A crawl on two machines, one of which is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import REPOSITORY
from tests.helpers.two_machines import SHARDS, STORIES
from tests.middlewares.test_no_packet_inside import no_namespace

if TYPE_CHECKING:
    from pathlib import Path

NAMESPACE = ["unshare", "--net", "--map-root-user"]
NEW = 2 * STORIES * SHARDS // 2
"""Stories of half of the shards in an hour."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Run the crawls."""
    if reason := no_namespace():
        pytest.skip(reason)
    folder: Path = tmp_path_factory.mktemp("machines")
    done = subprocess.run(
        [*NAMESPACE, sys.executable, "-m", "tests.helpers.two_machines", str(folder)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_nothing_is_delivered_twice_before(result: dict[str, Any]):
    """The hours 0 and 1 of both machines, and two of four shards in hour 2."""
    assert result["delivered"] == 4 * NEW + NEW // 2
    assert result["early_twice"] == 0


@pytest.mark.parametrize(
    ("way", "twice"), [("with_copy", NEW + NEW // 2), ("without", 2 * NEW + NEW // 2)]
)
def test_nothing_is_lost(result: dict[str, Any], way: str, twice: int):
    """What the lost machine delivered after the copy, or at all, is delivered twice: one row each."""
    assert result[way]["rows"] == result[way]["published"] == 8 * NEW
    assert result[way]["lost"] == 0
    assert result[way]["twice"] == twice


def test_shared_archives_are_complete(result: dict[str, Any]):
    """The second machine finishes the archive of the first; answers may miss that were in flight."""
    archives = result["archives"]
    assert archives["unfinished"] == archives["flaws"] == 0
    assert 0 <= archives["answers"] - archives["responses"] <= 8
