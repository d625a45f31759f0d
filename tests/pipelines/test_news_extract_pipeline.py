"""News extraction pipeline: pages, kinds, settings."""

import asyncio
import logging
import re
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem
from scrapy.utils.test import get_crawler

from newscrawl import extract
from newscrawl.crawling.site_stats import dropped_pages
from newscrawl.items import Article, Evidence, PageItem
from newscrawl.pipelines import NewsExtractPipeline
from newscrawl.pipelines.news_extract import ExtractionFailed
from newscrawl.workers.pool import WorkerPool
from tests.pages.kind_pages import kind_pages
from tests.servers import pages

URL = "http://tagesbote.test:8080/2026/03/14/1-muehle.html"
LIST_URL = "http://tagesbote.test/politik/"
HTML = pages.article_page(1).encode()
STUB = pages.dress("Nur kurz", pages.paragraphs(1)[:2], meta_charset="utf-8").encode()
#: between the body lengths of STUB and HTML
MIN_BODY = 1000


@dataclass
class Results:
    items: list[Any]
    stats: dict[str, Any]

    def counts(self, prefix: str) -> dict[str, int]:
        return {
            name.removeprefix(prefix): value
            for name, value in self.stats.items()
            if name.startswith(prefix)
        }


def process(*items: Any, **settings: Any) -> Results:
    """Return the results of the pipeline for *items*, with exceptions for dropped ones."""

    async def run() -> Results:
        crawler = get_crawler(settings_dict={"NEWSCRAWL_WORKERS": 1} | settings)
        pipeline = NewsExtractPipeline.from_crawler(crawler)
        try:
            calls = (pipeline.process_item(item) for item in items)
            results = await asyncio.gather(*calls, return_exceptions=True)
            return Results(list(results), dict(crawler.stats.get_stats()))
        finally:
            await WorkerPool.for_crawler(crawler).close()

    return asyncio.run(run())


def assert_is_the_article(article: Any) -> None:
    """Assert that title, date and body are those of the page."""
    adapter = ItemAdapter(article)
    assert adapter["title"] == pages.title(1)
    date = adapter["date"]
    assert (datetime.fromisoformat(date) if isinstance(date, str) else date) == pages.PUBLISHED
    assert set(pages.paragraphs(1)) <= set(adapter["body"].split("\n\n"))


def test_extracts_page_item() -> None:
    fetched_at = datetime(2026, 3, 15, tzinfo=UTC)
    page = PageItem(url=URL, html=HTML, fetched_at=fetched_at, site="tagesbote.test")
    results = process(page)
    (article,) = results.items
    assert isinstance(article, Article)
    assert_is_the_article(article)
    assert (article.url, article.fetched_at, article.kind) == (URL, fetched_at, "article")
    assert results.counts("newscrawl/") == {
        "extract/article_count": 1,
        "site/tagesbote.test/article_count": 1,
    }


def test_extracts_again_what_another_pipeline_has_changed() -> None:
    """The spider may have an article of the page as it was."""
    before = extract(HTML, URL).to_dict() | {"title": "Of the page before"}
    changed = b"".join((HTML, b"<!-- read by another pipeline -->"))
    pages_read = [PageItem(URL, html, extracted=(HTML, dict(before))) for html in (HTML, changed)]
    assert [article.title for article in process(*pages_read).items] == [
        "Of the page before",
        pages.title(1),
    ]


def test_hints_fill_missing_fields() -> None:
    text = "".join(f"<p>{paragraph}</p>" for paragraph in pages.paragraphs(2))
    html = f"<html><title>Own</title><body><h1>Own</h1>{text}</body></html>".encode()
    hints = {"title": "Of the sitemap", "date": "2026-03-14T08:30:00+00:00", "language": "de"}
    (article,) = process(PageItem(url="http://a.test/x", html=html, hints=hints)).items
    assert (article.title, article.date, article.language) == ("Own", pages.PUBLISHED, "de")
    assert article.evidence["date"].source != article.evidence["title"].source


