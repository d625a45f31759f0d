"""Programs for the ``PATH`` of shells whose commands run in forked processes."""

import json
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingUnixStreamServer
from typing import Self

from tests.helpers.forked_scrapy import start_process

_PROGRAM = """\
#!{python} -IS
import json, os, socket, sys

added = {added!r}.get(sys.argv[1], []) if sys.argv[1:] else []
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    words = [{name!r}, *sys.argv[1:], *added]
    task = json.dumps([words, os.getcwd(), dict(os.environ), os.getpid()])
    server.sendall(task.encode() + b"\\n")
    sys.exit(int(server.makefile().readline()))
"""


class ForkedPrograms(ThreadingUnixStreamServer):
    """Server of the programs ``newscrawl`` and ``scrapy``, which it writes to *folder*.

    *added*: words added to the end of a command, by its first word.
    """

    daemon_threads = True

    def __init__(self, folder: Path, added: Mapping[str, list[str]]) -> None:
        address = folder / "programs.socket"
        super().__init__(str(address), _Handler)
        for name in ("newscrawl", "scrapy"):
            text = _PROGRAM.format(
                python=sys.executable, added=added, address=str(address), name=name
            )
            (folder / name).write_text(text, encoding="utf-8")
            (folder / name).chmod(0o755)

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(StreamRequestHandler):
    _lock = threading.Lock()
    """Starting a process polls all others, and two threads must not poll the same one."""

    def handle(self) -> None:
        words, folder, environment, pid = json.loads(self.rfile.readline())
        files = [f"/proc/{pid}/fd/{number}" for number in range(3)]
        with self._lock:
            process = start_process(words, folder, environment, files)
        code = None
        while code is None:
            time.sleep(0.01)
            with self._lock:
                code = process.exitcode
        self.wfile.write(b"%d\n" % (code if code >= 0 else 128 - code))
