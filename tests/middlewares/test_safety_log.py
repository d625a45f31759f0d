"""Secrets in URLs stay out of the log."""

from __future__ import annotations

import io
import logging
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.crawl.network import secrets
from newscrawl.crawl.network.secrets import SecretsFilter, without_secrets
from tests.helpers.crawls import crawl_pages
from tests.helpers.operations import growth
from tests.servers.direct_web import RESOLVER, DirectWeb, direct_environment, html
from tests.servers.styled_web import redirect

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("<GET http://me:pass@a.example/x>", "<GET http://***@a.example/x>"),
        ("s3://key:se/cret@bucket", "s3://key:se/cret@bucket"),
        ("https://token@a.example:8080/", "https://***@a.example:8080/"),
        ("http://a.example/@user/story", "http://a.example/@user/story"),
        ("/a?access_token=abc.def&page=2", "/a?access_token=***&page=2"),
        ("/a?X-Amz-Signature=0a1b&X-Amz-Date=1", "/a?X-Amz-Signature=***&X-Amz-Date=1"),
        ("/a?x=1&api_key=K&apikey=K", "/a?x=1&api_key=***&apikey=***"),
        ("/a?key=K;sig=S;sid=1", "/a?key=***;sig=***;sid=***"),
        ("'http://a.example/?PASSWORD=p%20q'", "'http://a.example/?PASSWORD=***'"),
        ("/a?auth=1&authToken=2&Authorization=3", "/a?auth=***&authToken=***&Authorization=***"),
        ("/a?author=jane&monkey=1&code=17&keyword=x", "/a?author=jane&monkey=1&code=17&keyword=x"),
        ("a page, 3 = 3", "a page, 3 = 3"),
    ],
)
def test_without_secrets(text: str, clean: str):
    """Users, passwords, tokens, keys and signatures; nothing else."""
    assert without_secrets(text) == clean
    assert without_secrets(clean) == clean


@given(st.text())
def test_any_text(text: str):
    """A line without URL and parameter stays as it is."""
    if "=" not in text and "@" not in text:
        assert without_secrets(text) == text


@pytest.mark.parametrize("piece", ["token", "?a=token", "&", "://", "?auth", "-_.a", "?token", "a"])
def test_hostile_lines_take_linear_time(piece: str):
    """Twice the URL takes twice the steps, whatever it is made of."""

    def clean(size: int) -> None:
        without_secrets(f"http://?{piece * (size // len(piece))}?@=")

    assert growth(clean, 2048, secrets) < 2.3


def test_messages_arguments_and_tracebacks():
    """Wherever the URL is in a record, it comes out clean; records without one are untouched."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(SecretsFilter())
    logger = logging.getLogger("tests.secrets")
    logger.addHandler(handler)
    try:
        logger.warning("Crawled %(url)s", {"url": "http://u:p@a.example/?token=T"})
        logger.warning("Plain %s", 100)
        try:
            int("http://u:p@a.example/?key=K")
        except ValueError:
            logger.exception("Failed")
    finally:
        logger.removeHandler(handler)
    lines = stream.getvalue()
    assert "u:p" not in lines
    assert "=T" not in lines
    assert "=K" not in lines
    assert "Plain 100" in lines
    assert "ValueError: invalid literal for int() with base 10: 'http://***@a.exam" in lines


@pytest.mark.slow
def test_whole_crawl(tmp_path: Path):
    """Scrapy's own lines are clean, too: requests, redirects, retries, errors, settings."""
    with DirectWeb() as web:
        host = f"paper.example:{web.port}"
        web.put("paper.example/a?token=SECRET-1", redirect("/b?signature=SECRET-2"))
        web.put("paper.example/b?signature=SECRET-2", html("x"))
        urls = [
            f"http://{host}/a?token=SECRET-1",
            f"http://user:SECRET-3@{host}/",
            f"http://nowhere.example:{web.port}/?api_key=SECRET-4",
            "ftp://user:SECRET-5@paper.example/x",
        ]
        crawl = crawl_pages(
            tmp_path, urls, direct_environment(), TWISTED_DNS_RESOLVER=RESOLVER, RETRY_TIMES=1,
            LOG_LEVEL="DEBUG", ROBOTSTXT_OBEY=False, MY_PROXY="http://user:SECRET-6@proxy.example",
            NEWSCRAWL_CSS_ENABLED=False,
        )  # fmt: skip
    assert crawl.returncode == 0
    log = [line for line in crawl.output.splitlines() if "SECRET" in line and "'url'" not in line]
    assert log == []
    assert "signature=***" in crawl.output
