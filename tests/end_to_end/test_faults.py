"""Faulty sites and healthy ones in one crawl.

``make faults`` runs all cases, each in a separate crawl.
"""

import pytest

from tests.helpers.fault_suite import HEALTHY, Run, check_case, crawl_cases, crawl_problems
from tests.servers.coding_cases import padded
from tests.servers.fault_cases import PYTHON_CHARSETS, SITE_CASES
from tests.servers.faulty_pages import MIB

#: cases that can take a worker's full deadline; only in ``make faults``
SLOW_CASES = {"sitemap-million", "css-2-mb", "css-attributes", *PYTHON_CHARSETS}
CASES = {name: case for name, case in SITE_CASES.items() if name not in SLOW_CASES}
#: a case of each kind, for ``make test``; all others are in a second crawl
FEW = frozenset(
    [
        "br-bomb",
        "codings-3",
        "cookies",
        "css-inside",
        "css-loop",
        "csv-formulas",
        "empty-close",
        "feeds-many",
        "flap-500",
        "garbage",
        "http-09",
        "link-headers",
        "links-inside",
        "many-headers",
        "redirect-endless",
        "redirects-inside",
        "refresh-file",
        "retry-429-3",
        "retry-503-86400",
        "robots-500",
        "robots-agents",
        "robots-inside",
        "rss-xxe",
        "sitemap-laughs",
        "sitemap-self",
        "soft-404",
        "terminal-escapes",
        "trap-calendar",
    ]
)
GROUPS = {"few": (), "others": pytest.mark.slow}
in_each_group = pytest.mark.parametrize(
    "run", [pytest.param(group, marks=marks) for group, marks in GROUPS.items()], indirect=True
)
in_its_group = pytest.mark.parametrize(
    ("run", "name"),
    [
        pytest.param(group, name, marks=GROUPS[group], id=name)
        for name in CASES
        for group in ["few" if name in FEW else "others"]
    ],
    indirect=["run"],
)


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Crawl all sites of a group, with timeouts that only sites without an answer reach."""
    cases = {
        name: case for name, case in CASES.items() if (name in FEW) == (request.param == "few")
    }
    folder = tmp_path_factory.mktemp("faults")
    padded(150, MIB)  # takes more than a second, in which the server would answer no site
    return crawl_cases(folder, cases, DOWNLOAD_TIMEOUT=20, NEWSCRAWL_DEADLINE=60)


@in_each_group
def test_fault_crawl_finishes(run: Run):
    """The crawl as a whole has no problem: event loop, memory, connections and outcomes."""
    assert crawl_problems(run) == [], run.crawl.output[-5000:]


@in_its_group
def test_faulty_site_gets_the_expected_outcome(run: Run, name: str):
    """One expected outcome, complete healthy articles, Retry-After and budget respected."""
    assert check_case(name, CASES[name], run).problems == []


@in_each_group
def test_healthy_sites_are_complete(run: Run):
    """Every article of the healthy sites is in the feed."""
    for name in HEALTHY:
        assert run.extracted(run.web.sites[name]) == 2


def test_few_cases_exist():
    assert CASES.keys() >= FEW
