"""Exit codes of the command line."""

from __future__ import annotations

from typing import Final

DONE: Final = 0
FAILED: Final = 1
"""An input could not be read, fetched or parsed."""
USAGE: Final = 2
"""Unknown or invalid argument, option or setting, or an optional package is missing."""
NO_ARTICLE: Final = 3
"""The input was read and contains no article."""
ALARM: Final = 4
"""A report has an open alarm."""
UNREACHABLE: Final = 5
"""A report has the alarm that no site was reached."""
INTERRUPTED: Final = 130
"""Ended by Ctrl-C, as in shells."""


def interruption(path: str) -> str:
    """Return the message of the command *path*, such as ``newscrawl crawl``, after Ctrl-C."""
    hint = "; run again to resume" if path.endswith((" crawl", " urls")) else ""
    return f"{path}: interrupted{hint}\n"
