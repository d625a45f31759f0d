"""Authors of references in JSON-LD, and of visible bylines."""

import json
import tomllib
from pathlib import Path

import pytest

from newscrawl.extraction.extract import extract

PARAGRAPH = "<p>The council of the town voted late on Thursday to open the old bridge again.</p>"
URL = "https://news.example/politics/story-17.html"

BYLINES: dict[str, dict[str, list[str]]] = tomllib.loads(
    (Path(__file__).parents[1] / "cases" / "bylines.toml").read_text(encoding="utf-8")
)


def authors(byline: str, head: str = "", before: str = "") -> tuple[list[str], str | None]:
    page = (
        f"<!doctype html><html lang=en><head><title>Council reopens the bridge</title>{head}</head>"
        f"<body>{before}<article><h1>Council reopens the bridge</h1>{byline}{PARAGRAPH * 50}"
        "</article><footer><a href=/author/max>Max Muster</a></footer></body></html>"
    )
    article = extract(page, URL)
    evidence = article.evidence.get("authors")
    return article.authors, evidence.source if evidence else None


def ld(author: object, *others: object) -> str:
    graph = [{"@type": "NewsArticle", "author": author}, *others]
    return f'<script type="application/ld+json">{json.dumps({"@graph": graph})}</script>'


@pytest.mark.parametrize(
    "author",
    [
        {"@id": "#ada"},
        [{"@id": "#none"}, {"@id": "#ada"}],
        {"@type": "Person", "givenName": "Ada", "familyName": "Meyer"},
    ],
)
def test_reads_references_and_parts_of_names(author: object):
    person = {"@type": "Person", "@id": "#ada", "name": "Ada Meyer"}
    assert authors("", ld(author, {"@id": 5}, person)) == (["Ada Meyer"], "json-ld")


@pytest.mark.parametrize(
    ("byline", "source"),
    [
        ("<p>By Ada Meyer and Jo Bond</p>", "byline"),
        ("<p>Von Ada Meyer, Jo Bond</p>", "byline"),
        ("<p>By <b>Ada Meyer</b> and <b>Jo Bond</b></p>", "byline"),
        ("<p><a href=/authors/17>Ada Meyer</a> <a href=/authors/18>Jo Bond</a></p>", "link"),
        ("<p><a href=/team/ada>Ada Meyer</a> <a href=/team/jo>Jo Bond</a></p>", "link"),
        (
            "<div class=author><i class=job>News Editor</i> <i>Ada Meyer</i> <i>Jo Bond</i></div>",
            "class",
        ),
    ],
)
def test_reads_bylines(byline: str, source: str):
    """Two authors, by wording, link or class; the role is no name."""
    assert authors(byline) == (["Ada Meyer", "Jo Bond"], source)


def test_authors_of_teasers_and_labels_in_metadata():
    author = "<i itemprop=author>{}</i>"
    teasers = f"{PARAGRAPH * 20}{author.format('Jo Bond')}"
    assert authors(author.format("Ada Meyer") + teasers)[0] == ["Ada Meyer"]
    pair = (
        '<meta name="twitter:label1" content="{}"><meta name="twitter:data1" content="Ada Meyer">'
    )
    assert authors("", pair.format("Escrito por")) == (["Ada Meyer"], "meta:twitter:data1")
    assert authors("", pair.format("Price"))[0] == []


@pytest.mark.parametrize(
    "text",
    [
        "<p>Riverton News</p>",
        "<li><a href=/about/staff/all.aspx>Staff Bios</a></li>",
        "<p><a href=/team/contact>Ada Meyer</a></p>",
        "<figure><figcaption>By Ada Meyer</figcaption></figure>",
        "<p>By then the bridge was closed.</p>",
        "<p class=author>By</p>",
        "<p class=authority>Town Hall</p>",
        "<ul><li><a href=/17>Door Straps</a></ul>",
        "<h2>Posts by Category</h2>",
        "<blockquote><cite>Tides</cite> by <i>Walter Munk</i></blockquote>",
        "<a href=/rowing/teams/port-angels>Angels</a>",
        "<a href=/users/clippings/add?id=3>Clip</a>",
        "<span class=byline>Publicerad:</span> 2019-10-07",
        "<p class=byline>Sat, 20 Dec, 2025 - 06:36</p>",
        "<p class=byline><b class=byline__category>Wellness &amp; Prevention</b></p>",
        "<a href=/authors>Authors</a><p>Hot Topics:</p>",
        "<td><a href=/cities>By City</a></td><td><a href=/states>By State</a></td>",
        "<p>3 May 2021</p><p>Ada Meyer will walk the pier again.</p>",
        "<p>3 May 2021</p><p>Ada Meyer © Jo Bond</p>",
        "<p>3 May 2021</p><p>Port Rovers 1 Hill United 0</p>",
        "<p>3 May 2021</p><p>Link Copied!</p>",
        "<p>3 May 2021</p><figure><span>Jo Bond</span></figure>",
    ],
)
def test_other_texts_are_no_bylines(text: str):
    assert authors(text) == ([], None)


