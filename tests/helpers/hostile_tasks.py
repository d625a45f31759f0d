"""Worker tasks that hang, crash, exhaust memory or raise errors."""

import ctypes
import os
import signal
import sys
import time
from typing import Any

from newscrawl.document.document import DocumentError
from newscrawl.workers.tasks import extract_page


def measure(data: bytes, **plain: Any) -> dict[str, Any]:
    return {"length": len(data), "pid": os.getpid(), **plain}


def loaded_modules(data: bytes) -> dict[str, Any]:
    return {"modules": sorted(sys.modules)}


def hang(data: bytes) -> dict[str, Any]:
    """Hang in C code that does not check for signals, as libxml2 can."""
    ctypes.PyDLL(None).pause()
    return {}


def sleep_for(data: bytes, *, seconds: float) -> dict[str, Any]:
    time.sleep(seconds)
    return {"pid": os.getpid()}


def write_zeros(data: bytes, *, length: int) -> dict[str, Any]:
    return {"zeros": "0" * length}


def spin(data: bytes, *, seconds: float) -> dict[str, Any]:
    """Use *seconds* of CPU time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
    return {}


def leave(data: bytes) -> dict[str, Any]:
    os._exit(7)


def segfault(data: bytes) -> dict[str, Any]:
    os.kill(os.getpid(), signal.SIGSEGV)
    return {}


def eat(data: bytes) -> dict[str, Any]:
    hoard = []
    while True:
        hoard.append(bytearray(2**24))


def fail(data: bytes) -> dict[str, Any]:
    raise KeyError("nothing here")


def refuse(data: bytes) -> dict[str, Any]:
    raise DocumentError("no markup")


def print_line(data: bytes) -> dict[str, Any]:
    print("a line that must not reach the pipe")  # noqa: T201
    return {"said": True}


def unplain(data: bytes) -> dict[str, Any]:
    return {"value": object()}


def page_task(data: bytes, **plain: Any) -> dict[str, Any]:
    """Run the task that a comment in the page names; extract the page if there is none."""
    for name, task in HOSTILE_PAGES.items():
        if f"<!-- {name} -->".encode() in data:
            return task(data)
    return extract_page(data, **plain)


def slow_page_task(data: bytes, **plain: Any) -> dict[str, Any]:
    """Extract the page, slowly if a comment asks for it."""
    if b"<!-- slow -->" in data:
        spin(data, seconds=0.7)
    return extract_page(data, **plain)


def styled_page_task(data: bytes, **plain: Any) -> dict[str, Any]:
    """Run the task that a comment names if the page has styles; else extract the page."""
    if "stylesheets" in plain:
        return page_task(data)
    return extract_page(data, **plain)


HOSTILE_PAGES = {"timeout": hang, "crash": segfault, "memory": eat, "error": fail}
