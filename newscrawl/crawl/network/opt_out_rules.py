"""Opt-outs of text and data mining: files of a site, headers and meta elements of a page.

https://www.w3.org/community/reports/tdmrep/CG-FINAL-tdmrep-20240202/
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FILES: Final[Mapping[str, str]] = {"tdmrep": "/.well-known/tdmrep.json", "ai_txt": "/ai.txt"}
"""Files with the opt-outs of a site, by their names in the stats."""

MAX_FILE_SIZE: Final = 64 * 1024
_MAX_HEAD: Final = 64 * 1024
_META: Final = re.compile(rb"<meta\b[^>]{0,1000}>", re.IGNORECASE)
_RESERVATION: Final = re.compile(rb"\bname\s*=\s*[\"']?tdm-reservation\b", re.IGNORECASE)
_RESERVED: Final = re.compile(rb"\bcontent\s*=\s*[\"']?\s*1\b", re.IGNORECASE)
_ROBOTS: Final = re.compile(rb"\bname\s*=\s*[\"']?robots\b", re.IGNORECASE)
_NOAI: Final = re.compile(rb"(?<![\w-])noai(?![\w-])", re.IGNORECASE)


def is_opted_out_by_header(reservations: Iterable[bytes], robots_tags: Iterable[bytes]) -> bool:
    """Return whether ``TDM-Reservation`` is 1 or an ``X-Robots-Tag`` has ``noai``."""
    return any(value.strip() == b"1" for value in reservations) or any(
        _NOAI.search(value) for value in robots_tags
    )


def is_opted_out_by_meta(html: bytes) -> bool:
    """Return whether a ``meta`` element at the start of *html* reserves mining or has ``noai``."""
    return any(
        (_RESERVATION.search(element) and _RESERVED.search(element))
        or (_ROBOTS.search(element) and _NOAI.search(element))
        for element in _META.findall(html[:_MAX_HEAD])
    )
