"""Our computed styles and Chromium's: hard cases, samples, random pages, real pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conftest import skip_missing
from tests.oracle.chromium import missing
from tests.oracle.compare import Agreement, Comparison, compare
from tests.oracle.pages import cases, corpus_pages, sample_pages
from tests.oracle.random_pages import random_pages

if TYPE_CHECKING:
    from pathlib import Path

CASES = {page.name: page for page in cases()}
#: shares of the text parents of real pages on which we agree with Chromium, at the least
BARS = {
    "font_size": 0.999,
    "font_weight": 0.9995,
    "bold": 0.9995,
    "color": 0.9995,
    "font_family": 0.9995,
    "display_none": 0.9995,
}


@pytest.fixture(scope="module")
def chromium() -> None:
    """Skip where there is no Chromium."""
    if reason := missing():
        skip_missing(reason)


@pytest.fixture(scope="module")
def compared_cases(chromium: None) -> dict[str, Comparison]:
    """Return all cases compared, in one browser."""
    return {comparison.page.name: comparison for comparison in compare(list(CASES.values()))}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_hard_case(compared_cases: dict[str, Comparison], name: str):
    """Every text of a hard case has the style that Chromium gives it; the title says the case."""
    comparison = compared_cases[name]
    assert comparison.error is None
    assert comparison.compared
    assert list(map(str, comparison.disagreements)) == []


@pytest.mark.slow
def test_samples(chromium: None):
    """Every text of the sample sites has the style that Chromium gives it."""
    agreement = Agreement(compare(sample_pages()))
    assert agreement.compared > 2000
    assert list(map(str, agreement.disagreements)) == []


@pytest.mark.slow
def test_random_pages(chromium: None):
    """Pages made by chance of valid and broken rules have the styles that Chromium gives them."""
    agreement = Agreement(compare(random_pages(100)))
    assert agreement.compared > 10_000
    assert list(map(str, agreement.disagreements)) == []


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("group", ["css-complete", "css-sites"])
def test_real_pages(chromium: None, corpus_dir: Path, group: str):
    """On real pages with all their sheets, agreement keeps to the bars."""
    agreement = Agreement(compare(corpus_pages(corpus_dir, group)))
    assert [c.error for c in agreement.comparisons if c.error] == []
    below = {name: agreement[name] for name, bar in BARS.items() if agreement[name] < bar}
    assert below == {}, "\n".join([str(agreement), *map(str, agreement.disagreements[:100])])
