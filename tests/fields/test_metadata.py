import json
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl import extract
from newscrawl.document.document import parse_document
from newscrawl.fields.metadata.author_names import clean_names
from newscrawl.fields.metadata.jsonld import parse_json_ld
from newscrawl.fields.metadata.metadata import Metadata, language_tag, read_metadata, stated_body

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
URL = "https://news.example/politics/story-17.html"


def read(head: str, body: str = "<p>Text.</p>", url: str | None = URL) -> Metadata:
    page = f"<!doctype html><html lang=en-gb><head>{head}</head><body>{body}</body></html>"
    return read_metadata(parse_document(page), url, NOW)


def ld(*values: object) -> str:
    return "".join(
        f'<script type="application/ld+json">{json.dumps(value)}</script>' for value in values
    )


ARTICLE = {
    "@context": "https://schema.org",
    "@type": "NewsArticle",
    "headline": "Bridge reopens &amp; ferry retires",
    "datePublished": "2024-05-04T10:00:00+02:00",
    "dateModified": "2024-05-05T08:00:00+02:00",
    "author": [{"@type": "Person", "name": "By Ada Meyer"}, "Jo Bond", {"name": "Ada Meyer"}],
    "publisher": {"@type": "Organization", "name": "The Example"},
    "isAccessibleForFree": "False",
}


def test_reads_a_json_ld_article():
    found = read(ld(ARTICLE))
    assert found.titles[0] == ("Bridge reopens & ferry retires", "json-ld")
    assert found.published[0][:2] == ("json-ld", "2024-05-04T10:00:00+02:00")
    assert [day.value.isoformat() for day in found.modified] == ["2024-05-05T08:00:00+02:00"]
    assert found.authors == ["Ada Meyer", "Jo Bond"]
    assert found.site_names == ["The Example"]
    assert found.paywalled is True
    assert found.language == "en-GB"
    assert found.evidence["authors"].source == "json-ld"


@pytest.mark.parametrize(
    "script",
    [
        '{"@type": "NewsArticle", "headline": "Bridge reopens",}',
        '{"@type": ["Thing", "NewsArticle"], "headline": "Bridge reopens", "tags": ["a", "b",],}',
        '{"@type": "NewsArticle", "headline": "Bridge reopens", "text": "one\n\ttwo\x01"}',
        '<!-- {"@type": "NewsArticle", "headline": "Bridge reopens"} -->',
        '//<![CDATA[\n{"@type": "NewsArticle", "headline": "Bridge reopens",}\n//]]>',
        '/*<![CDATA[*/{"@type": "NewsArticle", "headline": "Bridge reopens"}/*]]>*/',
        '{"@type": "WebSite"}\n{"@type": "NewsArticle", "headline": "Bridge reopens"};',
        '[{"@type": "Person"}, [{"@type": "NewsArticle", "headline": "Bridge reopens"}]]',
        '{"@graph": [{"@type": "WebPage"}, {"@type": "Article", "headline": "Bridge reopens"}]}',
        '{"@type": "WebPage", "mainEntity": {"@type": "Article", "headline": "Bridge reopens"}}',
        r'{"@type": "NewsArticle", "headline": "Bridge reopens", "text": "it\'s, ]"}',
        '{"@type": "WebSite",}\n{"@type": "NewsArticle", "headline": "Bridge reopens",}',
        '{"@type": "http://schema.org/NewsArticle", "name": "Bridge reopens"}',
    ],
)
def test_tolerates_common_errors_in_json_ld(script: str):
    found = read(f'<script type="application/ld+json">{script}</script>')
    assert found.titles[0] == ("Bridge reopens", "json-ld")


@pytest.mark.parametrize(
    "script",
    [
        "",
        "null",
        '"text"',
        "{",
        "[" * 100_000,
        '{"@graph":' * 50_000,
        json.dumps([{"@type": 7, "author": {"name": 5}, "headline": ["x"]}]),
        json.dumps({**ARTICLE, "headline": {"a": 1}, "author": [[1]], "datePublished": True}),
    ],
)
def test_ignores_invalid_json_ld(script: str):
    assert read(f'<script type="application/ld+json">{script}</script>').titles == []


