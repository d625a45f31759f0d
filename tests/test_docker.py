"""Container image: its Dockerfile, its entrypoint, and crawls in a container where Docker runs."""

import fnmatch
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from newscrawl.crawling.output.segments import read_segments
from newscrawl.defaults import DEFAULTS
from samples import SampleSites, expected_pages
from samples.server import write_sites_file

TITLES = sorted(page.title or "" for page in expected_pages() if page.is_article)
SETTINGS = """
# The sample sites have a private address and old articles.
NEWSCRAWL_ALLOWED_ADDRESSES=127.0.0.1
NEWSCRAWL_MAX_AGE=0
DOWNLOAD_DELAY=0
"""


@pytest.fixture(scope="module")
def stages(repository: Path) -> list[list[tuple[str, str]]]:
    """Return the instructions of each stage of the Dockerfile, with their arguments."""
    text = (repository / "Dockerfile").read_text(encoding="utf-8")
    text = re.sub(r"(?m)^#.*\n", "", text).replace("\\\n", " ")
    found: list[list[tuple[str, str]]] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        instruction, _, argument = line.partition(" ")
        if instruction == "FROM":
            found.append([])
        if found:
            found[-1].append((instruction, argument.strip()))
    return found


def test_image_is_slim_and_unprivileged(stages: list[list[tuple[str, str]]]):
    """The last stage has no compiler, a user that is not root, and a health check."""
    build, image = stages
    assert dict(build)["FROM"] == "python:${PYTHON}-slim AS build"
    assert dict(image)["FROM"] == "python:${PYTHON}-slim"
    assert not any("apt-get" in argument for _, argument in image)
    users = [argument for instruction, argument in image if instruction == "USER"]
    assert users
    assert all(user.isdecimal() and int(user) > 0 for user in users)  # as Kubernetes checks it
    assert "--health" in dict(image)["HEALTHCHECK"]
    (environment,) = (argument for instruction, argument in image if instruction == "ENV")
    settings = re.findall(r"\b(NEWSCRAWL_\w+)=", environment)
    assert settings
    assert set(settings) <= DEFAULTS.keys()


def test_image_has_the_files_that_it_is_built_from(
    repository: Path, stages: list[list[tuple[str, str]]]
):
    """``.dockerignore`` keeps nothing out that the build reads, and compiled modules out."""
    lines = (repository / ".dockerignore").read_text(encoding="utf-8").splitlines()
    kept = {line[1:] for line in lines if line.startswith("!")}
    assert kept >= {"LICENSE", "README.md", "newscrawl", "pyproject.toml", "setup.py"}
    assert all((repository / name).exists() for name in kept)
    excluded = [line.removeprefix("**/") for line in lines if line.startswith("**/")]
    for name in ("_bytes.cpython-313-x86_64-linux-gnu.so", "_bytes.pyd", "__pycache__"):
        assert any(fnmatch.fnmatch(name, pattern) for pattern in excluded)
    copied = [argument.split()[0] for _, argument in stages[1] if argument.startswith("deploy/")]
    assert copied == ["deploy/docker_entrypoint.py"]
    assert set(copied) <= kept
    (command,) = (argument for _, argument in stages[0] if " install --no-cache-dir" in argument)
    (constraints,) = re.findall(r"--constraint /source/(\S+)", command)
    assert constraints in kept
    assert os.access(repository / copied[0], os.X_OK)


