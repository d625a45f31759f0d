"""Fields on request that pages state: forty pages of publishing systems, and hostile values."""

import json
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from newscrawl.extraction.extract import extract
from newscrawl.extraction.method import ExtractOptions
from newscrawl.items import EXTRA_FIELDS, Article
from newscrawl.pipelines.item_filler import to_zyte

TABLE = tomllib.loads(
    (Path(__file__).parents[1] / "cases" / "page_fields.toml").read_text(encoding="utf-8")
)
FIELDS = frozenset(EXTRA_FIELDS) - {"body_html", "body_markdown", "links", "data"}
#: fields that all articles have, and the test reads
ALWAYS = ("image", "tags")
FETCHED_AT = datetime(2026, 6, 1, tzinfo=UTC)


def read(page: dict[str, Any]) -> dict[str, Any]:
    """Return the known fields of a page of the table."""
    language = page["id"].rpartition("-")[2]
    text = [f"<p>{it}</p>" for it in TABLE["story"][language]["text"]]
    body = page["body"].replace("{story}", "\n".join(text)).replace("{rest}", "\n".join(text[1:]))
    html = f"<!doctype html><html lang={language}><head>{page['head']}</head><body>{body}</body></html>"
    options = ExtractOptions(extra_fields=FIELDS)
    plain = extract(html, page["url"], fetched_at=FETCHED_AT, options=options).to_dict()
    return {name: known(plain[name]) for name in (*FIELDS, *ALWAYS) if known(plain.get(name))}


def known(value: Any) -> Any:
    """Return *value* without unknown parts; 0 is known."""
    if isinstance(value, list):
        return [known(inner) for inner in value]
    if isinstance(value, dict):
        return {name: inner for name, inner in value.items() if inner is not None}
    return str(value) if value == 0 else value


def expected(page: dict[str, Any]) -> dict[str, Any]:
    words = TABLE["story"][page["id"].rpartition("-")[2]]["words"]
    return {name: known(it) for name, it in ({"word_count": words} | page["expect"]).items()}


@pytest.mark.parametrize("page", TABLE["page"], ids=[page["id"] for page in TABLE["page"]])
def test_fields_of_a_page(page: dict[str, Any]):
    found, right, misses = read(page), expected(page), page.get("misses", ())
    assert {name: it for name, it in found.items() if name not in misses} == {
        name: it for name, it in right.items() if name not in misses
    }
    assert all(found.get(name) != right[name] for name in misses)


ALL = ExtractOptions(extra_fields=frozenset(EXTRA_FIELDS))
STORY = "".join(f"<p>{it}</p>" for it in TABLE["story"]["en"]["text"])
URL = "https://selby.example/lock"
VALUES: list[Any] = [
    None, 5, -1, 1e400, "", "x", "javascript:alert(1)", "http://[", [], {}, [[["x"]]], True,
    {"@id": "#a"}, {"url": {"url": 5}}, {"name": {}}, [None, {"url": []}], "\ud800\x07", 10**30,
]  # fmt: skip
PROPERTIES = (
    "author", "image", "video", "audio", "associatedMedia", "thumbnailUrl", "publisher", "license", "dateline",
    "contentLocation", "commentCount", "comment", "interactionStatistic", "keywords", "wordCount",
)  # fmt: skip


def page_with(*values: object, head: str = "", body: str = STORY) -> Article:
    """Return the article of a page with *values* as JSON-LD."""
    scripts = "".join(
        f"<script type='application/ld+json'>{json.dumps(value)}</script>" for value in values
    )
    html = f"<html lang=en><head>{scripts}{head}</head><body><article><h1>Lock</h1>{body}</article>"
    return extract(html, URL, fetched_at=FETCHED_AT, options=ALL)


def plain_json(article: Article) -> dict[str, Any]:
    """Return *article* as it is written and read back."""
    return json.loads(json.dumps(article.to_dict(), allow_nan=False).encode())


@pytest.mark.parametrize("value", VALUES, ids=map(repr, VALUES))
@pytest.mark.parametrize("wrap", ["{}", "{name}", "{items}"])
def test_values_of_the_wrong_type(value: Any, wrap: str):
    names = ("name", "url", "contentUrl", "text", "width", "logo", "userInteractionCount")
    stated = {"{}": value, "{name}": dict.fromkeys(names, value), "{items}": [value, [value]]}[wrap]
    article = page_with({"@id": "#a", "@type": "NewsArticle", **dict.fromkeys(PROPERTIES, stated)})
    plain = plain_json(article)
    assert Article.from_dict(plain).to_dict() == plain
    assert article.word_count == TABLE["story"]["en"]["words"]
    addresses = [medium["url"] for name in ("images", "videos", "audio") for medium in plain[name]]
    assert all(address.startswith("https://selby.example/") for address in addresses)
    assert article.comment_count in {None, 5}


