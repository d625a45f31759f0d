"""One page, one article: by the command, a job, the pipeline and in a crawl."""

import asyncio
import json
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet
from scrapy.exceptions import DropItem
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from newscrawl.archives.archive_reader import ArchiveRecord, read_records
from newscrawl.archives.captures import NoPageError, page_of
from newscrawl.archives.sources import Unit
from newscrawl.archives.unit_extraction import UnitExtraction, unit_worker
from newscrawl.cli.extract_pages import command
from newscrawl.items import Article, PageItem
from newscrawl.pipeline_options import PipelineOptions
from newscrawl.pipelines import NewsExtractPipeline
from newscrawl.workers.pool import WorkerPool
from newscrawl.workers.process import Limits
from samples import SampleSites
from samples.server import write_sites_file
from tests.conftest import REPOSITORY
from tests.helpers.forked_scrapy import ForkedScrapy

Articles = list[dict[str, Any]]

#: the time of a page is when a file is read, and in an archive shortly before the crawl's
OF_ROUTE = ("fetched_at",)


def crawled(folder: Path) -> Articles:
    """Crawl the samples into an archive in *folder*, without styles, which only crawls have."""
    settings = {"NEWSCRAWL_WARC": folder / "warc", "NEWSCRAWL_NEARDUP_ENABLED": False}
    settings["NEWSCRAWL_CSS_ENABLED"] = False
    options = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    feed = folder / "crawl.jsonl"
    options += ["-O", str(feed), "-a", f"sites={folder}/sites.txt"]
    with SampleSites() as sites:
        write_sites_file(folder / "sites.txt", sites)
        command = ["crawl", "sitelist", *options]
        environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "samples.settings"}
        run = ForkedScrapy(command, REPOSITORY, environment, folder / "crawl.log")
        assert run.wait(200) == 0, run.log_path.read_text()
        requested = sorted(request.target for request in sites.requests)
    (archive,) = (folder / "warc").iterdir()
    kept = [record for record in read_records(archive) if isinstance(record, ArchiveRecord)]
    urls = [urlsplit(record.url) for record in kept if record.kind == "response"]
    assert sorted(url._replace(scheme="", netloc="").geturl() for url in urls) == requested
    return [json.loads(line) for line in feed.read_text().splitlines()]


def pages_of(archive: Path) -> Iterable[PageItem]:
    for record in read_records(archive):
        try:
            if isinstance(record, ArchiveRecord) and record.kind == "response":
                yield page_of(record)
        except NoPageError:
            continue


def printed(*args: str) -> Articles:
    done = CliRunner().invoke(command, [*args, "--format", "jsonl"], standalone_mode=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def of_unit(path: Path) -> Articles:
    """Return the articles of the file at *path* as ``Job``, and so Spark, extracts them."""
    articles: list[Article] = []
    options, limits = PipelineOptions.read(Settings()), Limits()
    worker = unit_worker(limits.deadline)
    unit = UnitExtraction(Unit(str(path)), options, limits, add=articles.append)
    try:
        unit.run(worker)
    finally:
        worker.close()
    return [article.to_dict() for article in articles]


def of_files(pages: Iterable[PageItem], folder: Path) -> Articles:
    """Return the articles of *pages* in files."""
    found = []
    for number, page in enumerate(pages):
        path = folder / f"{number}.html"
        path.write_bytes(page.html)
        found += printed(str(path), "--url", page.url, "--encoding", page.encoding or "utf-8")
    return found


def of_pipeline(pages: Iterable[PageItem]) -> Articles:
    async def run() -> Articles:
        crawler = get_crawler(settings_dict={"NEWSCRAWL_WORKERS": 0})
        pipeline = NewsExtractPipeline.from_crawler(crawler)
        found = []
        for page in pages:
            try:
                found.append((await pipeline.process_item(replace(page))).to_dict())
            except DropItem:
                continue
        await WorkerPool.for_crawler(crawler).close()
        return found

    return asyncio.run(run())


def comparable(articles: Articles) -> dict[str, dict[str, Any]]:
    """Return *articles* by URL without the fields that depend on the route."""
    plain = [json.loads(json.dumps(article)) for article in articles]
    for article in plain:
        for evidence in article["evidence"].values():  # feeds have four digits
            evidence["confidence"] = round(evidence["confidence"], 4)
    return {
        article["url"]: {name: article[name] for name in article if name not in OF_ROUTE}
        for article in plain
    }


@pytest.mark.slow
def test_all_routes_give_the_same_articles(tmp_path: Path):
    """A crawl of the samples; its pages in an archive, in rows and in files."""
    expected = comparable(crawled(tmp_path))
    assert len(expected) == 23
    (archive,) = (tmp_path / "warc").iterdir()
    pages = list(pages_of(archive))
    rows = [
        {
            "url": page.url,
            "html": page.html,
            "encoding": page.encoding,
            "fetched_at": page.fetched_at,
        }
        for page in pages
    ]
    table = tmp_path / "pages.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), table)
    lines = tmp_path / "pages.jsonl"
    lines.write_text(
        "".join(
            json.dumps({**row, "html": page.html.decode(page.encoding or "utf-8")}, default=str)
            + "\n"
            for row, page in zip(rows, pages, strict=True)
        )
    )
    assert comparable(printed(str(archive))) == expected
    assert comparable(of_unit(archive)) == expected
    assert comparable(of_pipeline(pages)) == expected
    # Rows and files have no hints from feeds and sitemaps.
    expected = comparable(of_pipeline(replace(page, hints={}) for page in pages))
    assert comparable(of_unit(table)) == expected
    assert comparable(of_unit(lines)) == expected
    files = comparable(of_files(pages, tmp_path))  # also of pages that are no articles
    assert {url: files[url] for url in expected} == expected
