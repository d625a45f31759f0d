"""The manual agrees with the code: settings, diagram, links between pages, examples."""

from __future__ import annotations

import ast
import os
import pkgutil
import re
import shutil
import subprocess
from dataclasses import fields
from typing import TYPE_CHECKING

import pytest
import yaml

from newscrawl.defaults import DEFAULTS
from newscrawl.extraction.methods import METHODS
from newscrawl.items import Article
from newscrawl.settings import base
from tools.draw_layers import TARGET, diagram

if TYPE_CHECKING:
    from pathlib import Path

#: its default depends on the machine
COMPUTED = {"NEWSCRAWL_WORKERS"}
PUBLIC = {
    "newscrawl",
    "newscrawl.crawling.frontier",
    "newscrawl.css",
    "newscrawl.exporters",
    "newscrawl.extraction.extract",
    "newscrawl.integrations",
    "newscrawl.middlewares",
    "newscrawl.neardup",
    "newscrawl.pipelines",
    "newscrawl.samples",
}


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


def test_every_field_is_documented(repository: Path):
    """The reference of items has an entry for each field of an article."""
    page = (repository / "docs" / "reference" / "items.md").read_text(encoding="utf-8")
    section = page.partition("\n## Article\n")[2].partition("\n## ")[0]
    terms = re.findall(r"^(`.*)\n: ", section, re.MULTILINE)
    entries = {name for term in terms for name in re.findall(r"`(\w+)`", term)}
    assert {field.name for field in fields(Article)} - entries == set()


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
    for page in (repository / "README.md", *(repository / "docs").rglob("*.md")):
        for code in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            compile(code, str(page), "exec")


def pages(repository: Path) -> list[Path]:
    """Return the hand-written pages."""
    folders = ("guide", "reference", "internals")
    manual = [page for name in folders for page in (repository / "docs" / name).glob("*.md")]
    return [*repository.glob("*.md"), *sorted(manual)]


def test_linked_files_exist(repository: Path):
    """Links between files of the repository lead somewhere."""
    missing = [
        f"{page.name}: {link}"
        for page in pages(repository)
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)[)#]", page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert missing == []


def test_release_makes_links_of_the_readme_absolute(repository: Path, tmp_path: Path):
    workflow = yaml.safe_load((repository / ".github/workflows/release.yml").read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"] if "env" in step]
    assert [step["run"] for step in steps] == [steps[0]["run"]] * 2  # wheels and source
    shutil.copy(repository / "README.md", tmp_path)
    subprocess.run(
        ["bash", "-ec", steps[0]["run"]],
        cwd=tmp_path,
        env={**os.environ, **steps[0]["env"]},
        check=True,
    )
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((?!https://)[^)]+", text) == []
    base = steps[0]["env"]["PAGES"]
    links = re.findall(rf"\]\({re.escape(base)}([^)#]+)", text)
    assert len(links) > 5
    assert [name for name in links if not (repository / name).exists()] == []
    assert f"]({steps[0]['env']['PICTURES']}docs/guide/report.png)" in text


def test_named_files_exist(repository: Path):
    """Paths in the text exist. (``newscrawl/...`` without a suffix is a stat.)"""
    pattern = r"`((?:(?:docs|tests|tools|benchmarks|deploy)/|newscrawl/[\w/]+\.(?!\.))[\w./@-]+)`"
    missing = [
        f"{page.name}: {path}"
        for page in pages(repository)
        for path in re.findall(pattern, page.read_text(encoding="utf-8"))
        if not (repository / path).exists()
    ]
    assert missing == []


def test_named_objects_exist(repository: Path):
    """Dotted names of the package can be imported."""
    names = {
        name
        for page in pages(repository)
        for name in re.findall(r"\bnewscrawl(?:\.[A-Za-z]\w*)+", page.read_text(encoding="utf-8"))
    }
    missing = []
    for name in names:
        try:
            pkgutil.resolve_name(name)
        except (AttributeError, ImportError) as error:
            missing.append(f"{name}: {error}")
    assert missing == []


@pytest.mark.parametrize("package", sorted(PUBLIC))
def test_public_names_are_documented(repository: Path, package: str):
    """The API reference has each name that a public package exports."""
    text = (repository / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    _, _, section = text.partition(f".. automodule:: {package}\n")
    assert section
    if ":imported-members:" in section.partition("\n\n")[0]:
        return
    names = pkgutil.resolve_name(package).__all__
    assert [name for name in names if not re.search(rf"\.{name}\b", text)] == []


def test_changelog_is_short(repository: Path):
    """The changelog says what users get."""
    assert len((repository / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()) <= 60
