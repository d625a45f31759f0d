"""Fields of an article by the rule of its site: :func:`find_by_rule`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from newscrawl.fields import Headline, PublicationDate, parse_date
from newscrawl.fields.metadata.author_names import clean_names
from newscrawl.items import Evidence
from newscrawl.site_rules import RuleMatches, match_rule

if TYPE_CHECKING:
    from datetime import datetime

    from newscrawl.document.document import Document
    from newscrawl.extraction.method import ExtractOptions, MethodResult
    from newscrawl.items import Article
    from newscrawl.site_rules import SiteRule, SiteRules

BY_RULE: Final = Evidence("site rule", 0.95)
"""Evidence of what a rule names; the confidence is an estimate."""
WHOLE_STORY: Final = Evidence("site rule: single_page_link", 0.95)
"""Evidence of ``next_pages`` whose first page has the whole story."""
STALE: Final = "stale_rule_"
"""Start of the flag for a directive of the rule that found nothing: ``stale_rule_body``."""

_FIELDS: Final = ("title", "body", "author", "date")
_MAX_NAME: Final = 60


class RuleFindings(NamedTuple):
    """What the rule of a site gives for a page; without a rule, nothing."""

    rule: SiteRule | None
    matches: RuleMatches
    title: Headline | None
    date: PublicationDate | None
    authors: list[str]

    @property
    def flags(self) -> list[str]:
        """A flag for each field that the rule names, but did not find in the page."""
        patterns = self.rule.patterns if self.rule else ()
        found = {
            "title": self.title,
            "body": self.matches.body,
            "author": self.authors,
            "date": self.date,
        }
        return [STALE + name for name in _FIELDS if name in patterns and not found[name]]

    def apply(
        self, result: MethodResult, options: ExtractOptions
    ) -> tuple[MethodResult, ExtractOptions]:
        """Return *result* and *options* with what the rule gives in place of that of the method."""
        result = result._replace(title=self.title or result.title, date=self.date or result.date)
        document, body = self.matches.document, self.matches.body
        if self.rule is None or not body:
            return result, options
        fields = {
            field.row
            for texts in self.matches.texts.values()
            for field in texts
            if field.row is not None
        }
        half = sum(map(document.chars, body)) / 2
        skipped = frozenset(row for row in fields if document.chars(row) < half)
        result = result._replace(
            roots=list(body), evidence=BY_RULE, skipped=skipped, region=None, text=None
        )
        return result, replace(options, remove_boilerplate=self.rule.prune)

    def set_fields(self, article: Article) -> None:
        """Set the authors and the further pages that the rule gives."""
        if self.authors:
            article.authors, article.evidence["authors"] = self.authors, BY_RULE
        links = dict.fromkeys(filter(None, (self.matches.whole, self.matches.following)))
        if links and article.body:
            article.next_pages = tuple(links)
            article.evidence["next_pages"] = WHOLE_STORY if self.matches.whole else BY_RULE


def stale_fields(article: Article) -> list[str]:
    """Return the fields that the rule of the site names, but did not find in the page."""
    return [flag.removeprefix(STALE) for flag in article.flags if flag.startswith(STALE)]


def find_rule(rules: SiteRules | None, url: str | None) -> SiteRule | None:
    """Return the one of *rules* for the page at *url*, if any."""
    return None if rules is None else rules.find(url)


def find_by_rule(
    rule: SiteRule | None,
    parsed: Document,
    document: Document,
    url: str | None,
    *,
    language: str | None,
    fetched_at: datetime,
) -> RuleFindings:
    """Return what *rule* finds in the page at *url*: arguments of :func:`match_rule`.

    Dates are read with the words of *language*; those after *fetched_at* are ignored.
    """
    if rule is None:
        return RuleFindings(None, RuleMatches(document), None, None, [])
    matches = match_rule(rule, parsed, document, url)
    title = next(iter(matches.texts.get("title", ())), None)
    dates = (
        PublicationDate(value, found.text, BY_RULE)
        for found in matches.texts.get("date", ())
        if (value := parse_date(found.text, fetched_at, language, guesses_order=True))
    )
    return RuleFindings(
        rule,
        matches,
        title and Headline(title.text, BY_RULE, title.row),
        next(dates, None),
        _authors([found.text for found in matches.texts.get("author", ())]),
    )


def _authors(texts: list[str]) -> list[str]:
    """Return the names in *texts*; if none looks like one, the short texts."""
    names = [text for text in dict.fromkeys(texts) if len(text) <= _MAX_NAME]
    return clean_names(texts) or names
