"""CPU time, memory and duration of a process with all its descendants."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_POLL = 0.02
_CPU_POLL = 0.25
_MEMORY_POLL = 1.0  # it takes the kernel milliseconds, in which a process cannot get memory
MB = 2**20


class FailedRunError(RuntimeError):
    """A tool ended with an error; the message is the end of its output."""

    @classmethod
    def of(cls, name: str, log: Path) -> FailedRunError:
        """Return the error of the tool *name* with its output in *log*."""
        return cls(f"{name}: {log.read_text(encoding='utf-8', errors='replace')[-3000:]}")


@dataclass(frozen=True, slots=True)
class Measured:
    """Costs of a process from its first request (or its start) to its end."""

    seconds: float
    #: CPU seconds of all processes
    cpu: float
    #: largest memory of all processes together, in MB; shared pages counted once
    memory: float
    returncode: int


def measure(
    command: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
    *,
    started: Callable[[], float | None] = time.monotonic,
    timeout: float = 3600,
    cores: Sequence[int] | None = None,
) -> Measured:
    """Run *command* on *cores* with its output in *log*.

    *started* returns the monotonic time from which the costs count, None before it: starting
    interpreters and importing modules are not part of a crawl.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=dict(environment), stdout=output, stderr=subprocess.STDOUT
        )
        tree = psutil.Process(process.pid)
        if cores:
            os.sched_setaffinity(process.pid, cores)
        deadline = time.monotonic() + timeout
        start: float | None = None
        before = memory = memory_at = sampled = sampled_at = 0.0
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            now = time.monotonic()
            if start is None and (start := started()) is not None:
                before = _cpu(tree)
            if now - sampled_at > _CPU_POLL:
                sampled, sampled_at = max(sampled, _cpu(tree)), now
            if now - memory_at > _MEMORY_POLL:
                memory, memory_at = max(memory, _memory(tree)), now
            if now > deadline:
                _kill(tree)
            time.sleep(_POLL)
    process.returncode = os.waitstatus_to_exitcode(ended[1])
    used = ended[2]
    return Measured(
        seconds=time.monotonic() - (start or 0.0),
        # Without descendants whose parent ignores their end, as Spark's Python daemon does.
        cpu=max(used.ru_utime + used.ru_stime, sampled) - before,
        memory=memory / MB,
        returncode=process.returncode,
    )


def _tree(process: psutil.Process) -> list[psutil.Process]:
    try:
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _cpu(process: psutil.Process) -> float:
    total = 0.0
    for member in _tree(process):
        try:
            times = member.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def _memory(process: psutil.Process) -> float:
    return sum(map(_proportional_size, _tree(process)))


def _proportional_size(process: psutil.Process) -> int:
    """Return the memory of *process*, pages shared with others divided among them."""
    try:
        rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text(encoding="ascii")
        return 1024 * int(rollup.partition("\nPss:")[2].split()[0])
    except (OSError, IndexError):
        pass
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def _kill(process: psutil.Process) -> None:
    for member in reversed(_tree(process)):
        member.kill()
