"""Scrapy settings for crawls of the sample sites on loopback, without delays."""

from __future__ import annotations

from newscrawl.settings.base import *  # noqa: F403

# The sample server runs on this machine.
NEWSCRAWL_ALLOWED_ADDRESSES = ["127.0.0.1"]
DOWNLOAD_DELAY = 0
DOWNLOAD_DELAY_JITTER = 0
# The dates of the samples are fixed.
NEWSCRAWL_MAX_AGE = 0
# Every demo starts from scratch.
NEWSCRAWL_STATE = ""
# The samples share an agency story.
NEWSCRAWL_NEARDUP_ENABLED = True
NEWSCRAWL_NEARDUP_INDEX = ""
