"""No packet of a crawl goes inside: seen on the wire, in a network namespace that has no way out."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

PUBLIC = "1.2.3.4"
_UNSHARE = ["unshare", "--net", "--map-root-user"]


@cache
def no_namespace() -> str | None:
    """Return why there can be no network namespace here; None where there can."""
    if missing := [tool for tool in ("unshare", "ip") if shutil.which(tool) is None]:
        return f"no {missing[0]} on this machine"
    command = [*_UNSHARE, "ip", "link", "set", "lo", "up"]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if tried.returncode == 0 else f"no network namespace here: {tried.stderr.strip()}"


def crawl_in_namespace(folder: Path, mode: str) -> dict[str, Any]:
    """Crawl the sites that lead inside; *mode* is ``safe`` or ``open``."""
    if reason := no_namespace():
        pytest.skip(reason)
    done = subprocess.run(
        [*_UNSHARE, sys.executable, "-m", "tests.helpers.network_namespace", str(folder), mode],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


@pytest.mark.slow
def test_no_packet_goes_inside(tmp_path: Path):
    """Links, redirects, refreshes, robots.txt, sitemaps, feeds, entities and sheets that would."""
    seen = crawl_in_namespace(tmp_path, "safe")
    assert set(seen["sent"]) == {PUBLIC}
    assert seen["problems"] == {}
    assert seen["errors"] == []
    assert seen["extracted"] == 4
    assert sum(seen["refused"].values()) > 40
    assert all(".example:" in url for url in seen["items"])


@pytest.mark.slow
def test_packets_inside_would_be_seen(tmp_path: Path):
    """The same crawl without the safety middleware goes inside, by several ways."""
    seen = crawl_in_namespace(tmp_path, "open")
    assert {"10.1.2.3", "169.254.169.254", "127.0.0.2", PUBLIC} <= set(seen["sent"])
