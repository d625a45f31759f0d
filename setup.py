"""Packaging of newscrawl; the metadata is in pyproject.toml.

The entry points stand here because ``scrapyd-deploy`` builds its egg by
running this file: the ``scrapy`` group tells scrapyd where the settings are.
"""

from setuptools import find_packages, setup

setup(
    packages=find_packages(include=["newscrawl", "newscrawl.*"]),
    entry_points={
        "scrapy": ["settings = newscrawl.settings.base"],
        "scrapy.commands": [
            "extract = newscrawl.commands.extract:Command",
            "evaluate = newscrawl.commands.evaluate:Command",
            "train = newscrawl.commands.train:Command",
        ],
    },
)
