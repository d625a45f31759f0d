"""The files in deploy/: crawl script and its lock, systemd units, crontab, manifests."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from newscrawl.crawling.output.segments import read_segments
from samples import SampleSites
from tests.conftest import REPOSITORY

DEPLOY = REPOSITORY / "deploy"
#: project folder in the recipes
HOME = "/srv/newscrawl"
REPORT = ("newscrawl-report.service", "newscrawl-report.timer")
needs_flock = pytest.mark.skipif(shutil.which("flock") is None, reason="needs flock (util-linux)")


class Project:
    """Folder with scrapy.cfg and a list of the sample sites, crawled by the script."""

    def __init__(self, folder: Path, sites: SampleSites) -> None:
        self.folder, self.sites = folder, sites
        (folder / "scrapy.cfg").write_text("[settings]\ndefault = newscrawl.settings.base\n")
        (folder / "sites.txt").write_text("\n".join(sites.urls.values()))

    def start(self, shard: str = "1/1", **settings: object) -> subprocess.Popen[str]:
        """Start the script from another folder with a minimal environment."""
        settings = {
            "NEWSCRAWL_ALLOWED_ADDRESSES": "127.0.0.1",
            "NEWSCRAWL_MAX_AGE": 0,
            "NEWSCRAWL_SEGMENTS": self.folder / "segments",
            "DOWNLOAD_DELAY": 0.3,
            **settings,
        }
        options = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
        return subprocess.Popen(
            [
                *(DEPLOY / "newscrawl-crawl", self.folder, self.folder / "sites.txt", shard),
                *options,
            ],
            cwd="/",
            env={
                "PATH": "/usr/bin:/bin",
                "SCRAPY": str(Path(sys.executable).with_name("scrapy")),
                "HOME": str(self.folder),
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait(self, run: subprocess.Popen[str], requests: int = 1) -> None:
        """Wait for the first *requests* of *run*."""
        before = len(self.sites.requests)
        while len(self.sites.requests) < before + requests:
            assert run.poll() is None, run.communicate()
            time.sleep(0.02)

    def urls(self) -> list[str]:
        return [item["url"] for item in read_segments(self.folder / "segments")]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Serve the sample sites; return a project that crawls them."""
    with SampleSites() as sites:
        yield Project(tmp_path, sites)


@needs_flock
@pytest.mark.slow
def test_second_run_exits_while_locked(project: Project):
    """The second run exits with code 75 at once; the first finishes."""
    first = project.start()
    project.wait(first)
    second = project.start()
    _, message = second.communicate(timeout=200)
    assert second.returncode == 75
    assert message == "newscrawl-crawl: the crawl of shard 1/1 is still running; exiting\n"
    assert first.poll() is None
    _, log = first.communicate(timeout=200)
    assert first.returncode == 0, log
    assert "Traceback" not in log
    urls = project.urls()
    assert len(urls) == len(set(urls)) > 20
    third = project.start()
    _, log = third.communicate(timeout=200)
    assert third.returncode == 0, log
    assert "Nothing is due before " in log


@needs_flock
@pytest.mark.slow
def test_killed_run_releases_the_lock(project: Project):
    """A killed crawl releases the lock, even if its workers live on; the next one resumes."""
    first = project.start()
    project.wait(first, 12)
    first.kill()
    first.communicate()
    assert first.returncode == -signal.SIGKILL
    second = project.start(DOWNLOAD_DELAY=0)
    _, log = second.communicate(timeout=200)
    assert second.returncode == 0, log
    assert "Resuming the crawl" in log
    urls = project.urls()
    assert len(urls) == len(set(urls)) > 20


@needs_flock
@pytest.mark.slow
def test_each_shard_has_its_own_lock(project: Project):
    """Another shard of the list can run at the same time."""
    first = project.start("1/2")
    second = project.start("2/2")
    for run in (first, second):
        _, log = run.communicate(timeout=200)
        assert run.returncode == 0, log
    locks = (project.folder / ".scrapy").glob("*.lock")
    assert {path.name for path in locks} == {"sitelist-1-2.lock", "sitelist-2-2.lock"}


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_prints_usage_without_a_list():
    """Without a site list the script prints its usage."""
    done = subprocess.run(
        [DEPLOY / "newscrawl-crawl", "/"], capture_output=True, check=False, text=True
    )
    assert done.returncode == 64
    assert done.stderr.startswith("usage: newscrawl-crawl PROJECT LIST")


