"""Contents and installation of the wheel, the source distribution and the egg for scrapyd."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from configparser import ConfigParser
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from samples import SampleSites, expected_pages
from samples.server import write_sites_file

_UNREACHABLE = re.compile(r"ConnectionError|NewConnectionError|ConnectTimeout|NameResolution")
_OTHER_PYTHONS = sorted({"3.11", "3.12", "3.13", "3.14"} - {f"3.{sys.version_info.minor}"})
#: extras that `all` leaves out: servers, and packages for developers and researchers
_NOT_IN_ALL = {"all", "browser", "dev", "docs", "peers", "scrapyd", "spark"}
#: folders of the checkout that must not be installed in site-packages
_TOP_LEVEL_NAMES = {"spiders", "pipelines", "settings", "samples", "tests", "benchmarks", "docs"}


def run_command(
    *command: object, cwd: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run *command*, which must succeed, without ``PYTHONPATH`` of the tests.

    Builds are not optimised: that takes a quarter of the time.
    """
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    inherited["CFLAGS"] = "-O0"
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def run(*command: object, cwd: Path, **environment: str) -> str:
    """Return the output of *command* with its messages."""
    done = run_command(*command, cwd=cwd, **environment)
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def checkout(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the checkout without build products."""
    products = ("build", "dist", "*.egg-info", "_build", "__pycache__", ".*_cache", "*.so", "*.pyd")
    ignored = shutil.ignore_patterns(".git", ".venv*", ".hypothesis", ".scrapy", *products)
    copy = tmp_path_factory.mktemp("checkout") / "newscrawl"
    return shutil.copytree(repository, copy, symlinks=True, ignore=ignored)


@pytest.fixture(scope="module")
def metadata(checkout: Path) -> dict[str, Any]:
    """Return the content of ``pyproject.toml``."""
    return tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def distributions(checkout: Path) -> Path:
    """Build the source distribution, and the wheel from it; return their folder."""
    try:
        run(sys.executable, "-m", "build", "--outdir", checkout / "dist", cwd=checkout)
    except AssertionError as error:
        if "CI" not in os.environ and _UNREACHABLE.search(str(error)):
            pytest.skip("building needs setuptools from the package index, which is not reachable")
        raise
    return checkout / "dist"


@pytest.fixture(scope="module")
def wheel(distributions: Path) -> Path:
    """Return the wheel."""
    (path,) = distributions.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def pure_wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a wheel without Cython and return it."""
    folder = tmp_path_factory.mktemp("pure")
    (folder / "Cython.py").write_text("raise ImportError", encoding="utf-8")
    command = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder)
    run(*command, cwd=checkout, PYTHONPATH=str(folder))
    (path,) = folder.glob("*.whl")
    return path


#: fixtures with a wheel
WHEELS = ["pure_wheel", pytest.param("wheel", marks=pytest.mark.slow)]


