"""``scrapy cluster``: feeds in, articles and clusters out."""

import asyncio
import gzip
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet
from scrapy.utils.test import get_crawler

from newscrawl import Article
from newscrawl.crawling.output.segments import SegmentSpan, write_span
from newscrawl.exporters import ParquetItemExporter
from newscrawl.pipelines import NearDuplicatePipeline
from samples import expected_pages
from tests.helpers.forked_scrapy import scrapy

pytestmark = pytest.mark.slow

ARTICLES = [
    Article(
        url=f"https://{page.site}.example{page.path}",
        title=page.title,
        date=page.date,
        body=page.body,
    )
    for page in expected_pages()
    if page.is_article
]
WIRE = {"Ports settle on common plug", "Forty ports agree on one", "Forty Ports Sign Pact on"}
LATER = Article(**ARTICLES[0].to_dict() | {"body": f"{ARTICLES[0].body}\n\nMore later.",
                "date": ARTICLES[0].date})  # fmt: skip


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run the command in *folder*."""
    return scrapy(folder, "cluster", *args)


def cluster(folder: Path, *args: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the articles and the clusters that the command, which must succeed, writes."""
    done = run(folder, *args, "-o", "out.jsonl", "--clusters", "clusters.jsonl")
    assert done.returncode == 0, done.stderr
    return lines(folder / "out.jsonl"), lines(folder / "clusters.jsonl")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_feed(path: Path, articles: Sequence[Article]) -> Path:
    text = "".join(json.dumps(article.to_dict()) + "\n" for article in articles)
    path.write_text(text, encoding="utf-8")
    return path


def streamed(articles: Sequence[Article]) -> list[dict[str, Any]]:
    """Return the clusters that the pipeline gives articles in a crawl."""

    async def crawl() -> list[dict[str, Any]]:
        crawler = get_crawler(settings_dict={"NEWSCRAWL_NEARDUP_INDEX": ""})
        pipeline = NearDuplicatePipeline.from_crawler(crawler)
        await pipeline.open_spider()
        found = [(await pipeline.process_item(article)).cluster for article in articles]
        await pipeline.close_spider()
        return found

    return asyncio.run(crawl())


def test_clusters_match_the_crawl(tmp_path: Path) -> None:
    articles = [*ARTICLES, LATER, ARTICLES[3]]
    write_feed(tmp_path / "feed.jsonl", articles)
    rows, _ = cluster(tmp_path, "feed.jsonl")
    names = ("cluster_then", "size", "is_first", "similarity", "near_duplicates")
    assert [tuple(row[name] for name in names) for row in rows] == [
        tuple(found.values()) for found in streamed(articles)
    ]


@pytest.mark.parametrize("options", [[], ["--two-pass"]])
def test_groups_story_of_three_sites(tmp_path: Path, options: list[str]) -> None:
    write_feed(tmp_path / "feed.jsonl", ARTICLES)
    rows, clusters = cluster(tmp_path, "feed.jsonl", *options)
    assert len(rows) == len(ARTICLES)
    assert sum(one["size"] for one in clusters) == len(ARTICLES)
    largest, *others = clusters
    assert (largest["size"], largest["sites"], len(largest["articles"])) == (3, 3, 3)
    assert {one["size"] for one in others} == {1}
    titles = {row["title"] for row in rows if row["cluster"] == largest["cluster"]}
    assert {" ".join(title.split()[:5]) for title in titles} == WIRE
    assert largest["from"] <= largest["until"]


