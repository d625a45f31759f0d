"""Masking of secrets in logged URLs."""

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
# The length limits in the patterns prevent quadratic run time on long inputs.
_NAMES = (
    r"token|secret|passw(?:or)?d|passwd|pwd|signature|credentials?|api_?-?key|access_?-?key"
    r"|auth(?!or\b|ors\b)(?:orization)?|session_?-?id|jwt"
)
_VALUE = re.compile(
    r"([?&;](?:[\w.-]{0,40}(?:" + _NAMES + r")[\w.-]{0,20}|key|sig|sid)=)[^&;#\s'\"<>]+",
    re.IGNORECASE,
)
_FORMATTER = logging.Formatter()


def mask_secrets(text: str) -> str:
    """Return *text* with the secrets in its URLs replaced by ``***``.

    Secrets are user and password, and parameters named token, key, signature, password and the
    like.
    """
    if "@" in text:
        text = _USER.sub(f"{HIDDEN}@", text)
    return _VALUE.sub(rf"\1{HIDDEN}", text) if "=" in text else text


class SecretsFilter(logging.Filter):
    """Masks secrets in the message and the traceback of a log record."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Mask the secrets in *record* and return True."""
        message = record.getMessage()
        clean = mask_secrets(message)
        if clean != message:
            record.msg, record.args = clean, None
        if record.exc_info and not record.exc_text:
            record.exc_text = _FORMATTER.formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = mask_secrets(record.exc_text)
        return True


class HideSecrets:
    """Extension that masks secrets in logged URLs, also in the messages of Scrapy."""

    def __init__(self) -> None:
        self._filter = SecretsFilter()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension; raise ``NotConfigured`` if it is disabled."""
        if not setting(crawler.settings, "NEWSCRAWL_LOG_SECRETS_HIDDEN"):
            raise NotConfigured("NEWSCRAWL_LOG_SECRETS_HIDDEN is False")
        extension = cls()
        extension.install()
        # Scrapy replaces its handler after the settings are final.
        crawler.signals.connect(extension.install, signals.spider_opened)
        return extension

    def install(self) -> None:
        """Add the filter to each handler of the root logger that has none."""
        for handler in logging.getLogger().handlers:
            if not any(isinstance(known, SecretsFilter) for known in handler.filters):
                handler.addFilter(self._filter)
