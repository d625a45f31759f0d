"""A standalone Spark cluster on loopback, the CPU time of processes, and an archive of pages."""

import gzip
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import psutil

from tests.conftest import REPOSITORY, skip_missing

#: Without just-in-time compilation, which only pays off for large data.
LEAN = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
PROPERTIES = {
    "spark.driver.extraJavaOptions": LEAN,
    "spark.executor.extraJavaOptions": LEAN,
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
#: makes comments in pages hang or crash the worker: see ``hostile_worker/sitecustomize.py``
HOSTILE = {"PYTHONPATH": f"{REPOSITORY / 'tests/helpers/hostile_worker'}{os.pathsep}{REPOSITORY}"}
LOOPBACK = {"SPARK_LOCAL_IP": "127.0.0.1"}
START_SECONDS = 120


def options(properties: Mapping[str, str] = PROPERTIES) -> list[str]:
    """Return the arguments of the command for *properties*."""
    return [word for name, value in properties.items() for word in ("--conf", f"{name}={value}")]


def require_spark() -> None:
    """Skip the test if PySpark or Java is missing."""
    names = ("pyspark", "pandas", "fsspec")
    missing = [name for name in names if find_spec(name) is None]
    missing += [] if shutil.which("java") or "JAVA_HOME" in os.environ else ["Java"]
    if missing:
        reason = f"{', '.join(missing)} not installed: extra spark, and Java 17 or later"
        skip_missing(reason)


def start(folder: Path, *args: str, **environment: str) -> subprocess.Popen[str]:
    """Start the command in *folder*; its output goes to ``stderr``."""
    return subprocess.Popen(
        [sys.executable, "-m", "newscrawl.spark", *args],
        cwd=folder,
        env={**os.environ, **LOOPBACK, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(folder: Path, *args: str, **environment: str) -> tuple[int, str]:
    """Run the command; return its exit status and output."""
    with start(folder, *args, *options(), **environment) as job:
        _, printed = job.communicate(timeout=240)
    return job.returncode, printed


class StandaloneCluster:
    """A Spark master and workers of one core each."""

    def __init__(self, folder: Path, workers: int, environment: Mapping[str, str]) -> None:
        self._folder = folder
        home = Path(str(find_spec("pyspark").origin)).parent  # type: ignore[union-attr]
        self._command = [str(home / "bin" / "spark-class")]
        self._environment = {
            **os.environ, **LOOPBACK, "SPARK_HOME": str(home), "SPARK_DAEMON_JAVA_OPTS": LEAN,
            "PYSPARK_PYTHON": sys.executable, **environment,
        }  # fmt: skip
        self._master = self._start("master.Master", "--port", "0", "--webui-port", "0")
        self.url = self._wait_for(self._master, r"Starting Spark master at (spark://\S+)")
        cores = ("--cores", "1", "--memory", "1g", "--webui-port", "0")
        self._workers = [
            self._start("worker.Worker", *cores, "--work-dir", str(folder / f"work{n}"), self.url)
            for n in range(workers)
        ]
        for worker in self._workers:
            self._wait_for(worker, "Successfully registered with master")

    def _start(self, name: str, *args: str) -> tuple[subprocess.Popen[bytes], Path]:
        log = self._folder / f"{name}-{time.monotonic_ns()}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [*self._command, f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1", *args],
                env=self._environment,
                stdout=file,
                stderr=file,
            )
        return process, log

    def _wait_for(self, started: tuple[subprocess.Popen[bytes], Path], pattern: str) -> str:
        process, log = started
        for _ in range(START_SECONDS * 10):
            if found := re.search(pattern, log.read_text("utf-8", "replace")):
                return found[found.re.groups]
            if process.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(log.read_text("utf-8", "replace"))

    def pids(self) -> list[int]:
        """Return the processes of the cluster."""
        return [process.pid for process, _ in (self._master, *self._workers)]

    def kill_busy_worker(self) -> bool:
        """Kill a worker that extracts, with its executor; return False if none does."""
        for process, _ in self._workers:
            if process.poll() is None and _extracts(process.pid):
                _kill(process)
                return True
        return False

    def close(self) -> None:
        """Kill all processes."""
        for process, _ in (*self._workers, self._master):
            _kill(process)


def _extracts(pid: int) -> bool:
    for child in psutil.Process(pid).children(recursive=True):
        try:
            if "newscrawl.workers.child" in child.cmdline():
                return True
        except psutil.NoSuchProcess:
            continue
    return False


def _kill(process: subprocess.Popen[bytes]) -> None:
    try:
        family = [*psutil.Process(process.pid).children(recursive=True)]
        process.kill()
        for child in family:
            child.kill()
    except psutil.NoSuchProcess:
        pass
    process.wait()


@contextmanager
def standalone_cluster(
    folder: Path, workers: int = 2, **environment: str
) -> Iterator[StandaloneCluster]:
    """Run a cluster, with its files in *folder*."""
    folder.mkdir(parents=True, exist_ok=True)
    cluster = StandaloneCluster(folder, workers, environment)
    try:
        yield cluster
    finally:
        cluster.close()


def write_archive(path: Path, pages: Iterable[tuple[str, bytes, str]]) -> None:
    """Write an archive of pages: URL, body, WARC-Date."""
    with path.open("wb") as file:
        for url, body, date in pages:
            block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
            head = (
                f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: {date}\r\nWARC-Target-URI: {url}\r\n"
                "Content-Type: application/http; msgtype=response\r\n"
                f"Content-Length: {len(block)}\r\n\r\n"
            )
            file.write(gzip.compress(head.encode() + block + b"\r\n\r\n", 1, mtime=0))
