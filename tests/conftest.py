"""Fixtures and helpers shared by test modules."""

import asyncio
import gzip
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, settings

# On a busy machine, contention between threads makes scikit-learn fits ten times slower.
os.environ.setdefault("OMP_NUM_THREADS", "1")

REPOSITORY = Path(__file__).resolve().parents[1]
CORPORA = REPOSITORY.parent / "shared" / "corpora"

_LONG_FILES = {
    "test_deploy",
    "test_documents",
    "test_extraction_spark",
    "test_faults",
    "test_neardup_spark",
    "test_packaging",
    "test_peers",
    "test_training",
}

# No deadline per example, for busy machines; pytest-timeout ends real hangs.
settings.register_profile("newscrawl", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("newscrawl")


def skip_missing(reason: str) -> NoReturn:
    """Skip a test whose requirement is missing; fail in CI, which installs all requirements."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def run_python(code: str, *arguments: str, timeout: float | None = None, **environment: str) -> str:
    """Return the output of *code* in a new interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=REPOSITORY,
        env={**os.environ, **environment},
        timeout=timeout,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def corpus_pages(corpus: Path) -> Iterator[bytes]:
    """Yield the bytes of every page of a corpus; fail if it is empty."""
    paths = sorted((corpus / "pages").glob("*.html.gz"))
    assert paths
    for path in paths:
        yield gzip.decompress(path.read_bytes())


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import only files with slow tests if no others are selected: half of the time of imports."""
    if not config.option.markexpr.startswith("slow") or not collection_path.match("test_*.py"):
        return None
    return "mark.slow" not in collection_path.read_text(encoding="utf-8") or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the longest files, so that no process is left with one at the end."""
    items.sort(key=lambda item: item.path.stem not in _LONG_FILES)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run an async test in an event loop."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture(scope="session")
def repository() -> Path:
    """Return the root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session", autouse=True)
def _fork_servers() -> Iterator[None]:
    """Keep the fork servers of workers for later tests: each start takes more than a second."""
    from newscrawl.archives import unit_extraction
    from newscrawl.workers import fork_server, process

    preloads = (process.PRELOAD, unit_extraction._PRELOAD)
    kept = [fork_server.ForkServer.shared(preload) for preload in preloads]
    yield
    kept.clear()


@pytest.fixture
def own_fork_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the test a fork server of its own, which ends with its last worker."""
    preload = ("newscrawl.workers.child",)
    monkeypatch.setattr("newscrawl.workers.process.PRELOAD", preload)
    monkeypatch.setattr("newscrawl.archives.unit_extraction._PRELOAD", preload)


@pytest.fixture(autouse=True)
def _project_settings() -> Iterator[None]:
    """Undo what ``get_project_settings()`` does to the environment of later commands."""
    name = "SCRAPY_SETTINGS_MODULE"
    module = os.environ.get(name)
    yield
    os.environ.pop(name, None)
    if module is not None:
        os.environ[name] = module


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """Run moto's S3 server; return its URL."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


@pytest.fixture
def s3(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a client of the S3 server, whose address and credentials are in the environment."""
    import boto3

    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "newscrawl")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hushhush")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    return boto3.client("s3")


@pytest.fixture(scope="session")
def corpus_dir() -> Path:
    """Return the folder of the labelled corpora; skip the test if it is missing."""
    if not CORPORA.is_dir():
        pytest.skip("the labelled corpora (../shared/corpora) are not on this machine")
    return CORPORA
