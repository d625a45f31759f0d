"""A collection of site rules: rules that are read, those that hold on labelled pages, effect.

python -m benchmarks.site_rules [RULES] [--out docs/results/site-rules.md]
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.result_page import write_page
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.extraction.rule_fields import BY_RULE, stale_fields
from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.lab.corpora.metrics import bag_score, mean, same_day
from newscrawl.lab.corpora.tables import Table
from newscrawl.site_rules import RuleError, SiteRules
from newscrawl.site_rules.rule_file import HEADERS, IGNORED
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from newscrawl.items import Article
    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.site_rules import SiteRule

SHARED: Final = Path(__file__).resolve().parents[2] / "shared"
CORPORA: Final = (
    "news212", "fundus", "fundus-history", "wcxb", "postlight", "css-sites", "mkwebs", "dragnet",
    "l3sgn1",
)  # fmt: skip
FIELDS: Final = ("title", "body", "author", "date")
START: Final = """
# Site rules

Rules in the FiveFilters format ({doc}`../guide/site-rules`): the public collection
`fivefilters/ftr-site-config`, as Full-Text RSS and wallabag read it, and its effect on the labelled
pages whose host has a rule. The rules were written by many people since 2010, the pages are of 2008
to 2026.
"""
NOTES: Final = {
    "Rules that hold": "Pages on which an expression of the rule finds something, of those whose rule "
    "has one for the field.",
    "Body": "Mean F1 of words, on the pages with a label. A collection of rules is no improvement of "
    "the default method: rules of Full-Text RSS keep captions, boxes and notices that the labels "
    "leave out, and many have become stale. Use rules for the sites that need one.",
    "Fields": "On the pages where the rule found the field: the share with the labelled value. A title "
    "counts if its words are the same.",
}


class Outcome(NamedTuple):
    """A labelled page, extracted by the method and with the rule of its site."""

    page: LabelledPage
    rule: SiteRule
    method: Article
    ruled: Article


def outcomes(rules: SiteRules, corpus: Path) -> Iterator[Outcome]:
    """Yield the pages of *corpus* whose host has a rule."""
    options = ExtractOptions(site_rules=rules)
    for page in load_corpus(corpus).pages:
        if rule := rules.find(page.url):
            html = page.html()
            plain, ruled = (
                extract(html, page.url, fetched_at=page.fetched_at, options=it)
                for it in (None, options)
            )
            yield Outcome(page, rule, plain, ruled)


def _directives(rules: SiteRules) -> Table:
    read = list(rules.read_all())
    found = [rule for rule in read if not isinstance(rule, RuleError)]
    lines: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for rule in found:
        lines += rule.counts
        unknown.update(line.partition(":")[0].partition("(")[0] for line in rule.unknown.values())
    rows = [
        [name, str(number), "read only" if name in IGNORED else "used"]
        for name, number in lines.most_common()
        if name not in unknown or name in ("http_header", "if_page_contains")
    ]
    rows.append(["unknown lines", str(sum(unknown.values())), "reported with file and line"])
    title = f"Files read: {len(found)} of {len(read)}; headers: {', '.join(sorted(HEADERS))}"
    return Table(title, ("directive", "lines", "effect"), rows)


def _holding(found: Sequence[Outcome]) -> Table:
    rows = []
    for corpus in dict.fromkeys(it.page.corpus for it in found):
        row = [corpus]
        own = [it for it in found if it.page.corpus == corpus]
        row += [str(len(own)), str(len({it.rule.name for it in own}))]
        for field in FIELDS:
            named = [it for it in own if field in it.rule.patterns]
            holding = sum(field not in stale_fields(it.ruled) for it in named)
            row.append(f"{holding} of {len(named)}")
        rows.append(row)
    return Table("Rules that hold", ("corpus", "pages", "rules", *FIELDS), rows)


def _bodies(found: Sequence[Outcome]) -> Table:
    rows = []
    for corpus in dict.fromkeys(it.page.corpus for it in found):
        own = [it for it in found if it.page.corpus == corpus and it.page.body]
        parts = (
            own,
            [it for it in own if it.ruled.evidence.get("body") == BY_RULE],
            [it for it in own if it.ruled.evidence.get("body") == BY_RULE and it.rule.prune],
        )
        if own:
            rows.append([corpus, *(cell for part in parts for cell in _scores(part))])
    header = ("corpus", "pages", "method", "rules", "rule's body", "method", "rule", "pruned",
              "method", "rule")  # fmt: skip
    return Table("Body: F1 of the method and with rules", header, rows)


def _scores(part: Sequence[Outcome]) -> list[str]:
    gold = [words(it.page.body or "") for it in part]
    cells = [str(len(part))]
    for name in ("method", "ruled"):
        bodies = (words(getattr(it, name).body) for it in part)
        scores = [bag_score(body, label)[2] for body, label in zip(bodies, gold, strict=True)]
        cells.append(f"{mean(scores):.3f}" if scores else "")
    return cells


def _is_right(page: LabelledPage, article: Article, field: str) -> bool:
    if field == "title":
        return words(article.title or "") == words(page.title or "")
    if field == "date":
        return bool(article.date and page.date and same_day(article.date, page.date))
    return {*map(str.casefold, article.authors)} == {*map(str.casefold, page.authors or ())}


def _fields(found: Sequence[Outcome]) -> Table:
    rows = []
    for field, name, label in (
        ("title", "title", "title"),
        ("author", "authors", "authors"),
        ("date", "date", "date"),
    ):
        own = [
            it for it in found if it.ruled.evidence.get(name) == BY_RULE and getattr(it.page, label)
        ]
        shares = (
            mean([_is_right(it.page, getattr(it, which), field) for it in own])
            for which in ("method", "ruled")
        )
        rows.append([field, str(len(own)), *(f"{share:.3f}" for share in shares)])
    return Table("Fields of rules", ("field", "pages", "method", "rule"), rows)


def main() -> None:
    """Print the tables; write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("rules", nargs="?", type=Path, default=SHARED / "site-rules")
    parser.add_argument("--corpora", type=Path, default=SHARED / "corpora")
    parser.add_argument("--out", type=Path, default=Path("build/site-rules.md"))
    given = parser.parse_args()
    rules = SiteRules(given.rules)
    found = [it for name in CORPORA for it in outcomes(rules, given.corpora / name)]
    parts = (_directives(rules), _holding(found), _bodies(found), _fields(found))
    command = "python -m benchmarks.site_rules --out docs/results/site-rules.md"
    write_page(given.out, command, START, parts, NOTES)


if __name__ == "__main__":
    main()
