"""Modules that are run in a network namespace of their own, without a route to the outside."""

import json
import shutil
import subprocess
import sys
from functools import cache
from typing import Any

import pytest

from tests.conftest import REPOSITORY

_UNSHARE = ["unshare", "--net", "--map-root-user"]


@cache
def _no_namespace() -> str | None:
    """Return the reason why a network namespace cannot be created, None if it can."""
    if missing := [tool for tool in ("unshare", "ip") if shutil.which(tool) is None]:
        return f"no {missing[0]} on this machine"
    command = [*_UNSHARE, "ip", "link", "set", "lo", "up"]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if tried.returncode == 0 else f"no network namespace here: {tried.stderr.strip()}"


def run_in_namespace(module: str, *arguments: str, timeout: float) -> dict[str, Any]:
    """Run *module* in a namespace; return the JSON object that it prints. May skip the test."""
    if reason := _no_namespace():
        pytest.skip(reason)
    done = subprocess.run(
        [*_UNSHARE, sys.executable, "-m", module, *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed
