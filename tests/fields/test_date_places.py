"""Dates by their form and place on the page."""

from datetime import UTC, datetime

import pytest

from newscrawl.extraction.extract import extract

NOW = datetime(2026, 11, 1, tzinfo=UTC)
TITLE = "Council reopens the bridge"
PARAGRAPH = "The council of the town voted late on Thursday to open the old bridge again, after a year of repairs."
OTHERS = "<li><a href=/fish>Fish prices</a> 13/10/2018</li><li><a href=/ice>Ice</a> 12/10/2018</li><li><a href=/a>Apples</a> 11/10/2018</li>"


def day(
    head: str, lang: str = "en", after: str = "", url: str = "https://port.example/news/bridge"
) -> str | None:
    page = (
        f"<html lang={lang}><head><title>{TITLE}</title></head><body><article><h1>{TITLE}</h1>{head}"
        f"{f'<p>{PARAGRAPH}</p>' * 8}</article>{after}</body></html>"
    )
    found = extract(page, url, fetched_at=NOW).date
    return None if found is None else found.isoformat()[:10]


@pytest.mark.parametrize(
    ("head", "lang"),
    [
        ("<p>2021. gada 14. martā</p>", "lv"),
        ("<p>2021 оны 3 сарын 14</p>", "mn"),
        ("<p>2021 оны 3-р сарын 14</p>", "mn"),
        ("<p>Veröffentlicht am 14.3.21</p>", "de"),
        ("<div><b>14</b><b>Mar</b><b>2021</b></div>", "en"),
        ("<div><b>Mar</b><b>14</b><b>2021</b></div>", "en"),
        ("<meta name=citation_online_date content=2021/03/14>", "en"),
        (f"<p>(14 March 2021) {PARAGRAPH}</p>", "en"),
        (f"<p>MELBY, March 14, 2021 (AP) — {PARAGRAPH}</p>", "en"),
        ('<abbr class="published updated" title="2021-03-14T08:00:00+00:00">8:00</abbr>', "en"),
        ('<meta name="article:published_time" datetime="2021-03-14">', "en"),
        ("<p>2021年3月14日公開 2021年3月16日更新</p>", "ja"),
        (f"<p>MELBY, 14 de marzo de 2021.- {PARAGRAPH}</p>", "es"),
    ],
)
def test_reads_dates_of_many_forms(head: str, lang: str):
    assert day(head, lang) == "2021-03-14"


@pytest.mark.parametrize(
    "head",
    [
        "<p>When: 2 October 2019, 19:00</p>",
        "<p>Event date: 2 October 2019</p>",
        "<p>Port 2.11.22</p>",
        "<p>Vol. 3, No. 5 (May 2019)</p>",
        "<p>From 28 February to 3 March 2019</p>",
        "<div class=image-caption>The bridge on 2 October 2019</div>",
    ],
)
def test_events_and_versions_give_no_date(head: str):
    assert day(head) is None


def test_lists_of_posts_give_the_date_of_their_own_entry_only():
    own = f"<li><a href=/news/bridge>{TITLE}</a> 26/10/2018</li>"
    assert day("", after=f"<ul>{own}{OTHERS}</ul>") == "2018-10-26"
    assert day("", after=f"<ul>{OTHERS}</ul>") is None


def test_the_stamp_of_a_snapshot_is_not_the_date():
    snapshot = "https://archive.example/web/20210314120000id_/https://port.example"
    assert day("", url=f"{snapshot}/news/bridge") is None
    assert day("", url=f"{snapshot}/2019/10/02/bridge") == "2019-10-02"
    assert (
        day("", url="https://archive.example/wayback/archive/20210314/http://port.example/a")
        is None
    )


@pytest.mark.parametrize("tag", ["div", "article", "li"])
def test_dates_of_other_stories_below_this_one(tag: str):
    cards = "".join(
        f"<{tag}><time datetime=2019-03-0{n}>{n} March 2019</time><h5><a href=/n/{n}>Harbour crane {n} is sold</a></h5></{tag}>"
        for n in range(1, 5)
    )
    head = "<meta property=article:published_time content=2021-03-14T08:00:00Z>"
    assert day(head, after=f"<div>{cards}</div>") == "2021-03-14"


@pytest.mark.parametrize(
    "head",
    [
        "<div class=teaser_wrap><h3 class=teaser-meta>14.03.2021</h3></div>",
        "<div class='post-info w-embed'>Published <span>Mar 14, 2021</span></div>",
        "<div class=credits>14 March 2021 | Ada Meyer</div>",
        "Posted on <a rel=bookmark href=/news/bridge><time datetime=2021-03-14>Sunday, March 14, 2021</time></a>",
        "<a href=/team><div>The desk of the town hall</div><div>March 14, 2021</div></a>",
    ],
)
def test_dates_in_the_head_are_those_of_the_story_whatever_their_names(head: str):
    related = "".join(
        f"<div>{n} April 2021 <a href=/n/{n}>The choir looks for {n} tenors</a></div>"
        for n in (2, 3)
    )
    assert day(head, lang="de" if "14.03" in head else "en", after=related) == "2021-03-14"


@pytest.mark.parametrize(
    "related",
    [
        "<div><a href=/n/1>Otters return to the canal</a> <time datetime=2026-05-03>3 May 2026</time></div>",
        "<ul><li>2 April 2026 <a href=/n/1>Otters return</a></li></ul>",
        "<p><a href=/n/1>Links of the week (3 May 2026)</a></p>",
    ],
)
def test_a_story_without_a_date_has_none_of_others(related: str):
    assert day("", after=f"<div class=more>{related}</div>") is None


def test_the_update_that_the_page_shows_outweighs_that_of_the_software():
    head = (
        "<script type=application/ld+json>"
        '{"@type":"NewsArticle","datePublished":"2021-03-14","dateModified":"2026-05-03"}</script>'
        "<p>Updated on 20 April 2021</p>"
    )
    page = f"<html lang=en><head>{head[: head.index('<p>')]}</head><body><h1>{TITLE}</h1>{head[head.index('<p>') :]}"
    found = extract(page + f"<p>{PARAGRAPH}</p>" * 8, fetched_at=NOW)
    assert str(found.date) == "2021-03-14"
    assert str(found.date_modified) == "2021-04-20"
