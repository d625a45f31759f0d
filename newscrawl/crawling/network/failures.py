"""Reasons of failed requests, as the stats name them."""

from __future__ import annotations

from typing import Final

from scrapy.exceptions import IgnoreRequest
from scrapy.spidermiddlewares.httperror import HttpError

from newscrawl.crawling.network import RefusedError
from newscrawl.fields.kind.barriers import is_challenge
from newscrawl.workers.child import WorkerError

MAX_CHALLENGE_HEAD: Final = 64 * 1024
"""Bytes of a page with an error status that are searched for a bot check."""

# By name, since the download handler decides whether Twisted's or Scrapy's exception is raised.
_NAMES = {
    "dns": "CannotResolveHostError DNSLookupError",
    "connection": "ConnectError ConnectionDone ConnectionLost ConnectionRefusedError"
    " DownloadConnectionRefusedError DownloadFailedError ResponseFailed ResponseNeverReceived",
    "proxy": "TunnelError",
    "timeout": "TCPTimedOutError TimeoutError DownloadTimeoutError",
    "too_large": "DownloadCancelledError CancelledError",
    "truncated": "ResponseDataLossError",
    "scheme": "UnsupportedURLSchemeError",
    "encoding": "BadGzipFile error",  # zlib.error, brotli.error
}
_REASONS = {name: reason for reason, names in _NAMES.items() for name in names.split()}
# By a part of the message, since Scrapy has no subclasses of IgnoreRequest for these.
_IGNORED = {
    "robots.txt": "robots",
    "redirections": "redirects",
    "DOWNLOAD_MAXSIZE": "too_large",  # after decompression
}


def failure_reason(error: BaseException | None) -> str:
    """Return the reason of *error* in the stats: ``http_404``, ``timeout``, ``dns``, ..."""
    if isinstance(error, HttpError):
        response = error.response
        refused = is_challenge(response.headers, response.body[:MAX_CHALLENGE_HEAD])
        return "challenge" if refused else f"http_{response.status}"
    if isinstance(error, WorkerError):
        return f"worker_{error.reason}"
    if isinstance(error, RefusedError):
        return error.reason
    if isinstance(error, IgnoreRequest):
        return next((why for text, why in _IGNORED.items() if text in str(error)), "ignored")
    names = (kind.__name__ for kind in type(error).__mro__)
    return next((_REASONS[name] for name in names if name in _REASONS), "error")
