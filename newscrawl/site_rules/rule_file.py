"""Files of site rules: directives with XPath expressions, a file for each host.

The format is that of https://help.fivefilters.org/full-text-rss/site-patterns.html. A line is
``directive: value``, or ``directive(argument): value``; one that begins with ``#`` is a comment.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIX: Final = ".txt"
MAX_BYTES: Final = 1_000_000
"""Size of the largest file that is read."""

PATTERNS: Final = ("title", "body", "author", "date", "strip", "next_page_link")
"""Directives with an XPath expression; several are tried in turn, except ``strip``."""
_IGNORED = """
    tidy parser autodetect_on_failure autodetect_next_page convert_double_br_tags dissolve footnotes
    insert_detected_image login_extra_fields login_password_field login_uri login_username_field
    move_into native_ad_clue not_logged_in_xpath post_strip_attr requires_login
    single_page_link_in_feed skip_id_or_class skip_json_ld src_lazy_load_attr strip_attr
    strip_comments strip_image_src wrap_in
"""
IGNORED: Final = frozenset(_IGNORED.split())
"""Directives of the format that are read without an effect."""
HEADERS: Final = frozenset({"cookie", "referer", "user-agent"})
"""Arguments of ``http_header``."""

_OTHERS: Final = frozenset(
    {
        "if_page_contains",
        "prune",
        "single_page_link",
        "strip_id_or_class",
        "test_contains",
        "test_url",
    }
)

_LINE: Final = re.compile(r"([a-z_]+)\s*+(?:\((.*?)\)\s*+)?:\s*+(.*)", re.DOTALL)
_HOST: Final = re.compile(r"\.?[^\s./\\]+(?:\.[^\s./\\]+)*")
_YES: Final = {"yes": True, "true": True, "no": False, "false": False}
_EMPTY_PAGE: Final = etree.HTML("<p></p>")


class RuleError(ValueError):
    """A file of rules cannot be used; the message names it and the line."""


@dataclass(frozen=True, slots=True)
class RuleTest:
    """A page for which a rule was written, and texts that its body contains."""

    url: str
    contains: tuple[str, ...] = ()


@dataclass(slots=True)
class SiteRule:
    """The rule of a host."""

    #: name of the file without its suffix: a host, after a dot that of its subdomains too
    name: str
    #: the file
    path: str = ""
    #: directive -> its expressions, of :data:`PATTERNS`
    patterns: dict[str, list[etree.XPath]] = field(default_factory=dict)
    #: the element of class or id with one of these texts is stripped
    strip_names: list[str] = field(default_factory=list)
    #: link to the whole story, and the condition that the page meets
    single_pages: list[tuple[etree.XPath, etree.XPath | None]] = field(default_factory=list)
    #: text of the page -> its replacement
    replacements: list[tuple[str, str]] = field(default_factory=list)
    #: remove boilerplate from the body
    prune: bool = True
    #: names of :data:`HEADERS` -> values
    headers: dict[str, str] = field(default_factory=dict)
    tests: list[RuleTest] = field(default_factory=list)
    #: number of lines by directive, unknown ones included
    counts: Counter[str] = field(default_factory=Counter)
    #: lines that are no directive of the format, by number
    unknown: dict[int, str] = field(default_factory=dict)

    @property
    def host(self) -> str:
        """The host that the rule is for."""
        return self.name.removeprefix(".")


class SiteRules:
    """The rules in a folder, each read when a page of its host is extracted.

    Raises :class:`~newscrawl.site_rules.rule_file.RuleError` if *folder* is not one.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        if not self._folder.is_dir():
            raise RuleError(f"{folder}: not a folder")
        self._files = sorted(path.name for path in self._folder.glob(f"*{SUFFIX}"))
        self._names = {
            file.removesuffix(SUFFIX).lower().removeprefix("www."): file
            for file in sorted(self._files, key=len, reverse=True)  # that without www. wins
        }
        #: by host
        self._rules: dict[str, SiteRule | RuleError | None] = {}
        self._reported: set[str] = set()

    def find(self, url: str | None) -> SiteRule | None:
        """Return the rule for the page at *url*; None if there is none, or its file is in error."""
        found = self._find(_host(url))
        return None if isinstance(found, RuleError) else found

    def problems(self, url: str | None) -> list[str]:
        """Return the problems of the rule for the page at *url*, at the first page of a host."""
        host = _host(url)
        if host in self._reported:
            return []
        self._reported.add(host)
        found = self._find(host)
        return problems(found) if found else []

    def _find(self, host: str) -> SiteRule | RuleError | None:
        if host not in self._rules:
            file = next(filter(None, map(self._names.get, _names_for(host))), None)
            try:
                self._rules[host] = self._read(file) if file else None
            except RuleError as error:
                self._rules[host] = error
        return self._rules[host]

    def read_all(self) -> Iterator[SiteRule | RuleError]:
        """Yield the rule of each file, or why it cannot be used, in the order of names."""
        for file in self._files:
            try:
                yield self._read(file)
            except RuleError as error:
                yield error

    def _read(self, file: str) -> SiteRule:
        path = self._folder / file
        try:
            with path.open("rb") as stream:
                data = stream.read(MAX_BYTES + 1)
        except OSError as error:
            raise RuleError(f"{path}: {error.strerror}") from error
        if len(data) > MAX_BYTES:
            raise RuleError(f"{path}: larger than {MAX_BYTES} bytes")
        try:
            rule = parse_rule(data.decode("utf-8-sig"), file.removesuffix(SUFFIX).lower())
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise RuleError(f"{path}:{line}: not UTF-8") from error
        except RuleError as error:
            raise RuleError(f"{path}{error}") from error.__cause__
        rule.path = str(path)
        return rule


