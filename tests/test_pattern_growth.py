"""No regular expression of the package takes quadratic time on texts of unbounded length.

Each pattern is matched against adversarial texts that are derived from it
(:mod:`tests.helpers.operations`). The steps of a backtracking matcher are counted at two lengths.
"""

import ast
import gc
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import newscrawl
from newscrawl.patterns import CJKPattern, LazyPattern
from tests.helpers.operations import Automaton, CountingPattern, compiled_pattern

LENGTH = 40
#: at twice the length; 2 for linear, 4 for quadratic time
MAX_GROWTH = 2.7
MAX_STEPS = 60_000
#: of a repetition that does not grow with the text
MAX_LIMIT = 500
SHORT_LIMIT = 8

UNKNOWN = {
    "body.text_features": "words of languages",
    "language_words": "words of languages",
    "crawling.urls": "the user's own",
    "document.repair": "a name",
    "fields.metadata.author_names": "words of languages",
    "fields.metadata.authors": "a word",
    "patterns": "of a LazyPattern",
}
"""Modules with patterns that are known at run time only, and what these are."""


@dataclass(frozen=True)
class Use:
    """A pattern and the method by which it is used."""

    pattern: re.Pattern[Any]
    method: str

    def growth(self) -> tuple[float, str]:
        """Return the largest growth of the steps, and its text."""
        pattern = self._with_short_limits()
        worst = (0.0, "")
        for attack in Automaton(pattern, searched=self.method == "findall").attacks():
            short, long = (self._steps(pattern, text) for text in attack.texts(LENGTH))
            rate = float("inf") if long > MAX_STEPS else long / max(1, short)
            worst = max(worst, (rate, repr(attack)))
            if rate > MAX_GROWTH:
                break
        return worst

    def _with_short_limits(self) -> re.Pattern[Any]:
        """Return the pattern with lower limits of repetitions, which short texts exceed."""
        source: Any = self.pattern.pattern
        is_bytes = isinstance(source, bytes)
        text = re.sub(
            r"\{(\d*)(,?)(\d*)\}",
            lambda found: f"{{{_short(found[1])}{found[2]}{_short(found[3])}}}",
            source.decode("latin-1") if is_bytes else source,
        )
        return re.compile(text.encode("latin-1") if is_bytes else text, self.pattern.flags)

    def _steps(self, pattern: re.Pattern[Any], text: str) -> int:
        """Return the steps of matching *text*, at most MAX_STEPS."""
        counting = CountingPattern(pattern, MAX_STEPS)
        is_bytes = isinstance(pattern.pattern, bytes)
        try:
            getattr(counting, self.method)(text.encode("latin-1") if is_bytes else text)
        except AssertionError:
            if counting.steps <= MAX_STEPS:  # the matcher and the pattern differ
                raise
        return counting.steps


def _short(limit: str) -> str:
    return str(min(int(limit), SHORT_LIMIT)) if limit and int(limit) <= MAX_LIMIT else limit


@cache
def uses() -> dict[str, Use]:
    """Return the patterns of the package by module and name or line."""
    found: dict[Use, str] = {}
    seen: set[int] = set()
    for module_name, module, source in list(modules()):
        for name, value in vars(module).items():
            if not re.search(rf"^(?:class )?{name}\b", source, re.MULTILINE):
                continue  # imported
            for number, part in enumerate(contained(value)):
                pattern = compiled_pattern(part)
                if pattern and id(part) not in seen:
                    seen.add(id(part))
                    place = f"{module_name}:{name}" + f"[{number}]" * (part is not value)
                    found.setdefault(Use(pattern, method_of(name, source)), place)
        tree = ast.parse(source)
        for number, use in inline_uses(tree, module):
            assert use or module_name in UNKNOWN, f"{module_name}:{number}"
            if use:
                found.setdefault(use, f"{module_name}:{number}")
    lazy = [each for each in gc.get_objects() if type(each) is LazyPattern]
    assert not [each.arguments for each in lazy if id(each) not in seen]
    return {place: use for use, place in found.items()}


def modules() -> Iterator[tuple[str, ModuleType, str]]:
    """Yield the names of the modules of the package, the modules and their sources."""
    for info in pkgutil.walk_packages(newscrawl.__path__, "newscrawl."):
        if info.name.endswith("__main__"):
            continue
        try:
            module = importlib.import_module(info.name)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("newscrawl"):
                raise
            continue  # a package of an extra
        file = Path(module.__file__ or "")  # of a compiled module, too
        source = file.with_name(f"{file.name.partition('.')[0]}.py")
        if source.exists():
            yield info.name.removeprefix("newscrawl."), module, source.read_text("utf-8")


