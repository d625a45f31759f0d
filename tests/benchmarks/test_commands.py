"""The benchmarks of other tools, papers, crawls and archives run, on a few pages."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.papers.measured_pages import GROUP_OF
from benchmarks.speed.run_log import environment
from newscrawl.lab.corpora.corpus import half_of
from samples import expected_pages
from tests.conftest import REPOSITORY

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of labelled corpora, each with the newest article of each sample site."""
    folder = tmp_path_factory.mktemp("corpora")
    newest = {page.site: page for page in reversed(expected_pages()) if page.kind == "article"}
    # Pages of the other half fit constants, and are not measured.
    sites = [name for name in (f"s{n}.example" for n in range(99)) if half_of(name) == "test"]
    for name in GROUP_OF:
        (folder / name / "pages").mkdir(parents=True)
        rows = []
        for site, page in zip(sites, newest.values(), strict=False):
            html = gzip.compress(page.file.read_bytes())
            (folder / name / "pages" / f"{page.site}.html.gz").write_bytes(html)
            rows.append({
                "id": page.site, "site": site, "url": f"https://{site}{page.path}",
                "title": page.title, "date": page.date and page.date.isoformat(),
                "body": page.body,
            })  # fmt: skip
        (folder / name / "truth.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.mark.parametrize(
    ("command", "texts"),
    [
        ("papers --method nce", ["a separator with F1 >= .9 exists"]),
        ("papers --method coreex", ["Table 1", "Figure 10"]),
        ("papers --method econ", ["Experiment 4"]),
        (
            "peers --tools nce,markup --fields title,body",
            ["Title, news212: 3 pages", "Body, news: 6 pages"],
        ),
        (
            "stages --tools newscrawl --limit 1 --rounds 1",
            ["candidates of blocks", "| corpus | pages | newscrawl |"],
        ),
        ("speed.crawl --rounds 1 --pages 12 --only newscrawl scrapy", ["| 12 |"]),
        ("speed.archive --rounds 1 --pages 24 --only newscrawl", ["| 100.0 % |"]),
    ],
)
def test_benchmark_prints_its_tables(command: str, texts: list[str], corpora: Path, tmp_path: Path):
    module, *options = command.split()
    out = tmp_path / "pages"
    if module == "papers":
        out.mkdir()
    if module.startswith("speed"):
        options += ["--runs", str(tmp_path / "runs.jsonl")]
    done = subprocess.run(
        [
            *(sys.executable, "-m", f"benchmarks.{module}", *options),
            *("--corpora", str(corpora), "--out", str(out)),
        ],
        env=environment(),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    written = out.glob("*.md") if out.is_dir() else [out]
    text = done.stdout + "".join(path.read_text(encoding="utf-8") for path in written)
    assert [missing for missing in texts if missing not in text] == []
