"""``MEMUSAGE_LIMIT_MB`` and the process that starts a crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.helpers.crawls import crawl_sites
from tests.servers.direct_web import direct_environment

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "reason"), [(600, "finished"), (1, "memusage_exceeded")])
def test_memory_limit_is_that_of_the_crawl(tmp_path: Path, limit: int, reason: str) -> None:
    """Linux passes the peak of the starting process, here 700 MB, on to the crawl's."""
    bytearray(700 << 20)
    settings = {"MEMUSAGE_LIMIT_MB": limit, "MEMUSAGE_CHECK_INTERVAL_SECONDS": 1}
    crawl = crawl_sites(tmp_path, ["http://127.0.0.1:9/"], direct_environment(), **settings)
    assert crawl.stats["finish_reason"] == reason
