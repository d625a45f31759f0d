"""Packets of a crawl, recorded in a network namespace without a route to the outside."""

from pathlib import Path
from typing import Any

import pytest

from tests.helpers.namespaces import run_in_namespace

PUBLIC = "1.2.3.4"


def crawl_in_namespace(folder: Path, mode: str) -> dict[str, Any]:
    """Crawl sites that refer to private addresses; *mode* is ``safe`` or ``open``."""
    return run_in_namespace("tests.helpers.network_namespace", str(folder), mode, timeout=240)


@pytest.mark.slow
def test_sends_no_packet_to_private_addresses(tmp_path: Path):
    seen = crawl_in_namespace(tmp_path, "safe")
    assert set(seen["sent"]) == {PUBLIC}
    assert seen["problems"] == {}
    assert seen["errors"] == []
    assert seen["extracted"] == 4
    assert sum(seen["refused"].values()) > 40
    assert all(".example:" in url for url in seen["items"])


@pytest.mark.slow
def test_detects_packets_without_safety_middleware(tmp_path: Path):
    seen = crawl_in_namespace(tmp_path, "open")
    assert {"10.1.2.3", "169.254.169.254", "127.0.0.2", PUBLIC} <= set(seen["sent"])
