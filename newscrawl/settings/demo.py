"""The demonstration: ``base`` against the samples on loopback, without its delays."""

from __future__ import annotations

from newscrawl.samples import default_urls
from newscrawl.settings import base
from newscrawl.settings.base import *  # noqa: F403

# Our own server, on this machine.
NEWSCRAWL_ALLOWED_ADDRESSES = ["127.0.0.1"]
DOWNLOAD_DELAY = 0
DOWNLOAD_DELAY_JITTER = 0
# The samples' dates stand still.
NEWSCRAWL_MAX_AGE = 0
# Each demonstration is the first.
NEWSCRAWL_STATE = ""
# The samples share a wire story. Its cluster is found anew each time.
NEWSCRAWL_NEARDUP_ENABLED = True
NEWSCRAWL_NEARDUP_INDEX = ""
# Without -a sites or -a site, the samples themselves, served by the crawl.
NEWSCRAWL_SITES = default_urls()
EXTENSIONS = {**base.EXTENSIONS, "newscrawl.samples.extension.ServeSamples": 500}
