"""Computed styles compared with Chromium on samples, frameworks and real pages."""

from pathlib import Path

import pytest

from newscrawl.lab.corpora.chromium import missing
from tests.conftest import skip_missing
from tests.oracle.compare import Agreement, Comparison, Style, compare
from tests.oracle.frameworks import framework_pages, missing_registry
from tests.oracle.pages import corpus_pages, sample_pages

MIN_AGREEMENT = 0.995
"""Minimum agreement with Chromium in each property on the text parents of a group of pages."""


@pytest.fixture(scope="module")
def chromium() -> None:
    """Skip the test if Chromium is missing."""
    if reason := missing():
        skip_missing(reason)


@pytest.mark.slow
def test_agrees_on_samples(chromium: None):
    check_agreement(compare(sample_pages()))


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
