"""Names of attributes: those of our spiders and those that Scrapy reads or sets on any spider."""

import ast
import functools
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import scrapy

from newscrawl.cli.crawl_process import RequestSpider
from newscrawl.spiders.discovery import DiscoverySpider
from newscrawl.spiders.sitelist import SitelistSpider
from newscrawl.spiders.url_list import UrlListSpider

#: Names of Scrapy that a spider is meant to define.
DEFINED = {"custom_settings", "from_crawler", "name", "parse", "start"}
SPIDERS = {"spider", "spidercls"}
BY_NAME = {"getattr", "hasattr", "setattr"}
DEPRECATED = {"_apply_deprecated_spider_attr", "warn_on_deprecated_spider_attribute"}


@pytest.mark.parametrize("spider", [DiscoverySpider, RequestSpider, SitelistSpider, UrlListSpider])
def test_spiders_have_no_attribute_of_scrapy(spider: type[scrapy.Spider]):
    """Scrapy's SpiderState, for example, sets ``state``: a spider's own would be lost."""
    assert own_names(spider) & scrapy_names() <= DEFINED


def test_names_of_scrapy():
    """All ways in which Scrapy uses attributes of a spider are found."""
    assert {
        "allowed_domains",  # getattr(spider, ...)
        "closed",  # Spider.close
        "crawler",  # Spider._set_crawler
        "download_maxsize",  # spider.download_maxsize
        "handle_httpstatus_list",  # getattr(self.crawler.spider, ...)
        "logger",  # a property of Spider
        "max_concurrent_requests",  # read by name
        "state",  # spider.state = ...
    } <= scrapy_names()


def own_names(spider: type[scrapy.Spider]) -> set[str]:
    """Return the names that *spider* and its bases below ``scrapy.Spider`` define."""
    classes = spider.__mro__[: spider.__mro__.index(scrapy.Spider)]
    names = {name for cls in classes for name in vars(cls) if not name.startswith("__")}
    return names.union(*(stored_names(sys.modules[cls.__module__].__file__) for cls in classes))


@functools.cache
def scrapy_names() -> set[str]:
    """Return the names of ``scrapy.Spider``, and those that Scrapy uses of any spider."""
    names = set(dir(scrapy.Spider)) | stored_names(inspect.getsourcefile(scrapy.Spider))
    package = Path(scrapy.__file__).parent
    for path in package.rglob("*.py"):
        # Not the base classes that ours do not have.
        if path.parent.name != "spiders" or path.name == "__init__.py":
            names.update(used_names(ast.parse(path.read_bytes())))
    return names


def stored_names(path: str | None) -> set[str]:
    """Return the names of the attributes of ``self`` that a module sets."""
    assert path
    return {
        node.attr
        for node in ast.walk(ast.parse(Path(path).read_bytes()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and _is_named(node.value, {"self"})
    }


def used_names(tree: ast.AST) -> Iterator[str]:
    """Yield the names of the attributes of spiders that Scrapy's code uses."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_named(node.value, SPIDERS):
            yield node.attr
        elif isinstance(node, ast.Call) and (
            _is_named(node.func, DEPRECATED)
            or (_is_named(node.func, BY_NAME) and _is_named(node.args[0], SPIDERS))
        ):
            yield from (str(arg.value) for arg in node.args if isinstance(arg, ast.Constant))


def _is_named(node: ast.AST, names: set[str]) -> bool:
    return (node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")) in names
