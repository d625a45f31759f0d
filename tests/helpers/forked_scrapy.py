"""Commands in processes that are forked from one that has imported Scrapy and newscrawl.

Imports take as much time as a small crawl. So do those of its workers, which are forked as well.
"""

import faulthandler
import multiprocessing
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from newscrawl.workers import child, fork_server
from tests.conftest import REPOSITORY

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "newscrawl.addon",
        "newscrawl.cli.crawl_commands",
        "newscrawl.cli.extract_pages",
        "scrapy.cmdline",
        "scrapy.logformatter",
        "tests.helpers.crawls",
        "tests.helpers.loaded_commands",
    ]
)
_PROGRAMS = {"newscrawl": "newscrawl.cli:start", "scrapy": "scrapy.cmdline:execute"}


class ForkedScrapy:
    """A ``scrapy`` command in a session of its own, with the interface of ``subprocess.Popen``.

    *program* may be ``newscrawl`` or ``module:function`` instead. Standard error is written to
    *log*, and standard output as well without a file *output*; standard input is the file *data*.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        log: Path,
        output: Path | None = None,
        *,
        program: str = "scrapy",
        data: Path | None = None,
    ) -> None:
        words, files = (
            [program, *arguments],
            [str(data or os.devnull), str(output or log), str(log)],
        )
        log.unlink(missing_ok=True)
        self._process = start_process(words, str(folder), dict(environment), files)
        self._arguments = words
        self.log_path = log
        self.pid: int = self._process.pid  # type: ignore[assignment]

    @property
    def returncode(self) -> int | None:
        """The exit code, None before the end."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return the exit code, None before the end."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code; kill the process if it lasts longer than *timeout* seconds."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            error = subprocess.TimeoutExpired(self._arguments, timeout or 0)
            error.add_note(self._abort())
            raise error
        return self._process.exitcode

    def _abort(self) -> str:
        """End the process; return the end of its log and the stacks of all threads, also ours."""
        with self.log_path.open("ab") as log:
            faulthandler.dump_traceback(log)
        self.send_signal(signal.SIGABRT)
        self._process.join(10)
        self._process.kill()
        return self.log_path.read_text(encoding="utf-8", errors="replace")[-20_000:]

    def send_signal(self, number: int) -> None:
        """Send signal *number*."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()


def start_process(
    words: list[str], folder: str, environment: dict[str, str], files: list[str]
) -> ForkServerProcess:
    """Start the command *words* in *folder*; *files* are its standard input, output and error."""
    process = _CONTEXT.Process(target=_run, args=(words, folder, environment, files), daemon=True)
    process.start()
    return process


def scrapy(
    folder: Path, *arguments: object, program: str = "scrapy"
) -> subprocess.CompletedProcess[str]:
    """Run a ``scrapy`` command in *folder*; return its exit code and output."""
    return _in_text(run_command(program, folder, *arguments))


def newscrawl(folder: Path, *arguments: object, data: str = "") -> subprocess.CompletedProcess[str]:
    """Run ``newscrawl`` in *folder* with *data* as standard input."""
    return _in_text(run_command("newscrawl", folder, *arguments, data=data.encode()))


def _in_text(done: subprocess.CompletedProcess[bytes]) -> subprocess.CompletedProcess[str]:
    texts = done.stdout.decode(), done.stderr.decode()
    return subprocess.CompletedProcess(done.args, done.returncode, *texts)


def run_command(
    program: str, folder: Path, *arguments: object, data: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run *program* in *folder* with *data* as standard input."""
    words = list(map(str, arguments))
    with TemporaryDirectory() as outputs:
        given, output, log = (Path(outputs, name) for name in ("input", "output", "log"))
        given.write_bytes(data)
        process = ForkedScrapy(words, folder, os.environ, log, output, program=program, data=given)
        status = process.wait(280)
        return subprocess.CompletedProcess(words, status, output.read_bytes(), log.read_bytes())


def _run(words: list[str], folder: str, environment: dict[str, str], files: list[str]) -> None:
    """Become the process of a command in *folder*."""
    assert "twisted.internet.reactor" not in sys.modules
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    modes = (os.O_RDONLY, *[os.O_WRONLY | os.O_CREAT | os.O_APPEND] * 2)
    for descriptor, (path, mode) in enumerate(zip(files, modes, strict=True)):
        os.dup2(os.open(path, mode), descriptor)
    faulthandler.enable(2)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.path[:0] = [folder, str(REPOSITORY)]
    sys.argv[:] = words
    _fork_worker_server()
    if "PYTHONWARNINGS" in environment:
        warnings.simplefilter("default")
    pkgutil.resolve_name(_PROGRAMS.get(words[0], words[0]))()


def _fork_worker_server() -> None:
    """Fork the process that becomes the fork server of the first workers."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if not pid:
        ours.close()
        _serve_workers(theirs)
    theirs.close()
    server, launch = _WorkerServer(pid), fork_server.launch

    def launch_forked(
        preload: Iterable[str], *arguments: str, requests: socket.socket | None = None
    ) -> Any:
        if requests is None or server.is_used:
            return launch(preload, *arguments, requests=requests)
        server.is_used = True
        words = [*arguments, *(f"--preload={name}" for name in preload)]
        socket.send_fds(ours, ["\0".join(words).encode()], [requests.fileno()])
        return server

    fork_server.launch = launch_forked


def _serve_workers(connection: socket.socket) -> NoReturn:
    os.setsid()
    words, requests, _, _ = socket.recv_fds(connection, 1024, 1)
    connection.close()
    if requests:
        os.dup2(requests[0], 0)
        os.close(requests[0])
        sys.argv[1:] = words.decode().split("\0")
        child.main()
    os._exit(0)


class _WorkerServer:
    """A forked process with the methods of ``subprocess.Popen``."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._code: int | None = None
        self.is_used = False

    def poll(self) -> int | None:
        return self._wait(os.WNOHANG)

    def wait(self) -> int | None:
        return self._wait(0)

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self._pid, signal.SIGKILL)

    def _wait(self, options: int) -> int | None:
        if self._code is None:
            pid, status = os.waitpid(self._pid, options)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code