def test_decodes_a_page_that_is_kept() -> None:
    page = {"url": URL, "html": pages.article_page(1, meta_charset=None).encode("cp1252")}
    item = page | {"encoding": "cp1252"}
    process(item, NEWSCRAWL_OUTPUT="fill", NEWSCRAWL_REMOVE_HTML=False)
    assert item["html"] == pages.article_page(1, meta_charset=None)


def test_failed_decoding_costs_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs in a worker, since decoding may take quadratic time; the item is kept."""
    task = "tests.helpers.hostile_tasks:page_task"
    monkeypatch.setattr("newscrawl.pipelines.news_extract.DECODE_TASK", task)
    item = {"url": URL, "html": b"<!-- crash -->" + HTML}
    process(item, NEWSCRAWL_OUTPUT="fill", NEWSCRAWL_REMOVE_HTML=False)
    assert (item["title"], item["newscrawl_status"]) == (pages.title(1), "article")
    assert "html" not in item


@pytest.mark.parametrize(
    "item",
    [
        {"name": "no page"},
        {"url": URL},
        {"html": HTML},
        {"url": None, "html": HTML},
        Article(url=URL),
    ],
)
@pytest.mark.parametrize("output", ["article", "fill", "zyte"])
def test_passes_items_without_page(item: Any, output: str) -> None:
    before = ItemAdapter(item).asdict()
    if output == "fill":
        before.pop("html", None)
    results = process(item, NEWSCRAWL_OUTPUT=output, NEWSCRAWL_WORKERS=0)
    assert results.items[0] is item
    assert ItemAdapter(item).asdict() == before
    assert results.counts("newscrawl/") == {"extract/passed_count": 1}


def test_reads_text_and_declared_encoding() -> None:
    text = pages.article_page(1, meta_charset=None)
    results = process(
        {"url": URL, "html": text},
        {"url": URL, "html": text.encode("cp1252"), "encoding": "cp1252"},
    )
    for article in results.items:
        assert_is_the_article(article)


def test_applies_body_parts() -> None:
    items = b"<li>Der Listenpunkt steht mitten im Text und sagt, was es kostet.</li>" * 2
    listed = HTML.replace(b"</p>", b"</p><ul>" + items + b"</ul>", 4)
    for parts, kept in ((["lists"], True), ("quotes,tables", False)):
        (article,) = process({"url": URL, "html": listed}, NEWSCRAWL_BODY_PARTS=parts).items
        assert ("Listenpunkt" in article.body) == kept


def test_formats_the_body_on_request() -> None:
    page = {"url": URL, "html": HTML}
    (article,) = process(dict(page), NEWSCRAWL_EXTRA_FIELDS=["body_html", "body_markdown"]).items
    assert article.body_html.startswith("<p>")
    assert article.to_dict()["body_markdown"].count("\n\n") == article.body.count("\n\n")
    (plain,) = process(dict(page)).items
    assert plain.body_html is None
    (zyte,) = process(page, NEWSCRAWL_EXTRA_FIELDS="body_html", NEWSCRAWL_OUTPUT="zyte").items
    assert zyte.articleBodyHtml == article.to_html()


def test_drops_kinds_that_are_not_kept() -> None:
    # Undated sentences about the paper are kept as an article, at a confidence below .5.
    made = [page for page in kind_pages("tune") if page.page != "imprint.en.html"]
    items = [PageItem(url=f"http://a.test/{page.page}", html=page.html) for page in made]
    kept = [page.kind for page in made if page.kind not in {"index", "other"}]
    results = process(*items, NEWSCRAWL_MIN_BODY=0)
    found = [result.kind for result in results.items if isinstance(result, Article)]
    assert sorted(found) == sorted(kept)
    assert results.counts("newscrawl/extract/dropped_count/") == {
        "login": 1,  # of its kinds of other pages
        "consent": 1,
        "soft_404": 1,
        "not_article": len(made) - len(kept) - 3,
    }
    items = [PageItem(url=f"http://a.test/{page.page}", html=page.html) for page in made]
    only = process(*items, NEWSCRAWL_MIN_BODY=0, NEWSCRAWL_KEEP=["live"])
    assert sum(isinstance(result, Article) for result in only.items) == kept.count("live")


def test_dropped_items_have_reasons() -> None:
    """Their log messages do not include the page."""
    index = b"<html><body>" + b"<p><a href=/a>A headline that leads elsewhere</a></p>" * 80
    sites = ["a.test", "b.test"]
    pages = ((URL, STUB), (LIST_URL, index))
    items = [PageItem(url=url, html=html, site=site) for url, html in pages for site in sites]
    results = process(*items, NEWSCRAWL_MIN_BODY=MIN_BODY)
    assert all(isinstance(result, DropItem) for result in results.items)
    assert all(item.html == b"" for item in items)
    assert results.counts("newscrawl/extract/") == {
        "dropped_count/not_article": 2,
        "dropped_count/too_short": 2,
    }
    for site in sites:
        assert results.counts(f"newscrawl/site/{site}/dropped_count/") == {
            "not_article": 1,
            "too_short": 1,
        }


SECTION = (
    b"<html><title>Politics</title><body><h1>Politics</h1>"
    + b"".join(
        b"<div><h2><a href=/%d>A headline that leads to story %d</a></h2>"
        b"<p>The council met for the %dth time to decide about the bridge, and did not decide.</p></div>"
        % (number, number, number)
        for number in range(4, 34)
    )
    + b"</body></html>"
)
INDEX = (
    b"<html><body>"
    + b"<div><h2><a href=/a>A headline that leads elsewhere</a></h2><p>What it is about.</p></div>"
    * 60
    + b"</body></html>"
)


def test_keeps_pages_of_feeds() -> None:
    """Unless the body is nearly empty."""
    (dropped,) = process(PageItem(url=URL, html=INDEX)).items
    assert dropped.reason == "not_article"
    confidence = re.fullmatch(r"not an article \(index, (.*)\): .*", str(dropped))
    assert confidence is not None
    assert float(confidence[1]) > 0.8
    listed = {"listed": "yes"}
    (article,) = process(PageItem(url=LIST_URL, html=SECTION, hints=listed)).items
    assert article.kind == "article"
    assert article.evidence["kind"] == Evidence("hint", 0.6)
    empty = b"<html><body>" + b"<a href=/a>A headline</a> " * 5
    (dropped,) = process(PageItem(url=URL, html=empty, hints=listed)).items
    assert dropped.reason in {"not_article", "too_short"}


def test_drops_a_flood_of_text() -> None:
    flood = b"<p>" + b"The council decided on Thursday to build a wall. " * 25_000 + b"</p>"
    place = HTML.rindex(b"</p>")
    page = HTML[:place] + flood + HTML[place:]
    results = process(PageItem(url=URL, html=page), NEWSCRAWL_EXTRA_FIELDS=["body_markdown"])
    assert [str(dropped) for dropped in results.items] == [f"too long (1000001 characters): {URL}"]
    assert results.counts("newscrawl/extract/") == {"dropped_count/too_long": 1}


def test_keep_accepts_minimum_confidence() -> None:
    page = {"url": LIST_URL, "html": SECTION}
    for keep in (["article:0"], {"article": 0}, "article:0,live"):
        (article,) = process(dict(page), NEWSCRAWL_KEEP=keep, NEWSCRAWL_MIN_BODY=0).items
        assert article.kind == "article"
    confidence = article.evidence["kind"].confidence
    assert confidence < 0.2
    (dropped,) = process({"url": URL, "html": HTML}, NEWSCRAWL_KEEP=["article:1"]).items
    assert dropped.reason == "not_article"
    (index,) = process(
        dict(page), NEWSCRAWL_KEEP=["other", "index:0.5"], NEWSCRAWL_MIN_BODY=0
    ).items
    assert index.kind in {"index", "other"}


def test_stats_list_pages_dropped_for_their_kind() -> None:
    items = [
        PageItem(url=f"http://{site}/{number}", html=INDEX, site=site)
        for site in ("b.test", "a.test")
        for number in range(7)
    ]
    listed = dropped_pages(process(*items).stats)
    assert [page.site for page in listed] == ["a.test"] * 5 + ["b.test"] * 5
    assert all(page.kind == "index" and page.confidence > 0.8 for page in listed)
    assert "http://a.test/0" in {page.url for page in listed}


def test_applies_min_body_and_keep() -> None:
    assert isinstance(process({"url": URL, "html": STUB}, NEWSCRAWL_MIN_BODY="5").items[0], Article)
    (dropped,) = process({"url": URL, "html": HTML}, NEWSCRAWL_KEEP="live").items
    assert dropped.reason == "not_article"


@pytest.mark.parametrize(("reason", "retried"), [("timeout", 1), ("memory", 1), ("crash", 0)])
def test_extracts_expensive_pages_without_styles(
    monkeypatch: pytest.MonkeyPatch, reason: str, retried: int
) -> None:
    class Sheets:
        async def arguments(self, page: PageItem) -> dict[str, Any]:
            hashes = dict.fromkeys(page.stylesheets or (), "hash")
            return {"stylesheets": hashes, "store": ""}

        def learn(self, url: str, *, shows_story: bool) -> None:
            pass

    monkeypatch.setattr(
        "newscrawl.pipelines.news_extract.PAGE_TASK", "tests.helpers.hostile_tasks:styled_page_task"
    )

    async def run() -> tuple[list[Any], dict[str, Any]]:
        settings = {
            "NEWSCRAWL_WORKERS": 1,
            "NEWSCRAWL_DEADLINE": 4 if reason == "timeout" else 60,
            "NEWSCRAWL_MEMORY_LIMIT": 300,
        }
        crawler = get_crawler(settings_dict=settings)
        pipeline = NewsExtractPipeline.from_crawler(crawler)
        pipeline._sheets = Sheets()  # type: ignore[assignment]
        html = f"<!-- {reason} -->".encode() + HTML
        item = PageItem(url=URL, html=html, stylesheets=["http://a.example/a.css"])
        try:
            results = await asyncio.gather(pipeline.process_item(item), return_exceptions=True)
        finally:
            await WorkerPool.for_crawler(crawler).close()
        return list(results), crawler.stats.get_stats()

    (result,), stats = asyncio.run(run())
    assert stats.get("newscrawl/extract/retried_count", 0) == retried
    if retried:
        assert_is_the_article(result)
    else:
        assert isinstance(result, ExtractionFailed)


@pytest.mark.slow
def test_hostile_pages_do_not_affect_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(
        "newscrawl.pipelines.news_extract.PAGE_TASK", "tests.helpers.hostile_tasks:page_task"
    )
    caplog.set_level(logging.WARNING)
    reasons = ["timeout", "crash", "memory", "error", "document"]
    items = []
    for number in range(30):
        html = pages.article_page(number).encode()
        items.append(PageItem(url=f"{URL}?{number}", html=html, site="good.test"))
        if number % 6 == 0:
            reason = reasons[number // 6]
            html = b"" if reason == "document" else f"<!-- {reason} -->".encode() + html
            items.append(PageItem(url=f"{URL}?{reason}", html=html, site="bad.test"))
    results = process(*items, NEWSCRAWL_WORKERS=2, NEWSCRAWL_DEADLINE=8, NEWSCRAWL_MEMORY_LIMIT=300)
    articles = [result for result in results.items if isinstance(result, Article)]
    assert [article.title for article in articles] == [pages.title(n) for n in range(30)]
    assert results.counts("newscrawl/extract/") == {
        "article_count": 30,
        "dropped_count/failed": 5,
        **{f"failed_count/{reason}": 1 for reason in reasons},
    }
    assert results.counts("newscrawl/site/") == {
        "good.test/article_count": 30,
        "bad.test/dropped_count/failed": 5,
    }
    for reason in reasons:
        (record,) = [
            r for r in caplog.records if f"({reason}) for {URL}?{reason}" in r.getMessage()
        ]
        assert record.levelname == ("ERROR" if reason == "error" else "WARNING")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "NEWSCRAWL_BODY_PARTS",
            "images",
            "'images' is not one of captions, code, definitions, embeds",
        ),
        (
            "NEWSCRAWL_EXTRA_FIELDS",
            "tei",
            "NEWSCRAWL_EXTRA_FIELDS: 'tei' is not one of alternates, amp_url, audio, author_pr",
        ),
        ("NEWSCRAWL_METHOD", "magic", "NEWSCRAWL_METHOD: 'magic' is not one of .*nce"),
        (
            "NEWSCRAWL_OUTPUT",
            "items",
            "NEWSCRAWL_OUTPUT: 'items' is not one of article, fill, zyte",
        ),
        ("NEWSCRAWL_RENDER", "always", "NEWSCRAWL_RENDER: 'always' is not one of auto"),
        ("NEWSCRAWL_KEEP", ["news"], "NEWSCRAWL_KEEP: 'news' is not one of article, gallery"),
        ("NEWSCRAWL_KEEP", ["article:2"], "NEWSCRAWL_KEEP: confidence '2' of article is not"),
        ("NEWSCRAWL_KEEP", {"live": "x"}, "NEWSCRAWL_KEEP: confidence 'x' of live is not"),
        ("NEWSCRAWL_FIELDS", {"headline": "title"}, "NEWSCRAWL_FIELDS: 'headline' is not one of"),
        ("NEWSCRAWL_FIELDS", "{title", "NEWSCRAWL_FIELDS: "),
        ("NEWSCRAWL_FIELD_CONVERTERS", {"byline": "builtins.str"}, "'byline' is not one of"),
        (
            "NEWSCRAWL_FIELD_CONVERTERS",
            {"authors": "a.b"},
            "NEWSCRAWL_FIELD_CONVERTERS: authors: No module",
        ),
        ("NEWSCRAWL_MIN_BODY", "long", "NEWSCRAWL_MIN_BODY: 'long' is not a whole number"),
        ("NEWSCRAWL_WORKERS", "-1", "NEWSCRAWL_WORKERS: -1 is less than 0"),
        ("NEWSCRAWL_MEMORY_LIMIT", -5, "NEWSCRAWL_MEMORY_LIMIT: -5 is less than 0"),
    ],
)
def test_rejects_invalid_settings(name: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        process(**{name: value})


@pytest.mark.parametrize(
    ("missing", "setting", "extra"),
    [
        ("pyarrow", {"FEEDS": {"a.parquet": {"format": "parquet"}}}, r"newscrawl\[parquet\]"),
        ("zyte_common_items", {"NEWSCRAWL_OUTPUT": "zyte"}, r"newscrawl\[zyte\]"),
        ("scrapy_playwright", {"NEWSCRAWL_RENDER": "auto"}, r"newscrawl\[render\]"),
    ],
)
def test_names_missing_extra(
    missing: str, setting: dict[str, Any], extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only if the setting requires it."""
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "newscrawl.exporters", raising=False)
    with pytest.raises(ValueError, match=extra):
        process(**setting)
    feeds = {"a.jsonl": {"format": "jsonl"}}
    exporters = {"parquet": "newscrawl.exporters.parquet_exporter"}
    results = process({"url": URL, "html": HTML}, FEEDS=feeds, FEED_EXPORTERS=exporters)
    assert_is_the_article(results.items[0])
