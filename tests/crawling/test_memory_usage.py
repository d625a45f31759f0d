"""The limit of memory counts the process of the crawl only."""

import subprocess
import sys

import pytest

SHOWN = """
from scrapy.utils.test import get_crawler
from newscrawl.crawling.memory_usage import MemoryUsage
print(MemoryUsage(get_crawler()).get_virtual_size() // 2**20)
"""
PARENT = f"""
import subprocess, sys
large = bytearray(400 * 2**20)
subprocess.run([sys.executable, "-c", {SHOWN!r}], check=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count the process only")
def test_counts_no_memory_of_the_program_that_starts_a_crawl():
    done = subprocess.run(
        [sys.executable, "-c", PARENT], capture_output=True, text=True, check=True
    )
    assert 20 < int(done.stdout) < 350
