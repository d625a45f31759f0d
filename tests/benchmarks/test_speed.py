"""Benchmarks of crawls and archives: pages, server, measurement, reports."""

from __future__ import annotations

import gzip
import json
import os
import pkgutil
import re
import socket
import subprocess
import sys
import time
import urllib.request
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import psutil
import pytest

from benchmarks import growth, stages
from benchmarks.growth_meter import Sample
from benchmarks.growth_web import PAGES_PER_SITE, page, site_urls
from benchmarks.speed import (
    archive,
    archive_report,
    crawl_report,
    local_names,
    measured_process,
)
from benchmarks.speed.measured_process import measure
from benchmarks.speed.page_web import served
from benchmarks.speed.pages import MissingCorporaError, choose_pages, quality
from benchmarks.speed.run_log import RunLog, environment, pages_key
from benchmarks.stages import Cost, Measured
from benchmarks.timed_tool import STAGES, Meter
from newscrawl import extract
from newscrawl.archives.archive_reader import ArchiveRecord, read_records
from newscrawl.archives.captures import page_of
from tests.conftest import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TEXT = "\n".join(
    f"The council of the town decided on quay {n} of the harbour after a long night of talks, and "
    "the ferries will leave again in spring, said the mayor on Friday."
    for n in range(8)
)


