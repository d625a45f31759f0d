"""A proxy in front of a server that cuts each connection after a number of bytes."""

import socket
import socketserver
import threading
from contextlib import suppress
from typing import Self


class CutConnection:
    """A TCP proxy on the loopback device, in threads of this process."""

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        #: bytes from the client, and from the server, after which a connection ends
        self.sent = self.received = 2**40
        proxy = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                proxy._serve(self.request)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _serve(self, client: socket.socket) -> None:
        with socket.create_connection(self._target) as server:
            back = (server, client, self.received)
            threading.Thread(target=_copy, args=back, daemon=True).start()
            _copy(client, server, self.sent)


def _copy(source: socket.socket, target: socket.socket, limit: int) -> None:
    """Pass on *limit* bytes; end both connections after them."""
    with suppress(OSError):
        while limit > 0 and (data := source.recv(2**16)):
            target.sendall(data[:limit])
            limit -= len(data)
    for connection in (source, target):
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
