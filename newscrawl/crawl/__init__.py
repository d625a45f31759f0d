"""The crawl: site lists, discovery, network, history, output.

The package has the name of :func:`newscrawl.crawl`, and does the same when it is called.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *args: Any, **options: Any) -> Any:
        return import_module("newscrawl.cli.python_crawl").crawl(*args, **options)


sys.modules[__name__].__class__ = _Callable
