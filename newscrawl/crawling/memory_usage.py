"""The memory of the crawl's process."""

from __future__ import annotations

import re
from pathlib import Path

from scrapy.extensions.memusage import MemoryUsage


class OwnMemoryUsage(MemoryUsage):
    """Scrapy's extension, without the memory of the process that started the crawl.

    Linux passes ``ru_maxrss`` on to child processes, so that a crawl that a large process starts,
    such as a notebook or a scheduler, would be over ``MEMUSAGE_LIMIT_MB`` from its first second.
    """

    def get_virtual_size(self) -> int:
        """Return the peak of resident memory in bytes."""
        status = Path("/proc/self/status")
        found = re.search(r"VmHWM:\s*(\d+) kB", status.read_text()) if status.exists() else None
        return int(found[1]) * 1024 if found else super().get_virtual_size()
