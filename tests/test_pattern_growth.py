"""No regular expression of the package takes quadratic time on texts of unbounded length.

Each pattern is matched against adversarial texts that are derived from it: a start that matches,
then a repeated unit, then a character that does not match. The steps of a backtracking matcher are
counted at two lengths.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache
from pathlib import Path
from re import _parser  # type: ignore[attr-defined]  # the standard library's parser
from typing import TYPE_CHECKING, Any

import pytest

import newscrawl
from tests.helpers.operations import CountingPattern, Operations, compiled_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 40
#: at twice the size; 2 for linear, 4 for quadratic time
MAX_GROWTH = 2.7
MAX_STEPS = 60_000
MAX_UNITS = 6
#: not part of a crawl or of extraction
TOOLS = (
    "newscrawl.commands",
    "newscrawl.lab.evaluation",
    "newscrawl.spark",
    "newscrawl.lab.training",
)

BOUNDED = {
    "cli.page_sources:_OTHER_FORMAT": "the first 4096 bytes",
    "css.selectors:_SUBJECTS": "the text ends with a separator, at which each match ends",
    "fields.metadata.sections:_PARTS": "white space is collapsed before",
    "fields.titles.title:SEPARATOR": "white space is collapsed before, headings are short",
    "fields.titles.title_candidates:_PARTS": "titles have up to 1000 characters, collapsed",
}
"""Patterns whose growth does not matter, with the reason."""


@cache
def patterns() -> dict[str, tuple[re.Pattern[Any], bool]]:
    """Return the patterns with repetitions by name, and whether each is searched for."""
    found: dict[int, tuple[str, re.Pattern[Any], bool]] = {}
    for info in pkgutil.walk_packages(newscrawl.__path__, "newscrawl."):
        if info.name.startswith(TOOLS) or info.name.rpartition(".")[2].startswith("_"):
            continue
        module = importlib.import_module(info.name)
        file = Path(module.__file__ or "")  # of a compiled module, too
        source = file.with_name(f"{file.name.partition('.')[0]}.py").read_text()
        for name, value in vars(module).items():
            pattern = compiled_pattern(value)
            if pattern and re.search(rf"^{name}\b.*=", source, re.MULTILINE):
                uses = set(re.findall(rf"\b{name}(?:\(\w+\))?\.(\w+)", source))
                anchored = bool(uses) and uses <= {"match", "fullmatch", "pattern"}
                found[id(value)] = (
                    f"{info.name.removeprefix('newscrawl.')}:{name}",
                    pattern,
                    not anchored,
                )
    return {name: (pattern, searched) for name, pattern, searched in found.values()}


def example(nodes: Any, *, longest: bool) -> str:
    """Return a text that *nodes* of a parse tree match, mostly."""
    return "".join(_example(str(code), argument, longest=longest) for code, argument in nodes)


def _example(code: str, argument: Any, *, longest: bool) -> str:
    match code:
        case "LITERAL":
            return chr(argument)
        case "NOT_LITERAL":
            return "~" if chr(argument) != "~" else "a"
        case "ANY":
            return "a"
        case "IN":
            return _member(argument)
        case "BRANCH":
            return example(argument[1][0], longest=longest)
        case "SUBPATTERN":
            return example(argument[3], longest=longest)
        case "ATOMIC_GROUP":
            return example(argument, longest=longest)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            minimum, maximum, inner = argument
            times = max(minimum, 1 if longest and maximum else 0)
            return example(inner, longest=longest) * min(times, 30)
    return ""


def _member(members: Any) -> str:
    single = _parser.SubPattern(_parser.State(), [(_parser.IN, members)])
    matcher = re._compiler.compile(single, 0)  # type: ignore[attr-defined]
    return next((c for c in 'a1 .-=/<\n"\u4e00\x00\xe9A~%' if matcher.match(c)), _first(members))


def _first(members: Any) -> str:
    code, argument = members[-1]
    return (
        chr(argument[0] if str(code) == "RANGE" else argument) if str(code) != "CATEGORY" else " "
    )


def units(nodes: Any) -> Iterator[str]:
    """Yield the examples of what is repeated in *nodes*, and of the parts before it."""
    for code, argument in nodes:
        name = str(code)
        if name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
            if argument[1] > SIZE:
                yield example(argument[2], longest=True)
            yield from units(argument[2])
        elif name == "SUBPATTERN":
            yield from units(argument[3])
        elif name == "ATOMIC_GROUP":
            yield from units(argument)
        elif name == "BRANCH":
            for branch in argument[1]:
                yield from units(branch)
        elif name in {"ASSERT", "ASSERT_NOT"}:
            yield from units(argument[1])


def attacks(pattern: re.Pattern[Any]) -> list[tuple[str, str]]:
    """Return starts and units of adversarial texts."""
    tree = _parser.parse(pattern.pattern, pattern.flags)
    repeated = [unit for unit in dict.fromkeys(units(tree)) if unit][:MAX_UNITS]
    if not repeated:
        return []
    starts = [example(tree.data[:n], longest=False) for n in range(len(tree.data))]
    whole = example(tree, longest=True)
    found = [("", unit) for unit in repeated]
    found += [(start, unit) for start in dict.fromkeys(starts[1:4]) for unit in repeated[:3]]
    # Starts that occur often: each may search to the end of the text.
    found += [("", start) for start in dict.fromkeys(starts[1:3]) if start]
    return [*found, ("", whole)]


def steps(pattern: re.Pattern[Any], text: str, *, searched: bool) -> int:
    """Return the steps of matching *text*, at most MAX_STEPS."""
    operations = Operations(MAX_STEPS)
    counting = CountingPattern(pattern, operations)
    subject: Any = text.encode("utf-8") if isinstance(pattern.pattern, bytes) else text
    try:
        (counting.findall if searched else counting.match)(subject)
    except AssertionError:
        if operations.steps <= MAX_STEPS:  # the matcher and the pattern differ
            raise
    return operations.steps


def growth(pattern: re.Pattern[Any], *, searched: bool) -> tuple[float, str]:
    """Return the largest growth of the steps, and the start and the unit of its text."""
    worst = (0.0, "")
    for start, unit in attacks(pattern):
        counts = [
            steps(pattern, f"{start}{unit * size}\x00", searched=searched)
            for size in (SIZE, 2 * SIZE)
        ]
        if counts[1] > MAX_STEPS:
            counts[1] = 100 * counts[0]
        worst = max(worst, (counts[1] / max(1, counts[0]), f"{start!r} {unit!r}"))
    return worst


def test_exceptions_exist():
    """A pattern that has become linear, or was renamed, leaves the list of exceptions."""
    for name in BOUNDED:
        pattern, searched = patterns()[name]
        assert growth(pattern, searched=searched)[0] > MAX_GROWTH


@pytest.mark.parametrize(
    "pattern",
    [r"a+b", r"\s*!x", r"(a|aa)+$", r"<a[^>]*b", r"x*x*y", r"(?:\w+\s?)*$", r"\d*\.?\d+/"],
)
def test_finds_quadratic_patterns(pattern: str):
    assert growth(re.compile(pattern), searched=True)[0] > MAX_GROWTH


@pytest.mark.parametrize("name", patterns())
def test_linear(name: str):
    pattern, searched = patterns()[name]
    found, text = growth(pattern, searched=searched)
    assert found <= MAX_GROWTH or name in BOUNDED, text
