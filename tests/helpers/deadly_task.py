"""A task that kills its worker, in a module that is quick to import."""

from __future__ import annotations

import os
import time
from typing import Any


def die_on_one_page(html: bytes, *, page: dict[str, Any]) -> dict[str, Any]:
    """Abort on one page, outlast any deadline on another."""
    if page["id"] == "right":
        os.abort()
    if page["id"] == "doubtful":
        time.sleep(60)
    return {"length": len(html)}
