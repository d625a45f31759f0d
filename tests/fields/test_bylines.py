"""Authors of references in JSON-LD, and of visible bylines."""

from __future__ import annotations

import json

import pytest

from newscrawl.extraction.extract import extract

PARAGRAPH = "<p>The council of the town voted late on Thursday to open the old bridge again.</p>"
URL = "https://news.example/politics/story-17.html"


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


@pytest.mark.parametrize(
    ("byline", "names"),
    [
        ("<p>By Gemma Jones Political Reporter</p>", ["Gemma Jones"]),
        ("<p>By Gemma van Dijk Home Affairs Editor</p>", ["Gemma van Dijk"]),
        ("<p>Gemma Jones, Transport Correspondent, in Holm</p>", ["Gemma Jones"]),
        ("<div>Haber: Meral Soylu / İZMİR</div>", ["Meral Soylu"]),
        ("<p>见习编辑 李琼皙</p>", ["李琼皙"]),
        ("<p>2026年5月12日 20:15　来源：港城晚报　作者：李琼皙</p>", ["李琼皙"]),
        ("Von: Jörg Müller, Redakteur", ["Jörg Müller"]),
        ("Rédigé par Hélène Dupont et Jean-Paul Martin", ["Hélène Dupont", "Jean-Paul Martin"]),
        ("Publicado por José García | 3 de mayo de 2021", ["José García"]),
        ("3 de maio de 2021 · Por: João da Silva", ["João da Silva"]),
        ("Testo di <a href=/x>Luca Rossi</a> e <a href=/y>Ada Bo</a>", ["Luca Rossi", "Ada Bo"]),
        ("Skrivet av Åsa Öberg", ["Åsa Öberg"]),
        ("Kirjoittanut Päivi Mäkinen", ["Päivi Mäkinen"]),
        ("Opracowała: Zofia Wójcik", ["Zofia Wójcik"]),
        ("Napsal Jiří Novák a Jana Dvořáková", ["Jiří Novák", "Jana Dvořáková"]),
        ("Szöveg: Kovács Péter", ["Kovács Péter"]),
        ("Muhabir: Çağla Yılmaz", ["Çağla Yılmaz"]),
        ("3 мая 2021 – Автор статьи: Иван Петров", ["Иван Петров"]),
        ("Публикувано от Мария Иванова", ["Мария Иванова"]),
        ("Από τον Γιώργο Νικολάου", ["Γιώργο Νικολάου"]),
        ("Viết bởi Trần Thị Bình", ["Trần Thị Bình"]),
        ("به قلم رضا احمدی", ["رضا احمدی"]),
        ("ผู้เขียน สมชาย ใจดี", ["สมชาย ใจดี"]),
        ("（新华社记者 王小明）", ["王小明"]),
        ("2021-05-03 10:20 本报记者王小明", ["王小明"]),
        ("田中太郎記者 2021年5月3日", ["田中太郎"]),
        ("[김철수, 이영희 기자]", ["김철수", "이영희"]),
        ("Published May 3, 2021 by <a href=/x>Ada Meyer</a>", ["Ada Meyer"]),
        ("Posted by Ada Meyer on May 3, 2021", ["Ada Meyer"]),
        ("By Ada Meyer for The Port Gazette", ["Ada Meyer"]),
        ("By Ada Meyer – Transport Reporter", ["Ada Meyer"]),
        ("By Ada Meyer @adameyer", ["Ada Meyer"]),
        ("By Ada Meyer -- Cable &amp; Port, 1/21/2008", ["Ada Meyer"]),
        ("By Ada Meyer, Chief Technology Officer and Head of Port Labs", ["Ada Meyer"]),
        ("Von Montag bis Freitag", []),
        ("Von unserer Korrespondentin Ada Meyer", ["Ada Meyer"]),
        ("Par notre envoyé spécial Paul Leroy (avec AFP)", ["Paul Leroy"]),
        ("Analysis by Ada Meyer, BBC News", ["Ada Meyer"]),
        ("By Ada Meyer in Oslo and Jo Bond in Berlin", ["Ada Meyer", "Jo Bond"]),
        ("Reporting by Ada Meyer; editing by Jo Bond", ["Ada Meyer"]),
        ("Von Ada Meyer (Text) und Jo Bond (Fotos)", ["Ada Meyer"]),
        ("By Ada Meyer / Reuters", ["Ada Meyer"]),
        ("Пише: Ива Бабић", ["Ива Бабић"]),
        ("ავტორი: ნინო ბერიძე", ["ნინო ბერიძე"]),
        ("Հեղինակ՝ Անի Սարգսյան", ["Անի Սարգսյան"]),
        ("كتب - سامي حداد", ["سامي حداد"]),
        ("[멜비=김민수 기자]", ["김민수"]),
        ("記者陳美玲／台北報導", ["陳美玲"]),
        ("来源：新华社 作者：赵一鸣", ["赵一鸣"]),
        ("Ada Meyer | Senior Writer | 3 May 2021", ["Ada Meyer"]),
        ("Text: Ada Meyer. Photos: Jo Bond.", ["Ada Meyer"]),
        ("Tekst: Zofia Maj, zdjęcia: Jan Lis", ["Zofia Maj"]),
        ("文 | 赵一鸣 编辑 | 林晓雯", ["赵一鸣"]),
        ("文：陳美玲 攝影：王志明", ["陳美玲"]),
        ("글·사진 김민수", ["김민수"]),
        ("(서울=연합뉴스) 김민수 기자", ["김민수"]),
        ("Submitted by Ada Meyer on Mon, 05/03/2021 - 10:30", ["Ada Meyer"]),
        ("This article was written by Ada Meyer", ["Ada Meyer"]),
        ("Napisał: Jan Lis", ["Jan Lis"]),
        ("Monday May 3, 2021 10:05 am PDT by Ada Meyer", ["Ada Meyer"]),
        ("How Ports Save 50% On Cranes By Playing Chess", []),
        ("Ada Meyer | 3 May 2021 | 3 min read", ["Ada Meyer"]),
        ("Jörg Müller, 3.5.2021, 08:15 Uhr", ["Jörg Müller"]),
        (
            "<time datetime=2021-05-03>3 May 2021</time> • Ada Meyer, Jo Bond",
            ["Ada Meyer", "Jo Bond"],
        ),
        ("<b>Ada Meyer</b>, <i>Transport Editor</i>", ["Ada Meyer"]),
        ("Town Council | 3 May 2021", []),  # "council" is a word of the story
        ("Related Articles<br>3 May 2021", []),
        ("Words by Ada Meyer for the Port Gazette", ["Ada Meyer"]),
        ("文/李琼皙 图/王志明", ["李琼皙"]),
        ("【田中宏昌、佐藤健】", ["田中宏昌", "佐藤健"]),
        ("Ada Meyer in Oslo and Jo Bond in New York", ["Ada Meyer", "Jo Bond"]),
        ("Par Hélène Dupont (Oslo, correspondance)", ["Hélène Dupont"]),
        ("Por José García en Oslo", ["José García"]),
        ("Town Council in Oslo", []),
    ],
)
def test_reads_bylines_in_many_languages(byline: str, names: list[str]):
    assert authors(f"<p>{byline}</p>")[0] == names


