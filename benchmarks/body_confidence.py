"""How good the default's bodies are by their confidence, on sites that its models have not seen.

Each page's body is told by models of the other two of three folds, and its confidence calibrated
on these folds. The plot sets the mean F1 of each bin of confidence against its mean confidence,
with the 95 % interval of a bootstrap over sites: on the diagonal, a confidence is what it says.

    python -m benchmarks.body_confidence [--corpora DIR...] [--plot FILE.svg]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from newscrawl.evaluation.bootstrap import compare
from newscrawl.evaluation.corpora import load_corpus
from newscrawl.evaluation.tables import Table, print_tables
from newscrawl.training.bodies import read_labelled, told_in_folds
from newscrawl.training.bodyreport import confidence_bins

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from newscrawl.training.bodyreport import Bin

SHARED = Path(__file__).resolve().parents[2] / "shared" / "corpora"
CORPORA = [SHARED / "news212", SHARED / "fundus", SHARED / "css-sites"]

_LOW, _SIZE, _LEFT, _TOP = 0.4, 400, 60, 40
_TICKS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_FONT = 'font-family="sans-serif" font-size="12" fill="#222"'


def main() -> None:
    """Tell the bodies in folds, print the table, write the plot."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--corpora", type=Path, nargs="+", default=CORPORA, metavar="DIR")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write a plot (SVG) to FILE")
    options = parser.parse_args()
    pages = [page for folder in options.corpora for page in load_corpus(folder).pages]
    labelled = [read_labelled(page) for page in pages if page.body]
    bins = [one for one in confidence_bins(list(told_in_folds(labelled))) if one.members]
    print_tables([table_of(bins)], sys.stdout)
    if options.plot:
        options.plot.write_text(plot(bins), encoding="utf-8")


def interval(one: Bin) -> tuple[float, float]:
    """Return the 95 % interval of the mean F1 of a bin."""
    found = compare((told.labelled.page.site, told.f1, 0.0) for told in one.members)
    return found.low, found.high


def table_of(bins: Sequence[Bin]) -> Table:
    """Return the table of *bins*."""
    rows = []
    for one in bins:
        low, high = interval(one)
        rows.append(
            [
                f"{one.low:.2f} to {one.high:.2f}", str(len(one.members)),
                f"{one.confidence:.3f}", f"{one.f1:.3f}", f"{low:.3f} to {high:.3f}",
            ]
        )  # fmt: skip
    columns = ("confidence", "pages", "mean confidence", "mean F1", "95 % interval")
    return Table("Bodies by their confidence: 3 folds, extra-site", columns, rows)


def plot(bins: Sequence[Bin]) -> str:
    """Return the reliability plot of *bins*, as SVG."""
    width, height = _LEFT + _SIZE + 30, _TOP + _SIZE + 60
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {_FONT}>',
            '<rect width="100%" height="100%" fill="#fff"/>',
            *_axes(),
            *(line for one in bins for line in _bin(one)),
            "</svg>",
            "",
        ]
    )


def _axes() -> Iterator[str]:
    low, high = _x(_LOW), _x(1.0)
    for tick in _TICKS:
        x, y = _x(tick), _y(tick)
        yield f'<path d="M{x:.1f} {_y(1.0)}V{_y(_LOW)}M{low} {y:.1f}H{high}" stroke="#ddd"/>'
        yield f'<text x="{x:.1f}" y="{_y(_LOW) + 18}" text-anchor="middle">{tick:g}</text>'
        yield f'<text x="{low - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>'
    yield f'<path d="M{low} {_y(_LOW)}L{high} {_y(1.0)}" stroke="#999" stroke-dasharray="4 4"/>'
    yield f'<text x="{low}" y="{_y(_LOW) + 40}">mean confidence of a bin; beside it, its pages</text>'
    yield f'<text x="{low - 45}" y="{_TOP - 20}">mean F1 of its bodies, 95 % interval over sites</text>'


def _bin(one: Bin) -> Iterator[str]:
    low, high = interval(one)
    x, y = _x(one.confidence), _y(one.f1)
    yield f'<path d="M{x:.1f} {_y(max(low, _LOW)):.1f}V{_y(high):.1f}" stroke="#35618f"/>'
    yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#35618f"/>'
    yield f'<text x="{x - 7:.1f}" y="{y + 14:.1f}" text-anchor="end">{len(one.members)}</text>'


def _x(value: float) -> float:
    return _LEFT + _SIZE * (value - _LOW) / (1 - _LOW)


def _y(value: float) -> float:
    return _TOP + _SIZE * (1 - value) / (1 - _LOW)


if __name__ == "__main__":
    main()
