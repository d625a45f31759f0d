"""The code blocks of the README and the guide run, and those of crawls again, as on a schedule.

Blocks of the languages ``console`` and ``python`` are taken from the documents, in order, with the
example addresses replaced by the sample sites. A new block is run by itself, or fails; blocks that
cannot run are in :data:`NOT_RUN`. ``python -m tests.end_to_end.test_documents`` lists them all.
"""

import ast
import csv
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from pyarrow import parquet

from samples import SampleSites, expected_pages
from tests.conftest import REPOSITORY
from tests.helpers.forked_programs import ForkedPrograms

PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs" / "guide").glob("*.md"))]

NOT_RUN = {
    r"\bsystemctl\b": "commands of root, for systemd",
    r"\b(make (demo|test))\b": "builds an environment; the demo has a test, test_demo.py",
    r"\bdocker\b": "needs Docker; test_docker.py builds and runs the image",
    r"\bnewscrawl-spark\b|\bspark-submit\b": "needs a cluster or minutes; tests/spark runs them",
    r"\bscrapyd\b": "needs a server; test_scrapyd.py deploys to one",
    r"python -m samples$": "serves until interrupted; the test serves the same sites",
    r"import (ray|Client)\b": "needs a cluster of Ray or Dask",
    r"s3://|gs://|postgresql://|AWS_|GCS_": "needs a cloud service or database; tests/sinks",
    r"playwright|NEWSCRAWL_RENDER": "needs Chromium; test_rendering.py renders pages",
    r"ZYTE_API": "needs an account",
    r"confluent_kafka": "needs a broker",
    r"@handle_urls": "web_poet loads public suffixes from the internet; test_poet.py has page objects",
}
"""Pattern of blocks that cannot run -> the reason."""

INSTALLS = re.compile(r"\b(pip|venv|venv-pack)\b|\.venv/bin/activate")
"""Commands that install what the test has."""

EXAMPLES = {
    "24h": "9999d",
    "election,parliament": "ferry,bakery",
    "= 5000": "= 2",
    "2024-03-01 --until 2024-03-31": "2026-11-01 --until 2026-11-30",
    "/(politik|wirtschaft)/": "/2026/",
    "/srv/newscrawl": ".",
    "/backup": "backup",
    "/var/lib": "lib",
    "/var/www": "www",
    "3/16": "1/1",
}
"""Examples for other sites, dates and machines -> their replacements."""

AGAIN = {"scrapy startproject daily && cd daily": "cd daily"}
"""Commands that cannot be repeated -> their replacements in the second run."""

SETTINGS = {
    "NEWSCRAWL_ALLOWED_ADDRESSES": "127.0.0.1",
    "NEWSCRAWL_MAX_AGE": 0,
    "NEWSCRAWL_WORKERS": 0,
    "DOWNLOAD_DELAY": 0,
}
"""Settings for crawls of the sample sites."""

OPTIONS = [word for name, value in SETTINGS.items() for word in ("-s", f"{name}={value}")]
"""The same for commands."""

SPIDER = """
import newscrawl
import scrapy

{module}


class PaperSpider(scrapy.Spider):
    name = "paper"
    url = "{url}"
    start_urls = [url]

{methods}
"""


