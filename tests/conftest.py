"""Fixtures that several test modules share."""

from __future__ import annotations

from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
CORPORA = REPOSITORY.parent / "shared" / "corpora"


@pytest.fixture(scope="session")
def repository() -> Path:
    """Return the root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def corpus_dir() -> Path:
    """Return the folder of the labelled corpora; skip where it is missing."""
    if not CORPORA.is_dir():
        pytest.skip("the labelled corpora (../shared/corpora) are not on this machine")
    return CORPORA