def problems(rule: SiteRule | RuleError) -> list[str]:
    """Return a line for each unknown line of *rule*, or one that says why its file is not used."""
    if isinstance(rule, RuleError):
        return [f"{rule}; the file is not used"]
    return [f"{rule.path}:{n}: unknown directive {it!r}" for n, it in rule.unknown.items()]


def _host(url: str | None) -> str:
    try:
        return (urlsplit(url or "").hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _names_for(host: str) -> Iterator[str]:
    """Yield the names of rules for *host*, the closest first."""
    yield host
    while host:
        yield f".{host}"
        host = host.partition(".")[2]


def parse_rule(text: str, name: str) -> SiteRule:
    """Return the rule called *name* in *text*.

    Raises :class:`RuleError`, whose message begins with the number of the line: ``:3: ...``.
    """
    if not _HOST.fullmatch(name):
        raise RuleError(f":0: {name!r} is not a host")
    rule = SiteRule(name.removeprefix("www."))
    searched: list[tuple[int, str]] = []
    for number, line in enumerate(map(str.strip, text.split("\n")), 1):
        if not line or line.startswith("#"):
            continue
        found = _LINE.fullmatch(line)
        directive, argument, value = found.groups() if found else (None, None, line)
        if directive == "find_string":
            searched.append((number, value))
            rule.counts[directive] += 1
        elif directive == "replace_string" and argument is None:
            rule.counts[directive] += 1
            if not searched:
                raise RuleError(f":{number}: replace_string without find_string")
            rule.replacements.append((searched.pop(0)[1], value))
        elif directive is None or not _add(rule, number, directive, argument, value):
            rule.unknown[number] = line
    if searched:
        raise RuleError(f":{searched[0][0]}: find_string without replace_string")
    rule.replacements = [(old, new) for old, new in rule.replacements if old]
    return rule


def _add(rule: SiteRule, number: int, directive: str, argument: str | None, value: str) -> bool:
    """Add a line to *rule*; return False if it is no directive of the format."""
    rule.counts[directive] += 1
    if directive == "replace_string":
        rule.replacements.append((argument or "", value))
    elif not value:
        return directive in IGNORED.union(PATTERNS, _OTHERS)
    elif directive in PATTERNS:
        rule.patterns.setdefault(directive, []).append(_expression(number, value))
    elif directive in ("single_page_link", "if_page_contains"):
        return _add_single_page(rule, directive, _expression(number, value))
    elif directive == "strip_id_or_class":
        rule.strip_names.append(value.replace("'", "").replace('"', ""))
    elif directive == "prune":
        if value.lower() not in _YES:
            raise RuleError(f":{number}: prune: {value!r} is not yes or no")
        rule.prune = _YES[value.lower()]
    elif directive == "http_header":
        name = (argument or "").lower()
        if name not in HEADERS:
            return False
        rule.headers[name] = value
    else:
        return directive in IGNORED or _add_test(rule, directive, value)
    return True


def _add_single_page(rule: SiteRule, directive: str, expression: etree.XPath) -> bool:
    if directive == "single_page_link":
        rule.single_pages.append((expression, None))
    elif rule.single_pages:
        rule.single_pages[-1] = rule.single_pages[-1][0], expression
    return bool(rule.single_pages)


def _add_test(rule: SiteRule, directive: str, value: str) -> bool:
    if directive == "test_url":
        rule.tests.append(RuleTest(value))
    elif directive == "test_contains" and rule.tests:
        last = rule.tests[-1]
        rule.tests[-1] = RuleTest(last.url, (*last.contains, value))
    else:
        return False
    return True


def _expression(number: int, text: str) -> etree.XPath:
    try:
        expression = etree.XPath(text, regexp=False, smart_strings=True)
        expression(_EMPTY_PAGE)  # reports unknown functions and prefixes
    except (ValueError, etree.XPathError) as error:
        raise RuleError(f":{number}: invalid XPath {text!r}: {error}") from error
    return expression
