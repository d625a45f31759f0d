"""Secrets in URLs, kept out of logs."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Final, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured

from newscrawl.defaults import setting

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

HIDDEN: Final = "***"

_USER = re.compile(r"(?:(?<=://)|(?<=hostname: ))[^/\s?#@'\"<>]{1,500}@")
# Names are short; without the bounds a long one would be searched in the square of its length.
_NAMES = (
    r"token|secret|passw(?:or)?d|passwd|pwd|signature|credentials?|api_?-?key|access_?-?key"
    r"|auth(?!or\b|ors\b)(?:orization)?|session_?-?id|jwt"
)
_VALUE = re.compile(
    r"([?&;](?:[\w.-]{0,40}(?:" + _NAMES + r")[\w.-]{0,20}|key|sig|sid)=)[^&;#\s'\"<>]+",
    re.IGNORECASE,
)
_FORMATTER = logging.Formatter()


def without_secrets(text: str) -> str:
    """Return *text* with what logs in, or signs, in the URLs in it replaced by ``***``.

    That is user and password, and the values of parameters called token, key, signature,
    password and the like.
    """
    if "@" in text:
        text = _USER.sub(f"{HIDDEN}@", text)
    return _VALUE.sub(rf"\1{HIDDEN}", text) if "=" in text else text


class SecretsFilter(logging.Filter):
    """Takes secrets out of what its handler writes: message and traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True, with *record* cleaned."""
        message = record.getMessage()
        clean = without_secrets(message)
        if clean != message:
            record.msg, record.args = clean, None
        if record.exc_info and not record.exc_text:
            record.exc_text = _FORMATTER.formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = without_secrets(record.exc_text)
        return True


class HideSecrets:
    """Extension: keeps secrets in URLs out of the log, Scrapy's own lines included."""

    def __init__(self) -> None:
        self._filter = SecretsFilter()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension; raise ``NotConfigured`` where it is switched off."""
        if not setting(crawler.settings, "NEWSCRAWL_LOG_SECRETS_HIDDEN"):
            raise NotConfigured("NEWSCRAWL_LOG_SECRETS_HIDDEN is False")
        extension = cls()
        extension.install()
        # Scrapy makes a new handler once the settings are known.
        crawler.signals.connect(extension.install, signals.spider_opened)
        return extension

    def install(self) -> None:
        """Put the filter on each handler of the root logger that has none."""
        for handler in logging.getLogger().handlers:
            if not any(isinstance(known, SecretsFilter) for known in handler.filters):
                handler.addFilter(self._filter)
