"""The manual agrees with the code: settings, diagram, links between pages, examples."""

import ast
import os
import pkgutil
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
import yaml

from newscrawl.defaults import DEFAULTS
from newscrawl.extraction.methods import METHODS
from newscrawl.items import Article
from newscrawl.settings import base
from tools.draw_layers import TARGET, diagram

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


@pytest.mark.parametrize(
    ("tag", "heading", "code"),
    [
        ("v0.1.0", "## 0.1.0 (2026-12-01)", 0),
        ("v0.1.0", "## 0.1.0 (unreleased)", 1),
        ("v0.1.1", "## 0.1.0 (2026-12-01)", 1),
    ],
)
def test_release_is_dated(repository: Path, tmp_path: Path, tag: str, heading: str, code: int):
    """A tag is published if it names the version that was built and the changelog dates it."""
    workflow = yaml.safe_load((repository / ".github/workflows/release.yml").read_text())
    assert workflow[True]["push"] == {"tags": ["v*"]}  # YAML reads "on" as true
    (step,) = (s for s in workflow["jobs"]["sdist"]["steps"] if "changelog" in s.get("name", ""))
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist/newscrawl-0.1.0.tar.gz").touch()
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{heading}\n")
    environment = {**os.environ, "GITHUB_REF_NAME": tag}
    done = subprocess.run(["bash", "-ec", step["run"]], cwd=tmp_path, env=environment, check=False)
    assert done.returncode == code


def test_citation(repository: Path):
    """It has the fields that its format requires, and the project's own data."""
    found = yaml.safe_load((repository / "CITATION.cff").read_text(encoding="utf-8"))
    assert found.keys() >= {"cff-version", "message", "title", "authors"}
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert found["license"] == project["license"]
    assert found["repository-code"] == project["urls"]["Repository"]
    assert found["authors"] == project["authors"]


def results(repository: Path, name: str) -> str:
    """Return a page of results."""
    return (repository / f"docs/results/{name}.md").read_text(encoding="utf-8")


def row(text: str, name: str, column: str) -> str:
    """Return a cell of the first table of *text* that has *column*."""
    lines = [[cell.strip(" *") for cell in line.split("|")] for line in text.splitlines()]
    start = next(number for number, cells in enumerate(lines) if column in cells)
    cells = next(cells for cells in lines[start:] if cells[1:2] == [name])
    return cells[lines[start].index(column)]


def test_speed_is_that_of_the_page_it_links(repository: Path):
    """The README has the medians over all pages that ``make results ARGS=stages`` writes."""
    page = results(repository, "stages")
    pattern = (
        r"\*\*Speed\*\*: ([\d.]+) parses by lxml .* trafilatura\s+([\d.]+), "
        r"resiliparse\s+([\d.]+)\s+.*commit\s+`(\w+)` on\s+([\d-]+)"
    )
    readme = (repository / "README.md").read_text(encoding="utf-8")
    speed = re.search(pattern, readme, re.DOTALL)
    tools = ("newscrawl", "trafilatura", "resiliparse")
    medians = [row(page, "all", tool).partition(" / ")[0] for tool in tools]
    stamp = re.search(r"Measured at commit `([\w-]+)` on ([\d-]+)", page)
    assert speed is not None
    assert speed.groups() == (*medians, *stamp.groups())


def test_results_state_commit_and_day(repository: Path):
    """All but the index and the list of tables."""
    pages = {path.stem for path in (repository / "docs/results").glob("*.md")}
    pattern = r"^Measured at commit `[\w-]+` on \d{4}-\d\d-\d\d"
    assert {
        name
        for name in pages - {"index", "papers"}
        if len(re.findall(pattern, results(repository, name), re.MULTILINE)) != 1
    } == set()


def test_pages_agree_on_bodies(repository: Path):
    """Index, families and README have the figures of the comparison with other tools."""
    peers, body, index = (results(repository, name) for name in ("peers", "body", "index"))
    families = ("news", "wcxb", "l3sgn1", "daniel", "dragnet", "mkwebs", "all families")
    for family in families:
        f1 = row(peers, "newscrawl", family)
        assert row(body, family, "body F1") == f1
        for tool in ("newscrawl", "trafilatura", "trafilatura fast", "resiliparse"):
            short = row(index, tool, family.removesuffix(" families"))
            assert float(short) == float(row(peers, tool, family)), (tool, family)
    readme = (repository / "README.md").read_text(encoding="utf-8")
    ours, theirs = re.findall(r"\): (\.\d+) over .*?; (\.\d+) for trafilatura", readme, re.DOTALL)[
        0
    ]
    assert float(ours) == round(float(row(peers, "newscrawl", "all families")), 2)
    assert float(theirs) == round(float(row(peers, "trafilatura", "all families")), 2)


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


def test_ways_name_functions_that_exist(repository: Path):
    """And their numbers are right."""
    page = (repository / "docs" / "internals" / "architecture.md").read_text(encoding="utf-8")
    way = r"^An? \*\*\w+\*\*.*?: (\d+) functions of (\d+) modules:\n\n```text\n(.*?)```"
    found = re.findall(way, page, re.MULTILINE | re.DOTALL)
    assert len(found) == 6
    for functions, modules, lines in found:
        stops = {
            (module, name)
            for module, names in (line.split(maxsplit=1) for line in lines.splitlines())
            for name in _full_names(names.split(", "))
        }
        for module, name in stops:
            assert pkgutil.resolve_name(f"newscrawl.{module}:{name}")
        assert (len(stops), len({module for module, _ in stops})) == (int(functions), int(modules))


def _full_names(names: list[str]) -> Iterator[str]:
    """Yield names with their class, which a line names once."""
    owner = ""
    for name in names:
        given, dot, _ = name.rpartition(".")
        owner = given if dot else owner
        yield name if dot or not owner else f"{owner}.{name}"
