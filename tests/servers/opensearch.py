"""Server with the part of OpenSearch's REST API that the sink uses.

No package registry has OpenSearch itself. Answers follow its documentation and the client's tests:
external versions with conflicts, mappings that refuse documents, errors per document of a bulk
request, rejected documents, basic authentication. A request takes effect when its body is complete.
"""

import base64
import json
import threading
from collections import Counter
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

LOGIN = "newscrawl", "hush%hush"


class ApiError(Exception):
    """Error answer, with status, type and reason."""

    def __init__(self, status: int, kind: str, reason: str) -> None:
        super().__init__(status, kind, reason)
        self.status = status
        self.error = {"type": kind, "reason": reason}


class Index:
    """An index: documents with versions, and mappings of fields."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.properties = body.get("mappings", {}).get("properties", {})
        self.documents: dict[str, tuple[int, dict[str, Any]]] = {}

    def put(self, key: str, document: dict[str, Any], action: dict[str, Any]) -> tuple[int, int]:
        """Store a document; return status and version. Raises :class:`ApiError`."""
        if not 0 < len(key.encode()) <= 512:
            raise ApiError(
                400,
                "illegal_argument_exception",
                "id is too long, must be no longer than 512 bytes",
            )
        for name, value in document.items():
            self._check(name, value)
        old = self.documents.get(key, (0, {}))[0]
        version = old + 1
        if action.get("version_type") == "external":
            version = int(action["version"])
            if old >= version:
                reason = f"[{key}]: version conflict, current version [{old}] is higher or equal"
                raise ApiError(409, "version_conflict_engine_exception", reason)
        self.documents[key] = version, document
        return (200 if old else 201), version

    def _check(self, name: str, value: Any) -> None:
        kind = self.properties.get(name, {}).get("type")
        values = value if isinstance(value, list) else [value]
        for one in values:
            wrong = kind in {"text", "keyword"} and isinstance(one, dict)
            if kind == "date" and one is not None:
                wrong = not _is_date(one)
            if wrong:
                reason = f"failed to parse field [{name}] of type [{kind}]"
                raise ApiError(400, "mapper_parsing_exception", reason)


def _is_date(value: Any) -> bool:
    try:
        datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return isinstance(value, int)
    return True


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *arguments: Any) -> None:
        """Ignore clients that were killed."""


class OpenSearchServer:
    """The server, in threads of this process."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        self.indices: dict[str, Index] = {}
        self.requests: Counter[str] = Counter()
        #: documents that were replaced by a newer version
        self.replaced = 0
        #: number of documents to reject, and their status: 429 as by a full queue
        self.rejections, self.rejection = 0, 429
        #: status of every answer, as of a cluster without a quorum
        self.failure: int | None = None
        self.lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"state": self})
        self._server = _QuietServer((address, 0), handler)
        self.port = self._server.server_address[1]

    def url(self, index: str, host: str = "127.0.0.1") -> str:
        """Return the URL of a sink, with the password."""
        user, password = LOGIN
        password = password.replace("%", "%25")
        return f"opensearch+http://{user}:{password}@{host}:{self.port}/{index}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, path: list[str], body: bytes) -> tuple[int, Any]:
        """Return status and JSON of the answer. Raises :class:`ApiError`."""
        match (method, path):
            case ("HEAD", [index]):
                return (200 if index in self.indices else 404), None
            case ("PUT", [index]):
                return self._create(index, body)
            case ("POST" | "PUT", ["_bulk"]):
                return self._bulk(body)
            case ("POST" | "GET", [index, "_mget"]):
                return self._mget(index, json.loads(body)["ids"])
            case ("PUT" | "POST", [index, "_doc", key]):
                status, version = self._index(index).put(key, json.loads(body), {})
                return status, {"_index": index, "_id": key, "_version": version}
        raise ApiError(400, "illegal_argument_exception", f"no handler for {method} {path}")

    def _create(self, index: str, body: bytes) -> tuple[int, Any]:
        if index in self.indices:
            reason = f"index [{index}] already exists"
            raise ApiError(400, "resource_already_exists_exception", reason)
        self.indices[index] = Index(json.loads(body or b"{}"))
        return 200, {"acknowledged": True, "index": index}

    def _index(self, name: str) -> Index:
        if name not in self.indices:
            raise ApiError(404, "index_not_found_exception", f"no such index [{name}]")
        return self.indices[name]

    def _mget(self, index: str, keys: list[str]) -> tuple[int, Any]:
        documents = self._index(index).documents
        found = [
            {"_id": key, "found": True, "_source": documents[key][1]}
            if key in documents
            else {"_id": key, "found": False}
            for key in keys
        ]
        return 200, {"docs": found}

    def _bulk(self, body: bytes) -> tuple[int, Any]:
        lines = [json.loads(line) for line in body.splitlines()]
        items = []
        for action, document in zip(lines[::2], lines[1::2], strict=True):
            given = action["index"]
            result = {"_index": given["_index"], "_id": given["_id"]}
            try:
                result |= self._put(given, document)
            except ApiError as error:
                result |= {"status": error.status, "error": error.error}
            items.append({"index": result})
        errors = any("error" in item["index"] for item in items)
        return 200, {"took": 1, "errors": errors, "items": items}

    def _put(self, action: dict[str, Any], document: dict[str, Any]) -> dict[str, int]:
        if self.rejections:
            self.rejections -= 1
            raise ApiError(self.rejection, "rejected_execution_exception", "the queue is full")
        status, version = self._index(action["_index"]).put(action["_id"], document, action)
        self.replaced += status == 200
        return {"status": status, "_version": version}


class _Handler(BaseHTTPRequestHandler):
    state: OpenSearchServer
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if len(body) < int(self.headers.get("Content-Length", 0)):
            return  # the client was killed
        with self.state.lock:
            status, answer = self._checked_answer(body)
        data = b"" if answer is None else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=UTF-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _checked_answer(self, body: bytes) -> tuple[int, Any]:
        login = base64.b64encode(":".join(LOGIN).encode()).decode()
        path = self.path.partition("?")[0].strip("/").split("/")
        self.state.requests[path[-1]] += 1
        if self.headers.get("Authorization") != f"Basic {login}":
            return 401, "Unauthorized"
        if self.state.failure:
            kind = "cluster_block_exception"
            return self.state.failure, {"error": {"type": kind}, "status": self.state.failure}
        try:
            return self.state.answer(self.command, path, body)
        except ApiError as error:
            return error.status, {"error": error.error, "status": error.status}

    do_GET = do_HEAD = do_POST = do_PUT = _answer  # noqa: N815  # interface

    def log_message(self, *arguments: Any) -> None:
        """Log nothing."""
