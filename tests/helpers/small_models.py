"""``scrapy`` with models of few trees, which tests train in half of the time."""

from dataclasses import replace

from scrapy.cmdline import execute

from newscrawl.lab.training import block_training, fit, title_training

TREES = 8


def main() -> None:
    """Run the command of the process."""
    fit.TREES = title_training.TREES = TREES
    for name in ("FIRST", "SECOND"):
        model = getattr(block_training, name)
        setattr(block_training, name, replace(model, trees=TREES))
    execute()
