"""Memory of the crawl's own process."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from scrapy.extensions import memusage

_STATUS: Final = Path("/proc/self/status")
_PEAK: Final = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)


class MemoryUsage(memusage.MemoryUsage):
    """Scrapy's limit of memory, for crawls that large programs start.

    On Linux, the peak that Scrapy reads is at first that of the program that started the process.
    """

    def get_virtual_size(self) -> int:
        """Return the peak of the resident memory in bytes."""
        try:
            found = _PEAK.search(_STATUS.read_text())
        except OSError:
            found = None
        return int(found[1]) * 1024 if found else super().get_virtual_size()
