"""Computed styles of pages."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from newscrawl.css import Color, ComputedStyle, Stylesheets
from newscrawl.css.cascade import computed_values as computed
from newscrawl.css.cascade import sheet_sources as sources
from newscrawl.css.sheets.sheet import Sheet, parse_sheet
from newscrawl.css.syntax import variables
from newscrawl.document.document import Document, parse_document

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

PAGE = "http://paper.test/news/page.html"


def styled(
    html: str, sheets: Mapping[str, str] | None = None
) -> tuple[Stylesheets, dict[str, ComputedStyle]]:
    """Return the styles of a page, and that of each text node by its text."""
    document = parse_document(html)
    styles = Stylesheets(document, sheets, base_url=PAGE)
    return styles, {document.text[row]: styles.style_of(row) for row in document.text_nodes()}


def sizes(html: str) -> dict[str, float]:
    """Return the font size of each text node by its text."""
    return {text: round(style.font_size, 3) for text, style in styled(html)[1].items()}


def test_styles_an_article():
    _, found = styled("""<!doctype html><style>
      :root { --accent: #c00; font-size: 62.5% }
      body { font: 1.6rem/1.5 Georgia, 'Times New Roman', serif; color: #333 }
      h1 { font: 700 clamp(2rem, 4vw, 4.8rem)/1.1 "Headline", sans-serif }
      .date { color: var(--accent); font-size: smaller; font-style: italic }
      .article p b { font-weight: lighter }
    </style><body><article class=article><h1>Title</h1><p class=date>1 May</p>
    <p>Text <b>bold</b> <a href=x>link</a></article>""")
    text = found["Text"]
    assert text == ComputedStyle(
        16.0, 400, ("georgia", "times new roman", "serif"), "normal", Color(51, 51, 51),
        display_none=False, visible=True,
    )  # fmt: skip
    title, date = found["Title"], found["1 May"]
    assert (title.font_size, title.bold, title.font_family) == (
        48,
        True,
        ("headline", "sans-serif"),
    )
    assert (round(date.font_size, 2), date.font_style, date.color) == (
        13.33,
        "italic",
        Color(204, 0, 0),
    )
    assert found["bold"].font_weight == 100
    assert found["link"].color == Color(0, 0, 238)


def test_applies_the_default_sheet():
    body = "".join(f"<{tag}>{tag}</{tag}>" for tag in ("h1", "h2", "h3", "h4", "h5", "h6"))
    found = sizes(f"<!doctype html><body>{body}<section><h1>deep</h1></section><small>small</small>"
                  "<big>big</big><pre>pre</pre><code>code</code><sub>sub</sub>"
                  "<table><th>th</th></table>")  # fmt: skip
    assert found == {
        "h1": 32, "h2": 24, "h3": 18.72, "h4": 16, "h5": 13.28, "h6": 10.72, "deep": 32,
        "small": 13.333, "big": 19.2, "pre": 13, "code": 13, "sub": 13.333, "th": 16,
    }  # fmt: skip


def test_default_sheet_applies_where_matching_gives_up():
    """Hints and style attributes apply, too; the sheets of the page do not."""
    expensive = "".join(f":not(.x{k}):not([y{k}='1'] *) {{ color: red }}" for k in range(4000))
    styles, found = styled(
        f"<!doctype html><head><style>{expensive} b {{ font-size: 9px }}</style><body>"
        f"{'<p>x' * 2000}<h1>a</h1><p><b>b</b><em>c</em><b style='color: green'>d</b><p hidden>e"
    )
    assert not styles.complete
    assert found["a"].font_size == 32
    assert (found["b"].bold, found["b"].font_size) == (True, 16)
    assert found["c"].font_style == "italic"
    assert found["d"].color == Color(0, 128, 0)
    assert styles.style_of(styles._document.tag.index("style")).display_none


def test_monospace_is_smaller():
    """Unless the size is absolute."""
    found = sizes("""<!doctype html><style>.px { font-size: 14px } .mono2 { font-family: monospace, monospace }
      .em { font-size: 2em } pre b { font-family: serif }</style>
      <code>code</code><p class=px>px <code>px code</code></p><code class=mono2>twice</code>
      <code class=em>em</code><pre>pre <b>serif</b></pre>""")
    assert found == {
        "code": 13,
        "px": 14,
        "px code": 14,
        "twice": 16,
        "em": 26,
        "pre": 13,
        "serif": 16,
    }


def test_applies_minimum_size():
    """The minimum of 6 px applies to relative sizes."""
    found = sizes("""<!doctype html><p style="font-size:.1em">em <i style="font-size:2em">twice</i></p>
      <p style="font-size:1px">px <i style="font-size:.5em">half</i></p>""")
    assert found == {"em": 6, "twice": 6, "px": 1, "half": 0.5}


def test_applies_quirks():
    page = """<style>body { color: navy } div { font: italic bold 20px a; color: 00ff00 }
      i { font-size: 30 }</style><body><div>div<i>i</i><table><td>cell</table></div>"""
    _, found = styled(page)
    cell, div = found["cell"], found["div"]
    assert (cell.font_size, cell.bold, cell.font_style, cell.color) == (
        16, False, "normal", Color(0, 0, 128),
    )  # fmt: skip
    assert (div.color, found["i"].font_size) == (Color(0, 255, 0), 30)
    _, standards = styled(f"<!doctype html>{page}")
    assert standards["cell"].font_size == standards["i"].font_size == 20
    assert standards["div"].color == Color(0, 0, 128)


def test_applies_presentational_hints():
    _, found = (
        styled("""<!doctype html><body text=green link=#ff0000><font size=+2 face="Arial, b">two</font>
      <font size=1 color=chucknorris>one</font>rest<a href=x>link</a>""")
    )
    assert (found["two"].font_size, found["two"].font_family) == (24, ("arial", "b"))
    assert (found["one"].font_size, found["one"].color) == (10, Color(192, 0, 0))
    assert (found["rest"].color, found["link"].color) == (Color(0, 128, 0), Color(255, 0, 0))


def test_inherits_hiding():
    """``display: none`` applies to all descendants, ``visibility`` can be overridden."""
    document = parse_document("""<!doctype html><style>.gone { display: none } .gone b { display: block }
      .veiled { visibility: hidden } .veiled b { visibility: visible }</style>
      <div class=gone>a<b>b</b></div><div class=veiled>c<b>d</b></div><p hidden>e</p>
      <p style="display:none; display: nonsense">f</p><style>.back { display: block }</style>
      <p hidden class=back>g</p><dialog>h</dialog><dialog open>i</dialog>""")
    styles = Stylesheets(document)
    rows = [row for row, text in enumerate(document.text) if len(text) == 1]
    shown = [document.text[r] for r in rows if not styles.style_of(r).display_none]
    visible = [document.text[r] for r in rows if styles.style_of(r).visible]
    assert (shown, visible) == (list("cdgi"), list("abdefghi"))


def test_equal_elements_share_a_style():
    _, found = styled("<!doctype html><div class=x><p>a<p>b<p style='color:red'>c")
    assert found["a"] is found["b"]
    assert found["c"] is not found["a"]
    _, found = styled("<style>p + p { color: red }</style><p>a<p>b<p>c")
    assert found["a"].color != found["b"].color == found["c"].color


class TestSheets:
    def test_in_document_order(self):
        page = """<!doctype html><style>p { color: red; font-size: 10px }</style>
          <link rel=stylesheet href=/a.css><style>p { font-style: italic }</style>
          <link rel=stylesheet media=print href=/print.css>
          <link rel="alternate stylesheet" title=x href=/other.css>
          <style media=print>p { color: red }</style><style type=text/less>p { color: red }</style>
          <p>x"""
        styles, found = styled(
            page, {"http://paper.test/a.css": "p { color: green; font-style: normal }"}
        )
        assert styles.complete
        assert found["x"].color == Color(0, 128, 0)
        assert (found["x"].font_style, found["x"].font_size) == ("italic", 10)

    def test_reports_missing_sheets(self):
        styles, found = styled("<!doctype html><link rel=stylesheet href=a.css><h1>x")
        assert (styles.complete, styles.missing) == (False, ["http://paper.test/news/a.css"])
        assert found["x"].font_size == 32

    def test_applies_imports(self):
        """Imports precede the importing sheet; their URLs are relative to it."""
        sheets = {
            "http://cdn.test/css/a.css": '@import "b.css"; p { color: green }',
            "http://cdn.test/css/b.css": '@import "/c.css" print; @import url(d.css); '
            "p { color: red; font-size: 20px }",
            "http://cdn.test/css/d.css": "p { font-size: 10px; font-weight: 900 }",
        }
        page = "<!doctype html><base href=//cdn.test/css/><style>@import 'a.css';</style><p>x"
        styles, found = styled(page, sheets)
        assert styles.complete
        assert (found["x"].color, found["x"].font_size, found["x"].font_weight) == (
            Color(0, 128, 0), 20, 900,
        )  # fmt: skip

    def test_ends_circular_imports(self):
        sheets = {
            "http://paper.test/a.css": "@import 'b.css'; p { color: green }",
            "http://paper.test/b.css": "@import 'a.css'; @import 'b.css'; p { color: red }",
        }
        styles, found = styled("<!doctype html><link rel=stylesheet href=/a.css><p>x", sheets)
        assert styles.complete
        assert found["x"].color == Color(0, 128, 0)

    def test_limits_imports(self, monkeypatch: pytest.MonkeyPatch):
        names = [f"http://paper.test/{i}.css" for i in range(100)]
        text = "".join(f"@import '{name}';" for name in names) + "p { color: green }"
        parsed: list[str] = []

        def parse(sheet: str) -> Sheet:
            parsed.append(sheet)
            assert len(parsed) <= sources.MAX_SHEETS
            return parse_sheet(sheet)

        monkeypatch.setattr(sources, "parse_sheet", parse)
        styles, found = styled(
            "<!doctype html><link rel=stylesheet href=/0.css><p>x", dict.fromkeys(names, text)
        )
        assert found["x"].color == Color(0, 128, 0)
        assert not styles.complete
        assert parsed

    def test_imports_into_layers(self):
        sheets = {
            "http://paper.test/a.css": "p { color: red; font-weight: 300 } @layer { p { font-size: 9px } }",
            "http://paper.test/b.css": "@layer { p { font-size: 20px } }",
        }
        page = """<!doctype html><style>@layer low; @import "a.css" layer(high); @import "a.css" layer(low);
          @import "b.css"; @layer high { p { color: green } }</style><base href=/><p>x"""
        _, found = styled(page, sheets)
        assert found["x"] == ComputedStyle(
            20, 300, ("times new roman",), "normal", Color(0, 128, 0),
            display_none=False, visible=True,
        )  # fmt: skip

    def test_applies_data_urls(self):
        link = "<link rel=stylesheet href='data:text/css,p%7Bcolor:green%7D'>"
        styles, found = styled(f"<!doctype html>{link}<p>x")
        assert styles.complete
        assert found["x"].color == Color(0, 128, 0)

    def test_applies_the_first_titled_set(self):
        page = """<!doctype html><style title=day>p { color: green }</style>
          <style title=night>p { color: red }</style><style>p { font-size: 20px }</style><p>x"""
        _, found = styled(page)
        assert (found["x"].color, found["x"].font_size) == (Color(0, 128, 0), 20)

    def test_accepts_parsed_sheets(self):
        sheet = parse_sheet("p { color: green; font-size: 20 }")
        for doctype, size in (("<!doctype html>", 16), ("", 20), ("<!doctype html>", 16)):
            document = parse_document(f"{doctype}<link rel=stylesheet href=/a.css><p>x")
            styles = Stylesheets(document, {"http://paper.test/a.css": sheet}, base_url=PAGE)
            style = styles.style_of(document.text_nodes()[0])
            assert (style.color, style.font_size) == (Color(0, 128, 0), size)


class TestHostile:
    def substituted(self, html: str) -> list[str | None]:
        """Return the results of all substitutions on the page."""
        results: list[str | None] = []
        substitute = variables.substitute

        def substitute_and_record(
            text: str, lookup: Callable[[str], str | None], depth: int = 0
        ) -> str | None:
            results.append(substitute(text, lookup, depth))
            return results[-1]

        with pytest.MonkeyPatch.context() as patch:
            for module in (variables, computed):
                patch.setattr(module, "substitute", substitute_and_record)
            styled(html)
        return results

    def test_styles_deep_pages(self):
        deep = "<div style='font-size:1.01em'>" * 900 + "x"
        _, found = styled(f"<!doctype html><style>div div {{ color: red }}</style>{deep}")
        assert found["x"].font_size == 10_000

    def test_bounds_circular_variables(self):
        own = "".join(f"--v{i}: var(--v{(i + 1) % 200}) x;" for i in range(200))
        page = f"<style>* {{ {own} color: var(--v0, red) }}</style>{different(300)}"
        results = self.substituted(f"<!doctype html>{page}")
        assert 300 < len(results) <= 305 * (variables.MAX_REFERENCE_CHAIN + 2)

    @pytest.mark.parametrize("steps", [16, 20, 60])
    def test_bounds_exponential_variables(self, steps: int):
        own = "".join(f"--v{i}: var(--v{i + 1}) var(--v{i + 1});" for i in range(steps))
        page = f"{own} --v{steps}: ha; color: var(--v0, red)"
        results = self.substituted(f"<!doctype html><style>* {{ {page} }}</style>{different(300)}")
        assert 300 < len(results) <= 305 * (variables.MAX_REFERENCE_CHAIN + 2)
        sizes = [len(text or "") for text in results]
        assert max(sizes) <= variables.MAX_SUBSTITUTION_LENGTH
        limit = variables.MAX_PAGE_SUBSTITUTIONS + variables.MAX_SUBSTITUTION_LENGTH
        assert sum(sizes) <= limit + 300 * len(" red ")


def different(number: int) -> str:
    """Return *number* paragraphs with distinct styles."""
    return "".join(f"<p style='--own: {index}'>x" for index in range(number))


def _page(corpora: Path, corpus: str, name: str) -> Document:
    return parse_document(
        gzip.decompress((corpora / corpus / "pages" / f"{name}.html.gz").read_bytes())
    )


@pytest.mark.corpus
@pytest.mark.slow
def test_styles_real_pages(corpus_dir: Path):
    """Every text node has a plausible style."""
    entries = json.loads((corpus_dir / "css-complete.json").read_text())
    for entry in entries[::4]:
        document = _page(corpus_dir, entry["corpus"], entry["id"])
        styles = Stylesheets(document, base_url=PAGE)
        found = [styles.style_of(row) for row in document.text_nodes()]
        assert all(0 <= style.font_size < 500 for style in found)
        assert len(set(found)) > 3
