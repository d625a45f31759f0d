"""Files of site rules: the format, errors with file and line, the rule of a host."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl import ExtractOptions, extract
from newscrawl.site_rules import RuleError, RuleTest, SiteRule, SiteRules, parse_rule
from newscrawl.site_rules.rule_file import IGNORED, PATTERNS
from tests.conftest import REPOSITORY

PUBLIC = REPOSITORY.parent / "shared" / "site-rules"


def test_reads_the_format():
    rule = parse_rule(
        """
        # a comment
        title: //h1
        title://h2
        body: //div[@class='a: b']
        strip_id_or_class: "ad"
        single_page_link: //a
        if_page_contains: //b
        single_page_link: //i
        find_string: <x>
        find_string: <y>
        replace_string: <b>
        replace_string:
        replace_string(<p style="x:y">): <p>
        prune: NO
        tidy: no
        http_header(User-Agent): Mozilla/5.0
        test_contains: of no page
        test_url: https://a.example/1
        test_contains: one: two
        test_contains: three
        test_url: https://a.example/2
        http_header(accept): */*
        titel: //h1
        no directive
        """,
        "a.example",
    )
    assert [it.path for it in rule.patterns["title"]] == ["//h1", "//h2"]
    assert [it.path for it in rule.patterns["body"]] == ["//div[@class='a: b']"]
    assert rule.strip_names == ["ad"]
    assert [condition is None for _, condition in rule.single_pages] == [False, True]
    assert rule.replacements == [("<x>", "<b>"), ("<y>", ""), ('<p style="x:y">', "<p>")]
    assert not rule.prune
    assert rule.headers == {"user-agent": "Mozilla/5.0"}
    assert rule.tests == [
        RuleTest("https://a.example/1", ("one: two", "three")),
        RuleTest("https://a.example/2"),
    ]
    assert [line.split()[0] for line in rule.unknown.values()] == [
        "test_contains:", "http_header(accept):", "titel:", "no",
    ]  # fmt: skip
    assert (rule.counts["title"], rule.counts["tidy"], rule.counts["titel"]) == (2, 1, 1)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"title: //h1\n\nbody: //div[", ":3: invalid XPath '//div['"),
        (b"body: matches(//p, 'x')", ":1: invalid XPath"),
        (b"body: x:p", ":1: invalid XPath"),
        (b"title: //h1\r\nreplace_string: x", ":2: replace_string without find_string"),
        (b"find_string: x\ntitle: //h1", ":1: find_string without replace_string"),
        (b"prune: perhaps", ":1: prune: 'perhaps' is not yes or no"),
        (b"title: //h1\nbody: //p[.='\xff']", ":2: not UTF-8"),
        (b"title: //h1\nbody: //p\x00", ":2: invalid XPath"),
        (b"#" * 1_000_001, ": larger than 1000000 bytes"),
    ],
)
def test_error_names_file_and_line(tmp_path: Path, data: bytes, message: str):
    """The other files are used."""
    (tmp_path / "a.example.txt").write_bytes(data)
    (tmp_path / "b.example.txt").write_bytes(b"title: //h1")
    rules = SiteRules(tmp_path)
    first, second = rules.read_all()
    assert isinstance(first, RuleError)
    assert str(first).startswith(f"{tmp_path / 'a.example.txt'}{message}")
    assert isinstance(second, SiteRule)
    assert rules.find("https://a.example/") is None
    assert rules.find("https://b.example/") is not None


def test_rule_of_a_host(tmp_path: Path):
    """``.example.org.txt`` is for subdomains too; the closest file wins."""
    names = ("news.example.org", ".example.org", "www.other.example", "Upper.Example", "x.y.org")
    for name in names:
        (tmp_path / f"{name}.txt").write_text("title: //h1")
    rules = SiteRules(tmp_path)

    def found(host: str) -> str | None:
        rule = rules.find(f"https://{host}/1")
        return rule and rule.name

    assert found("news.example.org") == found("www.news.example.org") == "news.example.org"
    assert found("example.org") == found("a.b.example.org") == ".example.org"
    assert found("other.example") == "other.example"
    assert found("UPPER.example:8000") == "upper.example"
    assert {found("y.org"), found("z.x.y.org"), found("org")} == {None}
    for url in (None, "", "file:///x", "http://[", "https:///x", "//"):
        assert rules.find(url) is None


def test_two_files_for_a_host(tmp_path: Path):
    """The one without ``www.`` is used, whatever the order of the folder."""
    for name, tag in (("www.a.example", "h1"), ("a.example", "h2")):
        (tmp_path / f"{name}.txt").write_text(f"title: //{tag}")
    rule = SiteRules(tmp_path).find("https://www.a.example/")
    assert rule is not None
    assert rule.patterns["title"][0].path == "//h2"


def test_missing_folder(tmp_path: Path):
    with pytest.raises(RuleError, match="not a folder"):
        SiteRules(tmp_path / "none")


LINES = st.builds(
    "{}: {}".format,
    st.sampled_from(
        [*PATTERNS, *sorted(IGNORED), "strip_id_or_class", "single_page_link", "find_string",
         "if_page_contains", "replace_string", "prune", "test_url", "test_contains", "x(y)"]
    ),
    st.sampled_from(
        ["//p", "//a/@href", "//text()", "'x'", "//*", "/", "//div/..", "string(//p)", "//p[1", "no"]
    )
    | st.text(max_size=8),
)  # fmt: skip
PAGE = (
    "<html><body><h1>Title</h1><div id=a class=b><p>One <b>two</b> three</p><a href=2>4 May 2025</a>"
    "</div><p hidden>five</p></body></html>"
)


@given(st.lists(LINES, max_size=8))
def test_any_lines(tmp_path_factory: pytest.TempPathFactory, lines: list[str]):
    """A file is refused with its line, or it can be applied to any page."""
    folder = tmp_path_factory.mktemp("rules")
    (folder / "a.example.txt").write_text("\n".join(lines), encoding="utf-8", newline="")
    rules = SiteRules(folder)
    (read,) = rules.read_all()
    if isinstance(read, RuleError):
        assert str(read).startswith(f"{folder / 'a.example.txt'}:")
        return
    options = ExtractOptions(site_rules=rules)
    for html in (PAGE, "<p>", "<html></html>", PAGE * 3):
        extract(html, "https://a.example/1", options=options)


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public collection is not on this machine")
def test_public_collection():
    """Each of its files is read, and nearly each line is a directive of the format."""
    rules = list(SiteRules(PUBLIC).read_all())
    assert [rule for rule in rules if isinstance(rule, RuleError)] == []
    unknown = sum(len(rule.unknown) for rule in rules if isinstance(rule, SiteRule))
    assert (len(rules), unknown) == (1964, 8)
