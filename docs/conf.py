from importlib.metadata import version as version_of

project = "newscrawl"
author = "The newscrawl developers"
copyright = "2026, The newscrawl developers"
version = release = version_of("newscrawl")

extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_build"]
html_theme = "alabaster"
nitpicky = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
