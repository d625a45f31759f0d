"""Metrics of a crawl, read by a strict parser of the OpenMetrics text format."""

import re
from pathlib import Path

import pytest

from newscrawl.reports.drift import find_alarms
from newscrawl.reports.open_metrics import write_metrics
from tests.reports.test_report_site import HOSTILE, records

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]

_NAME = r"[a-z_][a-z0-9_]*"
_LABEL = rf'({_NAME})="((?:[^"\\\n]|\\[\\"n])*)"'
_SAMPLE = re.compile(rf"({_NAME})\{{({_LABEL}(?:,{_LABEL})*)\}} (-?[0-9.]+(?:e[+-]?[0-9]+)?)")
_UNESCAPED = {r"\\": "\\", r"\"": '"', r"\n": "\n"}


def parse(path: Path) -> Samples:
    """Return the samples; families are not interleaved, samples not repeated, the end is marked."""
    *lines, end, rest = path.read_bytes().decode().split("\n")
    assert (end, rest) == ("# EOF", "")
    found: Samples = {}
    families: list[str] = []
    for line in lines:
        if declared := re.fullmatch(rf"# TYPE ({_NAME}) gauge", line):
            families.append(declared[1])
            assert families.count(declared[1]) == 1
            assert declared[1].startswith("newscrawl_")
        elif line.startswith("# "):
            assert re.fullmatch(rf"# HELP {families[-1]} [^\\\n]+", line)
        else:
            sample = _SAMPLE.fullmatch(line)
            assert sample, line
            assert sample[1] == families[-1]
            labels = [
                (name, re.sub(r"\\.", lambda escape: _UNESCAPED[escape[0]], text))
                for name, text in re.findall(_LABEL, sample[2])
            ]
            key = sample[1], frozenset(labels)
            assert len(dict(labels)) == len(labels)
            assert key not in found
            found[key] = float(sample[7])
    return found


def sample(found: Samples, name: str, **labels: str) -> float | None:
    return found.get((f"newscrawl_{name}", frozenset(labels.items())))


@pytest.mark.parametrize("text", [HOSTILE, 'a\\"b\nc\\n', "\ud800 \r\u2028 é"])
def test_samples(tmp_path: Path, text: str):
    """Counts, reasons, confidence and alarms of each site; texts of pages are escaped."""
    crawls = records()
    for record in crawls[-1].sites.values():
        record.counts[f"failed/{text}"] = 3
    alarms = find_alarms(crawls)
    write_metrics(crawls, alarms, tmp_path / "crawl.prom")
    found = parse(tmp_path / "crawl.prom")
    site = "site-1.example"
    assert sample(found, "crawl_ended_timestamp_seconds", site=site) == crawls[-1].ended
    assert sample(found, "discovered_pages", site=site) == 40
    assert sample(found, "fetched_pages", site=site) == 15
    assert sample(found, "articles", site=site) == 12
    assert sample(found, "dropped_pages", site=site, reason="too_short") == 2
    reason = text.encode("utf-8", "replace").decode()
    assert sample(found, "failed_pages", site=site, reason=reason) == 3
    assert 0 < (sample(found, "body_confidence", site=site) or 0) <= 1
    assert sample(found, "alarm", site="site-3.example", measure="authors") == 1
    assert len([name for name, _ in found if name == "newscrawl_alarm"]) == len(alarms)


def test_file_is_replaced(tmp_path: Path):
    """An old file is replaced whole, and nothing is left over."""
    metrics = tmp_path / "textfile" / "crawl.prom"
    metrics.parent.mkdir()
    metrics.write_text("old\n" * 1000)
    write_metrics(records(), [], metrics)
    assert sample(parse(metrics), "articles", site="site-1.example") == 12
    assert list(metrics.parent.iterdir()) == [metrics]
