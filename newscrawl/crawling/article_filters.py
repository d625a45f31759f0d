"""Filters of articles: publication window, languages, keywords."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, Final, Self

from newscrawl import clock
from newscrawl.defaults import SettingError, setting
from newscrawl.items import parse_iso
from newscrawl.text import words

if TYPE_CHECKING:
    from newscrawl.items import Article

_AGE: Final = re.compile(r"(\d{1,5})([hd])")
_UNITS: Final = {"h": "hours", "d": "days"}
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class ArticleFilters:
    """Conditions that an article must meet; None and empty conditions are always met."""

    since: date | None = None
    until: date | None = None
    #: lower case tags: ``de`` also accepts ``de-AT``
    languages: tuple[str, ...] = ()
    #: sequences of words, of which the title or the body must contain one
    keywords: tuple[str, ...] = ()

    @classmethod
    def read(cls, settings: Any) -> Self:
        """Return the filters in *settings*; raise ``ValueError`` naming an invalid setting."""
        since = moment_setting(settings, "NEWSCRAWL_SINCE")
        until = moment_setting(settings, "NEWSCRAWL_UNTIL")
        if since and until and _is_before(until, since):
            raise SettingError(f"NEWSCRAWL_UNTIL: {until} is before NEWSCRAWL_SINCE: {since}")
        return cls(
            since=since,
            until=until,
            languages=tuple(str(tag).strip().lower() for tag in _list(settings, "LANGUAGES")),
            keywords=tuple(_as_text(str(word)) for word in _list(settings, "KEYWORDS")),
        )

    @property
    def earliest(self) -> datetime | None:
        """Return the earliest time at which an article of the window can be listed."""
        if self.since is None or isinstance(self.since, datetime):
            return self.since
        return datetime.combine(self.since, time(), UTC) - _DAY  # the day may be local

    @property
    def latest(self) -> datetime | None:
        """Return the latest time at which an article of the window can be listed as published."""
        if self.until is None or isinstance(self.until, datetime):
            return self.until
        return datetime.combine(self.until, time(), UTC) + 2 * _DAY

    def reason_by_date(self, moment: date | None) -> str | None:
        """Return why to drop an article that was published at *moment*; None to keep it."""
        if (self.since or self.until) and moment is None:
            return "undated"
        if moment and self.since and _is_before(moment, self.since):
            return "too_old"
        return "too_new" if moment and self.until and _is_before(self.until, moment) else None

    def reason(self, article: Article) -> str | None:
        """Return the reason to drop *article*: its name in the stats; None to keep it."""
        if reason := self.reason_by_date(article.date):
            return reason
        if self.languages and article.language:
            tag = f"{article.language.lower()}-"
            if not any(tag.startswith(f"{accepted}-") for accepted in self.languages):
                return "language"
        text = _as_text(f"{article.title or ''}\n{article.body}") if self.keywords else ""
        is_about = not self.keywords or any(keyword in text for keyword in self.keywords)
        return None if is_about else "keyword"


def _is_before(first: date, second: date) -> bool:
    """Compare two moments; by their days if one of them has no time."""
    if isinstance(first, datetime) and isinstance(second, datetime):
        return _aware(first) < _aware(second)
    return _day(first) < _day(second)


def _day(moment: date) -> date:
    return moment.date() if isinstance(moment, datetime) else moment


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _as_text(text: str) -> str:
    """Return the words of *text* between spaces."""
    return f" {' '.join(words(text))} "


def _list(settings: Any, name: str) -> list[Any]:
    return [entry for entry in setting(settings, f"NEWSCRAWL_{name}") if str(entry).strip()]


def moment_setting(settings: Any, name: str) -> date | None:
    """Return the setting *name*, a day, a time or an age (``24h``, ``7d``); None if it is empty.

    Raises :class:`SettingError`.
    """
    value = setting(settings, name)
    if not value or isinstance(value, date):
        return _aware(value) if isinstance(value, datetime) else value or None
    text = str(value).strip()
    if age := _AGE.fullmatch(text):
        return clock.now() - timedelta(**{_UNITS[age[2]]: int(age[1])})
    try:
        moment = parse_iso(text)
    except ValueError:
        raise SettingError(
            f"{name}: {text!r} is not a day (2026-01-31), a time in ISO 8601 or an age (24h, 7d)"
        ) from None
    return _aware(moment) if isinstance(moment, datetime) else moment
