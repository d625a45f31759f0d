"""Masking of secrets in the log."""

import io
import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.crawling.logs import LogTextFilter, mask_secrets
from tests.helpers.crawls import crawl_pages
from tests.servers.site import SiteServer, html, redirect


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
        (
            "/a?author=jane&monkey=1&barcode=17&keyword=x",
            "/a?author=jane&monkey=1&barcode=17&keyword=x",
        ),
        ("/a#access_token=T&state=1", "/a#access_token=***&state=1"),
        ("see //user:pw@h/x", "see //***@h/x"),
        ("http://us@er:pw@h/", "http://***@h/"),
        ("/a?%74oken=T&api%5Fkey=K", "/a?%74oken=***&api%5Fkey=***"),
        ("/a?PHPSESSID=1&session=2", "/a?PHPSESSID=***&session=***"),
        ("/a?pass=1&code=2&otp=3", "/a?pass=***&code=***&otp=***"),
        ("/a?user[password]=1&token[]=2", "/a?user[password]=***&token[]=***"),
        (
            "/a?url=http%3A%2F%2Fb%2F%3Fx%3D1%26token%3DT&y=1",
            "/a?url=http%3A%2F%2Fb%2F%3Fx%3D1%26token%3D***&y=1",
        ),
        ("/a?url=b%253Ftoken%253DT", "/a?url=b%253Ftoken%253D***"),
        ("a page, 3 = 3", "a page, 3 = 3"),
    ],
)
def test_masks_secrets_only(text: str, clean: str):
    assert mask_secrets(text) == clean
    assert mask_secrets(clean) == clean


@given(st.text(st.characters(exclude_characters="=@%")))
def test_keeps_text_without_urls(text: str):
    assert mask_secrets(text) == text


def test_masks_messages_arguments_and_tracebacks():
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(LogTextFilter())
    logger = logging.getLogger("tests.secrets")
    logger.addHandler(handler)
    try:
        logger.warning("Crawled %(url)s", {"url": "http://u:p@a.example/?token=T"})
        logger.warning("Plain %s", 100)
        logger.warning("Encoding %r, %s\n\tnext", b"\x1b", "gz\x1b]0;a\x07\x9b31m\r\u202eip")
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
    assert "gz\\x1b]0;a\\x07\\x9b31m\\r\\u202eip\n\tnext\n" in lines
    assert "ValueError: invalid literal for int() with base 10: 'http://***@a.exam" in lines


@pytest.mark.slow
def test_masks_messages_of_scrapy(tmp_path: Path):
    with SiteServer() as web:
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
            tmp_path, urls,  RETRY_TIMES=1,
            LOG_LEVEL="DEBUG", ROBOTSTXT_OBEY=False, MY_PROXY="http://user:SECRET-6@proxy.example",
            NEWSCRAWL_CSS_ENABLED=False,
        )  # fmt: skip
    assert crawl.returncode == 0
    log = [line for line in crawl.output.splitlines() if "SECRET" in line and "'url'" not in line]
    assert log == []
    assert "signature=***" in crawl.output