@pytest.mark.parametrize("text", ["未来三天", "PConline", "点击查看", "Share on Facebook"])
def test_labels_in_the_place_of_an_author_are_no_names(text: str):
    page = (
        f"<html lang=zh><body><article><h1>Council reopens the bridge</h1><p class=author>{text}</p>"
        f"{PARAGRAPH * 20}</article></body></html>"
    )
    assert extract(page, URL).authors == []


@pytest.mark.parametrize(
    ("byline", "names"),
    [
        ("Hovedkronikk av Ada Meyer", ["Ada Meyer"]),
        ("Rakstīja: Ada Meyer", ["Ada Meyer"]),
        ("Фото: Ada Meyer", []),
        ("Medically reviewed by Ada Meyer", []),
        ("Photography by Ada Meyer", []),
        ("צילום: דן לוי", []),
        ("Ada Meyer 3.5.2021 10:30", ["Ada Meyer"]),
        ("2021年5月3日 森下直樹", ["森下直樹"]),
        ("Ada Meyer<br>Transport Reporter", ["Ada Meyer"]),
        ("By Ada Meyer, Home Security Expert", ["Ada Meyer"]),
        ("By <a href=/author/1>Ada Meyer</a><span>, Home Security Expert</span>", ["Ada Meyer"]),
        ("By Ada Meyer <b>filed under</b> <a href=/tips>Tips</a>", ["Ada Meyer"]),
        ("記者 林宜靜 台北報導", ["林宜靜"]),
        ("이남경 MK스포츠", ["이남경"]),
    ],
)
def test_labels_dates_and_roles_beside_a_marked_name(byline: str, names: list[str]):
    assert authors(f"<p class=author>{byline}</p>")[0] == names


@pytest.mark.parametrize(
    ("stated", "names"),
    [
        ("Staff Reporter", []),
        ("editor1", []),
        ("{{author}}", []),
        ("@hdahl", []),
        ("['Ada Meyer', 'Jo Bond']", ["Ada Meyer", "Jo Bond"]),
        ("Ada Meyer, Financial Times", ["Ada Meyer"]),
        ("Ana", ["Ana"]),
    ],
)
def test_placeholders_accounts_and_papers_are_no_people(stated: str, names: list[str]):
    assert authors("", ld(stated))[0] == names


@pytest.mark.parametrize(
    ("byline", "names"),
    [
        *((f"By Ada Meyer {mark} 3 May 2021", ["Ada Meyer"]) for mark in "·•∙・●‧|◆—"),
        ("By Ada Meyer·3 May 2021", ["Ada Meyer"]),
        ("By Ada Meyer Tuesday, 4 May 2021", ["Ada Meyer"]),
        ("By <a href=/authors/ada>Ada Meyer</a>, <a href=/d>Tue., May 4, 2021</a>", ["Ada Meyer"]),
        (
            "By <a href=/by/ada>Ada Meyer</a> in Oslo, <a href=/by/jo>Jo Bond</a> and Li Wei in Rome",
            ["Ada Meyer", "Jo Bond", "Li Wei"],
        ),
        (
            "Von <a href=/autor/1>Ada Meyer</a> (Text), Köln, und <a href=/autor/2>Jo Bond</a>, Bonn",
            ["Ada Meyer", "Jo Bond"],
        ),
        ("By Ada\n          Meyer", ["Ada Meyer"]),
        ("By Ada von Hagen", ["Ada von Hagen"]),
        ("Von Femke van den Berg und Ada al-Khatib", ["Femke van den Berg", "Ada al-Khatib"]),
        ("By Ada Mey\u00ader", ["Ada Meyer"]),
        ("By <i>Ada Meyer</i> <b>Filed under</b> <i>Jo Bond</i>", ["Ada Meyer"]),
        ("Published by Port Games and released in May, Tides is a game.", []),
    ],
)
def test_separators_places_and_particles(byline: str, names: list[str]):
    assert authors(f"<p>{byline}</p>")[0] == names


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
