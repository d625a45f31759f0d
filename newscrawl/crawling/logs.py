"""Log of a crawl: without secrets, control characters and tracebacks of wrong settings."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from scrapy import signals

from newscrawl.component import Component
from newscrawl.defaults import SettingError
from newscrawl.sqlite import FileError
from newscrawl.text import printable

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

HIDDEN: Final = "***"

# Up to the last "@", since passwords may contain one. The length limits in the patterns prevent
# quadratic run time on long inputs.
_USER = re.compile(r"(?:(?<=//)|(?<=hostname: ))[^/\s?#'\"<>]{1,500}@")
# A parameter of a URL or of a URL that is escaped in one, up to its value.
_PARAMETER = re.compile(
    r"(?:[?&;#]|%(?:25)*(?:3f|26|23))([\w.%\[\]-]{1,80}?)(?:=|%(?:25)*3d)", re.IGNORECASE
)
_VALUE = re.compile(r"[^&;#\s'\"<>]*")
_SECRET_NAME = re.compile(
    r"token|secret|passw(?:or)?d|passwd|pwd|signature|credentials?|api_?-?key|access_?-?key"
    r"|auth(?!or\b|ors\b)(?:orization)?|sess(?:ion)?_?-?id|jwt"
    r"|^(?:key|sig|sid|code|otp|pass|session)$",
    re.IGNORECASE,
)
_FORMATTER = logging.Formatter()


def mask_secrets(text: str) -> str:
    """Return *text* with the secrets in its URLs replaced by ``***``.

    Secrets are user and password, and parameters named token, key, signature, password and the
    like, also in fragments and in escaped URLs.
    """
    if "@" in text:
        text = _USER.sub(f"{HIDDEN}@", text)
    masked: list[str] = []
    position = 0
    for parameter in _PARAMETER.finditer(text):
        if parameter.start() >= position and _SECRET_NAME.search(unquote(parameter[1])):
            masked += text[position : parameter.end()], HIDDEN
            value = _VALUE.match(text, parameter.end())
            position = value.end() if value else parameter.end()
    return "".join((*masked, text[position:]))


class LogTextFilter(logging.Filter):
    """Escapes control characters in the message and the traceback of a log record.

    Headers and URLs of servers would command the terminal. Secrets are masked.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Change *record* and return True."""
        message = record.getMessage()
        clean = self._clean(message)
        if clean != message:
            record.msg, record.args = clean, None
        if record.exc_info and not record.exc_text:
            record.exc_text = _FORMATTER.formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self._clean(record.exc_text)
        return True

    def _clean(self, text: str) -> str:
        return printable(mask_secrets(text))


class LogText(Component):
    """Extension that adds :class:`LogTextFilter` to the log, for the messages of Scrapy as well."""

    def __init__(self, crawler: Crawler) -> None:
        self._filter = LogTextFilter()
        self.install()
        # Scrapy replaces its handler after the settings are final.
        crawler.signals.connect(self.install, signals.spider_opened)

    def install(self) -> None:
        """Add the filter to each handler of the root logger that has none."""
        for handler in logging.getLogger().handlers:
            if not any(isinstance(known, LogTextFilter) for known in handler.filters):
                handler.addFilter(self._filter)


_START_ERRORS: Final = (FileError, SettingError)


class StartErrorFilter(logging.Filter):
    """Replaces the traceback of an error that the user can correct by its message.

    Scrapy lets asyncio log the exceptions of components that cannot be created.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten *record* and return True."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, _START_ERRORS):
            record.msg, record.args = "The crawl cannot start, exit code 1: %s", (error,)
            record.exc_info = record.exc_text = None
        return True


_FILTER: Final = StartErrorFilter()


def shorten_start_errors() -> None:
    """Add the filter to the logger of exceptions that no caller has handled."""
    logging.getLogger("asyncio").addFilter(_FILTER)