def test_stated_authors_precede_bylines():
    assert authors("<p>By Jo Bond</p>", ld("Ada Meyer")) == (["Ada Meyer"], "json-ld")


@pytest.mark.parametrize(
    "end",
    [
        "<p>Written by Ada Meyer</p>",
        "<li><b>Autorin/Autor</b> Ada Meyer</li>",
        "<div class=author-box><h4>Ada Meyer</h4><p>covers the town hall.</p></div>",
        "<h3>About the author</h3><p><a href=/author/ada>Ada Meyer</a> covers the town hall.</p>",
        "<div><h3>Über die Autorin</h3><h4>Ada Meyer</h4><p>schreibt über die Stadt.</p></div>",
        "<p><b>À propos de l’auteur :</b> <i>Ada Meyer</i></p>",
    ],
)
def test_reads_a_byline_or_an_author_box_at_the_end_of_a_long_story(end: str):
    page = (
        f"<html lang=en><body><article><h1>Council reopens the bridge</h1>{PARAGRAPH * 60}"
        f"{end}</article><aside><a href=/author/max>Max Muster</a></aside></body>"
    )
    assert extract(page, URL).authors == ["Ada Meyer"]


def test_reads_a_name_with_an_agency_below_the_title():
    assert authors("<p>Ada Meyer, Associated Press</p>")[0] == ["Ada Meyer"]
    assert authors("<p>Ada Meyer, Zugspitze</p>")[0] == []


def test_the_site_is_the_author_if_there_is_no_other():
    head = '<meta property="og:site_name" content="The Example">' + ld("The Example")
    assert authors("<p>By Ada Meyer</p>", head) == (["Ada Meyer"], "byline")
    assert authors("", head) == (["The Example"], "site:json-ld")


def test_a_byline_outweighs_an_author_named_like_the_host():
    site = '<meta name="author" content="News Example">'
    assert authors("<p>By Ada Meyer</p>", site) == (["Ada Meyer"], "byline")
    assert authors("", site)[0] == ["News Example"]


@pytest.mark.parametrize(
    "content",
    [
        "财讯网_提供股票、期货与外汇市场的金融资讯",
        "Port Office, 1 Quay Street, Tel: +44 (0)117 496 0123",
    ],
)
def test_claims_and_addresses_in_metadata_are_no_authors(content: str):
    assert authors("", f'<meta name="author" content="{content}">') == ([], None)


@pytest.mark.parametrize(("byline", "names"), BYLINES["shown"].items())
def test_reads_bylines_in_many_languages(byline: str, names: list[str]):
    assert authors(f"<p>{byline}</p>")[0] == names


@pytest.mark.parametrize("text", ["未来三天", "PConline", "点击查看", "Share on Facebook"])
def test_labels_in_the_place_of_an_author_are_no_names(text: str):
    page = (
        f"<html lang=zh><body><article><h1>Council reopens the bridge</h1><p class=author>{text}</p>"
        f"{PARAGRAPH * 20}</article></body></html>"
    )
    assert extract(page, URL).authors == []


@pytest.mark.parametrize(("byline", "names"), BYLINES["marked"].items())
def test_labels_dates_and_roles_beside_a_marked_name(byline: str, names: list[str]):
    assert authors(f"<p class=author>{byline}</p>")[0] == names


@pytest.mark.parametrize(("stated", "names"), BYLINES["stated"].items())
def test_placeholders_accounts_and_papers_are_no_people(stated: str, names: list[str]):
    assert authors("", ld(stated))[0] == names


@pytest.mark.parametrize(
    "house",
    ["Port Verlag GmbH & Co. KG", "Newsroom", "Port Gazette Staff", "Redaktion", "foto: archiv rt"],
)
@pytest.mark.parametrize("byline", ["By Ada Meyer", "Von <a href=/autor/1>Ada Meyer</a>"])
def test_a_byline_outweighs_a_house_or_credit_in_metadata(house: str, byline: str):
    head = f'<meta name="author" content="{house}">'
    assert authors(f"<p>{byline}</p>", head)[0] == ["Ada Meyer"]


def test_companies_are_no_authors():
    assert authors("", '<meta name="author" content="Port Verlag GmbH">') == ([], None)


def test_authors_of_cards_below_the_story_are_not_its_own():
    card = (
        "<div><a href=/s/{0}>Otters return to the canal at Hale Lock {0}</a>"
        "<div class=by>By <a rel=author href=/authors/{0}>Rory Falk</a></div></div>"
    )
    page = (
        f"<html lang=en><body><article><h1>Council reopens the bridge</h1>{{}}{PARAGRAPH * 8}"
        f"</article>{card.format(1)}{card.format(2)}</body>"
    )
    assert extract(page.format(""), URL).authors == []
    assert extract(page.format("<p>By Ada Meyer</p>"), URL).authors == ["Ada Meyer"]
