"""Sphinx configuration of the newscrawl manual. Needs no network."""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import sys
from dataclasses import is_dataclass
from importlib.metadata import version as version_of
from pathlib import Path
from typing import TYPE_CHECKING, Any

import newscrawl

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "newscrawl"
author = "The newscrawl developers"
copyright = "2026, The newscrawl developers"
version = release = version_of("newscrawl")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
copybutton_prompt_text = "$ "  # without prompts and output
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"newscrawl {release}"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"

# Every reference must resolve. These names are those of other projects, whose inventories Sphinx
# would have to download.
nitpicky = True
nitpick_ignore_regex = [
    (r"py:.*", rf"{package}(\..+)?")
    for package in (
        "collections",
        "date",
        "datetime",
        "io",
        "logging",
        "lxml",
        "numpy",
        "pathlib",
        "pyarrow",
        "scrapy",
        "sqlite3",
        "twisted",
        "typing",
    )
]

# Links to other manuals, where there is a network: NEWSCRAWL_DOCS_LINKS=1 make docs.
if os.environ.get("NEWSCRAWL_DOCS_LINKS"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "scrapy": ("https://docs.scrapy.org/en/latest", None),
    }


#: kinds of objects that docstrings name without their module
LINKED = {"class", "data", "exception", "function"}


def import_types() -> None:
    """Run the imports under ``if TYPE_CHECKING``, so that autodoc can resolve annotations."""
    for info in pkgutil.walk_packages(newscrawl.__path__, "newscrawl."):
        source = Path(getattr(info.module_finder, "path", "")) / f"{info.name.split('.')[-1]}.py"
        if not source.is_file():
            continue
        try:
            module = importlib.import_module(info.name)
        except ImportError:  # an optional dependency
            continue
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                for statement in node.body:
                    _run(statement, vars(sys.modules[module.__name__]))


def _run(statement: ast.stmt, namespace: dict[str, Any]) -> None:
    try:
        exec(compile(ast.Module([statement], []), "<types>", "exec"), namespace)  # noqa: S102
    except (AttributeError, ImportError, NameError, TypeError):  # stubs, aliases of aliases
        return


def resolve_name(app: Sphinx, env: Any, node: Any, content: Any) -> Any:
    """Resolve a bare name that is unique in the manual, as class names of the package are."""
    if node.get("refdomain") != "py":
        return None
    domain = env.domains["py"]
    name = f".{node['reftarget'].rpartition('.')[2]}"
    found = [
        full
        for full, entry in domain.objects.items()
        if full.endswith(name) and not entry.aliased and entry.objtype in LINKED
    ]
    if len(found) != 1:
        return None
    return domain.resolve_xref(env, node.get("refdoc"), app.builder, "obj", found[0], node, content)


def hide_constructor(
    app: Sphinx, what: str, name: str, obj: Any, *signature: Any
) -> tuple[str, None] | None:
    """Hide the constructor of dataclasses, whose fields are listed."""
    return ("", None) if what == "class" and is_dataclass(obj) else None


def setup(app: Sphinx) -> None:
    """Connect the functions above."""
    import_types()
    app.connect("autodoc-process-signature", hide_constructor)
    app.connect("missing-reference", resolve_name)