@given(st.text(alphabet='{}[],:"\\ab1/*<!->', max_size=60))
def test_accepts_any_script(text: str):
    assert isinstance(parse_json_ld(text), list)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)
    )
)
def test_reads_valid_json_unchanged(value: object):
    if isinstance(value, (dict, list)):
        assert parse_json_ld(json.dumps(value)) == [value]


def test_finds_the_article_with_the_url_of_the_page():
    teaser = {"@type": "NewsArticle", "headline": "Another story", "url": "https://news.example/2"}
    own = {**ARTICLE, "mainEntityOfPage": {"@id": URL + "#main"}}
    assert read(ld(teaser, own)).titles[0].text == "Bridge reopens & ferry retires"
    assert read(ld([teaser]), url=None).titles[0].text == "Another story"


@pytest.mark.parametrize(
    "other",
    [
        {"@type": "Review", "name": "A crane"},
        {
            "@type": "Article",
            "headline": "About our reporters",
            "url": "https://news.example/about",
        },
    ],
)
def test_the_node_that_agrees_with_the_page_comes_first(other: dict[str, object]):
    other = {**other, "author": {"name": "Max Roth"}, "datePublished": "2020-01-02"}
    own = {key: value for key, value in ARTICLE.items() if key not in {"url", "mainEntityOfPage"}}
    found = read(f"<title>{own['headline']} | The Example</title>{ld(other, own)}")
    assert "Max Roth" not in found.authors
    assert found.published[0].raw == own["datePublished"]


@pytest.mark.parametrize(
    "name", ["Bego\\u00f1a N\\u00fa\\u00f1ez", "Bego&amp;ntilde;a N&uacute;&ntilde;ez"]
)
def test_values_that_are_escaped_twice(name: str):
    assert read(ld({"@type": "Article", "author": name})).authors == ["Begoña Núñez"]


def test_ignores_articles_in_item_lists():
    item = {"@type": "ListItem", "item": {"@type": "NewsArticle", "headline": "Another story"}}
    assert read(ld({"@type": "ItemList", "itemListElement": [item]})).titles == []


def test_reads_meta_elements():
    """In order of specificity, with white space and case normalized."""
    found = read("""
        <meta property="og:title" content=" Bridge  reopens | The Example ">
        <meta property="og:site_name" content="The Example">
        <meta name="pubdate" content="20240503">
        <meta property="Article:Published_Time" content="2024-05-04T10:00:00Z">
        <meta property="article:modified_time" content="2024-05-06">
        <meta name="author" content="Ada Meyer and Jo Bond">
        <meta property="article:author" content="https://facebook.example/ada">
        <meta property="article:content_tier" content="locked">
        <meta property="og:url" content="/politics/story-17.html">
    """)
    assert ("Bridge reopens | The Example", "og:title") in found.titles
    assert [day.source for day in found.published] == [
        "meta:article:published_time",
        "meta:pubdate",
    ]
    assert found.modified[0].value == date(2024, 5, 6)
    assert found.authors == ["Ada Meyer", "Jo Bond"]
    assert found.paywalled is True
    assert found.canonical_url == URL


def test_skips_meta_elements_whose_name_has_control_characters():
    """The name is in the evidence, which a terminal may show."""
    found = read(
        '<meta property="article\x10published_time" content="2024-05-04T10:00:00Z">'
        '<meta property="\n article:published_time\t" content="2024-05-05T10:00:00Z">'
    )
    assert [day.source for day in found.published] == ["meta:article:published_time"]


