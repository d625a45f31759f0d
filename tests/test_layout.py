"""The house's plan holds: who may import whom, and what an import costs."""

from __future__ import annotations

import ast
import json
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.conftest import run_python

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: room -> floor: a room imports from its own floor and those below. The longest prefix counts.
FLOORS = {
    "text": 0,
    "clock": 0,
    "items": 0,
    "encoding": 0,
    "guard": 0,
    "compiled": 0,
    "sqlite": 0,
    "_bytes": 0,
    "repair": 0,
    "rows": 0,
    "_rows": 0,
    "_trees": 1,
    "document": 1,
    "forest": 1,
    "forestfile": 1,
    "records": 1,
    "css": 2,
    "_blocks": 3,
    "_body": 3,
    "_features": 3,
    "body": 3,
    "fields": 3,
    "neardup": 3,
    "methods": 4,
    "extraction": 4,
    # one dict of numbers, which every component with settings reads
    "settings.defaults": 4,
    "evaluation": 5,
    "training": 5,
    "crawl": 5,
    "middlewares": 5,
    "pipelines": 5,
    "exporters": 5,
    "csvexport": 5,
    "spiders": 6,
    "settings": 6,
    "commands": 6,
    # reads feeds and writes tables, as the command does
    "neardup.spark": 6,
    "addon": 6,
    "samples": 6,
    "": 6,
}
EXTRACTION = FLOORS["extraction"]
#: what the rooms up to extraction never import
CRAWLING = {"scrapy", "twisted", "asyncio"}
#: rooms of one floor that know nothing of each other's insides
APART = {"body", "fields", "neardup"}


def room(module: str) -> str:
    """Return the room of FLOORS that *module* (``newscrawl.body.nce``) stands in."""
    name = module.removeprefix("newscrawl").removeprefix(".")
    return max((r for r in FLOORS if not r or f"{name}.".startswith(f"{r}.")), key=len)


def modules(package: Path) -> Iterator[tuple[str, Path]]:
    """Yield name and file of every module; of a compiled one, that of its stub."""
    for file in sorted((*package.rglob("*.py"), *package.rglob("*.pyi"))):
        parts = file.relative_to(package.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), file


def imports(file: Path, known: set[str]) -> Iterator[str]:
    """Yield the modules that *file* imports when it runs, in functions too."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    typing = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for statement in block.body
        for node in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            submodules = {f"{node.module}.{alias.name}" for alias in node.names} & known
            names = list(submodules) or [node.module]
        else:
            continue
        yield from (name for name in names if id(node) not in typing)


@pytest.fixture(scope="module")
def imported(repository: Path) -> dict[str, set[str]]:
    """Return what each module imports."""
    found = dict(modules(repository / "newscrawl"))
    return {name: set(imports(file, set(found))) for name, file in found.items()}


def test_every_room_has_a_floor(imported: dict[str, set[str]]):
    """A module outside of the plan belongs into the plan."""
    assert [m for m in imported if m != "newscrawl" and not room(m)] == []


def test_no_room_imports_from_above(imported: dict[str, set[str]]):
    """A room imports only from its own floor and the floors below."""
    upwards = [
        f"{module} imports {other}"
        for module, others in imported.items()
        for other in others
        if other.partition(".")[0] == "newscrawl" and FLOORS[room(other)] > FLOORS[room(module)]
    ]
    assert upwards == []


def test_extraction_knows_nothing_of_crawling(imported: dict[str, set[str]]):
    """Documents, algorithms and extract() import neither Scrapy nor an event loop."""
    found = [
        f"{module} imports {other}"
        for module, others in imported.items()
        for other in others
        if FLOORS[room(module)] <= EXTRACTION and other.partition(".")[0] in CRAWLING
    ]
    assert found == []


def test_neighbours_keep_to_their_rooms(imported: dict[str, set[str]]):
    """The rooms beside each other on floor 2 do not use each other's modules."""
    found = [
        f"{module} imports {other}"
        for module, others in imported.items()
        for other in others
        if room(module) in APART and room(other) in APART and room(module) != room(other)
    ]
    assert found == []


def test_floors_are_in_order():
    """The table above is sorted from the ground up, the package's own name last."""
    floors = [floor for name, floor in FLOORS.items() if name]
    assert all(low <= high for low, high in pairwise(floors))


@pytest.mark.parametrize("name", ["spiders", "pipelines", "settings", "samples"])
def test_doors_at_the_top(repository: Path, name: str):
    """The links at the top lead into the package."""
    assert (repository / name).is_symlink()
    assert (repository / name).resolve() == (repository / "newscrawl" / name).resolve(strict=True)
    assert not (repository / name).readlink().is_absolute()


def test_extract_imports_no_scrapy():
    """Who only extracts pays for no crawler: the workers above all."""
    code = (
        "import json, sys, newscrawl; newscrawl.extract, newscrawl.Article; "
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    loaded = set(json.loads(run_python(code)))
    assert "lxml" in loaded
    assert not loaded & {"scrapy", "twisted", "pyarrow", "sklearn", "tldextract"}
