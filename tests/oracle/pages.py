"""The pages that the oracle compares: samples and pages of the corpora."""

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import samples

SAMPLES = Path(samples.__file__).parent


@dataclass(frozen=True, slots=True)
class Page:
    """A page with all style sheets that it may request."""

    group: str
    name: str
    url: str
    html: bytes
    #: absolute URL -> bytes of the sheet
    sheets: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        return f"{self.group}/{self.name}"


def sample_pages() -> list[Page]:
    """Return the pages of the sample sites."""
    return [
        page
        for site in sorted(SAMPLES.iterdir())
        if (site / "www").is_dir()
        for page in _folder("samples", site / "www", f"http://{site.name}.test/")
    ]


def corpus_pages(corpora: Path, *groups: str) -> list[Page]:
    """Return pages of the corpora.

    *groups*: ``css-complete`` (pages of news212 and fundus without external sheets),
    ``css-sites`` (pages stored with all their sheets), ``news212`` and ``fundus`` (all their
    pages; their linked sheets are missing for Chromium, too).
    """
    found: list[Page] = []
    if "css-complete" in groups:
        found += _css_complete(corpora)
    if "css-sites" in groups:
        found += _css_sites(corpora / "css-sites")
    for corpus in {"news212", "fundus"}.intersection(groups):
        for name, row in _truth(corpora / corpus).items():
            found.append(Page(corpus, name, row["url"], _stored(corpora / corpus, name)))
    return found


def _folder(group: str, folder: Path, base: str) -> Iterator[Page]:
    files = {
        base + quote(file.relative_to(folder).as_posix()): file for file in folder.rglob("*.*")
    }
    sheets = {url: file.read_bytes() for url, file in files.items() if file.suffix == ".css"}
    for url, file in sorted(files.items()):
        if file.suffix == ".html":
            html = file.read_bytes().replace(b"{{base}}", base.rstrip("/").encode())
            name = url.removeprefix("http://")
            yield Page(group, name.removesuffix(".html"), url, html, sheets)


def _css_complete(corpora: Path) -> Iterator[Page]:
    truth = {corpus: _truth(corpora / corpus) for corpus in ("news212", "fundus")}
    for entry in json.loads((corpora / "css-complete.json").read_bytes()):
        corpus, name = entry["corpus"], entry["id"]
        url = truth[corpus][name]["url"]
        yield Page("css-complete", name, url, _stored(corpora / corpus, name))


def _css_sites(folder: Path) -> Iterator[Page]:
    files = json.loads((folder / "stylesheets.json").read_bytes())
    sheets = {
        url: gzip.decompress((folder / "css" / name).read_bytes()) for url, name in files.items()
    }
    for name, row in _truth(folder).items():
        yield Page("css-sites", name, row["url"], _stored(folder, name), sheets)


def _truth(folder: Path) -> dict[str, dict[str, Any]]:
    with (folder / "truth.jsonl").open(encoding="utf-8") as lines:
        return {row["id"]: row for row in map(json.loads, lines)}


def _stored(folder: Path, name: str) -> bytes:
    return gzip.decompress((folder / "pages" / f"{name}.html.gz").read_bytes())
