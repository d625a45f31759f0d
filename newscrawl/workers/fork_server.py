"""Fork server: a process that has loaded what tasks need, and is copied for each worker.

A new process takes a second of CPU time for imports and models. A copy takes milliseconds and
shares their memory, so that pages that end their worker cost little. ``multiprocessing`` has a fork
server whose copies import the main script again.

Linux only: elsewhere system libraries may not survive a fork, or there is none.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import weakref
from functools import cache
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING, ClassVar, cast

from newscrawl.workers.child import FORK_MESSAGE, START_DEADLINE

if TYPE_CHECKING:
    from collections.abc import Iterable


@cache
def can_fork() -> bool:
    """Return whether this system has what :class:`ForkServer` needs."""
    if sys.platform != "linux":
        return False
    try:
        pidfd = os.pidfd_open(os.getpid())
        try:
            signal.pidfd_send_signal(pidfd, 0)
        finally:
            os.close(pidfd)
    except OSError:  # an old kernel, or a sandbox
        return False
    return True


class ForkServer:
    """Starts workers as copies of a process that has loaded *preload*."""

    _shared: ClassVar[weakref.WeakValueDictionary[tuple[int, tuple[str, ...]], ForkServer]] = (
        weakref.WeakValueDictionary()
    )
    _shared_lock: ClassVar = Lock()

    def __init__(self, preload: tuple[str, ...]) -> None:
        self._preload = preload
        self._lock = Lock()
        self._running: _Running | None = None

    @classmethod
    def shared(cls, preload: tuple[str, ...]) -> ForkServer:
        """Return the server of this process with *preload*, which ends with its last reference."""
        # A forked process must not use the server of its parent.
        key = os.getpid(), preload
        with cls._shared_lock:
            server = cls._shared.get(key)
            if server is None:
                server = cls._shared[key] = cls(preload)
            return server

    def fork(self, memory_limit: int) -> ForkedProcess:
        """Start a worker; raise ``OSError`` if that fails."""
        task_reader, task_writer = os.pipe()
        answer_reader, answer_writer = os.pipe()
        try:
            pid = self._start(memory_limit, task_reader, answer_writer)
            return ForkedProcess(self, pid, task_writer, answer_reader)
        except OSError:
            os.close(task_writer)
            os.close(answer_reader)
            raise
        finally:
            os.close(task_reader)
            os.close(answer_writer)

    def exit_code(self, pid: int) -> int:
        """Return the exit code of a worker that has ended, that of a kill if it is unknown."""
        with contextlib.suppress(OSError), self._lock:
            if self._running:
                return self._request(self._running, pid)
        return -signal.SIGKILL

    def _start(self, memory_limit: int, *pipes: int) -> int:
        with self._lock:
            if self._running is None or self._running.process.poll() is not None:
                self._running = _Running(self._preload)
            pid = self._request(self._running, memory_limit, *pipes)
        if pid < 0:
            raise OSError(-pid, os.strerror(-pid))
        return pid

    def _request(self, running: _Running, number: int, *pipes: int) -> int:
        try:
            return running.request(number, *pipes)
        except OSError:  # it has ended, or does not answer
            self._running = None
            raise


class _Running:
    """The process of a server and the socket to it."""

    def __init__(self, preload: tuple[str, ...]) -> None:
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            try:
                self.process = launch(preload, "--fork-server", requests=other)
            except OSError:
                self._socket.close()
                raise
        weakref.finalize(self, _end, self.process, self._socket)
        self._socket.settimeout(START_DEADLINE)
        self._answer()

    def request(self, number: int, *pipes: int) -> int:
        """Send a message; return the answer."""
        message = [FORK_MESSAGE.pack(number)]
        if pipes:
            socket.send_fds(self._socket, message, pipes)
        else:
            self._socket.sendmsg(message)
        return self._answer()

    def _answer(self) -> int:
        answer = self._socket.recv(FORK_MESSAGE.size)
        if not answer:
            raise ConnectionError("the fork server has ended")
        number: int
        (number,) = FORK_MESSAGE.unpack(answer)
        return number


def _end(process: subprocess.Popen[bytes], requests: socket.socket) -> None:
    requests.close()
    process.kill()
    process.wait()


class ForkedProcess:
    """A copy of a fork server, with the methods of ``subprocess.Popen``."""

    def __init__(self, server: ForkServer, pid: int, stdin: int, stdout: int) -> None:
        self._server: ForkServer | None = server
        self._pid = pid
        self._pidfd = os.pidfd_open(pid)
        self._lock = Lock()
        self._code: int | None = None
        self.stdin: IO[bytes] | None = os.fdopen(stdin, "wb")
        self.stdout: IO[bytes] | None = os.fdopen(stdout, "rb")

    def poll(self) -> int | None:
        """Return the exit code, None if the process is running."""
        self._wait(0)
        return self._code

    def wait(self) -> int:
        """Wait for the end of the process; return its exit code."""
        self._wait(None)
        return cast("int", self._code)

    def kill(self) -> None:
        """Kill the process if it is running."""
        with self._lock:
            if self._code is None:
                with contextlib.suppress(ProcessLookupError):  # it has just ended
                    signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def _wait(self, milliseconds: int | None) -> None:
        if self._server is None:
            return
        ended = select.poll()
        ended.register(self._pidfd, select.POLLIN)
        if ended.poll(milliseconds):
            code = self._server.exit_code(self._pid)
            with self._lock:
                self._code, self._server = code, None
                os.close(self._pidfd)


def launch(
    preload: Iterable[str], *arguments: str, requests: socket.socket | None = None
) -> subprocess.Popen[bytes]:
    """Start a process with this process's import path, and pipes or a socket as standard input.

    It has a session of its own, so that Ctrl-C only reaches Scrapy, which finishes active pages.
    """
    command = [sys.executable, "-P", "-m", "newscrawl.workers.child"]
    return subprocess.Popen(  # noqa: S603  # a fixed command
        [*command, *arguments, *(f"--preload={name}" for name in preload)],
        stdin=requests.fileno() if requests else subprocess.PIPE,
        stdout=None if requests else subprocess.PIPE,
        env=environment(),
        start_new_session=True,
    )


def environment() -> dict[str, str]:
    """Return the environment of a process with this process's import path."""
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    # One CPU per worker: numpy's BLAS would start a thread per CPU.
    return {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"} | os.environ | {"PYTHONPATH": path}
