"""Packaging of newscrawl; the metadata is in pyproject.toml.

The entry points are here because ``scrapyd-deploy`` builds its egg from this file: scrapyd reads
the settings module from the ``scrapy`` group.
"""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup


def extensions() -> list[Extension]:
    """Return the compiled modules. Each is or has an equivalent in Python, used if it is missing.

    Empty without Cython, and for eggs, which may be deployed to other platforms.
    """
    if "bdist_egg" in sys.argv:
        return []
    try:
        from Cython.Build import cythonize  # noqa: PLC0415
    except ImportError:
        return []
    # A Python module with types in a .pxd file is compiled as it is.
    typed = (path.with_suffix(".py") for path in Path("newscrawl").rglob("*.pxd"))
    sources = [*Path("newscrawl").rglob("*.pyx"), *(path for path in typed if path.exists())]
    modules = [
        Extension(".".join(source.with_suffix("").parts), [str(source)])
        for source in sorted(sources)
    ]
    built: list[Extension] = cythonize(
        modules, build_dir="build", compiler_directives={"annotation_typing": False}
    )
    for extension in built:
        extension.optional = True  # cythonize() resets it
    return built


setup(
    packages=find_packages(include=["newscrawl", "newscrawl.*"]),
    ext_modules=extensions(),
    entry_points={
        "console_scripts": [
            "newscrawl = newscrawl.cli:start",
            "newscrawl-spark = newscrawl.spark.spark_command:main",
        ],
        "newscrawl_methods": ["lab = newscrawl.lab.paper_methods:VARIANTS"],
        "scrapy": ["settings = newscrawl.settings.base"],
        "scrapy.commands": [
            "cluster = newscrawl.commands:ClusterCommand",
            "extract = newscrawl.commands:ExtractCommand",
            "evaluate = newscrawl.commands:EvaluateCommand",
            "list = newscrawl.commands:ListCommand",
            "train = newscrawl.commands:TrainCommand",
        ],
    },
)
