"""Packaging of newscrawl; the metadata is in pyproject.toml.

The entry points stand here because ``scrapyd-deploy`` builds its egg by
running this file: the ``scrapy`` group tells scrapyd where the settings are.
"""

from __future__ import annotations

import sys

from setuptools import Extension, find_packages, setup

COMPILED = (
    "_blocks", "_body", "_bytes", "_features", "_trees", "css._links", "css._scan",
    "neardup._sketch",
)  # fmt: skip
"""Modules in Cython, but for the one that needs lxml's headers."""


def extensions() -> list[Extension]:
    """Return the compiled modules, each the double of one in Python, which serves without it.

    None in eggs, which go to servers of other platforms, and none where Cython is missing.
    """
    if "bdist_egg" in sys.argv:
        return []
    try:
        import lxml  # noqa: PLC0415
        from Cython.Build import cythonize  # noqa: PLC0415
    except ImportError:
        return []
    modules = [
        Extension(f"newscrawl.{name}", [f"newscrawl/{name.replace('.', '/')}.pyx"])
        for name in COMPILED
    ]
    rows = Extension("newscrawl._rows", ["newscrawl/_rows.pyx"], include_dirs=lxml.get_include())
    built: list[Extension] = cythonize([rows, *modules], build_dir="build")
    for extension in built:
        extension.optional = True  # cythonize forgets it
    return built


setup(
    packages=find_packages(include=["newscrawl", "newscrawl.*"]),
    ext_modules=extensions(),
    entry_points={
        "scrapy": ["settings = newscrawl.settings.base"],
        "scrapy.commands": [
            "cluster = newscrawl.commands.cluster:Command",
            "extract = newscrawl.commands.extract:Command",
            "evaluate = newscrawl.commands.evaluate:Command",
            "train = newscrawl.commands.train:Command",
        ],
    },
)
