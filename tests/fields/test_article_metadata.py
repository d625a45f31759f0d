"""Description, site name, section, tags, image, breadcrumbs and language of pages."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from newscrawl import extract
from newscrawl.document.document import parse_document
from newscrawl.fields.metadata import metadata
from newscrawl.fields.metadata.metadata import Metadata, read_metadata
from newscrawl.items import Article, Breadcrumb, Media
from tests.fields.test_metadata import ld

URL = "https://www.riverton-post.example/politics/bridge.html"
TITLE = "Old bridge reopens after five years of work"
STANDFIRST = (
    "The council paid for the repair with the tolls of the new bridge, to the surprise of many."
)
PARAGRAPHS = [
    (
        "The council of Riverton voted late on Thursday to reopen the old bridge, which had been closed "
        "to all traffic since a flood damaged two of its four pillars."
    ),
    (
        "Engineers replaced the pillars and the deck, at a cost that the city had put at twelve million "
        "when the work began, and that a new estimate last year had raised to nineteen."
    ),
    (
        "Cars and buses may use the bridge from Monday on, a spokesman said, and lorries once a last test "
        "of the deck has been finished in the summer."
    ),
]


def meta(**contents: str) -> str:
    """Return meta elements; "_" in a name is a colon."""
    return "".join(
        f'<meta property="{name.replace("_", ":", 1)}" content="{content}">'
        for name, content in contents.items()
    )


def article_ld(**values: object) -> str:
    return ld({"@type": "NewsArticle", "headline": TITLE, **values})


def read(head: str = "", body: str = "<p>Text.</p>", url: str | None = URL) -> Metadata:
    page = f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"
    return read_metadata(parse_document(page), url, datetime(2026, 6, 1, tzinfo=UTC))


def article(head: str = "", *, before: str = "", lang: str = "en") -> Article:
    paragraphs = "".join(f"<p>{text}</p>" for text in PARAGRAPHS)
    page = (
        f"<html lang='{lang}'><head><title>{TITLE}</title>{head}</head><body>"
        f"<article><h1>{TITLE}</h1>{before}<div>{paragraphs}</div></article></body></html>"
    )
    return extract(page, URL)


def source(found: Article | Metadata, name: str) -> str:
    return found.evidence[name].source


def test_description_that_the_page_does_not_show():
    found = article(meta(og_description="A bridge is open &amp;amp; <b>free</b> again.\x07"))
    assert found.description == "A bridge is open & free again."
    assert source(found, "description") == "meta:og:description"


def test_description_that_is_the_standfirst():
    """The one that the page shows is preferred to the one for social networks."""
    found = article(
        meta(og_description="You will not believe what reopened.", description=STANDFIRST),
        before=f"<p class=standfirst>{STANDFIRST}</p>",
    )
    assert found.description == STANDFIRST
    assert source(found, "description") == "standfirst:meta:description"
    assert found.evidence["description"].confidence > 0.9


def test_description_that_begins_the_body():
    start = PARAGRAPHS[0][:80].rpartition(" ")[0]
    found = article(meta(og_description=f"{start}…"))
    assert found.description == f"{start}…"
    assert source(found, "description").startswith("body:")


def test_description_in_full_if_one_is_truncated():
    found = article(
        meta(og_description="A bridge is open again, and free for...")
        + article_ld(description="A bridge is open again, and free for everyone in the city.")
    )
    assert found.description == "A bridge is open again, and free for everyone in the city."


@pytest.mark.parametrize(
    "head",
    [
        meta(og_description=TITLE.upper()),
        meta(description="News"),
        meta(description="All of the article. " * 60),
        meta(description="All the news of Riverton and its rivers")
        + ld({"@type": "WebSite", "description": "All the news of Riverton and its rivers"}),
    ],
)
def test_no_description_of_the_site_and_no_title(head: str):
    found = article(head)
    assert found.description is None
    assert "description" not in found.evidence


@pytest.mark.parametrize(
    ("head", "name", "origin"),
    [
        (meta(og_site_name="Riverton Post"), "Riverton Post", "meta:og:site_name"),
        (meta(og_site_name="Riverton Post - News from the river"), "Riverton Post",
         "meta:og:site_name"),
        (meta(og_site_name="Die Welt - heute"), "Die Welt - heute", "meta:og:site_name"),
        (article_ld(publisher={"name": "The Post"}), "The Post", "json-ld"),
        (ld({"@type": "WebSite", "name": "Post"}), "Post", "json-ld"),
        ("<title>Bridge opens | Politics | Riverton Post</title>", "Riverton Post", "title"),
        ("<title>Bridge opens | Politics</title>", None, None),
        ("<title>Riverton Post</title>", None, None),
        (meta(og_site_name="https://www.riverton-post.example"), None, None),
    ],
)  # fmt: skip
def test_site_name(head: str, name: str | None, origin: str | None):
    found = read(head)
    assert found.site_name == name
    assert (found.evidence["site_name"].source if name else None) == origin


def crumbs(*parts: tuple[str, str | None]) -> dict[str, Any]:
    entries = [
        {"@type": "ListItem", "position": str(number), "name": name, "item": address}
        for number, (name, address) in enumerate(parts)
    ]
    return {"@type": "BreadcrumbList", "itemListElement": entries[::-1]}


TRAIL = (("Home", "/"), ("Politics", "/politics/"), ("City hall", "/politics/city/"))
EXPECTED = (
    Breadcrumb("Home", "https://www.riverton-post.example/"),
    Breadcrumb("Politics", "https://www.riverton-post.example/politics/"),
    Breadcrumb("City hall", "https://www.riverton-post.example/politics/city/"),
)


@pytest.mark.parametrize(
    "trail",
    [
        crumbs(*TRAIL),
        crumbs(*TRAIL, ("Bridge", f"{URL}?utm=1")),
        crumbs(*TRAIL, (TITLE, None)),
        {"@type": "WebPage", "breadcrumb": crumbs(*TRAIL)},
        {"@graph": [crumbs(), crumbs(*TRAIL), crumbs(("Other", "/other/"))]},
    ],
)
def test_breadcrumbs_in_json_ld(trail: dict[str, Any]):
    found = read(article_ld() + ld(trail))
    assert found.breadcrumbs == EXPECTED
    assert (found.section, source(found, "section")) == ("Politics", "breadcrumbs")


def test_breadcrumbs_in_microdata():
    items = "".join(
        f"<li itemprop=itemListElement itemscope itemtype='https://schema.org/ListItem'>"
        f"<a itemprop=item href='{address}'><span itemprop=name>{name}</span></a></li>"
        for name, address in TRAIL
    )
    found = read(body=f"<ol itemscope itemtype='http://schema.org/BreadcrumbList'>{items}</ol>")
    assert found.breadcrumbs == EXPECTED
    assert source(found, "breadcrumbs") == "microdata"


@pytest.mark.parametrize(
    ("head", "name", "origin"),
    [
        (meta(article_section="Politics &amp;amp; People"), "Politics & People",
         "meta:article:section"),
        (meta(article_section="uncategorized") + article_ld(articleSection=["Politics", "City"]),
         "Politics", "json-ld"),
        (meta(article_section="https://x.example/") + meta(og_section="City"), "City",
         "meta:og:section"),
        (ld(crumbs(("Riverton Post", None), ("City", None))), "City", "breadcrumbs"),
        ("", None, None),
    ],
)  # fmt: skip
def test_section(head: str, name: str | None, origin: str | None):
    found = read(head)
    assert found.section == name
    assert (found.evidence["section"].source if name else None) == origin


@pytest.mark.parametrize(
    ("head", "tags", "origin"),
    [
        (meta(article_tag="Bridges") + meta(article_tag="Flood, 2021"), ("Bridges", "Flood, 2021"),
         "meta:article:tag"),
        ("<meta name=news_keywords content='Bridges,Rivers'>" * 2, ("Bridges", "Rivers"), "meta:news_keywords"),
        (meta(article_tag="Bridges, bridges,Rivers,"), ("Bridges", "Rivers"), "meta:article:tag"),
        (article_ld(keywords=["type:story", "@x", "Bridges", {"name": "Rivers"}, 7, "12"]),
         ("Bridges", "Rivers"), "json-ld"),
        (article_ld(keywords="Bridges;Rivers&amp;Seas"), ("Bridges", "Rivers&Seas"), "json-ld"),
        (meta(keywords="桥梁，河流"), ("桥梁", "河流"), "meta:keywords"),
        (meta(keywords="x" * 200), (), None),
    ],
)  # fmt: skip
def test_tags(head: str, tags: tuple[str, ...], origin: str | None):
    found = read(head)
    assert found.tags == tags
    assert (found.evidence["tags"].source if tags else None) == origin


def test_tags_of_links():
    found = read(
        body="<a rel='category tag' href=/c>News</a> <a rel=tag href=/a>#Bridges</a> <a rel=stage href=/b>No</a>"
    )
    assert (found.section, found.tags) == ("News", ("Bridges",))
    shown = "<div class=breadcrumbs><a href=/>Home</a> <a href=/news/>News</a></div>"
    found = read(body=f"{shown}<p class=post-tags>Tags: <a href=/tag/bridges>Bridges</a>")
    assert (found.section, found.tags) == ("News", ("Bridges",))
    assert source(found, "tags") == "links"


@pytest.mark.parametrize(
    ("shown", "section"),
    [
        ("You are here: {} › <a href=/city>City</a> › <a href=/city/port>Port</a>", "City"),
        ("<nav>{} / <a href=/city>City</a> / <i>Ferry</i></nav>", "City"),
        ("<p>{} &gt; <a href=/city>City</a> &gt; 正文</p>", "City"),
        ("{} | <a href=/city>City</a>", None),  # a menu
        ("{} <a href=/city>City</a>", None),
    ],
)
def test_links_after_the_front_page_with_marks_of_a_trail(shown: str, section: str | None):
    home = "<a href=/>Start</a>"
    found = read(body=f"<div>{shown.format(home)}</div><h1>Ferry slip closes</h1>")
    assert found.section == section


MENU = "<h4>Topics</h4><p><a href=/topic/news>News</a> <a href=/topic/film>Film</a></p>"


@pytest.mark.parametrize(
    ("shown", "tags"),
    [
        ("<p>Tags: <a href=/1>Ferry</a>, <a href=/2>Crane</a></p>", ("Ferry", "Crane")),
        ("<b>Schlagwörter</b><ul><li><a href=/1>Ferry</a><li><a href=/2>Crane</a></ul>", ("Ferry", "Crane")),
        ("<p>キーワード：<a href=/1>Ferry</a> <a href=/2>Crane</a> 2026", ("Ferry", "Crane")),
        ("<p>标签：港口、渡轮</p>", ("港口", "渡轮")),
        ("<p><b>Mots-clés :</b> Ferry, Crane</p>", ("Ferry", "Crane")),
        ("<ul><li><a href=/tag/1>#Ferry</a><li><a href=/tag/2>Crane</a></ul>", ("Ferry", "Crane")),
        ("<p>Topics: <a href=/1>Ferry</a></p><p><a href=/share>Share</a></p>", ("Ferry",)),
        (f"<p>Tags: <a href=/1>{'The story before this one ' * 4}</a></p>", ()),
        ("<footer>Tags: <a href=/1>Ferry</a></footer>", ()),
        ("<p>Topics <a href=/1>Ferry</a></p>", ()),
        ("", ()),
    ],
)  # fmt: skip
def test_shown_tags(shown: str, tags: tuple[str, ...]):
    found = read(body=f"{MENU}<h1>Crane reopens</h1><p>It reopened on Monday.</p>{shown}<hr>{MENU}")
    assert found.tags == tags


@pytest.mark.parametrize(
    "made", [lambda url: article_ld(image=url), lambda url: meta(og_image=url)]
)
def test_parameters_of_addresses_are_no_references(made: Callable[[str], str]):
    address = "https://x.example/bridge.jpg?id=1&copy=2&sect=3"
    image = read(made(address)).image
    assert image is not None
    assert image.url == address


def test_image_with_caption_and_credit_in_json_ld():
    image = {
        "@type": "ImageObject",
        "url": "/img/bridge.jpg?w=1&amp;h=2",
        "caption": "The bridge",
        "creditText": "Bo Berg",
    }
    expected = Media(
        "https://www.riverton-post.example/img/bridge.jpg?w=1&h=2", "The bridge", "Bo Berg"
    )
    inline = read(article_ld(image=[image, "/other.jpg"]))
    referred = read(ld({"@graph": [
        {"@type": "NewsArticle", "image": {"@id": "#i"}}, image | {"@id": "#i"}
    ]}))  # fmt: skip
    assert inline.image == referred.image == expected
    assert source(inline, "image") == "json-ld"


@pytest.mark.parametrize(
    "head",
    [
        article_ld(image=["https://x.example/bridge.jpg"]),
        article_ld(thumbnailUrl="https://x.example/bridge.jpg"),
        article_ld(image="/logo.png") + meta(og_image="https://x.example/bridge.jpg"),
        meta(og_image="https://x.example/default-image.png")
        + meta(twitter_image="https://x.example/bridge.jpg"),
        meta(og_image="data:image/png;base64,xyz")
        + meta(twitter_image="https://x.example/bridge.jpg"),
    ],
)  # fmt: skip
def test_image_is_not_the_logo(head: str):
    found = read(head).image
    assert found == Media("https://x.example/bridge.jpg")


def test_caption_of_the_figure_that_shows_the_image():
    figures = (
        "<figure><img src=/ad/banner.png><figcaption>Advertisement</figcaption></figure>"
        "<figure><picture><img data-src='/i/old-bridge-riverton_800x600.webp'></picture>"
        "<figcaption><span>The bridge on Monday.</span> <em class=photo-credit>Bo Berg</em>"
        "</figcaption></figure>"
    )
    stated = meta(og_image="https://cdn.example/large/old-bridge-riverton.jpg")
    found = read(stated, figures).image
    assert found == Media(
        "https://cdn.example/large/old-bridge-riverton.jpg", "The bridge on Monday.", "Bo Berg"
    )
    without = read(stated, "<img src=/i/riverton.jpg itemprop=image><figcaption>No</figcaption>")
    assert without.image == Media("https://cdn.example/large/old-bridge-riverton.jpg")


def test_caption_is_no_file_name():
    image = {"url": "https://x.example/old-bridge-2.jpg", "caption": "old-bridge"}
    assert read(article_ld(image=image)).image == Media("https://x.example/old-bridge-2.jpg")


def test_microdata_belongs_to_its_item():
    person = "<span itemprop=author itemscope itemtype='//schema.org/Person'><b itemprop=name>%s</b></span>"
    found = read(
        body="<div itemscope itemtype='http://schema.org/NewsArticle'>"
        f"<p>{PARAGRAPHS[0]}</p><p itemprop=description>{STANDFIRST}</p>{person % 'Ada Meyer'}"
        "<i itemprop=articleSection>City</i><i itemprop=keywords>Rivers, Roads</i>"
        "<img itemprop=image src=/a.jpg>"
        "<aside itemscope itemtype='http://schema.org/NewsArticle'><p itemprop=description>"
        f"Something else happened today.</p>{person % 'Jo Bond'}</aside></div>"
    )
    assert [text.text for text in found.descriptions] == [STANDFIRST]
    assert (found.authors, found.section, found.tags) == (
        ["Ada Meyer"],
        "City",
        ("Rivers", "Roads"),
    )
    assert found.image == Media("https://www.riverton-post.example/a.jpg")


def test_microdata_without_text_describes_the_page():
    scope = (
        "<div itemscope itemtype='https://schema.org/NewsArticle'><span itemprop=author itemscope>"
        "<meta itemprop=name content='Ada Meyer'></span></div>"
    )
    text = f"<p>{PARAGRAPHS[0]}</p>"
    assert read(body=text + scope).authors == ["Ada Meyer"]
    assert read(body=text + scope * 2).authors == []  # of other pages


def test_detects_the_language_of_a_page_that_declares_none():
    pytest.importorskip("py3langid")
    detected, declared = article(lang=""), article(lang="fr")
    assert (detected.language, source(detected, "language")) == ("en", "detected")
    assert (declared.language, source(declared, "language")) == ("fr", "html:lang")
    assert metadata.detect_language("Too short.") is None


def test_no_detection_without_the_library(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(metadata, "_classifier", lambda: None)
    detect = metadata.detect_language
    assert (
        detect("Der Bürgermeister der Stadt sagte am Montag, die Brücke werde 2027 fertig. " * 3)
        is None
    )
    assert detect("The mayor of the town said that the bridge will be finished in 2027. " * 3)


@pytest.mark.parametrize(
    "value",
    [None, 5, "", [], {}, [[["x"]]], {"url": {"url": 5}}, {"@id": 3}, {"name": {}}, [None, {"url": []}]],
)  # fmt: skip
def test_ignores_values_of_the_wrong_type(value: object):
    names = ("description", "articleSection", "keywords", "image", "thumbnailUrl", "publisher")
    found = read(
        ld(
            {"@type": "NewsArticle", **dict.fromkeys(names, value)},
            {"@type": "WebSite", "name": value, "description": value},
            {"@type": "BreadcrumbList", "itemListElement": value},
            {"@type": "BreadcrumbList", "itemListElement": [{"position": value, "item": value}]},
        )
    )
    assert found.image is None
    assert found.breadcrumbs == ()


def test_fields_survive_json():
    found = article(
        meta(og_description=STANDFIRST, og_image="https://x.example/a.jpg", keywords="a1, b1")
        + ld(crumbs(*TRAIL))
    )
    assert found.image
    assert found.tags == ("a1", "b1")
    assert len(found.breadcrumbs) == 3
    plain = found.to_dict()
    copy = Article.from_dict(json.loads(json.dumps(plain)))
    assert (copy.tags, copy.image, copy.breadcrumbs) == (found.tags, found.image, found.breadcrumbs)
    assert copy.to_dict() == plain
