"""Worker task that crashes or hangs, in a module that is quick to import."""

import os
import time
from typing import Any


def crash_or_hang(html: bytes, *, page: dict[str, Any]) -> dict[str, Any]:
    """Abort the process on the page ``right``, sleep beyond any deadline on ``doubtful``."""
    if page["id"] == "right":
        os.abort()
    if page["id"] == "doubtful":
        time.sleep(60)
    return {"length": len(html)}
