"""Computed styles compared with Chromium on hard cases, samples, random and real pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from newscrawl.corpora.chromium import missing
from tests.conftest import skip_missing
from tests.oracle.compare import Agreement, Comparison, Style, compare
from tests.oracle.frameworks import framework_pages, missing_registry
from tests.oracle.modern_pages import modern_pages
from tests.oracle.pages import cases, corpus_pages, sample_pages
from tests.oracle.random_pages import random_pages

if TYPE_CHECKING:
    from pathlib import Path

CASES = {page.name: page for page in cases()}
MIN_AGREEMENT = 0.9995
"""Minimum agreement with Chromium in each property on the text parents of real pages."""


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


@pytest.mark.slow
def test_agrees_on_modern_pages(chromium: None):
    agreement = Agreement(compare(modern_pages(20)))
    assert agreement.compared > 2000
    assert list(map(str, agreement.disagreements)) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_agrees_on_frameworks(chromium: None):
    """Whole sheets of frameworks are matched within the limit."""
    if reason := missing_registry():
        pytest.skip(reason)
    comparisons = compare(framework_pages(1))
    assert [str(c.page) for c in comparisons if c.gave_up] == []
    check_agreement(comparisons)


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("group", ["css-complete", "css-sites"])
def test_agrees_on_real_pages(chromium: None, corpus_dir: Path, group: str):
    check_agreement(compare(corpus_pages(corpus_dir, group)))


def check_agreement(comparisons: list[Comparison]) -> None:
    """Check that each property agrees on nearly all text parents."""
    agreement = Agreement(comparisons)
    assert [c.error for c in agreement.comparisons if c.error] == []
    low = {name: agreement[name] for name in Style._fields if agreement[name] < MIN_AGREEMENT}
    assert low == {}, "\n".join([str(agreement), *map(str, agreement.disagreements[:100])])