@dataclass(frozen=True, slots=True)
class Block:
    """A code block of a document."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def reason(self) -> str | None:
        """Why the block cannot run, if it cannot."""
        for pattern, reason in NOT_RUN.items():
            if re.search(pattern, "\n".join(self.commands) or self.text, re.MULTILINE):
                return reason
        installs = self.language == "console" and all(map(INSTALLS.search, self.commands))
        return "installs packages" if installs else None

    @property
    def commands(self) -> list[str]:
        """The commands of a console, without prompts and output."""
        if self.language != "console":
            return []
        return re.findall(r"^[$#] ((?:.*\\\n)*.*)$", self.text, re.MULTILINE)

    @property
    def kind(self) -> str:
        """``console``, ``settings``, ``spider``, ``module`` or ``script``."""
        if self.language == "console":
            return "console"
        body = [node for node in ast.parse(self.text).body if not isinstance(node, IMPORTS)]
        if any(map(_is_method, body)):
            return "spider"
        if body and all(isinstance(node, ast.ClassDef) for node in body):
            return "module"
        return "settings" if body and all(map(_is_setting, body)) else "script"

    def __str__(self) -> str:
        return f"{self.page.relative_to(REPOSITORY)}:{self.line}"


IMPORTS = (ast.Import, ast.ImportFrom)


def _is_method(node: ast.stmt) -> bool:
    is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return is_function and [arg.arg for arg in node.args.args[:1]] == ["self"]


def _is_setting(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and all(
        isinstance(target, ast.Name) and target.id.isupper() for target in node.targets
    )


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a document that are meant to run."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```(console|python)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [
        Block(page, text.count("\n", 0, match.start()) + 1, match[1], match[2]) for match in found
    ]


def _unpacked(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


READERS: dict[str, Callable[[Path], list[dict[str, Any]]]] = {
    ".csv": lambda path: list(csv.DictReader(_unpacked(path).splitlines(keepends=True))),
    ".json": lambda path: json.loads(_unpacked(path)),
    ".jsonl": lambda path: [json.loads(line) for line in _unpacked(path).splitlines()],
    ".parquet": lambda path: parquet.ParquetFile(path).read().to_pylist(),
    ".xml": lambda path: [
        {field.tag: field.text for field in item} for item in ET.fromstring(_unpacked(path))
    ],
}
"""Suffix of a feed -> its reader."""


def read_feeds(folder: Path) -> dict[str, int]:
    """Return the number of articles in each feed of *folder*; fail on repeated ones.

    Files of one feed have the same beginning up to a hyphen or point.
    """
    urls: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for path in folder.iterdir():
        suffix = path.name.removesuffix(".gz")[path.name.find(".") :]
        suffix = f".{suffix.rpartition('.')[2]}"
        if path.is_file() and suffix in READERS and not path.name.startswith("sites."):
            rows = READERS[suffix](path)
            name = re.split(r"[-.]", path.name)[0] + suffix
            urls[name].update(row["url"] for row in rows if row.get("url"))
    repeated = {name: found.most_common(1) for name, found in urls.items() if found}
    assert {name: top for name, top in repeated.items() if top[0][1] > 1} == {}
    return {name: found.total() for name, found in urls.items()}


_CRAWL = r"\bnewscrawl crawl [^\n]*? -[oO] (\w+\.\w+)"
"""Crawl with the name of its feed, which has articles after the first run of the block."""


class Runner:
    """Runs blocks in *folder*, with the commands of *tools* on the ``PATH``."""

    def __init__(self, folder: Path, tools: Path, sites: SampleSites) -> None:
        self.folder = folder
        first, *_ = expected_pages()
        self.site = next(iter(sites.urls.values()))
        self.article = f"{sites.urls[first.site].rstrip('/')}{first.path}"
        self.html = first.file
        path = os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]])
        self.environment = {**os.environ, "PATH": path}

    def local(self, text: str) -> str:
        """Return *text* with the addresses of the sample sites."""
        text = re.sub(r"https://(news\.example|www\.example\.org)/[\w/.-]+", self.article, text)
        text = text.replace("https://www.example.org/", self.site)
        text = text.replace("http://127.0.0.1:8700/", self.site)
        for example, replacement in EXAMPLES.items():
            text = text.replace(example, replacement)
        return text

    def run(self, command: list[str], block: Block, *, folder: Path | None = None) -> None:
        done = subprocess.run(
            command,
            cwd=folder or self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=200,
        )
        output = f"{block}: {command}\n{done.stdout}"
        assert done.returncode == 0, output
        assert not re.search(r"Traceback|\b(ERROR|CRITICAL)\b", done.stdout), output

    def console(self, block: Block) -> None:
        """Run the commands twice, in the same folder as the blocks before."""
        (self.folder / "backup").mkdir(exist_ok=True)
        commands = [text for text in block.commands if not INSTALLS.search(text)]
        for number in (1, 2):
            lines = [AGAIN.get(text, text) if number == 2 else text for text in commands]
            script = self.local("\n".join(["set -euo pipefail", *lines]))
            self.run(["bash", "-c", script], block)
            found = read_feeds(self.folder)
            for feed in re.findall(_CRAWL, script) if number == 1 else ():
                assert found[feed], (
                    f"{block}: {feed} is empty, whatever the blocks before asked for"
                )

    def settings(self, block: Block) -> None:
        """Crawl the first site twice with the settings of the block and one number of articles."""
        self._write_project(block.text, block)
        shutil.rmtree(self.folder / ".scrapy", ignore_errors=True)
        for path in self.folder.iterdir():
            if {".jsonl", ".parquet"}.intersection(path.suffixes):
                path.unlink()
        before = set(self.folder.iterdir())
        counts: set[int] = set()
        for _ in (1, 2):
            feed = "default-%(batch_id)d.jsonl"
            command = ["scrapy", "crawl", "sitelist", "-a", f"site={self.site}", "-o", feed]
            self.run(command, block)
            counts.update(read_feeds(self.folder).values())
        assert len(counts) == 1, f"{block}: {counts}"
        for path in set(self.folder.iterdir()) - before:
            if path.is_file():
                path.unlink()

    def spider(self, block: Block, settings: str) -> None:
        """Crawl an article with a spider that has the methods of the block."""
        self._write_project(settings, block)
        nodes = ast.parse(block.text).body
        texts = [
            ast.get_source_segment(block.text, node) or "" for node in nodes if _is_method(node)
        ]
        module = "\n".join(ast.unparse(node) for node in nodes if not _is_method(node))
        spider = SPIDER.format(
            module=module, url=self.article, methods=indent("\n\n".join(texts), "    ")
        )
        (self.folder / "myproject" / "paper.py").write_text(spider, encoding="utf-8")
        self.run(["scrapy", "crawl", "paper", "-O", "paper.jsonl"], block)
        assert len(READERS[".jsonl"](self.folder / "paper.jsonl")) == 1, str(block)
        (self.folder / "paper.jsonl").unlink()

    def _write_project(self, settings: str, block: Block) -> None:
        lines = [
            "from newscrawl.settings.base import *",
            'SPIDER_MODULES = ["newscrawl.spiders", "myproject"]',
            self.local(settings),
        ]
        (self.folder / "recipe.py").write_text("\n".join(lines), encoding="utf-8")
        (self.folder / "scrapy.cfg").write_text("[settings]\ndefault = recipe\n", encoding="utf-8")
        compile("\n".join(lines), str(block), "exec")

    def script(self, found: list[Block]) -> None:
        """Run the blocks twice as one script, with a page in ``html`` and ``url``."""
        lines = [
            "from pathlib import Path",
            "import newscrawl",
            "from newscrawl.cli import python_crawl",
            f"python_crawl._SETTINGS.update({SETTINGS})",
            f"html, url = Path({str(self.html)!r}).read_bytes(), {self.article!r}",
            *(self.local(block.text) for block in found),
        ]
        (self.folder / "script.py").write_text("\n".join(lines), encoding="utf-8")
        for _ in (1, 2):
            self.run([sys.executable, "-W", "error", "script.py"], found[0])


@pytest.fixture(scope="module")
def sites() -> Iterator[SampleSites]:
    with SampleSites() as served:
        yield served


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder with the commands, which add the options for the sample sites."""
    folder = tmp_path_factory.mktemp("tools")
    shutil.copy(REPOSITORY / "deploy" / "newscrawl-crawl", folder)
    added = dict.fromkeys(("crawl", "discover", "urls", "extract", "inspect"), OPTIONS)
    with ForkedPrograms(folder, added):
        yield folder


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory, tools: Path, sites: SampleSites) -> Path:
    """Return a folder with the files that blocks read: of an earlier crawl of another site."""
    folder = tmp_path_factory.mktemp("inputs")
    runner = Runner(folder, tools, sites)
    command = ["newscrawl", "crawl", "-s", "NEWSCRAWL_WARC=archive"]
    command += ["-s", "NEWSCRAWL_SEGMENTS=segments"]
    for url, feed in zip(
        list(sites.urls.values())[1:], ("articles.jsonl", "more.parquet"), strict=True
    ):
        runner.run([*command, url, "-o", feed], Block(Path(__file__), 0, "console", ""))
    archive, *_ = (folder / "archive").glob("*.warc.gz")
    shutil.copy(archive, folder / "news.warc.gz")
    (folder / "pages").mkdir()
    for name in ("ferry-terminal-vote.html", "page.html", "saved.html", "pages/a.html"):
        shutil.copy(runner.html, folder / name)
    for day in ("monday", "tuesday", "wednesday"):
        shutil.copy(folder / "articles.jsonl", folder / f"{day}.jsonl")
    (folder / "sites.txt").write_text(runner.site, encoding="utf-8")
    (folder / "sites.csv").write_text(f"url\n{runner.site}\n", encoding="utf-8")
    (folder / "scrapy.cfg").write_text(
        "[settings]\ndefault = newscrawl.settings.base\n", encoding="utf-8"
    )
    project = folder / "myproject"
    project.mkdir()
    for name in ("__init__.py", "pipelines.py"):
        (project / name).write_text("", encoding="utf-8")
    quote = "import scrapy\n\nclass Quote(scrapy.Item):\n    text = scrapy.Field()\n"
    (project / "items.py").write_text(quote, encoding="utf-8")
    return folder