class Container:
    """Environment of the entrypoint: its folders, and the command ``newscrawl`` on the PATH."""

    def __init__(self, folder: Path, entrypoint: Path) -> None:
        self.output = folder / "segments"
        self._folder = folder
        self._entrypoint = entrypoint
        (folder / "bin").mkdir()
        (folder / "state").mkdir()
        (folder / "config").mkdir()
        (folder / "config" / "settings.txt").write_text(SETTINGS)
        self.set_command(
            f'exec {shlex.quote(sys.executable)} -c "from newscrawl.cli.main import main; main()" "$@"'
        )

    def set_command(self, line: str) -> None:
        """Let *line* be the command ``newscrawl``."""
        path = self._folder / "bin" / "newscrawl"
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def write_sites(self, sites: SampleSites) -> None:
        write_sites_file(self._folder / "config" / "sites.txt", sites)

    @contextmanager
    def start(self, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
        """Start the entrypoint; its output is that of the process."""
        command = [sys.executable, str(self._entrypoint), *arguments]
        variables = {
            "CRAWL_INTERVAL": "0",
            "CRAWL_SITES": str(self._folder / "config" / "sites.txt"),
            "CRAWL_SETTINGS": str(self._folder / "config" / "settings.txt"),
            "NEWSCRAWL_SEGMENTS": str(self.output),
            "TMPDIR": str(self._folder),
            "PATH": f"{self._folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        }
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith("NEWSCRAWL_")
        }
        with subprocess.Popen(
            command,
            cwd=self._folder / "state",
            env={**inherited, **variables, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def run(self, *arguments: str, **environment: str) -> tuple[int, str]:
        """Run the entrypoint to its end; return its exit code and output."""
        with self.start(*arguments, **environment) as process:
            output, _ = process.communicate()
        return process.returncode, output

    def is_healthy(self, **environment: str) -> bool:
        return self.run("--health", **environment)[0] == 0

    def titles(self) -> list[str]:
        return sorted(item["title"] for item in read_segments(self.output))


@pytest.fixture
def container(repository: Path, tmp_path: Path) -> Container:
    """Return the environment of an entrypoint."""
    return Container(tmp_path, repository / "deploy" / "docker_entrypoint.py")


def test_options_of_the_crawl(container: Container):
    """Settings of the file come first, then those of the environment, then arguments."""
    container.set_command("printf '%s\\n' \"$@\"")
    code, output = container.run(
        *("-s", "DOWNLOAD_DELAY=3"),
        CRAWL_SITES="a.txt https://b.example/?a=*",
        NEWSCRAWL_MAX_AGE="7 days",
    )
    words = output.splitlines()
    assert code == 0
    assert words[0] == "crawl"
    assert words[-4:] == ["-s", "DOWNLOAD_DELAY=3", "a.txt", "https://b.example/?a=*"]
    assert words.index("NEWSCRAWL_MAX_AGE=0") < words.index("NEWSCRAWL_MAX_AGE=7 days")
    assert not any("#" in word for word in words)


@pytest.mark.parametrize(
    ("failure", "code"), [("exit 1", 1), ("exit 3", 3), ("kill -KILL $$", 128 + signal.SIGKILL)]
)
def test_a_failed_crawl_is_unhealthy(container: Container, failure: str, code: int):
    """Also one that found no article, or was killed; it is healthy again after the next crawl."""
    container.set_command(failure)
    assert container.is_healthy()  # before the first crawl
    assert container.run()[0] == code
    assert not container.is_healthy()
    container.set_command("exit 0")
    assert container.run()[0] == 0
    assert container.is_healthy()


def test_a_crawl_that_does_not_end_is_unhealthy(container: Container, tmp_path: Path):
    """No crawl ended for the interval and the time that one may take."""
    container.set_command("exit 0")
    assert container.run()[0] == 0
    (status,) = tmp_path.glob("newscrawl-*")
    day_ago = status.stat().st_mtime - 24 * 3600
    os.utime(status, (day_ago, day_ago))
    assert container.is_healthy(CRAWL_INTERVAL="900")
    assert not container.is_healthy(CRAWL_INTERVAL="900", CRAWL_OVERDUE="3600")


def test_wrong_usage_ends_the_container(container: Container):
    """A crawl that cannot succeed is not repeated."""
    container.set_command("exit 2")
    assert container.run(CRAWL_INTERVAL="900")[0] == 2
    code, output = container.run(CRAWL_INTERVAL="15m")
    assert (code, output) == (2, "CRAWL_INTERVAL=15m: expected a number of seconds\n")


def test_crawls_are_repeated_until_a_signal(container: Container, tmp_path: Path):
    """A failure does not end the container; SIGTERM does, also in the pause."""
    container.set_command(f"echo crawled >>{shlex.quote(str(tmp_path / 'log'))}; echo end; exit 1")
    with container.start(CRAWL_INTERVAL="1") as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(3)] == ["end\n"] * 3
        process.terminate()
        process.communicate()
    assert process.returncode in {1, 143}  # the signal may come before the end of the command
    (tmp_path / "log").unlink()
    with container.start(CRAWL_INTERVAL="86400") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.terminate()
        process.communicate()
    assert (tmp_path / "log").read_text() == "crawled\n"


@pytest.mark.slow
def test_scheduled_crawl(container: Container):
    """The first crawl writes all articles, the second is interrupted nowhere and finds none."""
    with SampleSites() as sites:
        container.write_sites(sites)
        with container.start(CRAWL_INTERVAL="1") as process:
            assert process.stdout is not None
            lines = []
            while not any("Nothing is due before " in line for line in lines):
                line = process.stdout.readline()
                assert line, lines
                lines.append(line)
            process.terminate()
            process.communicate()
    assert container.titles() == TITLES
    assert container.is_healthy()


@pytest.mark.slow
def test_other_subcommands(container: Container):
    """Arguments that start with another subcommand run it."""
    page = next(page for page in expected_pages() if page.is_article)
    code, output = container.run("extract", "--text", str(page.file))
    assert code == 0
    assert output.startswith(f"{page.title}\n")


def docker(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = ["docker", *map(str, arguments)]
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


@pytest.fixture(scope="module")
def image(repository: Path) -> Iterator[str]:
    """Build the image; skip the test, in CI too, if no Docker daemon answers."""
    if shutil.which("docker") is None or docker("info", "-f", "{{.ServerVersion}}").returncode:
        pytest.skip("no Docker daemon answers")
    if sys.platform != "linux":
        pytest.skip("needs containers in the network of the host")
    name = "newscrawl:test"
    done = docker("build", "--tag", name, repository)
    assert done.returncode == 0, done.stdout
    yield name
    docker("image", "rm", name)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_container_crawls(image: str, tmp_path: Path):
    """Twice with the same volumes: all articles, then none; as a user that is not root."""
    (tmp_path / "settings.txt").write_text(SETTINGS)
    volumes = [f"newscrawl-test-{os.getpid()}-{name}" for name in ("state", "output")]
    mounts = [f"{tmp_path}:/config:ro", f"{volumes[0]}:/state", f"{volumes[1]}:/output"]
    options = ["--rm", "--network", "host", "--env", "CRAWL_INTERVAL=0"]
    options += [word for mount in mounts for word in ("--volume", mount)]
    try:
        with SampleSites() as sites:
            write_sites_file(tmp_path / "sites.txt", sites)
            first, second = (
                docker("run", *options, image, "-o", "/output/articles.jsonl") for _ in range(2)
            )
        assert (first.returncode, second.returncode) == (0, 0), first.stdout + second.stdout
        assert "Nothing is due before " in second.stdout
        feed = docker("run", *options, "--entrypoint", "cat", image, "/output/articles.jsonl")
        assert sorted(json.loads(line)["title"] for line in feed.stdout.splitlines()) == TITLES
        user = docker("run", *options, "--entrypoint", "id", image, "-u")
        assert user.stdout.strip() == "10001"
    finally:
        docker("volume", "rm", *volumes)