def test_modified_never_becomes_published():
    found = read(
        '<meta property="article:modified_time" content="2024-05-06T10:00:00Z">'
        + ld({"@type": "Article", "dateModified": "2024-05-06"}),
        '<time class="updated" datetime="2024-05-06">yesterday</time>',
    )
    assert found.published == []
    assert {day.source for day in found.modified} == {
        "json-ld",
        "meta:article:modified_time",
        "time",
    }


@pytest.mark.parametrize("tag", ["time", "relative-time"])
def test_reads_microdata_and_time_elements(tag: str):
    found = read(
        "",
        f"""<article itemscope itemtype="https://schema.org/NewsArticle">
        <h1 itemprop="headline">Bridge <i>reopens</i></h1>
        <span itemprop="author" itemscope><a href=/ada><b itemprop="name">Ada Meyer</b></a></span>
        <span itemprop="datePublished" content="2024-05-04">Saturday</span>
        <{tag} datetime="2024-05-04T10:00">10 am</{tag}></article>""",
    )
    assert found.titles == [("Bridge reopens", "microdata")]
    assert [(day.source, day.value.isoformat()) for day in found.published] == [
        ("microdata", "2024-05-04"),
        ("time", "2024-05-04T10:00:00"),
    ]
    assert found.authors == ["Ada Meyer"]
    assert found.evidence["authors"].source == "microdata"


def test_reads_author_links_last():
    found = read("", '<a rel="author nofollow" href="/ada">Ada Meyer</a>')
    assert (found.authors, found.evidence["authors"].source) == (["Ada Meyer"], "rel")


def test_reads_unknown_names_of_publication_dates():
    """After the known names; names of other dates are ignored."""
    names = (
        "x-publish-date", "publisher-since", "last-published", "publish-expiry", "pubdate",
        "created",
    )  # fmt: skip
    found = read("".join(f'<meta name="{name}" content="2024-05-04">' for name in names))
    assert [day.source for day in found.published] == [
        "meta:created",
        "meta:pubdate",
        "meta:x-publish-date",
    ]


def test_url_date_follows_other_sources_except_generic_meta_elements():
    head = '<meta name="date" content="2024-05-05"><meta name="pubdate" content="2024-05-04">'
    found = read(head, url="https://n.example/2024/05/03/x")
    assert [day.source for day in found.published] == ["meta:pubdate", "url", "meta:date"]


@pytest.mark.parametrize(
    ("href", "base", "canonical"),
    [
        ("/a?b=1", "", "https://news.example/a?b=1"),
        ("b", "<base href='https://cdn.example/x/'>", "https://cdn.example/x/b"),
        ("https://news.example/", "", None),
        ("http://[broken", "", None),
        ("javascript:void(0)", "", None),
    ],
)
def test_canonical_url_is_absolute_and_no_home_page(href: str, base: str, canonical: str | None):
    assert read(f'{base}<link rel="canonical" href="{href}">').canonical_url == canonical


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("en", "en"),
        ("EN_us", "en-US"),
        ("zh-hans-cn", "zh-Hans-CN"),
        ("es-419", "es-419"),
        ("", None),
        ("english", None),
        ("en, de", None),
    ],
)
def test_normalizes_language_tags(text: str, tag: str | None):
    assert language_tag(text) == tag


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["By Ada Meyer"], ["Ada Meyer"]),
        (["Von Ada Meyer und Jo Bond"], ["Ada Meyer", "Jo Bond"]),
        (["Ada Meyer, Jo Bond and Li Wei"], ["Ada Meyer", "Jo Bond", "Li Wei"]),
        (["Ada Meyer, PhD", "Li Wei, MD, RN"], ["Ada Meyer", "Li Wei"]),
        (["Ada Meyer, Jo Bond, dpa"], ["Ada Meyer", "Jo Bond", "dpa"]),
        (["Meyer, Ada"], ["Ada Meyer"]),
        (["Ada Meyer (am)", "신현주 기자"], ["Ada Meyer", "신현주"]),
        (["All posts by Ada Meyer", "Jo Bond, Al Ray, and Li Wei"],
         ["Ada Meyer", "Jo Bond", "Al Ray", "Li Wei"]),
        (["105092", "#"], []),
        (["ADA MEYER", "Ada Meyer", ""], ["ADA MEYER"]),
        (["https://x.example/ada", "/ada", "ada@x.example", "(Image: PA)", "x.example"], []),
        (["Byron Smith"], ["Byron Smith"]),
        (["山田太郎"], ["山田太郎"]),
        (["The Example", "Jo Bond"], ["Jo Bond"]),
        (["J.U.", "A.B.C."], ["J.U.", "A.B.C."]),
        (["View Profile", "Follow Ada Meyer", "Share"], []),
    ],
)  # fmt: skip
def test_cleans_author_names(texts: list[str], names: list[str]):
    """Without "By", URLs, duplicates and the site's name."""
    assert clean_names(texts, ["The Example"]) == names


