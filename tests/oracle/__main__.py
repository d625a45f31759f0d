"""Print the agreement of the computed styles with Chromium.

python -m tests.oracle [GROUP ...] [--match TEXT] [--most N] [--json FILE]

The groups are samples, frameworks (from the npm registry), css-complete, css-sites, news212 and
fundus.
"""

import argparse
import json
import sys
from pathlib import Path

from newscrawl.lab.corpora.chromium import missing
from tests.conftest import CORPORA
from tests.oracle.compare import Agreement, compare
from tests.oracle.frameworks import framework_pages
from tests.oracle.pages import corpus_pages, sample_pages

# Pages with all their sheets; most pages of news212 and fundus link sheets that are missing.
GROUPS = ("samples", "css-complete", "css-sites")


def main() -> None:
    """Compare the requested groups of pages."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle")
    parser.add_argument(
        "groups", nargs="*", default=GROUPS, metavar="GROUP", help=f"default: {GROUPS}"
    )
    parser.add_argument(
        "--match", default="", metavar="TEXT", help="compare only pages with TEXT in the name"
    )
    parser.add_argument(
        "--most", type=int, default=40, help="disagreements to print per group (default: 40)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all disagreements to FILE")
    options = parser.parse_args()
    if reason := missing():
        parser.error(reason)
    found = []
    for group in options.groups:
        agreement = _compare(group, options.match)
        found += agreement.disagreements
        sys.stdout.write(f"\n{group}: {_report(agreement, options.most)}\n")
    if options.json:
        lines = (
            json.dumps({name: getattr(d, name) for name in d.__slots__}, ensure_ascii=False)
            for d in found
        )
        options.json.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _compare(group: str, match: str) -> Agreement:
    own = {"samples": sample_pages, "frameworks": framework_pages}
    pages = own.get(group, lambda: corpus_pages(CORPORA, group))()
    return Agreement(compare([page for page in pages if match in str(page)]))


def _report(agreement: Agreement, limit: int) -> str:
    lines = [str(agreement), "worst pages:"]
    lines += [f"  {len(c.disagreements)} of {c.page}" for c in agreement.worst()]
    lines += ["disagreements:", *map(str, agreement.disagreements[:limit])]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
