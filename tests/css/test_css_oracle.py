"""Computed styles compared with Chromium on hard cases, samples, random and real pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from newscrawl.corpora.chromium import missing
from tests.conftest import skip_missing
from tests.oracle.compare import Agreement, Comparison, compare
from tests.oracle.pages import cases, corpus_pages, sample_pages
from tests.oracle.random_pages import random_pages

if TYPE_CHECKING:
    from pathlib import Path

CASES = {page.name: page for page in cases()}
#: minimum agreement with Chromium on the text parents of real pages
THRESHOLDS = {
    "font_size": 0.999,
    "font_weight": 0.9995,
    "bold": 0.9995,
    "color": 0.9995,
    "font_family": 0.9995,
    "display_none": 0.9995,
}


@pytest.fixture(scope="module")
def chromium() -> None:
    """Skip the test if Chromium is missing."""
    if reason := missing():
        skip_missing(reason)


@pytest.fixture(scope="module")
def compared_cases(chromium: None) -> dict[str, Comparison]:
    """Return the comparisons of all cases, made with one browser."""
    return {comparison.page.name: comparison for comparison in compare(list(CASES.values()))}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_agrees_on_hard_case(compared_cases: dict[str, Comparison], name: str):
    """The title of the page describes the case."""
    comparison = compared_cases[name]
    assert comparison.error is None
    assert comparison.compared
    assert list(map(str, comparison.disagreements)) == []


@pytest.mark.slow
def test_agrees_on_samples(chromium: None):
    agreement = Agreement(compare(sample_pages()))
    assert agreement.compared > 2000
    assert list(map(str, agreement.disagreements)) == []


@pytest.mark.slow
def test_agrees_on_random_pages(chromium: None):
    agreement = Agreement(compare(random_pages(100)))
    assert agreement.compared > 10_000
    assert list(map(str, agreement.disagreements)) == []


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("group", ["css-complete", "css-sites"])
def test_agrees_on_real_pages(chromium: None, corpus_dir: Path, group: str):
    """On pages with all their sheets, agreement reaches the thresholds."""
    agreement = Agreement(compare(corpus_pages(corpus_dir, group)))
    assert [c.error for c in agreement.comparisons if c.error] == []
    below = {
        name: agreement[name] for name, minimum in THRESHOLDS.items() if agreement[name] < minimum
    }
    assert below == {}, "\n".join([str(agreement), *map(str, agreement.disagreements[:100])])
