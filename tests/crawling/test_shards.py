"""Shards of a site list: assignment of sites, files, concurrent crawls."""

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.utils.test import get_crawler

from newscrawl.crawling.output.segments import read_segments
from newscrawl.crawling.shards import MAX_SHARDS, Shard, shard_path
from samples import SampleSites
from tests.conftest import REPOSITORY
from tests.helpers.forked_scrapy import ForkedScrapy

DOMAINS = [f"https://www.site{number}.example/" for number in range(4000)]


def test_every_site_is_in_one_shard():
    for of in (1, 2, 7, 16):
        shards = [Shard(number, of) for number in range(1, of + 1)]
        held = [[shard.holds(url) for shard in shards] for url in DOMAINS]
        assert {sum(row) for row in held} == {1}
        sizes = [sum(column) for column in zip(*held, strict=True)]
        assert max(sizes) < 1.3 * len(DOMAINS) / of
        assert min(sizes) > 0.7 * len(DOMAINS) / of


def test_assignment_is_stable():
    found = [
        next(number for number in range(1, 17) if Shard(number, 16).holds(f"https://{host}/"))
        for host in ("example.com", "example.co.uk", "bücher.example", "127.0.0.1:8000")
    ]
    assert found == [7, 9, 10, 9]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("https://www.example.co.uk/", "http://news.example.co.uk:8080/uk/"),
        ("https://EXAMPLE.com", "https://example.com/a?b=c"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
    ],
)
def test_one_domain_is_in_one_shard(first: str, second: str):
    shards = [Shard(number, 64) for number in range(1, 65)]
    assert [shard.holds(first) for shard in shards] == [shard.holds(second) for shard in shards]


def test_doubling_the_shards_splits_each_shard():
    """The state of 3/16 can be copied to 3/32 and 19/32."""
    for url in DOMAINS[:500]:
        both = Shard(3, 32).holds(url) or Shard(19, 32).holds(url)
        assert Shard(3, 16).holds(url) == both


@pytest.mark.parametrize("text", ["3/16", " 3 / 16 ", "03/16"])
def test_parses_a_shard(text: str):
    assert Shard.parse(text) == Shard(3, 16)


@pytest.mark.parametrize(
    "shard", [Shard(1, 1), Shard(1, MAX_SHARDS), Shard(MAX_SHARDS, MAX_SHARDS)]
)
def test_parses_the_first_and_the_last_shard(shard: Shard):
    assert Shard.parse(f"{shard.number}/{shard.count}") == shard


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3", "must be written as 3/16, not '3'"),
        ("", "must be written as"),
        ("-1/16", "must be written as"),
        ("1/2/3", "must be written as"),
        ("٣/16", "must be written as"),
        ("0/16", "shard '0/16': shards are numbered from 1 to 16"),
        ("17/16", "numbered from 1 to 16"),
        ("1/0", "there can be 1 to 65536 shards"),
        ("1/65537", "there can be 1 to 65536 shards"),
    ],
)
def test_rejects_an_invalid_shard(text: str, message: str):
    with pytest.raises(ValueError, match=re.escape(message)):
        Shard.parse(text)


@given(st.text())
def test_any_text_is_a_shard_or_a_value_error(text: str):
    try:
        shard = Shard.parse(text)
    except ValueError:
        return
    assert Shard.parse(f"{shard.number}/{shard.count}") == shard


def test_shard_path():
    crawler = get_crawler()
    assert shard_path(crawler, "a/index.sqlite") == Path("a/index.sqlite")
    crawler.spider = crawler._create_spider("any")
    for shard, name in (
        (Shard(3, 16), "index-3-of-16.sqlite"),
        (Shard(1, 1), "index.sqlite"),
        (None, "index.sqlite"),
        ("3/16", "index.sqlite"),
    ):
        crawler.spider.shard = shard
        assert shard_path(crawler, "a/index.sqlite") == Path("a", name)


# --- Crawls ---


@pytest.fixture(scope="module")
def urls() -> Iterator[list[str]]:
    """Serve the sample sites, one domain each; return their home pages."""
    with SampleSites() as sites:
        yield list(sites.urls.values())


def start(folder: Path, urls: list[str], shard: str) -> ForkedScrapy:
    """Start the crawl of a shard with its files in *folder*."""
    (folder / "sites.txt").write_text("\n".join(urls))
    settings = {
        "DOWNLOAD_DELAY": 0,
        "NEWSCRAWL_ALLOWED_ADDRESSES": "127.0.0.1",
        "NEWSCRAWL_CSS_STORE": folder / "sheets",
        "NEWSCRAWL_MAX_AGE": 0,
        "NEWSCRAWL_NEARDUP_ENABLED": True,
        "NEWSCRAWL_NEARDUP_INDEX": folder / "index.sqlite",
        "NEWSCRAWL_SEGMENTS": folder / "segments",
        "NEWSCRAWL_STATE": folder / "state.sqlite",
        "NEWSCRAWL_WORKERS": 1,
    }
    options = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    words = ["-a", f"sites={folder / 'sites.txt'}", "-a", f"shard={shard}", *options]
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "newscrawl.settings.base"}
    log = folder / f"{shard.replace('/', '-of-')}.log"
    return ForkedScrapy(["crawl", "sitelist", *words], REPOSITORY, environment, log)


def finish(run: ForkedScrapy) -> str:
    """Return the log of a crawl, which must succeed."""
    status, log = run.wait(200), run.log_path.read_text(encoding="utf-8")
    assert status == 0, log
    return log


@pytest.mark.slow
def test_concurrent_shards_share_no_files(tmp_path: Path, urls: list[str]):
    """Except for the folder of segments."""
    runs = [start(tmp_path, urls, f"{number}/2") for number in (1, 2)]
    logs = [finish(run) for run in runs]
    assert not [log for log in logs if "Traceback" in log or "ERROR" in log], logs
    held = [int(re.search(r"Shard \d-of-2: (\d+) of", log)[1]) for log in logs]  # type: ignore[index]
    assert sum(held) == len(urls)
    for number in (1, 2):
        assert (tmp_path / f"state-{number}-of-2.sqlite").exists()
        assert (tmp_path / f"index-{number}-of-2.sqlite").exists()
    articles = Counter(item["url"] for item in read_segments(tmp_path / "segments"))
    assert set(articles.values()) == {1}
    assert {url.split("/")[2] for url in articles} == {url.split("/")[2] for url in urls}


@pytest.mark.slow
def test_accepts_a_shard_without_sites(tmp_path: Path, urls: list[str]):
    url = urls[0]
    empty = next(number for number in (1, 2) if not Shard(number, 2).holds(url))
    log = finish(start(tmp_path, [url], f"{empty}/2"))
    assert f"Shard {empty}-of-2: 0 of 1 sites" in log
    assert "Traceback" not in log


@pytest.mark.slow
def test_doubling_the_shards_repeats_no_article(tmp_path: Path, urls: list[str]):
    """With copies of the state, as in docs/guide/scaling.md."""
    number = next(number for number in (1, 2) if Shard(number, 2).holds(urls[0]))
    finish(start(tmp_path, urls, f"{number}/2"))
    before = sorted(item["url"] for item in read_segments(tmp_path / "segments"))
    assert before
    for half in (number, number + 2):
        shutil.copy(
            tmp_path / f"state-{number}-of-2.sqlite", tmp_path / f"state-{half}-of-4.sqlite"
        )
        assert "Traceback" not in finish(start(tmp_path, urls, f"{half}/4"))
    assert sorted(item["url"] for item in read_segments(tmp_path / "segments")) == before
