from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from newscrawl.crawl.durable import OPEN
from newscrawl.crawl.segments import (
    MANIFEST,
    SegmentError,
    list_segments,
    read_segments,
)
from tests.conftest import REPOSITORY
from tests.segment_killer import DAY, STORE, items, write

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = ["jsonlines", "parquet"]


def tree(folder: Path) -> dict[str, bytes]:
    """Return the files under *folder*."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_json_lines(tmp_path: Path):
    """An item a line, in UTF-8; the manifest tells counts, hash and numbers."""
    write(tmp_path, 1, 25, "jsonlines")
    name = f"{STORE}-000000000001-000000000025.jsonl"
    data = (tmp_path / DAY / name).read_bytes()
    assert "Straße" in data.decode()
    lines = data.decode().removesuffix("\n").split("\n")
    assert [json.loads(line) for line in lines] == [json.loads(one.text) for one in items(1, 25)]
    manifest = json.loads((tmp_path / DAY / f"{STORE}{MANIFEST}").read_bytes())
    assert manifest["segments"] == [
        {
            "name": name,
            "format": "jsonlines",
            "items": 25,
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "first": 1,
            "last": 25,
        }
    ]


def test_parquet_parts_articles_from_others(tmp_path: Path):
    """Articles have the columns of the exporter, in a file of their own."""
    write(tmp_path, 1, 25, "parquet")
    listed = {segment.name: segment.items for _, segment in list_segments(tmp_path)}
    name = f"{STORE}-000000000001-000000000025"
    assert listed == {f"{name}.parquet": 23, f"{name}-other.parquet": 2}
    rows = list(read_segments(tmp_path))
    assert sorted(row["number"] for row in rows if "number" in row) == [10, 20]
    articles = [row for row in rows if "url" in row]
    assert articles[0]["date"].isoformat() == "2026-11-21T00:00:00+00:00"
    assert articles[0]["body"] == json.loads(items(1, 1)[0].text)["body"]


@pytest.mark.parametrize("kind", FORMATS)
def test_read_back(tmp_path: Path, kind: str):
    """All items of all days and segments, in order, once."""
    write(tmp_path, 1, 9, kind)
    write(tmp_path, 11, 19, kind)
    urls = [item["url"] for item in read_segments(tmp_path)]
    assert urls == [f"https://site.test/{n}" for n in range(1, 20) if n != 10]
    assert [item["url"] for item in read_segments(tmp_path / DAY)] == urls


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kind", FORMATS)
def test_killed_before_any_line_of_code(tmp_path: Path, kind: str):
    """What has a final name is whole; the manifest holds at all times; done again, all is the same."""
    write(tmp_path / "before", 1, 25, kind)
    write(tmp_path / "whole", 1, 25, kind)
    write(tmp_path / "whole", 26, 60, kind)
    before, whole = tree(tmp_path / "before"), tree(tmp_path / "whole")
    ran = subprocess.run(
        [sys.executable, "-m", "tests.segment_killer", str(tmp_path / "killed"), kind],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
        text=True,
    )
    assert int(ran.stdout) > 30
    for line in range(1, int(ran.stdout) + 1):
        here = tmp_path / "killed" / str(line)
        for name, data in tree(here).items():
            assert name.endswith(OPEN) or data in (whole[name], before.get(name)), (line, name)
        assert len(list(read_segments(here))) in (25, 60), line
        write(here, 26, 60, kind)
        assert tree(here) == whole, line


@pytest.mark.parametrize("kind", FORMATS)
def test_damage_is_refused(tmp_path: Path, kind: str):
    """Cut, changed and missing files are named, before the first item is given."""
    write(tmp_path, 1, 9, kind)
    path, _ = list_segments(tmp_path)[0]
    data = path.read_bytes()
    changed = bytearray(data)
    changed[len(data) // 2] ^= 1
    for damaged, message in ((data[:-1], "bytes, and not"), (bytes(changed), "damaged")):
        path.write_bytes(damaged)
        with pytest.raises(SegmentError, match=f"{path.name}.*{message}"):
            next(read_segments(tmp_path))
    path.unlink()
    with pytest.raises(SegmentError, match="not here"):
        next(read_segments(tmp_path))


def test_manifest_is_checked(tmp_path: Path):
    """None at all, one cut in half, a newer one, and one that leads elsewhere."""
    with pytest.raises(SegmentError, match="no manifest"):
        list_segments(tmp_path)
    write(tmp_path, 1, 9, "jsonlines")
    path = tmp_path / DAY / f"{STORE}{MANIFEST}"
    whole = path.read_text()
    for text, message in (
        (whole[: len(whole) // 2], "not a manifest"),
        ("[]", "not a manifest"),
        (whole.replace('"version": 1', '"version": 2'), "newer"),
        (whole.replace(STORE + "-", "../" + STORE), "not a segment"),
    ):
        path.write_text(text)
        with pytest.raises(SegmentError, match=message):
            list_segments(tmp_path)


def test_unlisted_files_are_not_there_yet(tmp_path: Path):
    """What a crash left between name and manifest waits for being written again."""
    write(tmp_path, 1, 9, "jsonlines")
    (tmp_path / DAY / f"{STORE}-000000000010-000000000019.jsonl").write_text("{}\n")
    (tmp_path / DAY / f"{STORE}-000000000020-000000000029.jsonl{OPEN}").write_text("{")
    assert len(list(read_segments(tmp_path))) == 9
