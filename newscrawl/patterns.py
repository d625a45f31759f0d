"""Regular expressions that are compiled for the first text in need.

Compiling all of them takes longer than the extraction of a page, most of all ranges of Chinese and
Korean letters: a millisecond for each in Python 3.11.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, Generic, cast

_RANGES = re.compile(r"(\\u4e00)-\\u9fff|(가)-힣")
_MIN_CJK = "\u3000"


class LazyPattern(Generic[AnyStr]):
    """Pattern of *source* and *flags*, compiled when a method is first used."""

    def __init__(self, source: AnyStr, flags: int = 0) -> None:
        self.arguments: tuple[AnyStr, int] = source, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self.arguments), name)
        setattr(self, name, value)  # found without this method from now on
        return value


def lazy_regex(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a :class:`LazyPattern`, typed as a compiled pattern."""
    return cast("re.Pattern[AnyStr]", LazyPattern(source, flags))


class CJKPattern:
    """Pattern of *source*; for texts without Chinese and Korean letters without their ranges."""

    def __init__(self, source: str) -> None:
        self.whole = lazy_regex(source)
        self._without_ranges = lazy_regex(_RANGES.sub(r"\1\2", source))

    def __call__(self, text: str) -> re.Pattern[str]:
        """Return the pattern for *text*."""
        is_cjk = not text.isascii() and max(text) >= _MIN_CJK
        return self.whole if is_cjk else self._without_ranges
