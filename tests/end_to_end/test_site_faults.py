"""Sites with one fault each, most after public reports, in one crawl."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from tests.conftest import REPOSITORY
from tests.helpers.crawls import crawl_sites
from tests.servers.direct_web import direct_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CASES = REPOSITORY / "tests" / "cases" / "crawl"


@pytest.fixture
def port() -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.1.1", 0))
        number: int = free.getsockname()[1]
    command = [sys.executable, str(CASES / "site_faults_server.py"), str(number)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        for _ in range(100):
            with socket.socket() as client:
                if not client.connect_ex(("127.0.1.1", number)):
                    break
            time.sleep(0.1)
        yield number
        server.terminate()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs the loopback addresses 127.0.1.N")
def test_sites_with_one_fault_each(tmp_path: Path, port: int):
    sites = [json.loads(line) for line in (CASES / "sites.jsonl").read_text("utf-8").splitlines()]
    crawl = crawl_sites(
        tmp_path,
        [f"http://{site['host']}:{port}/" for site in sites],
        direct_environment(),
        NEWSCRAWL_ALLOWED_ADDRESSES="127.0.0.0/8",
        NEWSCRAWL_SINCE="",
        NEWSCRAWL_MAX_AGE=0,
    )
    items = defaultdict(list)
    for item in crawl.items:
        items[item["url"].split("/")[2].partition(":")[0]].append(item)
    found = {site["host"]: len(items[site["host"]]) for site in sites}
    assert found == {site["host"]: site["articles"] for site in sites}
    assert {(item["date"] or "2026-05-11")[:10] for item in items["127.0.1.12"]} == {"2026-05-11"}
    [story] = items["127.0.1.18"]
    assert (story["pages"], len(story["body"].split("\n\n"))) == (3, 8)
    assert {item["canonical_url"].partition("?")[2] for item in items["127.0.1.19"]} == {""}
    assert all(len(item["body"]) > 1000 for item in items["127.0.1.27"])
