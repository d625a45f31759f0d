"""Site rules correct what extraction reads wrongly, and fall back to the method."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from newscrawl import Article, ExtractOptions, SiteRules, extract
from newscrawl.extraction.methods import METHODS
from tests.site_rules.stubborn_sites import SITES, STORY, Site, page, paragraphs

NOW = datetime(2026, 11, 29, tzinfo=UTC)
URL = "https://www.observer.example/2025/bridge.html"


def read(html: str, folder: Path, rule: str | None, url: str = URL, **options: Any) -> Article:
    """Return the article of a page, with the *rule* of its site."""
    if rule is None:
        return extract(html, url, fetched_at=NOW)
    (folder / "observer.example.txt").write_text(rule, encoding="utf-8")
    options = {"site_rules": SiteRules(folder), **options}
    return extract(html, url, fetched_at=NOW, options=ExtractOptions(**options))


def found(article: Article, site: Site) -> dict[str, Any]:
    """Return the fields of *article* that the *site* is about."""
    plain = article.to_dict() | {"body": tuple(article.body.split("\n\n"))}
    return {name: plain[name] for name in site.expected}


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_stubborn_site(tmp_path: Path, site: Site):
    """The method is wrong, the rule corrects it and is the evidence."""
    assert found(read(site.html, tmp_path, None), site) != site.expected
    article = read(site.html, tmp_path, site.rule)
    assert found(article, site) == site.expected
    assert [flag for flag in article.flags if flag.startswith("stale")] == []
    for name in site.expected:
        if f"{name.removesuffix('s')}:" in site.rule:
            assert article.evidence[name].source == "site rule"


@pytest.mark.parametrize(
    "rule",
    [
        "title: //h4\nbody: //div[@id='gone']\nauthor: //i\ndate: //time",
        "body: //nav/@href\ntitle: count(//p)\nauthor: //q[contains(.)]\ndate: //footer",
        "body: //article[@class='x' or //b]\ntitle: //h1[2]\nauthor: ''\ndate: '31 February 2025'",
    ],
)
def test_stale_rule_falls_back_to_the_method(tmp_path: Path, rule: str):
    html = page(f"<article><h1>Bridge to close for two years</h1>{paragraphs()}</article>")
    by_method, by_rule = read(html, tmp_path, None), read(html, tmp_path, rule)
    assert by_rule.flags == [f"stale_rule_{name}" for name in ("title", "body", "author", "date")]
    assert (by_rule.title, by_rule.body) == (by_method.title, by_method.body)
    assert by_rule.evidence == by_method.evidence


def test_first_expression_that_finds_text_wins(tmp_path: Path):
    html = page(
        f"<h1>Bridge to close</h1><div class=a></div><div class=b>{paragraphs()}</div>"
        "<div class=c><p>Something else that is long enough to be a body of its own.</p></div>"
    )
    rule = "body: //div[@class='a']\nbody: //div[@class='b']\nbody: //div[@class='c']"
    article = read(html, tmp_path, rule)
    assert article.body.split("\n\n") == [*STORY]


def test_several_elements_of_the_body(tmp_path: Path):
    """Results are joined in document order; those in another result once; text nodes count."""
    first, second, third = STORY
    html = page(
        f"<div>{first}<br>x</div><div class=b><section><p>{second}</p></section>{third}</div>"
    )
    rule = "body: //div[@class='b'] | //section | //p | //body/div[1]/text()[1]\nprune: no"
    assert read(html, tmp_path, rule).body.split("\n\n") == [*STORY]


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method(tmp_path: Path, method: str):
    """Also the published methods are corrected."""
    site = next(site for site in SITES if site.name == "second-story-below")
    (tmp_path / "observer.example.txt").write_text(site.rule)
    options = ExtractOptions(site_rules=SiteRules(tmp_path))
    assert extract(site.html, URL, method=method, options=options).body.split("\n\n") == [*STORY]


def test_formats_of_the_body(tmp_path: Path):
    site = next(site for site in SITES if site.name == "list-of-links")
    formats = frozenset({"body_markdown", "links"})
    article = read(site.html, tmp_path, site.rule, extra_fields=formats)
    assert f"- [{STORY[0]}](https://elsewhere.example/0)" in (article.body_markdown or "")
    assert len(article.links or ()) == len(STORY)


def test_strip_never_removes_the_whole_page(tmp_path: Path):
    html = page(f"<h1>Bridge to close</h1><article>{paragraphs()}</article>").replace(
        "<body>", "<body class='with-sidebar'>"
    )
    article = read(html, tmp_path, "strip_id_or_class: sidebar\nstrip: /html | //body")
    assert article.body.split("\n\n") == [*STORY]


LINKS = '<a id=n href="{}">More</a>'


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("teil-b.html", "https://www.observer.example/2025/teil-b.html"),
        ("//print.observer.example/1", "https://print.observer.example/1"),
        ("bridge.html#part2", None),
        ("https://elsewhere.example/2", None),
        ("https://notobserver.example/2", None),
        ("javascript:next()", None),
        ("http://[", None),
        ("", None),
    ],
)
def test_links_to_further_pages(tmp_path: Path, href: str, expected: str | None):
    """They lead to pages of the host; the whole story comes first."""
    html = page(f"<h1>Bridge to close</h1><article>{paragraphs()}{LINKS.format(href)}</article>")
    rules = {"next_page_link": "//a[@id='n']", "single_page_link": "//a[@id='n']/@href"}
    for directive, expression in rules.items():
        article = read(html, tmp_path, f"{directive}: {expression}")
        assert article.next_pages == ((expected,) if expected else ())


def test_condition_of_the_single_page(tmp_path: Path):
    html = page(f"<h1>Bridge to close</h1>{paragraphs()}{LINKS.format('/print/1')}")
    rule = "single_page_link: concat('/print/', '1')\nif_page_contains: //a[@id='{}']"
    assert read(html, tmp_path, rule.format("x")).next_pages == ()
    assert len(read(html, tmp_path, rule.format("n")).next_pages) == 1
