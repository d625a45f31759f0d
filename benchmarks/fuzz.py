"""Fuzzer of everything that reads downloaded bytes: pages, sitemaps, feeds, robots.txt, CSS, WARC.

``python -m benchmarks.fuzz --minutes 10 --seed 1`` (``make fuzz``). Each input is read by two
processes, with the compiled modules and in Python, whose results must be equal. Failures are: an
exception that is not documented, a crash, no answer, too much CPU time, another result. The input
of a failure is minimised and saved; ``--replay FILE`` reads it again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

from benchmarks.fuzz_inputs import make_input
from benchmarks.fuzz_targets import NAMES
from newscrawl.workers.child import ANSWER_LENGTH, TASK_LENGTHS
from tests.conftest import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_SECONDS: Final = 6.0
"""CPU seconds that an input of 200 KB may take, compiled; in Python, four times as much."""
_DEADLINE: Final = 180.0
_MINIMIZING_SECONDS: Final = 60.0
_TASK: Final = "benchmarks.fuzz_targets:run"


class Reader:
    """A worker process that reads inputs, replaced when it dies."""

    def __init__(self, name: str, max_seconds: float, **environment: str) -> None:
        self.name = name
        self._max_seconds = max_seconds
        self._environment = os.environ | {"OMP_NUM_THREADS": "1"} | environment
        self._process: subprocess.Popen[bytes] | None = None
        self.slowest = 0.0

    def read(self, target: str, data: bytes) -> tuple[str, str]:
        """Return (``result``, JSON), (``document``, ""), or a kind of failure and its message."""
        process = self._running()
        timer = threading.Timer(_DEADLINE, process.kill)
        timer.start()
        try:
            answer = self._exchange(process, target, data)
        finally:
            timer.cancel()
        if answer is None:
            self.close()
            return "crash", f"no answer, exit code {process.returncode}"
        seconds = answer.pop("seconds", 0.0)
        self.slowest = max(self.slowest, seconds)
        if seconds > self._max_seconds:
            return "slow", f"{seconds:.1f} CPU seconds in {self.name}"
        if "result" in answer:
            return "result", json.dumps(answer["result"], sort_keys=True)
        if answer["reason"] == "document":
            return "document", ""
        return answer["reason"], answer["message"] + "\n" + answer["traceback"]

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            command = [sys.executable, "-m", "newscrawl.workers.child"]
            self._process = subprocess.Popen(
                [*command, "--preload=benchmarks.fuzz_targets"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=REPOSITORY,
                env=self._environment,
            )
            if _read_answer(self._process) is None:
                raise SystemExit("the reader could not be started")
        return self._process

    def _exchange(
        self, process: subprocess.Popen[bytes], target: str, data: bytes
    ) -> dict[str, Any] | None:
        plain = {"target": target}
        task = {"function": _TASK, "plain": plain, "deadline": 0, "stream": False}
        head = json.dumps(task).encode()
        pipe = cast("IO[bytes]", process.stdin)
        try:
            pipe.write(TASK_LENGTHS.pack(len(head), len(data)) + head + data)
            pipe.flush()
        except BrokenPipeError:
            return None
        return _read_answer(process)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            with contextlib.suppress(BrokenPipeError):  # closing the pipe flushes it
                self._process.communicate()
            self._process = None


def _read_answer(process: subprocess.Popen[bytes]) -> dict[str, Any] | None:
    pipe = cast("IO[bytes]", process.stdout)
    header = pipe.read(ANSWER_LENGTH.size)
    if len(header) < ANSWER_LENGTH.size:
        return None
    payload = pipe.read(ANSWER_LENGTH.unpack(header)[0])
    return cast("dict[str, Any]", json.loads(payload))


class Comparison:
    """The compiled and the Python reader."""

    def __init__(self) -> None:
        self.readers = (
            Reader("compiled", MAX_SECONDS),
            Reader("python", 4 * MAX_SECONDS, NEWSCRAWL_NO_EXTENSIONS="1"),
        )

    def check(self, target: str, data: bytes) -> tuple[str, str]:
        """Return the kind of failure and its message, or ``result`` or ``document``."""
        compiled, python = (reader.read(target, data) for reader in self.readers)
        for found in (compiled, python):
            if found[0] not in {"result", "document"}:
                return found
        if compiled != python:
            return "difference", _difference(compiled[1], python[1])
        return compiled

    def close(self) -> None:
        """End the processes."""
        for reader in self.readers:
            reader.close()


def _difference(one: str, other: str) -> str:
    place = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    part = slice(max(0, place - 80), place + 80)
    return f"compiled: {one[part]}\npython: {other[part]}"


def minimize(data: bytes, fails: Callable[[bytes], bool]) -> bytes:
    """Return a shorter input that fails, by leaving out parts, in limited time."""
    end = time.monotonic() + _MINIMIZING_SECONDS
    size = len(data) // 2
    while size:
        start = 0
        while start < len(data):
            if time.monotonic() > end:
                return data
            shorter = data[:start] + data[start + size :]
            if fails(shorter):
                data = shorter
            else:
                start += size
        size //= 2
    return data


def run(
    minutes: float, seed: int, out: Path, names: list[str], max_inputs: float = float("inf")
) -> int:
    """Fuzz for *minutes* or *max_inputs*; return the number of failures."""
    comparison = Comparison()
    counts: Counter[str] = Counter()
    known: set[str] = set()
    end = time.monotonic() + 60 * minutes
    number = 0
    while time.monotonic() < end and number < max_inputs:
        rng = random.Random(f"{seed}-{number}")
        target = names[number % len(names)]
        data = make_input(rng, target.partition(":")[0])
        kind, message = comparison.check(target, data)
        counts[kind] += 1
        if kind not in {"result", "document"}:
            cause = f"{kind} {' '.join(message.splitlines()[:1])[:80]}"
            print(f"{target} {seed}-{number}: {kind}\n{message}", flush=True)
            if cause not in known:
                known.add(cause)
                _save(comparison, target, data, out / f"{target.replace(':', '_')}-{seed}-{number}")
        number += 1
    slowest = ", ".join(f"{reader.name} {reader.slowest:.2f} s" for reader in comparison.readers)
    comparison.close()
    print(f"{number} inputs: {dict(counts)}; slowest: {slowest}")
    return number - counts["result"] - counts["document"]


def _save(comparison: Comparison, target: str, data: bytes, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".input").write_bytes(data)
    kind, message = comparison.check(target, data)
    small = minimize(data, lambda shorter: comparison.check(target, shorter)[0] == kind)
    path.with_suffix(".small").write_bytes(small)
    path.with_suffix(".txt").write_text(f"{target}\n{kind}\n{message}\n", encoding="utf-8")


def replay(path: Path) -> int:
    """Read a saved input again; return 1 if it still fails."""
    target = path.with_suffix(".txt").read_text(encoding="utf-8").splitlines()[0]
    comparison = Comparison()
    kind, message = comparison.check(target, path.read_bytes())
    comparison.close()
    print(kind, message[:2000])
    return kind not in {"result", "document"}


def main() -> None:
    """Fuzz, or replay an input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("fuzz-failures"))
    parser.add_argument("--replay", type=Path, metavar="FILE")
    parser.add_argument("targets", nargs="*", default=list(NAMES), metavar="TARGET")
    options = parser.parse_args()
    if options.replay:
        sys.exit(replay(options.replay))
    sys.exit(min(1, run(options.minutes, options.seed, options.out, options.targets)))


if __name__ == "__main__":
    main()
