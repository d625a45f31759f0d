"""One line in the log, without a traceback, for a crawl that cannot start.

Scrapy lets asyncio log the exceptions of components that cannot be created.
"""

from __future__ import annotations

import logging
from typing import Final

from newscrawl.defaults import SettingError
from newscrawl.sqlite import FileError

_START_ERRORS: Final = (FileError, SettingError)


class StartErrorFilter(logging.Filter):
    """Replaces the traceback of an error that the user can correct by its message."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten *record* and return True."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, _START_ERRORS):
            record.msg, record.args = "The crawl cannot start, exit code 1: %s", (error,)
            record.exc_info = record.exc_text = None
        return True


_FILTER: Final = StartErrorFilter()


def shorten_start_errors() -> None:
    """Add the filter to the logger of exceptions that no caller has handled."""
    logging.getLogger("asyncio").addFilter(_FILTER)
