"""Site list: formats and error messages."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from scrapy.settings import Settings

from newscrawl.crawling.discovery.site_list import (
    Site,
    SitesError,
    http_url,
    load_sites,
    make_site,
    read_arguments,
)

SITES = [
    Site("https://news.example/", sections=("https://news.example/world/",), limit=5),
    Site("http://127.0.0.1:8080/", feeds=("http://127.0.0.1:8080/feed.xml",), language="pt-BR"),
]
ENTRIES: list[dict[str, object]] = [
    {"url": "https://news.example", "sections": ["/world/"], "limit": 5},
    {"url": "http://127.0.0.1:8080/", "feeds": ["feed.xml"], "language": "pt-BR"},
]


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def csv_of(entries: list[dict[str, object]]) -> str:
    file = StringIO()
    names = ["url", "sections", "feeds", "limit", "language"]
    writer = csv.DictWriter(file, names)
    writer.writeheader()
    for entry in entries:
        cells = {k: " ".join(v) if isinstance(v, list) else v for k, v in entry.items()}
        writer.writerow(cells)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sites.csv", csv_of(ENTRIES)),
        ("sites.json", json.dumps(ENTRIES, indent=2)),
        ("wrapped.json", json.dumps({"title": ["mine"], "sites": ENTRIES})),
        ("sites.jsonl", "\n".join(map(json.dumps, ENTRIES))),
        ("sites.yaml", yaml.safe_dump(ENTRIES)),
        ("wrapped.yml", yaml.safe_dump({"sites": ENTRIES})),
    ],
)
def test_all_formats_give_the_same_sites(tmp_path: Path, name: str, text: str):
    assert load_sites(write(tmp_path, name, text)) == SITES


def test_reads_plain_lines(tmp_path: Path):
    """Comments, blank lines, a byte order mark and bare host names."""
    text = "\ufeff# mine\nnews.example  # daily\n\nhttp://localhost:8000/a#b\n"
    urls = [site.url for site in load_sites(write(tmp_path, "sites.txt", text))]
    assert urls == ["https://news.example/", "http://localhost:8000/a#b"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.txt", "https://a.example/\nnot a url\n", "a.txt:2: not an http(s) URL: 'not a url'"),
        ("a.txt", "ftp://a.example/\n", "a.txt:1: not an http(s) URL"),
        ("a.txt", "http://a.example/\n\nhttp://A.example/news\n", "a.txt:3: a.example is listed"),
        ("a.txt", "# nothing\n", "a.txt: the list has no sites"),
        ("a.csv", "site,limit\na.example,3\n", "a.csv:1: url is missing"),
        ("a.csv", "url,limit\na.example,3\nb.example,none\n", "a.csv:3: limit must be"),
        ("a.csv", "url\na.example,3\n", "a.csv:2: unknown option 'extra columns'"),
        (
            "a.json",
            '[\n {"url": "a.example"},\n {"url": "b.example", "limit": 0}\n]',
            "a.json:entry 2: limit",
        ),
        ("a.json", '[\n {"url": "a.example",\n]', "a.json:3: "),
        ("a.json", '{"sites": 7}', "a.json:entry 1: unknown option 'sites'"),
        ("a.json", "7", "a.json:entry 1: expected a URL or a mapping"),
        ("a.jsonl", '"a.example"\n{"url": 1}\n', "a.jsonl:2: not an http(s) URL: 1"),
        ("a.jsonl", '"a.example"\n{\n', "a.jsonl:2: "),
        (
            "a.yaml",
            "- a.example\n- url: b.example\n  seections: [x]\n",
            "a.yaml:entry 2: unknown option",
        ),
        ("a.yaml", "- a.example\n- [b.example\n", "a.yaml:3: "),
        ("a.yaml", "- url: a.example\n  language: not a tag\n", "a.yaml:entry 1: language must be"),
        ("a.yaml", "- url: a.example\n  feeds: [3]\n", "a.yaml:entry 1: feeds must be URLs"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, name: str, text: str, message: str):
    with pytest.raises(SitesError) as error:
        load_sites(write(tmp_path, name, text))
    assert str(error.value).startswith(f"{tmp_path}/{message}")


COOKIES = (
    "# Netscape HTTP Cookie File\n"
    "#HttpOnly_.paper.example\tTRUE\t/\tTRUE\t0\tsid\ts3cret\n"
    "www.paper.example\tFALSE\t/\tFALSE\t4102444800\tseen\t1\n"
    ".other.example\tTRUE\t/\tFALSE\t4102444800\tsid\ts3cret\n"
)


def test_options_of_requests(tmp_path: Path):
    """Files are relative to the list; secrets are not shown; cookies are of the site only."""
    write(tmp_path, "cookies.txt", COOKIES)
    (tmp_path / "rules").mkdir()
    options = {
        "url": "https://www.paper.example/",
        "headers": {"Authorization": "Bearer s3cret", "X-Number": 7},
        "cookies": {"edition": "int"},
        "cookie_file": "cookies.txt",
        "delay": 2,
        "render": False,
        "rules": "rules",
    }
    (site,) = load_sites(write(tmp_path, "sites.json", json.dumps([options])))
    assert site.headers == (("Authorization", "Bearer s3cret"), ("X-Number", "7"))
    assert [(it.name, it.domain, it.secure, it.is_expired()) for it in site.cookies] == [
        ("sid", ".paper.example", True, False),
        ("seen", "www.paper.example", True, False),
        ("edition", ".paper.example", True, False),
    ]
    assert (site.delay, site.render, site.rules) == (2.0, False, str(tmp_path / "rules"))
    assert "s3cret" not in repr(site)
    lines = '"Authorization: Bearer s3cret\nX-Number: 7"'
    text = f"url,headers,cookies,render,rules\nwww.paper.example,{lines},edition=int,no,no\n"
    (row,) = load_sites(write(tmp_path, "sites.csv", text))
    assert (row.headers, row.render, row.rules) == (site.headers, False, "")
    assert [it.name for it in row.cookies] == ["edition"]


def test_expired_login(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    write(tmp_path, "cookies.txt", COOKIES.replace("4102444800", "1000000000"))
    write(tmp_path, "sites.yaml", "- url: other.example\n  cookie_file: cookies.txt\n")
    (site,) = load_sites(tmp_path / "sites.yaml")
    assert [cookie.is_expired() for cookie in site.cookies] == [True]
    assert "cookies.txt: all cookies of other.example have expired" in caplog.text


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("headers: s3cret", "headers must be names and values, such as a: 1"),
        ('headers: {a: "s3cret\\x01"}', "headers must be"),
        ('headers: {a: "s3cret\\r\\nb: 2"}', "headers must be"),
        ("headers: [s3cret]", "headers must be"),
        ("cookies: s3cret", "cookies must be names and values, such as a= 1"),
        ("cookies: {a: s3cret;b}", "cookies must have no semicolon"),
        ("cookie_file: none.txt", "cookie_file: {}/none.txt: no such file"),
        ("cookie_file: sites.yaml", "cookie_file: {}/sites.yaml: not a file in Netscape's format"),
        ("cookie_file: bad.txt", "cookie_file: {}/bad.txt: not a file in Netscape's format"),
        ("cookie_file: cookies.txt", "cookie_file: {}/cookies.txt: no cookie of a.example"),
        ("delay: -1", "delay must be a number of seconds, not -1"),
        ("delay: .inf", "delay must be"),
        ("render: sometimes", "render must be yes or no, not 'sometimes'"),
        ("rules: none", "rules must be a folder or no, not 'none'"),
    ],
)
def test_wrong_options_of_requests(tmp_path: Path, option: str, message: str):
    """The message names the entry and never a secret."""
    write(tmp_path, "cookies.txt", COOKIES)
    write(tmp_path, "bad.txt", COOKIES.replace("4102444800", "s3cret"))
    path = write(tmp_path, "sites.yaml", f"- url: a.example\n  {option}\n")
    with pytest.raises(SitesError) as error:
        load_sites(path)
    assert str(error.value).startswith(f"{path}:entry 1: {message.format(tmp_path)}")
    assert "s3cret" not in str(error.value)


def test_rejects_unreadable_files(tmp_path: Path):
    with pytest.raises(SitesError, match="No such file"):
        load_sites(tmp_path / "none.txt")
    with pytest.raises(SitesError, match="directory"):
        load_sites(tmp_path)
    path = tmp_path / "latin.txt"
    path.write_bytes("http://a.example/\nhttp://b.example/\xe4\n".encode("latin-1"))
    with pytest.raises(SitesError, match="not UTF-8 text"):
        load_sites(path)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://News.Example:443/a", "news.example"),
        ("http://news.example:8080", "news.example:8080"),
        ("http://[::1]:8000/", "::1:8000"),
    ],
)
def test_site_key(url: str, key: str):
    assert make_site(url).key == key


@given(st.text() | st.integers() | st.none())
def test_any_value_is_a_url_or_a_value_error(value: object):
    try:
        url = http_url(value)
    except ValueError:
        return
    assert url.lower().startswith(("http://", "https://"))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_any_entry_is_a_site_or_a_value_error(value: object):
    for entry in (
        value,
        {"url": "a.example", "feeds": value},
        {"url": "a.example", "limit": value},
        {"url": "a.example", "headers": value},
        {"url": "a.example", "cookies": value},
        {"url": "a.example", "delay": value},
    ):
        try:
            assert isinstance(make_site(entry), Site)
        except ValueError:
            continue


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "no sites: give -a sites=FILE, -a site=URL or the setting NEWSCRAWL_SITES"),
        ({"site": "nowhere at all"}, "not an http"),
        ({"site": "a.example", "sites": "b.txt"}, "not both"),
        ({"site": "a.example", "limits": "3"}, "unknown argument 'limits'"),
        ({"site": "a.example", "shard": "17/16"}, "shards are numbered from 1 to 16"),
    ],
)
def test_rejects_wrong_arguments(arguments: dict[str, str], message: str):
    with pytest.raises(SitesError, match=message):
        read_arguments(arguments, Settings())
