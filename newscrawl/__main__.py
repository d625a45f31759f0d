"""``python -m newscrawl``: the command where its folder is not on the path."""

from newscrawl.cli import start

if __name__ == "__main__":
    start()
