"""PostgreSQL server in a temporary folder, for tests of the sink."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import psycopg

PASSWORD = "hushhush"


def program(name: str) -> str | None:
    """Return the path of a program of PostgreSQL; Debian does not put all of them on the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(found[-1]) if found else None)


class PostgresServer:
    """Server on a free port of the loopback device, with the user ``newscrawl``."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="newscrawl-postgres-"))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._server: subprocess.Popen[bytes] | None = None
        # PostgreSQL does not run as root.
        self._user: dict[str, Any] = {"user": "postgres"} if os.getuid() == 0 else {}
        if self._user:
            shutil.chown(self._folder, **self._user)

    @property
    def url(self) -> str:
        """URL of the database, with the password."""
        return f"postgresql://newscrawl:{PASSWORD}@127.0.0.1:{self.port}/postgres"

    def __enter__(self) -> Self:
        secret = self._folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        options = ("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")
        self._run("initdb", *options, "--username=newscrawl", f"--pwfile={secret}")
        self.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def start(self) -> None:
        """Start the server and wait until it accepts connections."""
        values = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": self._folder,
            "fsync": "off",
        }
        options = [word for name, value in values.items() for word in ("-c", f"{name}={value}")]
        with (self._folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                [str(program("postgres")), "-D", self._data, "-p", str(self.port), *options],
                cwd=self._folder,
                stderr=log,
                **self._user,
            )
        while True:
            with suppress(psycopg.OperationalError):
                psycopg.connect(self.url).close()
                return
            assert self._server.poll() is None, (self._folder / "log").read_text()
            time.sleep(0.05)

    def stop(self) -> None:
        """Stop the server; its data remains."""
        if self._server:
            self._server.terminate()
            self._server.wait()

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Execute *statement*; return its rows."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    @property
    def _data(self) -> str:
        return str(self._folder / "data")

    def _run(self, name: str, *options: str) -> None:
        command = [str(program(name)), "-D", self._data, *options]
        done = subprocess.run(
            command, cwd=self._folder, capture_output=True, text=True, check=False, **self._user
        )
        assert done.returncode == 0, done.stderr
