"""Three small news sites of our own making: the demo and the end-to-end fixture.

Each has a folder: ``www`` is what it serves, ``expected.jsonl`` what a crawl should find there.
Serve them with ``python -m newscrawl.samples``, in a test with :class:`SampleSites`.
"""

from newscrawl.samples.expected import ExpectedPage, expected_pages
from newscrawl.samples.server import DEFAULT_PORT, SITE_NAMES, SampleSites, default_urls

__all__ = [
    "DEFAULT_PORT",
    "SITE_NAMES",
    "ExpectedPage",
    "SampleSites",
    "default_urls",
    "expected_pages",
]
