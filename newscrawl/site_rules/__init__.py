"""Corrections of sites by files in the FiveFilters format, which Full-Text RSS and wallabag read.

:class:`SiteRules` is a folder of such files, :func:`parse_rule` reads one, :func:`match_rule` finds
in a page what it names.
"""

from newscrawl.site_rules.rule_file import (
    RuleError,
    RuleTest,
    SiteRule,
    SiteRules,
    parse_rule,
    problems,
)
from newscrawl.site_rules.rule_matches import RuleMatches, match_rule, with_replacements

__all__ = [
    "RuleError",
    "RuleMatches",
    "RuleTest",
    "SiteRule",
    "SiteRules",
    "match_rule",
    "parse_rule",
    "problems",
    "with_replacements",
]
