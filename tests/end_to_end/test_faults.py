"""Faulty sites and healthy ones in one crawl.

``make faults`` runs all cases, each in a separate crawl.
"""

from __future__ import annotations

import pytest

from tests.helpers.fault_suite import HEALTHY, Run, check_case, crawl_cases, crawl_problems
from tests.servers.fault_cases import PYTHON_CHARSETS, SITE_CASES

pytestmark = pytest.mark.slow

#: cases that can take a worker's full deadline; only in ``make faults``
SLOW_CASES = {"sitemap-million", "css-2-mb", "css-attributes", *PYTHON_CHARSETS}
CASES = {name: case for name, case in SITE_CASES.items() if name not in SLOW_CASES}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Crawl all sites."""
    return crawl_cases(tmp_path_factory.mktemp("faults"), CASES)


def test_fault_crawl_finishes(run: Run):
    """The crawl as a whole has no problem: event loop, memory, connections and outcomes."""
    assert crawl_problems(run) == [], run.crawl.output[-5000:]


@pytest.mark.parametrize("name", CASES)
def test_faulty_site_gets_the_expected_outcome(run: Run, name: str):
    """One expected outcome, complete healthy articles, Retry-After and budget respected."""
    assert check_case(name, CASES[name], run).problems == []


def test_healthy_sites_are_complete(run: Run):
    """Every article of the healthy sites is in the feed."""
    for name in HEALTHY:
        assert run.extracted(run.web.sites[name]) == 2
