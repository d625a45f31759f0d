"""Fixtures of crawl states."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from newscrawl import clock
from tests.helpers.crawl_history import FakeClock, Opening, opened


@pytest.fixture
def fake_clock() -> Iterator[FakeClock]:
    """Return the clock of the test."""
    yield FakeClock()
    clock.set_clock()


@pytest.fixture
def state_file(tmp_path: Path) -> Path:
    """Return the path of the state."""
    return tmp_path / "state.sqlite"


@pytest.fixture
def crawl(state_file: Path) -> Opening:
    """Return a function that opens the state as the next crawl does."""
    return partial(opened, state_file)