def test_removes_control_characters_and_lone_surrogates():
    found = read(ld({"@type": "Article", "headline": "Bridge\u0000 \ud83d reopens"}))
    assert found.titles[0].text == "Bridge reopens"


def test_page_without_structured_data():
    """The title of an svg element is ignored."""
    found = read("", "<svg><title>Logo</title></svg><p>Text.</p>", url=None)
    assert (found.titles, found.published, found.authors, found.paywalled) == ([], [], [], None)


STATED = {
    "@type": "NewsArticle",
    "headline": "Council reopens the old bridge",
    "datePublished": "2024-05-30T10:00:00+02:00",
    "dateModified": "2024-05-31T09:00:00+02:00",
    "author": [{"name": "Ann Lee"}],
    "articleBody": "First paragraph &amp; more.\n\n<p>Second <b>paragraph</b>.</p>\n",
}
SHOWN = "<h1>Something else</h1><p>1 May 2024</p>" + "<p>A long text that is shown.</p>" * 20


def test_method_metadata_uses_structured_data_only():
    html = f"<html><head>{ld(STATED)}</head><body>{SHOWN}</body></html>"
    article = extract(html, URL, fetched_at=NOW, method="metadata")
    assert article.title == "Council reopens the old bridge"
    assert article.date == datetime.fromisoformat("2024-05-30T10:00:00+02:00")
    assert article.date_modified == datetime.fromisoformat("2024-05-31T09:00:00+02:00")
    assert article.authors == ["Ann Lee"]
    assert article.body == "First paragraph & more.\n\nSecond paragraph."
    assert {name: found.source for name, found in article.evidence.items() if name != "kind"} == {
        "title": "json-ld", "date": "json-ld", "date_modified": "json-ld", "authors": "json-ld",
        "body": "json-ld",
    }  # fmt: skip


def test_method_metadata_ignores_visible_text():
    html = f"<html><body>{SHOWN}</body></html>"
    article = extract(html, None, fetched_at=NOW, method="metadata")
    assert (article.title, article.date, article.body) == (None, None, "")
    assert set(article.evidence) == {"kind"}


@pytest.mark.parametrize("body", [None, 7, ["a", "b"], {"@value": "a"}, "", " \n "])
def test_ignores_invalid_article_bodies(body: object):
    assert stated_body(read(ld({**STATED, "articleBody": body}))) == ""


def test_method_metadata_strips_the_site_name():
    html = "<html><head><title>Old bridge open again | The Harbour Mail</title>"
    html += '<meta property="og:site_name" content="The Harbour Mail"></head><body></body></html>'
    article = extract(html, URL, fetched_at=NOW, method="metadata")
    assert article.title == "Old bridge open again"


def test_reads_a_date_from_json_ld_of_any_type():
    recipe = '{"@type": "Recipe", "datePublished": "2024-05-04"}'
    found = read(f'<script type="application/ld+json">{recipe}</script>')
    assert [(day.source, day.raw) for day in found.published] == [("json-ld:page", "2024-05-04")]
