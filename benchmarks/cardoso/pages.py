"""Documentation pages written by the benchmark."""

from __future__ import annotations

import os
import platform
import subprocess
import textwrap
from importlib.metadata import version
from typing import TYPE_CHECKING

from newscrawl.corpora.chromium import executable
from newscrawl.training.training_report import card

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from newscrawl.corpora.tables import Table

COMMAND = "python -m benchmarks.cardoso --out docs/results"
WRITTEN = f"<!-- Written by `{COMMAND}`: do not edit. -->"

TABLES = """\
# Tables of DocEng 2011

Figures that Cardoso and others publish for RCD4 (200 pages of 20 sites) and NEWS600 (604 pages of
177 domains), and those of method `cardoso` on {pages} pages of {sites} sites: {corpora}.

    {command}

A cell is precision / recall / F1 of the words of all pages together, as bags; *F1 over pages* is
the mean F1 of the pages. Scores are out of fold: *extra-site*, no site, publisher or registered
domain is in two folds; *intra-site*, all folds contain pages of all sites. Pages are scored if text
nodes hold their label, against the text of those nodes. Table 3 is in {{doc}}`styles`, decisions
that the paper leaves open in {{doc}}`../models`.

"""
STYLES = """\
# Cost and benefit of style

    {command}

*css-sites* are pages of {sites} sites stored with all linked style sheets, *css-complete* pages of
news212 and fundus with embedded style only; other pages lack sheets. Times are CPU time of {timed}
pages per group, {browser} of them loaded by Chromium. {machine}.

"""
NOTES: Mapping[str, str] = {
    "Table 6": (
        "The label is the text of the body alone. NCE's relevant content includes title, captions, "
        "bylines and boxes; the pipeline removes title, date and all text before the title."
    ),
    "Table 7": (
        "Each corpus with models fitted to the other two, without sites that occur in both. The "
        "paper's columns are those of NEWS600; SVM and CRF are figures of other authors."
    ),
    "Restriction": (
        "NCE's relevant content and all text nodes before it, compared with all text nodes of the "
        "page. The time saved is in {doc}`styles`."
    ),
    "Effect of style sheets, models fitted to all": (
        "Source of the style of text nodes (attributes 4 to 7) in training and test: *none*, all "
        "nodes have the same style; *tags*, the default style sheet and attributes such as `size` "
        "and `color`; *our engine* and *Chromium*, all available sheets. CPU is in `lxml.html` "
        "parses of the same page, median (95th percentile). Ours is that of the visual step on the "
        "relevant nodes of a parsed page, with the page's sheets cached and in a new process. "
        "Chromium's is that of its process tree, without images, for loading the page and reading "
        "the style of its text."
    ),
    "Effect of style sheets, models fitted to the pages": (
        "138 of these pages have one of two templates. A model fitted to few templates learns their "
        "sizes, which helps on the same sites but misleads on others: train on many sites."
    ),
    "Our style": "Difference of F1 over pages, models fitted to all three corpora.",
    "Effect of style sheets on the title": (
        "The default method is trained on each page with its style and with unknown style. Style "
        "is unknown if any sheet is missing, even one with fonts only, as on some css-sites. "
        "Fitted to all three corpora, scored on these pages."
    ),
    "Text nodes with": "Classified nodes, for each attribute of style.",
    "Table 3": (
        "*By structural*: total time relative to the structural approach, as in the paper. "
        "*Structural* is parsing, NCE, attributes 1 to 3 and 9 and the classifier. *Cached*: the "
        "page's sheets are cached; *new process*: empty caches. The paper's browser was WebKit. "
        "Chromium's time is that of its process tree for loading the page and reading the style of "
        "its text, plus the classifier; images are generated photographs of 800 by 450 pixels."
    ),
    "Time saved": "Share of the time for all text nodes. The loss of F1 is in {doc}`cardoso`.",
}


def page(start: str, tables: Iterable[Table]) -> str:
    """Return a page: its *start*, then the *tables* with their notes."""
    paragraphs = [WRITTEN, *start.strip().split("\n\n")]
    head = "".join(f"{_wrapped(paragraph)}\n\n" for paragraph in paragraphs)
    return head + "\n".join(_section(table) for table in tables)


def _section(table: Table) -> str:
    note = next((note for name, note in NOTES.items() if table.title.startswith(name)), "")
    title, _, grid = card([table]).partition("\n\n")
    return "\n\n".join(filter(None, (title.removeprefix("#"), _wrapped(note), grid)))


def _wrapped(paragraph: str) -> str:
    if paragraph.startswith(" "):  # code
        return paragraph
    return textwrap.fill(paragraph, 100, break_on_hyphens=False, break_long_words=False)


def machine(load: float) -> str:
    """Return versions and load; *load* is the load average at the start of the measurement."""
    browser = executable()
    versions = [f"CPython {platform.python_version()}", f"lxml {version('lxml')}"]
    if browser is not None:
        done = subprocess.run([browser, "--version"], capture_output=True, text=True, check=True)
        versions.append(" ".join(done.stdout.split()[:2]))
    loads = f"load average {load:.1f} at the start and {os.getloadavg()[0]:.1f} at the end"
    return f"{', '.join(versions)} on {os.cpu_count()} processors; {loads}"