def package_files(checkout: Path) -> set[str]:
    """Return the paths of the package's files, relative to the checkout."""
    return {
        str(path.relative_to(checkout))
        for path in (checkout / "newscrawl").rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("kind", WHEELS)
def test_wheel_has_the_whole_package(request: Any, checkout: Path, kind: str):
    """The wheel has all files of the package and the licence, and nothing else.

    Cython sources are replaced by compiled modules if there is a compiler.
    """
    wheel = request.getfixturevalue(kind)
    names = {
        name
        for name in zipfile.ZipFile(wheel).namelist()
        if not re.fullmatch(r"newscrawl/(?:\w+/)*\w+\.[\w.-]+\.(so|pyd)", name)
    }
    info = next(name for name in names if name.endswith(".dist-info/METADATA")).split("/")[0]
    files = {name for name in package_files(checkout) if not name.endswith((".pxd", ".pyx"))}
    assert {name for name in names if not name.startswith(info)} == files
    assert "newscrawl/py.typed" in names
    assert f"{info}/licenses/LICENSE" in names


@pytest.mark.slow
def test_sdist_has_what_packagers_need(checkout: Path, distributions: Path):
    """It has the tests, the documentation, scrapy.cfg and the package."""
    (path,) = distributions.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {m.name.partition("/")[2] for m in archive.getmembers() if m.isfile()}
    tops = ("LICENSE", "README.md", "CHANGELOG.md", "Makefile", "pyproject.toml", "setup.py")
    assert names >= {*tops, "scrapy.cfg", "Dockerfile", "docs/conf.py", "tests/conftest.py"}
    tests = {path.relative_to(checkout).as_posix() for path in (checkout / "tests").rglob("*.py")}
    assert names >= tests
    assert names >= package_files(checkout)


@pytest.mark.parametrize("kind", WHEELS)
def test_installed_wheel(request: Any, checkout: Path, kind: str, tmp_path: Path):
    """Only one package is installed, with the entry points of Scrapy."""
    wheel = request.getfixturevalue(kind)
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    code = (
        "import json, sysconfig; from importlib.metadata import entry_points; "
        "from pathlib import Path; "
        "print(json.dumps([[p.name for p in Path(sysconfig.get_path('purelib')).iterdir()], "
        "{g: {e.name: e.value for e in entry_points(group=g)} for g in "
        "('console_scripts', 'scrapy', 'scrapy.commands')}]))"
    )
    installed, groups = json.loads(run(python, "-c", code, cwd=tmp_path))
    assert {re.sub(r"-[\d.]+\.dist-info$", "", name) for name in installed} == {"newscrawl"}
    assert not _TOP_LEVEL_NAMES & set(installed)
    assert groups["scrapy"] == {"settings": "newscrawl.settings.base"}
    assert groups["console_scripts"] == {
        "newscrawl": "newscrawl.cli:start",
        "newscrawl-spark": "newscrawl.spark.spark_command:main",
    }
    assert {"extract", "evaluate"} <= set(groups["scrapy.commands"])
    commands = {target.partition(":")[0] for target in groups["scrapy.commands"].values()}
    assert {f"{name.replace('.', '/')}.py" for name in commands} <= package_files(checkout)


@pytest.mark.slow
def test_wheel_has_the_compiled_modules(checkout: Path, wheel: Path):
    """Each Cython source is a compiled module if there is a compiler."""
    if shutil.which(sysconfig.get_config_var("CC").split()[0]) is None:
        pytest.skip("needs a compiler")
    package = checkout / "newscrawl"
    sources = {path.with_suffix("") for path in package.rglob("*.pyx")}
    typed = {path.with_suffix("") for path in package.rglob("*.pxd")}
    sources |= {path for path in typed if path.with_suffix(".py").exists()}
    names = zipfile.ZipFile(wheel).namelist()
    compiled = {
        checkout / name.partition(".")[0] for name in names if name.endswith((".so", ".pyd"))
    }
    assert compiled == sources


@pytest.mark.slow
def test_build_without_compiler(checkout: Path, tmp_path: Path):
    """The build succeeds, and the modules in Python are used."""
    if find_spec("Cython") is None or os.name == "nt":
        pytest.skip("needs Cython, and a compiler that is chosen by CC")
    shutil.copytree(checkout, tmp_path / "source", symlinks=True)
    command = (sys.executable, "setup.py", "build", "--build-base", "output")
    run(*command, cwd=tmp_path / "source", CC="/bin/false")
    (built,) = (tmp_path / "source/output").glob("lib*")
    code = "import newscrawl.document.document as d; print(d.__file__, d.COMPILED)"
    libraries = f"{built}{os.pathsep}{sysconfig.get_path('purelib')}"
    command = (sys.executable, "-S", "-c", code)  # -S ignores an editable installation
    done = run_command(*command, cwd=tmp_path, PYTHONPATH=libraries)
    path, compiled = done.stdout.split()
    assert path.startswith(str(built))
    assert compiled == "False"


@pytest.mark.slow
def test_egg_for_scrapyd(checkout: Path, tmp_path: Path):
    """setup.py builds the egg that ``scrapyd-deploy`` uploads, and Scrapy runs from it."""
    if find_spec("setuptools") is None:
        pytest.skip("needs setuptools")
    run(sys.executable, "setup.py", "bdist_egg", "--dist-dir", tmp_path, cwd=checkout)
    (egg,) = tmp_path.glob("*.egg")
    entries = ConfigParser()
    entries.read_string(zipfile.ZipFile(egg).read("EGG-INFO/entry_points.txt").decode())
    settings = entries["scrapy"]["settings"]
    spiders = run_command(
        *(sys.executable, "-m", "scrapy", "list"),
        cwd=tmp_path,
        PYTHONPATH=str(egg),
        SCRAPY_SETTINGS_MODULE=settings,
    )
    assert spiders.stdout.split() == ["discover", "sitelist", "urllist"]
    code = "import newscrawl; print(newscrawl.__file__)"
    assert str(egg) in run(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=str(egg))


def pip_install(binaries: Path, *arguments: object, **environment: str) -> None:
    """Run ``pip install`` of an environment; skip the test if the package index is unreachable."""
    command = (binaries / "python", "-m", "pip", "install", "--quiet", *arguments)
    try:
        run(*command, cwd=binaries, **environment)
    except AssertionError as error:
        if "CI" not in os.environ and _UNREACHABLE.search(str(error)):
            pytest.skip("the dependencies come from the package index, which is not reachable")
        raise


def new_environment(python: Path | str, folder: Path) -> Path:
    """Create an environment of *python* in *folder*; return its folder of commands."""
    run(python, "-m", "venv", folder, cwd=folder.parent)
    return folder / ("Scripts" if os.name == "nt" else "bin")


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel and its required dependencies in a new environment; return its ``bin``."""
    binaries = new_environment(sys.executable, tmp_path_factory.mktemp("environment"))
    pip_install(binaries, wheel)
    return binaries


#: for the sample sites: a private address, old articles
_SAMPLE_OPTIONS = [
    *("-s", "NEWSCRAWL_ALLOWED_ADDRESSES=127.0.0.1"),
    *("-s", "NEWSCRAWL_MAX_AGE=0"),
    *("-s", "DOWNLOAD_DELAY=0"),
]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_installed_command_crawls_twice(installed: Path, tmp_path: Path):
    """In an empty folder: 23 articles, then nothing new and the file is kept; also as CSV."""
    with SampleSites() as sites:
        command = (installed / "newscrawl", "crawl", *sites.urls.values(), *_SAMPLE_OPTIONS)
        run(*command, cwd=tmp_path)
        feed = (tmp_path / "articles.jsonl").read_bytes()
        assert len(feed.splitlines()) == 23
        assert "Nothing is due before " in run(*command, cwd=tmp_path)
        assert (tmp_path / "articles.jsonl").read_bytes() == feed
        run(*command, "-s", "NEWSCRAWL_ONLY_NEW=0", "-o", "articles.csv", cwd=tmp_path)
    table = (tmp_path / "articles.csv").read_text(encoding="utf-8")
    assert len(list(csv.DictReader(io.StringIO(table)))) == 23


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_installed_addon_crawls_twice(installed: Path, tmp_path: Path):
    """In a project of ``scrapy startproject`` with one line of settings added."""
    run(installed / "scrapy", "startproject", "daily", cwd=tmp_path)
    project = tmp_path / "daily"
    with (project / "daily" / "settings.py").open("a", encoding="utf-8") as settings:
        settings.write('ADDONS = {"newscrawl.Addon": 500}\n')
    with SampleSites() as sites:
        write_sites_file(project / "sites.txt", sites)
        command = (installed / "scrapy", "crawl", "sitelist", "-a", "sites=sites.txt")
        command = (*command, "-o", "articles.jsonl", *_SAMPLE_OPTIONS)
        assert "Sites" in run(*command, cwd=project)
        feed = (project / "articles.jsonl").read_bytes()
        assert len(feed.splitlines()) == 23
        assert "Nothing is due before " in run(*command, cwd=project)
        assert (project / "articles.jsonl").read_bytes() == feed


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_installed_command_extracts(installed: Path, tmp_path: Path):
    """A folder in two workers, and a missing extra in one line."""
    (page, *_) = (page for page in expected_pages() if page.is_article)
    (tmp_path / "pages").mkdir()
    for number in range(10):
        shutil.copy(page.file, tmp_path / "pages" / f"{number}.html")
    command = (installed / "newscrawl", "extract", "pages", "--jobs", "2")
    titles = [json.loads(line)["title"] for line in run(*command, cwd=tmp_path).splitlines()]
    assert titles == [page.title] * 10
    done = subprocess.run(
        [installed / "newscrawl", "crawl", "a.example", "-o", "a.parquet"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == (
        "newscrawl crawl: this needs pyarrow: pip install 'newscrawl[parquet]'\n"
    )


def test_pythons_agree(checkout: Path, metadata: dict[str, Any]):
    """Wheels are built, tests run and classifiers exist for the same versions of Python."""
    pattern = r"Programming Language :: Python :: (3\.\d+)"
    classifiers = metadata["project"]["classifiers"]
    versions = [match[1] for line in classifiers if (match := re.fullmatch(pattern, line))]
    assert f">={versions[0]}" == metadata["project"]["requires-python"].rpartition(".")[0]
    assert versions == sorted({*_OTHER_PYTHONS, f"3.{sys.version_info.minor}"})
    wheels = metadata["tool"]["cibuildwheel"]["build"].split()
    assert wheels == [f"cp{version.replace('.', '')}-*" for version in versions]
    path = checkout / ".github/workflows/test.yml"
    if not path.exists():  # in a source distribution
        return
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == versions


def find_python(version: str) -> str:
    """Return an interpreter of *version*, from the PATH or pyenv; skip the test without one."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for candidate in chain(
        filter(None, [shutil.which(f"python{version}")]),
        sorted(pyenv.glob(f"versions/{version}.*/bin/python")),
    ):
        command = [candidate, "-c", "import sys, venv; print(*sys.version_info[:2], sep='.')"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.stdout.strip() == version:  # a shim of pyenv may exist without its version
            return str(candidate)
    pytest.skip(f"Python {version} is not on this machine")


@pytest.mark.pythons
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("version", _OTHER_PYTHONS)
def test_builds_and_crawls_on_other_pythons(checkout: Path, tmp_path: Path, version: str):
    """A new environment of each other Python gets the compiled modules, and crawls the samples."""
    binaries = new_environment(find_python(version), tmp_path / "environment")
    shutil.copytree(checkout, tmp_path / "source", symlinks=True)
    pip_install(binaries, tmp_path / "source")
    code = "import sys, newscrawl.document.document as d; print(*sys.version_info[:2], d.COMPILED)"
    expected = [*version.split("."), str(bool(shutil.which("cc")))]
    assert run(binaries / "python", "-c", code, cwd=tmp_path).split() == expected
    with SampleSites() as sites:
        command = (binaries / "newscrawl", "crawl", *sites.urls.values(), *_SAMPLE_OPTIONS)
        run(*command, cwd=tmp_path)
    assert len((tmp_path / "articles.jsonl").read_bytes().splitlines()) == 23


def test_extra_all_has_the_extras_of_users(metadata: dict[str, Any]):
    """A new extra is added to `all`, or to the list of the others."""
    extras = metadata["project"]["optional-dependencies"]
    (requirement,) = extras["all"]
    included = requirement.removeprefix("newscrawl[").removesuffix("]").split(",")
    assert set(included) == extras.keys() - _NOT_IN_ALL
    assert included == sorted(included)


def pinned(path: Path) -> dict[str, str]:
    """Return the version of each package of a constraints file."""
    lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    pins = dict(line.split("==") for line in lines)
    return {canonicalize_name(name): version for name, version in pins.items()}


def user_requirements(metadata: dict[str, Any]) -> list[Requirement]:
    """Return the dependencies with those of the extra `all`."""
    project = metadata["project"]
    extras = project["optional-dependencies"]
    texts = chain(project["dependencies"], *(extras[name] for name in extras.keys() - _NOT_IN_ALL))
    return [found for found in map(Requirement, texts) if found.name != "newscrawl"]


def test_container_pins_all_dependencies(repository: Path, metadata: dict[str, Any]):
    """After a change of the dependencies: `make constraints`."""
    pins = pinned(repository / "deploy" / "constraints.txt")
    for required in user_requirements(metadata):
        assert required.specifier.contains(pins[canonicalize_name(required.name)]), required


def test_lowest_versions_are_the_lower_bounds(repository: Path, metadata: dict[str, Any]):
    """`make test-lowest` tests what pyproject.toml allows; a bound may start its series."""
    pins = pinned(repository / "tests" / "lowest.txt")
    for required in user_requirements(metadata):
        (bound,) = (part.version for part in required.specifier if part.operator == ">=")
        version = pins[canonicalize_name(required.name)]
        assert SpecifierSet(f"=={bound}.*").contains(version), required


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_extra_all_can_be_resolved(installed: Path, wheel: Path, tmp_path: Path):
    """pip finds versions of all optional packages that fit together."""
    report = tmp_path / "report.json"
    pip_install(installed, "--dry-run", "--report", report, f"{wheel}[all]")
    found = {part["metadata"]["name"] for part in json.loads(report.read_text())["install"]}
    assert found >= {"py3langid", "pyarrow", "scikit-learn", "scrapy-poet", "warcio"}


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_extra_scrapyd_builds_the_egg(checkout: Path, installed: Path, wheel: Path, tmp_path: Path):
    """``scrapyd-deploy`` needs a setuptools that reads our licence, newer than Python 3.11's."""
    pip_install(installed, f"{wheel}[scrapyd]")
    source = shutil.copytree(checkout, tmp_path / "source", symlinks=True)
    run(installed / "scrapyd-deploy", "--build-egg=../newscrawl.egg", cwd=source)
    names = zipfile.ZipFile(tmp_path / "newscrawl.egg").namelist()
    assert {"newscrawl/spiders/sitelist.py", "EGG-INFO/entry_points.txt"} <= set(names)
