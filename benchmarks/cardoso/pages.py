"""The pages of documentation that the benchmark writes."""

from __future__ import annotations

import os
import platform
import subprocess
import textwrap
from importlib.metadata import version
from typing import TYPE_CHECKING

from newscrawl.training.training_report import card
from tests.oracle.chromium import executable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from newscrawl.corpora.tables import Table

COMMAND = "python -m benchmarks.cardoso --out docs/results"
WRITTEN = f"<!-- Written by `{COMMAND}`: do not edit. -->"

TABLES = """\
# Tables of DocEng 2011

What Cardoso and others print of RCD4 (200 pages of 20 sites) and of NEWS600 (604 pages of 177
domains), and what method `cardoso` finds on {pages} pages of {sites} sites: {corpora}.

    {command}

A cell is precision / recall / F1 of the words of all pages together, as bags; *F1 over pages* is
the mean of the pages' F1. Each page is scored by models that were fitted to other folds:
*extra-site*, no site, publisher or registered domain is in two folds; *intra-site*, the pages of a
site are spread over the folds. A page counts whose label is in its text nodes, against the text of
those nodes. Table 3 is in {{doc}}`styles`, the choices where the paper is silent in
{{doc}}`../internals/models`.

"""
STYLES = """\
# What style costs and brings

    {command}

*css-sites* are pages of {sites} sites stored with every sheet that they link, *css-complete* pages
of news212 and fundus that link none and carry their style in them; of all others sheets are
missing. Times are CPU time, of {timed} pages of each group, {browser} of them loaded by Chromium.
{machine}.

"""
NOTES: Mapping[str, str] = {
    "Table 6": (
        "The label is the text of the body alone. NCE's relevant content is taken as it is, with "
        "the title, captions, bylines and boxes in it; the pipeline leaves out title and date and "
        "what stands before the title."
    ),
    "Table 7": (
        "Each corpus by models that were fitted to the two others, without the pages of sites that "
        "both have. The paper's columns are those of NEWS600; the last rows of a label are what "
        "others had published on it."
    ),
    "Restriction": (
        "The relevant content that NCE finds and all text nodes before it, against all text nodes "
        "of the page. The time that it saves is in {doc}`styles`."
    ),
    "Effect of style sheets, models fitted to all": (
        "The style of each text node, attributes 4 to 7, comes in fitting and in scoring from the "
        "source named: *nowhere*, all nodes look alike; *tags*, a browser's own sheet and "
        "attributes such as `size` and `color`; *our engine* and *Chromium*, from all sheets that "
        "there are. CPU is in `lxml.html` parses of the same page, median (95th percentile). Ours is "
        "that of the visual step alone on the relevant nodes of a parsed page, in a process that "
        "has seen the page's sheets, and in a new one that has seen nothing. Chromium's is that of its "
        "process tree, without images, for loading the page and telling the style of its text."
    ),
    "Effect of style sheets, models fitted to the pages": (
        "Two templates make 138 of these pages. A model that is fitted to few templates learns "
        "their sizes, which helps on other pages of the same sites and misleads on others: train "
        "on many sites."
    ),
    "Our style": "Difference of the pages' F1, models fitted to all three corpora.",
    "Effect of style sheets on the title": (
        "The default learns from each page with its style and as if that were unknown, and treats "
        "the style of pages that miss a sheet as unknown, were it one of fonts alone, as some of "
        "css-sites do. Fitted to all three corpora, scored on these pages."
    ),
    "Text nodes of": "Of the nodes evaluated, for each attribute that tells style.",
    "Table 3": (
        "*By structural*: time of all pages by that of the structural approach, as the paper "
        "counts. *Structural* is parsing, NCE, attributes 1 to 3 and 9 and the classifier. "
        "*Cached*: the process has seen the page's sheets; *new process*: it has seen nothing. "
        "The paper's browser was WebKit. Chromium's time is that of its process tree, for loading "
        "the page and telling the style of its text, and of the classifier; every image is a "
        "generated photograph of 800 by 450 pixels."
    ),
    "What the restriction": "Share of the time of the whole tree. The F1 that it costs is in {doc}`cardoso`.",
}


def page(start: str, tables: Iterable[Table]) -> str:
    """Return a page: how it starts, and *tables* with their notes."""
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
    """Return what the times were taken on; *load* is its load average at the start."""
    browser = executable()
    shown = [f"CPython {platform.python_version()}", f"lxml {version('lxml')}"]
    if browser is not None:
        told = subprocess.run([browser, "--version"], capture_output=True, text=True, check=True)
        shown.append(" ".join(told.stdout.split()[:2]))
    loads = f"load average {load:.1f} at the start and {os.getloadavg()[0]:.1f} at the end"
    return f"{', '.join(shown)} on {os.cpu_count()} processors; {loads}"