def test_floods_are_bounded():
    images = [{"@type": "ImageObject", "url": f"https://a.example/{n}.jpg"} for n in range(5000)]
    comments = [{"@type": "Comment", "text": f"Text {n}"} for n in range(5000)]
    deep: Any = "x"
    for _ in range(200):
        deep = {"a": deep}
    head = "".join(f"<link rel=alternate hreflang=x-default href=/{n}>" for n in range(5000))
    body = STORY + "<figure><img src=/{}.jpg><figcaption>Lock</figcaption></figure>" * 3000
    article = page_with(
        {"@type": "NewsArticle", "image": images, "comment": comments},
        {"@type": "Thing", "text": "x" * 300_000},
        deep,
        {"@type": "Thing", "name": "small"},
        head=head,
        body=body,
    )
    assert len(article.images or ()) <= 100
    assert len(article.comments or ()) <= 50
    assert article.alternates == {"x-default": "https://selby.example/0"}
    assert len(json.dumps(article.data)) <= 250_000
    assert {"@type": "Thing", "name": "small"} in (article.data or ())
    plain_json(article)


def test_fields_are_absent_unless_requested():
    article = extract(f"<h1>Lock</h1>{STORY}", URL, fetched_at=FETCHED_AT)
    assert article.to_dict().keys().isdisjoint(EXTRA_FIELDS)


def test_json_ld_is_given_as_it_is():
    value = {"@type": "NewsArticle", "headline": "Lock", "x": [1, 2.5, None, True, {"y": "a\x07b"}]}
    found = page_with(value, [{"@type": "Thing"}])
    assert found.data == [value | {"x": [1, 2.5, None, True, {"y": "ab"}]}, [{"@type": "Thing"}]]


def test_schema_org_and_zyte_have_the_fields():
    article = page_with(
        {
            "@type": "NewsArticle",
            "author": {"@type": "Person", "name": "Ada Meyer", "url": "/ada", "jobTitle": "Editor"},
            "image": ["/a.jpg", "/b.jpg"],
            "video": {"@type": "VideoObject", "contentUrl": "/v.mp4", "name": "Digging"},
            "publisher": {"name": "Selby Echo", "logo": "/logo.png"},
            "license": "/terms",
            "commentCount": 3,
            "comment": {"text": "At last", "author": {"name": "Tom"}},
        }
    )
    found = article.to_schema_org()
    site = "https://selby.example"
    assert found["author"] == [
        {"@type": "Person", "name": "Ada Meyer", "url": f"{site}/ada", "jobTitle": "Editor"}
    ]
    assert [image["url"] for image in found["image"]] == [f"{site}/a.jpg", f"{site}/b.jpg"]
    assert found["video"] == [
        {"@type": "VideoObject", "url": f"{site}/v.mp4", "caption": "Digging"}
    ]
    assert found["publisher"]["logo"] == f"{site}/logo.png"
    assert (found["license"], found["commentCount"]) == (f"{site}/terms", 3)
    assert found["comment"][0]["author"] == {"@type": "Person", "name": "Tom"}
    zyte = to_zyte(article)
    assert [image.url for image in zyte.images] == [f"{site}/a.jpg", f"{site}/b.jpg"]
    assert [video.url for video in zyte.videos] == [f"{site}/v.mp4"]


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        ("https://cdn.example/up/2026/lock-300x200.jpg", True),
        ("https://a.example/styles/large/up/2026/lock.jpg?itok=1", True),
        ("https://a.example/up/2025/lock.jpg", False),
        ("https://a.example/up/2026/lock-2.jpg", False),
        ("https://a.example/image.php?id=2", False),
    ],
)
def test_an_image_in_two_sizes_is_one(other: str, is_same: bool):
    url = "https://a.example/up/2026/lock.jpg"
    article = page_with({"@type": "NewsArticle", "image": [url, other]})
    assert [image.url for image in article.images or ()] == [url, other][: 2 - is_same]


def test_files_with_long_names_are_one_in_all_folders():
    urls = [f"https://a.example/s{size}/0_Harbour-in-May-12.jpg" for size in (1200, 615)]
    article = page_with({"@type": "NewsArticle", "image": urls})
    assert [image.url for image in article.images or ()] == urls[:1]
