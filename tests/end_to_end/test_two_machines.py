"""A crawl on two machines, one of which is lost."""

from pathlib import Path
from typing import Any

import pytest

from tests.helpers.namespaces import run_in_namespace
from tests.helpers.two_machines import SHARDS, STORIES

NEW = 2 * STORIES * SHARDS // 2
"""Stories of half of the shards in an hour."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Run the crawls."""
    folder: Path = tmp_path_factory.mktemp("machines")
    return run_in_namespace("tests.helpers.two_machines", str(folder), timeout=280)


def test_nothing_is_delivered_twice_before(result: dict[str, Any]):
    """The hours 0 and 1 of both machines, and two of four shards in hour 2."""
    assert result["delivered"] == 4 * NEW + NEW // 2
    assert result["early_twice"] == 0


@pytest.mark.parametrize(
    ("way", "twice"), [("with_copy", NEW + NEW // 2), ("without", 2 * NEW + NEW // 2)]
)
def test_nothing_is_lost(result: dict[str, Any], way: str, twice: int):
    """What the lost machine delivered after the copy is delivered twice: one row each."""
    assert result[way]["rows"] == result[way]["published"] == 8 * NEW
    assert result[way]["lost"] == 0
    assert result[way]["twice"] == twice


def test_shared_archives_are_complete(result: dict[str, Any]):
    """The second machine finishes the archive of the first; answers in flight may miss."""
    archives = result["archives"]
    assert archives["unfinished"] == archives["flaws"] == 0
    assert 0 <= archives["answers"] - archives["responses"] <= 8