def read_unit(name: str) -> ConfigParser:
    """Return a systemd unit with continued lines joined."""
    unit = ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string((DEPLOY / name).read_text().replace("\\\n", " "))
    return unit


def commands() -> list[list[str]]:
    """Return the command lines of the script in the service and in the crontab."""
    service = read_unit("newscrawl@.service")["Service"]["ExecStart"]
    lines = (DEPLOY / "crontab").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("*"))
    times, command = line.split(maxsplit=5)[:5], line.split(maxsplit=5)[5]
    assert times == ["*/15", "*", "*", "*", "*"]
    return [service.split(), command.split(">>")[0].split()]


def test_recipes_call_the_deploy_script():
    """Service and crontab pass the same arguments; the crontab has no unescaped percent sign."""
    for command in commands():
        assert command[0] == f"{HOME}/deploy/newscrawl-crawl"
        assert command[1:3] == [HOME, f"{HOME}/sites.csv"]
        assert command[3] in ("%I", "1/1")
        assert command[4:] == ["-s", f"NEWSCRAWL_SEGMENTS={HOME}/segments"]
    assert "%" not in (DEPLOY / "crontab").read_text()
    service = read_unit("newscrawl@.service")["Service"]
    assert service["SuccessExitStatus"] == "75"
    assert service["KillMode"] == "mixed"
    assert read_unit("newscrawl@.timer")["Timer"]["OnCalendar"] == "*:0/15"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd")
def test_systemd_units_are_valid(tmp_path: Path):
    """systemd-analyze accepts the units, for the full list and for a shard."""
    (tmp_path / "deploy").mkdir()
    shutil.copy(DEPLOY / "newscrawl-crawl", tmp_path / "deploy")
    for name in ("newscrawl@.service", "newscrawl@.timer", *REPORT):
        text = (DEPLOY / name).read_text().replace(HOME, str(tmp_path))
        for instance in ("1-1", "3-16"):
            (tmp_path / name.replace("@", f"@{instance}")).write_text(text)
    program = tmp_path / ".venv" / "bin" / "newscrawl"
    program.parent.mkdir(parents=True)
    program.touch(0o755)
    for name in ("newscrawl-deliver.service", "newscrawl-deliver.timer"):
        (tmp_path / name).write_text((DEPLOY / name).read_text().replace(HOME, str(tmp_path)))
    done = subprocess.run(
        [
            *("systemd-analyze", "verify", "--man=no"),
            *sorted(str(path) for path in tmp_path.glob("newscrawl*")),
        ],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "newscrawl" not in done.stderr


@pytest.mark.parametrize("number", [1, 8])
def test_kubernetes_manifests_are_valid(number: int):
    """The schemas accept them, before and after the replacement that their comment shows."""
    text = (DEPLOY / "kubernetes.yaml").read_text()
    (script,) = re.findall(r'sed "(.*)" kubernetes.yaml', text)
    command = ["sed", script.replace("$n", str(number))]
    text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    claim, job = yaml.safe_load_all(text)
    for manifest in (claim, job):
        kubernetes_validate.validate(manifest, "1.30", strict=True)
        assert manifest["metadata"]["name"] == f"newscrawl-shard-{number}"
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["args"] == ["-a", f"shard={number}/8", "--report", "/output/report"]
    (data,) = [it["persistentVolumeClaim"] for it in pod["volumes"] if it["name"] == "data"]
    assert data["claimName"] == claim["metadata"]["name"]
    dockerfile = (DEPLOY.parent / "Dockerfile").read_text()
    assert f"USER {pod['securityContext']['runAsUser']}" in dockerfile
    mounted = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounted == {"/config", "/state", "/output"}


def test_kubernetes_job_is_valid():
    """Index 0 to 7 is shard 1 to 8; the job and its volume belong together."""
    claim, job = yaml.safe_load_all((DEPLOY / "kubernetes-job.yaml").read_text())
    for manifest in (claim, job):
        kubernetes_validate.validate(manifest, "1.30", strict=True)
    spec = job["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert spec["volumes"][-1]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    script = container["args"][0].replace("exec docker-entrypoint", "echo")
    for index in ("0", "7"):
        environment = {"JOB_COMPLETION_INDEX": index}
        command = [*container["command"], script]
        said = subprocess.check_output(command, env=environment, text=True)
        number = int(index) + 1
        assert (
            said
            == f"-a shard={number}/{job['spec']['completions']} --report /output/report/{number}\n"
        )
