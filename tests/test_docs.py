"""The manual agrees with the code: settings, diagram, links between pages, examples."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from newscrawl.defaults import DEFAULTS
from newscrawl.extraction.methods import METHODS
from newscrawl.settings import base
from tools.draw_layers import TARGET, diagram

if TYPE_CHECKING:
    from pathlib import Path

#: its default depends on the machine
COMPUTED = {"NEWSCRAWL_WORKERS"}


@pytest.fixture(scope="module")
def settings_page(repository: Path) -> str:
    """Return the source of the reference of settings."""
    return (repository / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")


def test_every_setting_is_documented(settings_page: str):
    """The reference has a heading for each setting, and no others."""
    headings = re.findall(r"^### (NEWSCRAWL_\w+)$", settings_page, re.MULTILINE)
    assert sorted(headings) == sorted(DEFAULTS)


@pytest.mark.parametrize("name", sorted(DEFAULTS.keys() - COMPUTED))
def test_documented_default(settings_page: str, name: str):
    """The reference states the default of a setting."""
    section = settings_page.partition(f"### {name}\n")[2].partition("\n### ")[0]
    match = re.search(r"^Default: `([^`]*)`", section, re.MULTILINE)
    assert match is not None
    assert ast.literal_eval(match[1]) == DEFAULTS[name]


def test_every_method_is_documented(settings_page: str):
    """The reference names each method; variants of CoreEx as a range."""
    names = {name for name in METHODS if not name.startswith("coreex:")}
    assert {name for name in names if f"`{name}`" not in settings_page} == set()


def test_documented_project_settings(settings_page: str):
    """The table of project settings has the values of ``newscrawl.settings.base``."""
    table = settings_page.partition("(project-settings)=")[2]
    rows = re.findall(r"^\| `(\w+)` \| `([^`]*)`", table, re.MULTILINE)
    assert len(rows) > 10
    for name, value in rows:
        assert ast.literal_eval(value) == getattr(base, name), name


def test_diagram_is_current():
    """``make diagram`` was run after the last change of imports between packages."""
    assert TARGET.read_text(encoding="utf-8") == diagram(), "run: make diagram"


def test_manual_is_in_markdown(repository: Path):
    """The manual has one markup."""
    assert list((repository / "docs").rglob("*.rst")) == []


def test_examples_are_python(repository: Path):
    """The Python examples of the manual and the README parse."""
    pages = [repository / "README.md", *(repository / "docs").rglob("*.md")]
    for page in pages:
        for code in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            compile(code, str(page), "exec")


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"])
def test_files_that_are_named_exist(repository: Path, name: str):
    """Links and paths of files in the repository exist."""
    text = (repository / name).read_text(encoding="utf-8")
    linked = re.findall(r"\]\((?!https?:)([^)#]+)\)", text)
    named = re.findall(r"`((?:docs|tests|newscrawl|tools|benchmarks)/[\w./-]+)`", text)
    assert [path for path in (*linked, *named) if not (repository / path).exists()] == []


def test_changelog_is_short(repository: Path):
    """The changelog says what users get."""
    assert len((repository / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()) <= 40