def test_reads_all_formats(tmp_path: Path) -> None:
    """Plain and gzipped JSON Lines and Parquet give the same clusters."""
    plain = write_feed(tmp_path / "feed.jsonl", ARTICLES)
    (tmp_path / "feed.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    with (tmp_path / "feed.parquet").open("wb") as file:
        exporter = ParquetItemExporter(file)
        exporter.start_exporting()
        for article in ARTICLES:
            exporter.export_item(article)
        exporter.finish_exporting()
    wanted = cluster(tmp_path, "feed.jsonl")
    assert cluster(tmp_path, "feed.jsonl.gz") == wanted
    assert cluster(tmp_path, "feed.parquet") == wanted


def test_reads_folder_of_segments(tmp_path: Path) -> None:
    """A damaged segment is an error."""
    write_feed(tmp_path / "feed.jsonl", ARTICLES)
    for first in range(0, len(ARTICLES), 10):
        items = [
            (first + place, json.dumps(article.to_dict()))
            for place, article in enumerate(ARTICLES[first : first + 10])
        ]
        span = SegmentSpan("0123abcd", "2026-11-22", items[0][0], items[-1][0])
        segment = write_span(tmp_path / "segments", span, items)
    assert cluster(tmp_path, "segments") == cluster(tmp_path, "feed.jsonl")
    (tmp_path / "segments" / "2026-11-22" / segment.name).unlink()
    done = run(tmp_path, "segments")
    assert (done.returncode, segment.name in done.stderr) == (1, True)


def test_clusters_across_feeds(tmp_path: Path) -> None:
    for site in ("harbour-gazette", "tageblick", "minato"):
        own = [article for article in ARTICLES if f"//{site}." in (article.url or "")]
        write_feed(tmp_path / f"{site}.jsonl", own)
    _, clusters = cluster(tmp_path, "harbour-gazette.jsonl", "tageblick.jsonl", "minato.jsonl")
    assert clusters[0]["sites"] == 3


def test_writes_parquet(tmp_path: Path) -> None:
    write_feed(tmp_path / "feed.jsonl", ARTICLES)
    rows, clusters = cluster(tmp_path, "feed.jsonl")
    done = run(tmp_path, "feed.jsonl", "-o", "a.parquet", "--clusters", "c.parquet")
    assert done.returncode == 0, done.stderr
    assert parquet.read_table(tmp_path / "a.parquet").to_pylist() == rows
    assert parquet.read_table(tmp_path / "c.parquet").to_pylist() == clusters


def test_prints_articles_by_default(tmp_path: Path) -> None:
    """Articles go to standard output, the summary to standard error."""
    write_feed(tmp_path / "feed.jsonl", ARTICLES)
    done = run(tmp_path, "feed.jsonl")
    assert len([json.loads(line) for line in done.stdout.splitlines()]) == len(ARTICLES)
    assert (
        f"{len(ARTICLES)} articles, {len(ARTICLES) - 2} clusters, 1 with several articles"
        in done.stderr
    )


def test_accepts_empty_feed(tmp_path: Path) -> None:
    """There is no article: exit code 3, and empty output."""
    (tmp_path / "feed.jsonl").touch()
    done = run(tmp_path, "feed.jsonl", "-o", "out.jsonl")
    assert (done.returncode, lines(tmp_path / "out.jsonl")) == (3, [])


def test_skips_invalid_rows(tmp_path: Path) -> None:
    """Rows that are cut, are not objects or have no text are counted."""
    feed = write_feed(tmp_path / "feed.jsonl", ARTICLES)
    with feed.open("a", encoding="utf-8") as file:
        file.write('\n[1]\n{"url": "https://a.example/1", "body": ""}\n{"url": "https://a.ex')
    done = run(tmp_path, "feed.jsonl", "-o", "out.jsonl")
    assert done.returncode == 0
    assert "feed.jsonl: 3 rows" in done.stderr
    assert len(lines(tmp_path / "out.jsonl")) == len(ARTICLES)


def test_reads_odd_rows(tmp_path: Path) -> None:
    """Unlimited nesting is not a row; half a surrogate pair is written as a question mark."""
    half = {
        "url": "https://a.example/1",
        "title": "Ports \ud83d settle",
        "body": "Half \udc1f. " * 9,
    }
    text = json.dumps(half) + "\n" + '{"a":' * 100_000 + "\n"
    (tmp_path / "feed.jsonl").write_text(text, encoding="utf-8")
    done = run(tmp_path, "feed.jsonl", "-o", "out.jsonl")
    assert done.returncode == 0, done.stderr
    assert "feed.jsonl: 1 row" in done.stderr
    assert [row["title"] for row in lines(tmp_path / "out.jsonl")] == ["Ports ? settle"]


def test_rejects_cut_gzip(tmp_path: Path) -> None:
    """The error names the file, and nothing is written."""
    whole = gzip.compress(write_feed(tmp_path / "feed.jsonl", ARTICLES).read_bytes())
    (tmp_path / "feed.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    done = run(tmp_path, "feed.jsonl.gz", "-o", "out.jsonl")
    assert done.returncode == 1
    assert "feed.jsonl.gz: " in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out.jsonl").exists()


def test_uses_settings_of_the_pipeline(tmp_path: Path) -> None:
    """Thresholds and field names."""
    rows = [{"link": one.url, "text": one.body, "title": one.title} for one in ARTICLES]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "feed.jsonl").write_text(text, encoding="utf-8")
    names = json.dumps({"url": "link", "body": "text"})
    _, clusters = cluster(tmp_path, "feed.jsonl", "-s", f"NEWSCRAWL_FIELDS={names}")
    assert clusters[0]["size"] == 3
    strict = ["-s", f"NEWSCRAWL_FIELDS={names}", "-s", "NEWSCRAWL_NEARDUP_CONTAINMENT=1"]
    _, clusters = cluster(tmp_path, "feed.jsonl", *strict)
    assert clusters[0]["size"] == 1


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        ([], 2, "FEED..."),
        (["missing.jsonl"], 1, "missing.jsonl: No such file"),
        (["broken.parquet"], 1, "broken.parquet"),
        (["feed.jsonl", "-o", "no/folder.jsonl"], 1, "no/folder.jsonl"),
        (["feed.jsonl", "-s", "NEWSCRAWL_NEARDUP_CONTAINMENT=2"], 2, "NEWSCRAWL_NEARDUP_"),
    ],
)
def test_rejects_wrong_usage(tmp_path: Path, args: list[str], code: int, message: str) -> None:
    write_feed(tmp_path / "feed.jsonl", ARTICLES[:1])
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    done = run(tmp_path, *args)
    assert done.returncode == code
    assert message in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
