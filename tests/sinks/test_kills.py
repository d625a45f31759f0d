"""Deliveries that are killed: rows equal items, exactly once by key."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from newscrawl.crawling.output.segments import read_segments
from tests.conftest import REPOSITORY
from tests.helpers.sink_killer import PAGES
from tests.sinks.conftest import Target, as_lines, newest

KILLS = 20


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_rows_equal_items_after_kills(target: Target, tmp_path: Path):
    """The process group of a delivery is killed twenty times."""
    folder = tmp_path / "segments"
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "tests.helpers.sink_killer"),
            *(str(folder), target.url, str(KILLS), "19"),
        ],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout
    result = json.loads(ran.stdout)
    items = list(read_segments(folder))
    assert result["killed"] == KILLS
    assert result["items"] == len(items) > 2 * PAGES
    if target.url.startswith("s3:"):
        assert as_lines(target.items()) == as_lines(items)
    else:
        assert target.items() == newest(items)
        assert len(target.items()) == len({item["canonical_url"] for item in items})
