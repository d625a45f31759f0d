"""Sites that go wrong in what is around their pages, many of them in one crawl.

``make faults`` crawls each in a crawl of its own, those of :mod:`tests.extraction.test_bad_input`, too.
"""

from __future__ import annotations

import pytest

from tests.helpers.fault_suite import HEALTHY, Run, crawl_cases, judge, troubles_of_run
from tests.servers.faultsites import SITE_CASES

pytestmark = pytest.mark.slow

#: A worker's deadline each, on a busy machine; `make faults` has them.
LONG = {"sitemap-million", "css-2-mb"}
CASES = {name: case for name, case in SITE_CASES.items() if name not in LONG}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Crawl all sites at once."""
    return crawl_cases(tmp_path_factory.mktemp("faults"), CASES)


def test_fault_crawl_finishes(run: Run):
    """Exit 0, nothing large read on the event loop's thread, memory within bounds, nothing inside, one outcome for each request."""
    assert troubles_of_run(run) == [], run.crawl.output[-5000:]


@pytest.mark.parametrize("name", CASES)
def test_faulty_site_gets_the_expected_outcome(run: Run, name: str):
    """One outcome of the right kind, healthy articles whole, waits and budget kept."""
    assert judge(name, CASES[name], run).problems == []


def test_healthy_sites_are_complete(run: Run):
    """Every article of the sites that are well is in the feed."""
    for name in HEALTHY:
        assert run.extracted(run.web.sites[name]) == 2