def contained(value: Any) -> Iterator[Any]:
    """Yield *value* and what it contains, if it is a container or of the package."""
    inner: Any = ()
    if isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, (list, tuple, set, frozenset)):
        inner = value
    elif isinstance(value, CJKPattern) or (
        isinstance(value, type) and value.__module__.startswith("newscrawl.")
    ):
        inner = vars(value).values()
    yield value
    for part in inner:
        yield from contained(part)


def method_of(name: str, source: str) -> str:
    """Return the only method used of the pattern or patterns *name*; if unknown, findall."""
    used = re.findall(rf"(?<![\w.]){name}\b(?:\(\w+\)|\[\w+\])?(\.\w+)?", source)
    methods: set[str] = set(used) - {"", ".pattern"}
    is_private = name.startswith("_")
    if is_private and (methods in ({".match"}, {".fullmatch"})) and used.count("") <= 1:
        return methods.pop().removeprefix(".")
    return "findall"


def inline_uses(tree: ast.AST, module: ModuleType) -> Iterator[tuple[int, Use | None]]:
    """Yield the lines of calls of functions of ``re`` in functions, and what they use if known."""
    functions = [
        each for each in ast.walk(tree) if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    # In order, each once: processes of one run must collect the same tests.
    for node in dict.fromkeys(node for function in functions for node in ast.walk(function)):
        if not isinstance(node, ast.Call):
            continue
        called = re.fullmatch(r"re\.(\w+)", ast.unparse(node.func))
        if not called or called[1] == "escape":
            continue
        function = getattr(re, called[1])
        named = {each.arg or "": each.value for each in node.keywords}
        given = inspect.signature(function).bind(*node.args, **named).arguments
        try:
            values = [
                eval(ast.unparse(given[name]), vars(module)) if name in given else 0
                for name in ("pattern", "flags")
            ]
        except (NameError, SyntaxError):
            yield node.lineno, None
            continue
        if compiled_pattern(values[0]) is None:
            name = function.__name__
            method = name if name in {"match", "fullmatch"} else "findall"
            yield node.lineno, Use(re.compile(*values), method)


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"a+b", "findall"),
        (r"\s*!x", "findall"),
        (r"\s*\n\s*$", "findall"),
        (r"(a|aa)+$", "findall"),
        (r"<a[^>]*b", "findall"),
        (r"<a\b[^>]*b", "findall"),
        (r"x*x*y", "findall"),
        (r"(?=.*z)a", "findall"),
        (r"(?:\w+\s?)*$", "match"),
        (r"\d*\.?\d+/", "match"),
        (r"(a|a)*b", "match"),
        (r"(a+)+b", "match"),
        (r"(?:ab|a|b)*c", "match"),
        (r"(\s*x?\s*)*y", "match"),
        (r"(.*?,){11}P", "match"),
        (r"(?s)(<!--.*?-->\s*)*<svg", "match"),
        (r"((ab)*)*c", "match"),
        (r"(?=(x+)+y)x", "match"),
        (r"(?:a(?=(x+)+y)|x)*", "match"),
        (r"(?:a(?=.*z))*", "match"),
        (r"(?:a{1,30}){1,30}b", "match"),
        (r"[^\s:]+\.[^\s:]+", "fullmatch"),
        (r"[ab]{0,1000}c", "findall"),
    ],
)
def test_finds_quadratic_patterns(pattern: str, method: str):
    assert Use(re.compile(pattern), method).growth()[0] > MAX_GROWTH


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"(?<!\s)\s+$", "findall"),
        (r"(?:(?<!\s)\s++)?[|,]\s*+", "findall"),
        (r"[ab]{0,500}c", "findall"),
        (r"(?>a+)+b", "match"),
        (r"(?s)(?><!--.*?-->\s*)*<svg", "match"),
    ],
)
def test_leaves_linear_patterns(pattern: str, method: str):
    assert Use(re.compile(pattern), method).growth()[0] <= MAX_GROWTH


@pytest.mark.parametrize("place", uses())
def test_linear(place: str):
    found, text = uses()[place].growth()
    assert found <= MAX_GROWTH, text
