"""Three small synthetic news sites for the demo and the end-to-end tests.

In the folder of each site, ``www`` has its files and ``expected.jsonl`` the expected articles.
Serve them with ``python -m samples``, or in a test with :class:`SampleSites`.
"""

from samples.expected import ExpectedPage, expected_pages
from samples.server import DEFAULT_PORT, SITE_NAMES, SampleSites

__all__ = [
    "DEFAULT_PORT",
    "SITE_NAMES",
    "ExpectedPage",
    "SampleSites",
    "expected_pages",
]