def run_consoles(page: Path, runner: Runner) -> None:
    """Run the console blocks of *page*, in one folder."""
    for block in blocks(page):
        if block.kind == "console" and not block.reason:
            runner.console(block)


def run_python(page: Path, runner: Runner) -> None:
    """Run the Python blocks of *page*: a spider has the settings that precede it."""
    settings = ""
    scripts: list[Block] = []
    for block in blocks(page):
        if block.reason or block.kind == "console":
            continue
        if block.kind == "settings":
            runner.settings(block)
            settings = block.text
        elif block.kind == "spider":
            runner.spider(block, settings)
        elif block.kind == "module":
            file = runner.folder / "myproject" / "pipelines.py"
            file.write_text(f"{file.read_text('utf-8')}\n{block.text}", encoding="utf-8")
            runner.run([sys.executable, "-c", "import myproject.pipelines"], block)
        else:
            scripts.append(block)
    if scripts:
        runner.script(scripts)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(not block.reason for block in blocks(page))],
    ids=lambda page: page.stem,
)  # fmt: skip
def test_blocks_run_twice(
    page: Path, tmp_path: Path, inputs: Path, tools: Path, sites: SampleSites
) -> None:
    """Exit code 0, no error in the log, readable feeds without repeated articles."""
    tasks = []
    with ThreadPoolExecutor() as threads:
        for run in (run_consoles, run_python):
            folder = tmp_path / run.__name__
            shutil.copytree(inputs, folder)
            tasks.append(threads.submit(run, page, Runner(folder, tools, sites)))
    for task in tasks:
        task.result()


def test_each_reason_is_needed() -> None:
    """No pattern is left of a block that is gone."""
    found = [block for page in PAGES for block in blocks(page)]
    reasons = {block.reason for block in found}
    assert set(NOT_RUN.values()) - reasons == set()


if __name__ == "__main__":
    for document in PAGES:
        for block in blocks(document):
            sys.stdout.write(f"{block}\t{block.kind}\t{block.reason or 'runs twice'}\n")
