"""Deployment to a local scrapyd server: schedules crawls and reads their items and logs."""

import json
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from tests.conftest import skip_missing

pytestmark = pytest.mark.slow

CONFIGURATION = """
[scrapyd]
http_port = {port}
items_dir = items
poll_interval = 0.2
max_proc = 2
"""
#: spider that yields the path of the loaded package
PROBE = """
import scrapy
import newscrawl

class ProbeSpider(scrapy.Spider):
    name = "probe"
    custom_settings = {"ITEM_PIPELINES": {}}

    async def start(self):
        yield {"file": newscrawl.__file__}
"""


@pytest.fixture(scope="module")
def installed() -> None:
    """Skip the test if scrapyd is not installed."""
    missing = [name for name in ("scrapyd", "scrapyd_client") if find_spec(name) is None]
    if missing:
        reason = f"{', '.join(missing)} not installed: pip install 'newscrawl[scrapyd]'"
        skip_missing(reason)


@dataclass(frozen=True, slots=True)
class Server:
    """Running scrapyd server."""

    folder: Path
    url: str

    def get(self, path: str) -> str:
        with urlopen(f"{self.url}{path}", timeout=60) as response:
            text: str = response.read().decode()
        return text

    def call(self, service: str, **arguments: str) -> dict[str, Any]:
        """Return the JSON answer of a web service."""
        answer: dict[str, Any] = json.loads(self.get(f"{service}.json?{urlencode(arguments)}"))
        assert answer["status"] == "ok", answer
        return answer

    def schedule(self, spider: str, settings: dict[str, object], **arguments: str) -> str:
        """Schedule a crawl; return the job ID."""
        data = [("project", "newscrawl"), ("spider", spider), *arguments.items()]
        data += [("setting", f"{name}={value}") for name, value in settings.items()]
        with urlopen(f"{self.url}schedule.json", urlencode(data).encode(), timeout=60) as response:
            job: str = json.loads(response.read())["jobid"]
        return job

    def wait(self, *jobs: str) -> None:
        """Wait until *jobs* have finished."""
        end = time.monotonic() + 200
        while not set(jobs) <= {
            job["id"] for job in self.call("listjobs", project="newscrawl")["finished"]
        }:
            assert time.monotonic() < end, self.call("listjobs", project="newscrawl")
            time.sleep(0.2)

    def items(self, spider: str, job: str) -> list[dict[str, Any]]:
        lines = self.get(f"items/newscrawl/{spider}/{job}.jl").splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def server(installed: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start scrapyd with all files in a temporary folder."""
    folder = tmp_path_factory.mktemp("scrapyd")
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    (folder / "scrapyd.conf").write_text(CONFIGURATION.format(port=port))
    log = (folder / "scrapyd.log").open("wb")
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapyd"], cwd=folder, stdout=log, stderr=subprocess.STDOUT
    )
    try:
        server = Server(folder, f"http://127.0.0.1:{port}/")
        end = time.monotonic() + 200
        while True:
            try:
                server.call("daemonstatus")
                break
            except URLError:
                assert process.poll() is None, (folder / "scrapyd.log").read_text()
                assert time.monotonic() < end
                time.sleep(0.1)
        yield server
    finally:
        process.terminate()
        process.wait()
        log.close()


@pytest.fixture(scope="module")
def deployed(server: Server, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Deploy a copy of the project with ``scrapyd-deploy``."""
    ignored = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd")
    copy = tmp_path_factory.mktemp("project")
    shutil.copytree(repository / "newscrawl", copy / "newscrawl", ignore=ignored)
    for name in ("setup.py", "pyproject.toml", "scrapy.cfg", "README.md", "LICENSE"):
        shutil.copy(repository / name, copy)
    (copy / "newscrawl" / "spiders" / "probe.py").write_text(PROBE)
    text = (copy / "scrapy.cfg").read_text()
    (copy / "scrapy.cfg").write_text(re.sub(r"(?m)^url = .*$", f"url = {server.url}", text))
    done = subprocess.run(
        [sys.executable, "-m", "scrapyd_client.deploy", "--version", "1", "--debug"],
        cwd=copy,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert '"status": "ok"' in done.stdout
    return server


def test_deploys_to_scrapyd(deployed: Server):
    """All spiders are listed, and jobs load the deployed egg."""
    spiders = deployed.call("listspiders", project="newscrawl")["spiders"]
    assert spiders == ["discover", "probe", "sitelist", "urllist"]
    job = deployed.schedule("probe", {})
    deployed.wait(job)
    (item,) = deployed.items("probe", job)
    assert f"{deployed.folder}/eggs/newscrawl/1.egg/" in item["file"]
