"""Introductions and notes of the results pages of DocEng 2011, the thesis and style."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from typing import TYPE_CHECKING

from newscrawl.crawling.network.page_rendering import find_chromium

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMAND = "python -m benchmarks.cardoso --out docs/results"

_SCORES = """
    {command}

Scores are out of fold: *extra-site*, no site, publisher or registered domain is in two folds;
*intra-site*, all folds contain pages of all sites. Pages are scored if text nodes hold their label,
against the text of those nodes. Scores count the words of all pages together, as bags; *F1 over
pages* is the mean F1 of the pages. Intervals are a bootstrap over sites
({{doc}}`../internals/evaluation`). Decisions that the papers leave open are in
{{doc}}`../internals/models`.
"""

TABLES = f"""\
# DocEng 2011

Figures that Cardoso and others publish for RCD4 (200 pages of 20 sites) and NEWS600 (604 pages of
177 domains), and those of method `papers` on {{pages}} pages of {{sites}} sites: {{corpora}}. A cell
is precision / recall / F1. {{{{doc}}}}`papers` lists the tables of all papers; Table 3 is in
{{{{doc}}}}`styles`, the effect of each attribute in {{{{doc}}}}`thesis`.
{_SCORES}
## What still holds

All of it, with better figures on unseen sites than the paper's: .96 instead of .91 for titles, .89
instead of .77 for dates, .88 as in the paper for bodies. The title element remains the weakest
baseline, structure alone is better, and the look of the text adds as much as in 2011 (.08, then
.11). Dates still depend on the site: pages of known sites gain .03, titles next to nothing. Two models
for dates are still no better than one, the nodes between title and body still do harm, and looking
only at relevant nodes still costs less than .01. The limits show on other corpora (Table 7): on
pages of 2008 to 2012, whose sheets are missing, titles fall to .82 to .90, and on the blogs of dragnet
below the title element. A title model needs training on pages like those that it reads.

![Figure 1: pipeline, from page to body](cardoso-pipeline.svg)
"""
THESIS = f"""\
# Thesis, chapter 3

Chapter 3 of Cardoso's thesis describes the method of {{{{doc}}}}`cardoso` in more detail and has no
tables. Measured here are decisions for which it gives reasons but no figures, on {{pages}} pages of
{{sites}} sites: {{corpora}}. The shares of style sheets that need not be read (section 3.1) are in
{{{{doc}}}}`css-engine`.
{_SCORES}
## What still holds

The set of attributes, though no longer each of them. Without all visual attributes titles lose .08, but
any single one can be left out, as the others replace it. Text length carries titles (.04), the distance
to the title carries dates (.03). Digits, and the edit distance with its unequal costs, make no
measurable difference to models that have the rest. The rules after classification are worth their
place: a single title gains .03, clusters and the limit of length gain .02 for dates. The CSS parser can
skip as much as in 2011: 70 % of the rules and 80 % of the declarations of linked sheets.
"""
STYLES = """\
# Cost and benefit of style

    {command}

Pages with all sheets: *css-sites*, {sites} sites stored with all linked style sheets, and
*css-complete*, pages without linked sheets but with at least 2 KB of embedded style. On other pages
sheets are missing. Times are CPU time of {timed} pages per group, {browser} of them loaded by
Chromium. {machine}.

## In short

Tags are worth their cost, style sheets are not. For the published method, any style is better than
none: with the default style sheet alone titles gain .05, and dates .06 (pages with all sheets, not
significant) to .16 (other pages). Author style adds nothing to that: titles lose .015 (95 % interval .001 to .042), dates do not change significantly. A model that
learns from the sizes of some designs is misled by others. Chromium's style leads
to the same scores as that of our engine and costs a hundred times as much.
"""

NOTES: Mapping[str, str] = {
    "Table 6": (
        "The label is the text of the body alone. NCE's relevant content includes title, captions, "
        "bylines and boxes; the pipeline removes title, date and all text before the title. The "
        "paper tried the last variant and found that it changes little, often for the worse."
    ),
    "Table 7": (
        "Each corpus with models fitted to news212, fundus and css-sites without the corpus itself "
        "and without sites that occur in it. The paper's columns are those of NEWS600; SVM and CRF "
        "are figures of other authors. l3sgn1 and daniel have no dates, postlight no bodies."
    ),
    "Restriction": (
        "NCE's relevant content and all text nodes before it, compared with all text nodes of the "
        "page. The time saved is in {doc}`styles`."
    ),
    "Attributes 1 to 9": (
        "Models fitted and scored without an attribute. Dates keep the titles of the full model. The "
        "change is that of F1 over pages, with its 95 % interval."
    ),
    "Edit costs": (
        "Attribute 9 with the costs of the thesis (footnote 1) and with those of Levenshtein; titles "
        "and dates without the rules of section 3.4.3."
    ),
    "Pages by available": (
        "Pages with a labelled title or date. *Embedded*: linked sheets are missing, but some style "
        "is embedded. The pages of postlight and dragnet were stored without their sheets."
    ),
    "Effect of style sheets, models fitted to all": (
        "Source of the style of text nodes (attributes 4 to 7) in training and test: *none*, all "
        "nodes have the same style; *tags*, the default style sheet and attributes such as `size` "
        "and `color`; *our engine* and *Chromium*, all available sheets. Chromium renders the pages "
        "with all sheets; elsewhere our engine stands for it. CPU is in `lxml.html` parses of the "
        "same page, median (95th percentile). Ours is that of the visual step on the relevant nodes "
        "of a parsed page, with the page's sheets cached and in a new process. Chromium's is that of "
        "its process tree, without images, for loading the page and reading the style of its text."
    ),
    "Effect of style sheets by corpus": (
        "The same results by corpus, for pages with all sheets. Models are fitted to news212, fundus "
        "and css-sites only. Pages without a URL, as in daniel, cannot be rendered."
    ),
    "Effect of style sheets, models fitted to the pages": (
        "Most of these pages have one of two templates. A model fitted to few templates learns their "
        "sizes, which helps on the same sites but misleads on others: train on many sites."
    ),
    "Differences": ("Change of F1 over pages from the second source to the first, extra-site."),
    "Table 3": (
        "*By structural*: total time relative to the structural approach, as in the paper. "
        "*Structural* is parsing, NCE, attributes 1 to 3 and 9 and the classifier. *Cached*: the "
        "page's sheets are cached; *new process*: empty caches. The paper's browser was WebKit. "
        "Chromium's time is that of its process tree for loading the page and reading the style of "
        "its text, plus the classifier; images are generated photographs of 800 by 450 pixels."
    ),
    "Time saved": "Share of the time for all text nodes. The loss of F1 is in {doc}`cardoso`.",
}


def machine(load: float) -> str:
    """Return versions and load; *load* is the load average at the start of the measurement."""
    browser = find_chromium()
    versions = [f"CPython {platform.python_version()}", f"lxml {version('lxml')}"]
    if browser is not None:
        done = subprocess.run([browser, "--version"], capture_output=True, text=True, check=True)
        versions.append(" ".join(done.stdout.split()[:2]))
    loads = f"load average {load:.1f} at the start and {os.getloadavg()[0]:.1f} at the end"
    return f"{', '.join(versions)} on {os.cpu_count()} processors; {loads}"
