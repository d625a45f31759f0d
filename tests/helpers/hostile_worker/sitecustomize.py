"""Replaces the task of extraction workers by :func:`tests.helpers.hostile_tasks.page_task`.

Python imports this module at its start if this folder is on its path.
"""

import pkgutil
import sys
from typing import Any

TASK = "newscrawl.workers.tasks:extract_page"
_resolve_name = pkgutil.resolve_name


def resolve_name(name: str) -> Any:
    return _resolve_name("tests.helpers.hostile_tasks:page_task" if name == TASK else name)


if "newscrawl.workers.child" in sys.orig_argv:
    pkgutil.resolve_name = resolve_name
