"""Layers, import cycles and names of the package; see docs/internals/architecture.md."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import newscrawl
from tests.conftest import run_python

#: packages and top-level modules from the lowest layer to the highest: each imports from its own
#: layer and those below
LAYERS: tuple[frozenset[str], ...] = tuple(
    frozenset(layer.split())
    for layer in (
        "items defaults clock text patterns language_words sqlite compiled templates near_duplicate_options",
        "document ensemble exporters",
        "css body fields neardup site_rules",
        "extraction",
        "component workers",
        "crawling inspection",
        "archives feeds middlewares optional pipeline_options",
        "pipelines reports sinks spiders",
        "addon integrations settings spark",
        "__main__ cli commands",
        "lab",
    )
)
LAYER_OF = {name: number for number, layer in enumerate(LAYERS, 1) for name in layer}
#: the highest layer that imports neither Scrapy nor an event loop; exporters are Scrapy's
EXTRACTION = LAYER_OF["extraction"]
CRAWLING = {"scrapy", "twisted", "asyncio"}
#: packages of one layer that do not import each other
INDEPENDENT = {"css", "body", "fields", "neardup", "site_rules"}
#: folders of ``crawling`` from the lowest to the highest; its modules are below them
FLOORS = ("network", "reporting", "frontier", "discovery", "history", "output")


def part(module: str) -> str:
    """Return the package or top-level module that *module* belongs to: ``body``."""
    return module.split(".")[1]


def modules(package: Path) -> Iterator[tuple[str, Path]]:
    """Yield name and file of every module."""
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), file


def imports(file: Path, known: set[str]) -> Iterator[str]:
    """Yield the modules that *file* imports, in functions and for typing too."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from (names & known) or {node.module}


@pytest.fixture(scope="module")
def imported(repository: Path) -> dict[str, set[str]]:
    """Return the imports of each module, without the package itself, which exports names."""
    found = dict(modules(repository / "newscrawl"))
    return {
        name: set(imports(file, set(found))) for name, file in found.items() if name != "newscrawl"
    }


def test_every_package_has_a_layer(imported: dict[str, set[str]]):
    """LAYERS names every package and top-level module, and nothing else."""
    assert {part(module) for module in imported} == set(LAYER_OF)


def test_documented_layers(repository: Path):
    page = (repository / "docs" / "internals" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (.*?) \|", page, re.MULTILINE)
    found = {name: int(layer) for layer, names in rows for name in re.findall(r"`(\w+)`", names)}
    assert found == {name: layer for name, layer in LAYER_OF.items() if name != "__main__"}


def test_imports_from_the_same_layer_or_below(imported: dict[str, set[str]]):
    """No module imports from a higher layer, for typing included."""
    upwards = [
        f"{module} imports {other}"
        for module, others in imported.items()
        for other in others & imported.keys()
        if LAYER_OF[part(other)] > LAYER_OF[part(module)]
    ]
    assert upwards == []


def test_extraction_does_not_import_scrapy(imported: dict[str, set[str]]):
    """The layers up to extraction import neither Scrapy nor an event loop."""
    found = [
        f"{module} imports {other}"
        for module, others in imported.items()
        for other in others
        if LAYER_OF[part(module)] <= EXTRACTION
        and part(module) != "exporters"
        and other.partition(".")[0] in CRAWLING
    ]
    assert found == []


def test_core_packages_are_independent(imported: dict[str, set[str]]):
    """The packages of the extraction core do not import each other."""
    found = [
        f"{module} imports {other}"
        for module, others in imported.items()
        for other in others & imported.keys()
        if {part(module), part(other)} <= INDEPENDENT and part(module) != part(other)
    ]
    assert found == []


def test_folders_of_the_crawl_import_downwards(imported: dict[str, set[str]]):
    """No folder of ``crawling`` imports from a later one, for typing included."""

    def floor(module: str) -> int:
        folder = module.removeprefix("newscrawl.crawling").split(".")[1:2]
        return FLOORS.index(folder[0]) + 1 if folder and folder[0] in FLOORS else 0

    upwards = [
        f"{module} imports {other}"
        for module, others in imported.items()
        for other in others
        if module.startswith("newscrawl.crawling") and other.startswith("newscrawl.crawling")
        if floor(other) > floor(module)
    ]
    assert upwards == []


def test_no_name_is_a_package_too(imported: dict[str, set[str]]):
    """What the package exports has no name of a package or module."""
    assert set(newscrawl.__all__).isdisjoint(map(part, imported))


def test_no_import_cycles(imported: dict[str, set[str]]):
    """Modules can be sorted so that each imports only earlier ones, for typing included."""
    graph = {module: others & imported.keys() - {module} for module, others in imported.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' -> '.join(error.args[1])}")


def test_file_names_are_unique(repository: Path):
    """No two modules of the package have the same file name."""
    files = (repository / "newscrawl").rglob("*.py")
    count = Counter(file.name for file in files if not file.name.startswith("__"))
    assert [name for name, number in count.items() if number > 1] == []


def test_class_names_are_unique(repository: Path):
    """No two classes of the package have the same name."""
    count = Counter(
        node.name
        for file in (repository / "newscrawl").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, number in count.items() if number > 1] == []


@pytest.mark.parametrize("name", ["spiders", "pipelines", "settings"])
def test_links_at_the_top(repository: Path, name: str):
    """The symbolic links in the root point to packages."""
    assert (repository / name).is_symlink()
    assert (repository / name).resolve() == (repository / "newscrawl" / name).resolve(strict=True)
    assert not (repository / name).readlink().is_absolute()


def test_extract_imports_no_scrapy():
    """Importing the public API loads neither Scrapy nor optional dependencies."""
    code = (
        "import json, sys, newscrawl; newscrawl.extract, newscrawl.Article; "
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    loaded = set(json.loads(run_python(code)))
    assert "lxml" in loaded
    assert not loaded & {"scrapy", "twisted", "pyarrow", "sklearn", "tldextract"}
