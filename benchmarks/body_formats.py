"""Markdown and HTML of the body, read back by other implementations.

Counts the pages of each corpus whose Markdown (read by markdown-it-py) or HTML (read by lxml) has other
words than the text of the body, or content that a sanitiser (nh3) removes.

    python -m benchmarks.body_formats [CORPUS...] [--all-parts] [--list]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from newscrawl.body.parts import DEFAULT_PARTS, PARTS
from newscrawl.extraction.extract import ExtractOptions
from newscrawl.lab.corpora.tables import Table, print_tables
from tests.helpers.formats_read_back import CORPUS_NAMES, FAULTS, FORMATS, articles, faults

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("corpora", nargs="*", type=Path, help="folders of pages (default: all)")
    parser.add_argument("--all-parts", action="store_true", help="include all optional parts")
    parser.add_argument("--list", action="store_true", help="print the pages with faults")
    given = parser.parse_args()
    parts = frozenset(PARTS) if given.all_parts else DEFAULT_PARTS
    options = ExtractOptions(parts=parts, formats=FORMATS)
    rows = []
    for folder in given.corpora or [CORPORA / name for name in CORPUS_NAMES]:
        counts: Counter[str] = Counter()
        for page, article in articles(folder, options):
            found = faults(article)
            counts.update(["pages", *found])
            if found and given.list:
                print(folder.name, page, *found, sep="\t")
        rows.append([folder.name, *(str(counts[name]) for name in ("pages", *FAULTS))])
    title = "Pages with faults in the formats of the body"
    print_tables([Table(title, ("corpus", "pages", *FAULTS), rows)], sys.stdout)


if __name__ == "__main__":
    main()