def write_corpus(folder: Path, name: str, number: int) -> None:
    """Write a corpus of *number* articles."""
    (folder / name / "pages").mkdir(parents=True)
    rows = []
    for n in range(number):
        url = f"https://site-{n}.test/{name}/{n}"
        body = f"{TEXT}\nThis is story {n} of {name}, and its last line."
        paragraphs = "".join(f"<p>{line}</p>" for line in body.splitlines())
        html = f"<html><body><h1>Quay {n}</h1><article>{paragraphs}</article></body></html>"
        rows.append({"id": str(n), "url": url, "site": f"site-{n}.test", "body": body})
        (folder / name / "pages" / f"{n}.html.gz").write_bytes(gzip.compress(html.encode()))
    lines = "\n".join(map(json.dumps, rows))
    (folder / name / "truth.jsonl").write_text(lines, encoding="utf-8")


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with twelve pages in two corpora."""
    folder = tmp_path_factory.mktemp("corpora")
    write_corpus(folder, "news212", 8)
    write_corpus(folder, "daniel", 4)
    return folder


def test_names_the_missing_corpora(tmp_path: Path):
    with pytest.raises(MissingCorporaError, match=r"missing.*--corpora DIR"):
        choose_pages(tmp_path / "missing", 10)


def test_chooses_todays_pages_first_and_repeats_them_on_other_hosts(corpora: Path):
    assert {page.labels.corpus for page in choose_pages(corpora, 8)} == {"news212"}
    ten = choose_pages(corpora, 10)
    assert sum(page.labels.corpus == "daniel" for page in ten) == 2
    many = choose_pages(corpora, 24)
    assert len({(page.labels.corpus, page.labels.id) for page in many}) == 12
    assert len({page.url() for page in many}) == 24
    assert len({page.host for page in many}) == 5
    assert pages_key(many) == pages_key(choose_pages(corpora, 24)) != pages_key(ten)


def test_scores_missing_pages_as_zero(corpora: Path):
    pages = choose_pages(corpora, 12)
    bodies = {page.path: page.labels.body or "" for page in pages[:6]}
    found = quality(pages, bodies)
    assert (found.f1, found.unseen, found.right, found.given) == (0.5, 0.0, 6, 6)


def test_resolves_made_names_only(monkeypatch: pytest.MonkeyPatch):
    for name in ("getaddrinfo", "gethostbyname"):  # restored after the test
        monkeypatch.setattr(socket, name, getattr(socket, name))
    local_names.install()
    assert socket.gethostbyname("paper-0001.example") == "127.0.0.1"
    addresses = {info[4][0] for info in socket.getaddrinfo("paper-0001.example", 80)}
    assert addresses == {"127.0.0.1"}
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo("www.python.org", 80)


@pytest.mark.slow
def test_serves_pages_and_tells_the_first_request(corpora: Path):
    pages = choose_pages(corpora, 12)
    with served(pages) as web:
        assert web.first_request() is None
        web.reset()
        url = f"http://127.0.0.1:{web.port}"
        for target in (pages[0].path, "/robots.txt"):
            request = urllib.request.Request(url + target, headers={"Host": "paper-0000.example"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                body = answer.read()
            if target == pages[0].path:
                assert gzip.decompress(body) == pages[0].labels.html()
                assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert b"Sitemap: http://paper-0000.example/sitemap.xml" in body
        first = web.first_request()
        assert first is not None
        assert web.first_request() is None
        web.reset()
        assert web.first_request() is None


def test_sums_up_the_times_of_all_processes(monkeypatch: pytest.MonkeyPatch):
    times = SimpleNamespace(user=1.0, system=2.0, children_user=3.0, children_system=4.0)
    monkeypatch.setattr(psutil.Process, "cpu_times", lambda _: times)
    child = "print(flush=True); input()"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert measured_process._cpu(psutil.Process(process.pid)) == 2 * 10
        process.communicate(b"\n")


def test_measures_from_the_start_signal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """With the CPU time of processes that their parent does not wait for, which is sampled."""
    ready, end = tmp_path / "ready", tmp_path / "end"
    samples = iter([1000.0, 1003.0])

    def cpu(_: psutil.Process) -> float:
        if not ready.exists():
            return 500.0
        if (sample := next(samples, 1003.0)) == 1003.0:
            end.touch()
        return sample

    monkeypatch.setattr(measured_process, "_cpu", cpu)
    monkeypatch.setattr(measured_process, "_MEMORY_POLL", 0.1)
    code = (
        "import pathlib, sys, time\n"
        "ready, end = map(pathlib.Path, sys.argv[1:])\n"
        "block = b'x' * 20_000_000\n"
        "ready.touch()\n"
        "while not end.exists(): time.sleep(0.01)\n"
        "sys.exit(3)\n"
    )
    found = measure(
        [sys.executable, "-c", code, str(ready), str(end)],
        os.environ,
        tmp_path / "log",
        started=lambda: time.monotonic() if ready.exists() else None,
    )
    assert found.returncode == 3
    assert found.cpu == 3.0
    assert found.memory > 19


def test_continues_an_interrupted_benchmark(tmp_path: Path):
    path = tmp_path / "bench" / "runs.jsonl"
    RunLog(path).add("key", "newscrawl", 1, {"pages": 10})
    log = RunLog(path)
    assert log.find("key", "newscrawl", 1)
    assert not log.find("key", "newscrawl", 2)
    assert not log.find("other", "newscrawl", 1)
    assert [run["pages"] for run in log.runs("key", "newscrawl")] == [10]


def run(number: int, seconds: float, **figures: Any) -> dict[str, Any]:
    """Return the figures of a run of 100 pages."""
    figures = {
        "stall": 0.1,
        "stall_cpu": 0.05,
        "cores": 1,
        "memory": 100.0,
        "f1": 0.9,
        "unseen": 0.8,
    } | figures
    return {
        "round": number, "pages": 100, "seconds": seconds, "cpu": seconds,
        "right": 90, "load": 1.0, **figures,
    }  # fmt: skip


def svg_texts(path: Path) -> list[str]:
    return [element.text or "" for element in ET.parse(path).iter() if element.tag.endswith("text")]


def test_reports_crawls(tmp_path: Path):
    results = {
        "newscrawl": [run(1, 1.0), run(2, 2.0), run(3, 4.0)],
        "trafilatura-inline": [run(1, 5.0), run(2, 10.0), run(3, 40.0)],
        "news-please": [run(1, 50.0, stall=None)],
    }
    out = tmp_path / "crawl-benchmark.md"
    crawl_report.write_report(results, pages={"news212": 100}, hosts=20, cores=2, out=out)
    text = out.read_text()
    assert "| newscrawl | 100 | 50.0 (25.0–100.0) |" in text
    # ratios within a round: 5, 5 and 10
    assert "| Scrapy, trafilatura inline | 5.00 (5.00–10.00) | at least 4 |" in text
    assert "news-please" in "".join(svg_texts(tmp_path / "crawl-benchmark.svg"))


def test_reports_archives(tmp_path: Path):
    results = {
        ("newscrawl", 1): [run(1, 1.0)],
        ("resiliparse", 1): [run(1, 0.5)],
        ("trafilatura", 1): [run(1, 4.0)],
    }
    out = tmp_path / "archive-benchmark.md"
    archive_report.write_report(results, pages={"news212": 100}, megabytes=3.0, out=out)
    text = out.read_text()
    assert "| fastwarc + resiliparse | 1 | 2.00 | 0.50 | at most 2.5 |" in text
    assert "| warcio + trafilatura | 1 | 0.25 | 4.00 | at most 0.33 |" in text
    assert "warcio + trafilatura, 1 core" in svg_texts(tmp_path / "archive-benchmark.svg")


def test_writes_an_archive_of_the_pages(corpora: Path, tmp_path: Path):
    pages = choose_pages(corpora, 24)
    path = tmp_path / "pages.warc.gz"
    archive.make_archive(path, pages)
    found = [page_of(record) for record in read_records(path) if isinstance(record, ArchiveRecord)]
    assert [capture.url for capture in found] == [page.url() for page in pages]
    assert found[13].html == pages[13].labels.html()


def samples(costs: Sequence[tuple[float, float]]) -> list[Sample]:
    """Return samples with these CPU milliseconds per page of the crawling process and the worker."""
    found = [Sample(0, 1.0, 0.0, 10**8, 10**8, 0, 0)]
    for main, worker in costs:
        last = found[-1]
        cpu = last.main_cpu + main, last.worker_cpu + worker
        found.append(Sample(last.pages + 1000, *cpu, last.main_memory + 2**20, 10**8, 0, 0))
    return found


def test_compares_the_halves_of_a_crawl():
    busy = [(4.0, 2.0)] * 2  # everything takes twice as long
    ratio, memory = growth.growth(samples([(9.0, 1.0), *[(2.0, 1.0)] * 4, (3.0, 1.0), *busy * 2]))
    assert ratio == pytest.approx(1.0)
    assert memory == pytest.approx(8.0)
    grown = [(9.0, 1.0), *[(2.0, 1.0)] * 4, *[(3.0, 1.0)] * 5]
    assert growth.growth(samples(grown))[0] == pytest.approx(1.5)
    table = growth.table_of(samples([(9.0, 1.0), (2.0, 1.0)]))
    assert [row[:2] for row in table.rows] == [["1,000", "9.0"], ["2,000", "2.0"]]


def test_generates_articles_of_several_templates():
    numbers = [site * PAGES_PER_SITE + 7 for site in range(4)]
    articles = [extract(page(number), f"http://a.example/{number}") for number in numbers]
    assert [article.kind for article in articles] == ["article"] * 4
    assert all(article.title and article.date for article in articles)
    assert len({article.body for article in articles}) == 4
    copy = extract(page(550), "http://a.example/550")
    assert copy.body == extract(page(51), "http://a.example/51").body
    assert len(list(site_urls(1001, 80))) == 3


@pytest.mark.slow
def test_crawls_and_extracts_the_pages(corpora: Path, tmp_path: Path):
    def benchmark(module: str, pages: int, *only: str) -> str:
        runs, out = tmp_path / f"{module}.jsonl", tmp_path / f"{module}.md"
        command = [sys.executable, "-m", f"benchmarks.speed.{module}", "--rounds", "1"]
        paths = ["--corpora", corpora, "--runs", runs, "--out", out]
        options = ["--pages", str(pages), *map(str, paths), "--only", *only]
        subprocess.run([*command, *options], env=environment(), cwd=REPOSITORY, check=True)
        return out.read_text()

    crawls = benchmark("crawl", 12, "newscrawl", "newscrawl-sites", "scrapy")
    assert crawls.count("| 12 |") >= 5  # pages, and pages that are right
    archives = benchmark("archive", 24, "newscrawl")
    assert archives.count("| 100.0 % |") == 2


def test_counts_a_stage_without_those_it_calls():
    meter = Meter(iter([0, 1, 3, 7, 15, 31]).__next__)
    inner = meter.counted("dates", lambda: "found")
    assert meter.counted("title", inner)() == "found"
    assert meter.own == {"rest": 1, "title": 2 + 8, "dates": 4}


def test_finds_the_functions_of_each_stage():
    for places in STAGES.values():
        names = [f"newscrawl.extraction.{place}" for place in places]
        assert any(map(_exists, names)), names


def _exists(name: str) -> bool:
    try:
        return bool(pkgutil.resolve_name(name))
    except AttributeError:
        return False


def test_compares_the_costs_of_two_commits(corpora: Path):
    pages, others = stages.choose_pages(corpora, 2)
    assert [page.id for page in pages] == ["0", "4", "0", "2"]
    assert not {page.path for page in pages} & {page.path for page in others}
    ours = [Cost(0.5, {"title": 1.0}), Cost(1.0, {"title": 1.0, "dates": 3.0}), None, None]
    other = [Cost(1.0, {"title": 2.0})] * 4
    results = {"newscrawl": Measured(ours, ours), "0a1b2c3": Measured(other, other)}
    by_family, _, by_stage = stages.tables(results, pages)
    assert by_family.rows[0] == ["news212", "2", "3.00 / 3.33", "2.00 / 2.00", "2", "2"]
    assert by_stage.title.startswith("By stage, 0a1b2c3")
    (slowest,) = stages.slowest_pages(results["newscrawl"], pages).rows
    assert slowest == ["news212/4", "1000.0", "4.0", "dates 3.00, title 1.00"]


@pytest.mark.slow
def test_writes_the_page_of_stages(corpora: Path, tmp_path: Path):
    page = tmp_path / "stages.md"
    command = [sys.executable, "-m", "benchmarks.stages", "--corpora", str(corpora)]
    options = ["--tools", "newscrawl,newscrawl in Python", "--limit", "1", "--rounds", "1"]
    subprocess.run([*command, *options, "--out", page], cwd=REPOSITORY, check=True)
    text = page.read_text()
    for stage in ("document", "candidates of blocks", "dates"):
        assert re.search(rf"^\| {stage} \|.* [1-9]\d* \|$", text, re.MULTILINE), stage
    assert "| corpus | pages | newscrawl | newscrawl in Python | calls, newscrawl |" in text
