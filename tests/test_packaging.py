"""What is built and installed: wheel, source distribution and the egg that scrapyd takes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from configparser import ConfigParser
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

_UNREACHABLE = re.compile(r"ConnectionError|NewConnectionError|ConnectTimeout|NameResolution")
#: names that must never appear next to the package in site-packages
_TOP_LEVEL_NAMES = {"spiders", "pipelines", "settings", "samples", "tests", "benchmarks", "docs"}


def run(*command: object, cwd: Path, **environment: str) -> str:
    """Return what *command* prints."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def checkout(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the checkout, so that builds leave nothing in ours and take nothing old."""
    built = ("build", "dist", "*.egg-info", "_build", "__pycache__", ".*_cache", "*.so", "*.pyd")
    ignored = shutil.ignore_patterns(".git", ".venv", ".hypothesis", ".scrapy", *built)
    copy = tmp_path_factory.mktemp("checkout") / "newscrawl"
    return shutil.copytree(repository, copy, symlinks=True, ignore=ignored)


@pytest.fixture(scope="module")
def distributions(checkout: Path) -> Path:
    """Return the folder with the source distribution and the wheel built from it."""
    try:
        run(sys.executable, "-m", "build", "--outdir", checkout / "dist", cwd=checkout)
    except AssertionError as error:
        if "CI" not in os.environ and _UNREACHABLE.search(str(error)):
            pytest.skip("building needs setuptools from the package index, which is out of reach")
        raise
    return checkout / "dist"


@pytest.fixture(scope="module")
def wheel(distributions: Path) -> Path:
    """Return the one wheel."""
    (path,) = distributions.glob("*.whl")
    return path


def package_files(checkout: Path) -> set[str]:
    """Return the files of the package, relative to the checkout."""
    return {
        str(path.relative_to(checkout))
        for path in (checkout / "newscrawl").rglob("*")
        if path.is_file()
    }


def test_wheel_has_the_whole_package(checkout: Path, wheel: Path):
    """Every module, the marker of typing, the samples' pages and the licence; nothing else.

    The compiled modules in place of their sources, where there is a compiler.
    """
    names = {
        name
        for name in zipfile.ZipFile(wheel).namelist()
        if not re.fullmatch(r"newscrawl/(?:\w+/)*_\w+\.[\w.-]+\.(so|pyd)", name)
    }
    info = next(name for name in names if name.endswith(".dist-info/METADATA")).split("/")[0]
    files = {name for name in package_files(checkout) if not name.endswith(".pyx")}
    assert {name for name in names if not name.startswith(info)} == files
    assert "newscrawl/py.typed" in names
    assert any(re.fullmatch(r"newscrawl/samples/.+\.html", name) for name in names)
    assert any(re.fullmatch(r"newscrawl/samples/.+\.css", name) for name in names)
    assert f"{info}/licenses/LICENSE" in names


def test_sdist_has_what_packagers_need(checkout: Path, distributions: Path):
    """Tests, documentation, the project's Scrapy file and the package itself."""
    (path,) = distributions.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {m.name.partition("/")[2] for m in archive.getmembers() if m.isfile()}
    tops = ("LICENSE", "README.md", "CHANGELOG.md", "Makefile", "pyproject.toml", "setup.py")
    assert names >= {*tops, "scrapy.cfg", "docs/conf.py", "tests/conftest.py"}
    tests = {path.relative_to(checkout).as_posix() for path in (checkout / "tests").rglob("*.py")}
    assert names >= tests
    assert names >= package_files(checkout)


def test_installed_wheel(checkout: Path, wheel: Path, tmp_path: Path):
    """An environment gets one package, and the names that Scrapy looks for."""
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    code = (
        "import json, sysconfig; from importlib.metadata import entry_points; "
        "from pathlib import Path; "
        "print(json.dumps([[p.name for p in Path(sysconfig.get_path('purelib')).iterdir()], "
        "{g: {e.name: e.value for e in entry_points(group=g)} for g in "
        "('scrapy', 'scrapy.commands')}]))"
    )
    installed, groups = json.loads(run(python, "-c", code, cwd=tmp_path))
    assert {re.sub(r"-[\d.]+\.dist-info$", "", name) for name in installed} == {"newscrawl"}
    assert not _TOP_LEVEL_NAMES & set(installed)
    assert groups["scrapy"] == {"settings": "newscrawl.settings.base"}
    assert {"extract", "evaluate"} <= set(groups["scrapy.commands"])
    commands = {target.partition(":")[0] for target in groups["scrapy.commands"].values()}
    assert {f"{name.replace('.', '/')}.py" for name in commands} <= package_files(checkout)


@pytest.mark.parametrize("compiler", ["", "/bin/false"], ids=["as it is", "broken"])
def test_build_with_and_without_compiler(checkout: Path, tmp_path: Path, compiler: str):
    """The compiled module is there where a compiler is; without it all is well, too."""
    if find_spec("Cython") is None or os.name == "nt":
        pytest.skip("Cython is not in this environment, or the compiler is not named by CC")
    shutil.copytree(checkout, tmp_path / "source", symlinks=True)
    run(
        *(sys.executable, "setup.py", "build", "--build-base", "made"),
        cwd=tmp_path / "source",
        **({"CC": compiler} if compiler else {}),
    )
    (built,) = (tmp_path / "source/made").glob("lib*")
    code = (
        "import newscrawl.document.document as d; from newscrawl.css.sheets import scanner as s; "
        "print(d.__file__, d.COMPILED, s.COMPILED)"
    )
    libraries = f"{built}{os.pathsep}{sysconfig.get_path('purelib')}"
    alone = (sys.executable, "-S", "-c", code)  # without what finds an editable installation
    path, *compiled = run(*alone, cwd=tmp_path, PYTHONPATH=libraries).split()
    assert path.startswith(str(built))
    has_compiler = not compiler and shutil.which(sysconfig.get_config_var("CC").split()[0])
    assert compiled == [str(bool(has_compiler))] * 2


def test_egg_for_scrapyd(checkout: Path, tmp_path: Path):
    """The egg that ``scrapyd-deploy`` uploads is built by setup.py, and Scrapy runs from it."""
    if find_spec("setuptools") is None:
        pytest.skip("setuptools is not in this environment")
    run(sys.executable, "setup.py", "bdist_egg", "--dist-dir", tmp_path, cwd=checkout)
    (egg,) = tmp_path.glob("*.egg")
    entries = ConfigParser()
    entries.read_string(zipfile.ZipFile(egg).read("EGG-INFO/entry_points.txt").decode())
    settings = entries["scrapy"]["settings"]
    found = run(
        *(sys.executable, "-m", "scrapy", "list"),
        cwd=tmp_path,
        PYTHONPATH=str(egg),
        SCRAPY_SETTINGS_MODULE=settings,
    )
    assert found.split() == ["sitelist"]
    where = "import newscrawl; print(newscrawl.__file__)"
    assert str(egg) in run(sys.executable, "-c", where, cwd=tmp_path, PYTHONPATH=str(egg))
