from collections.abc import Sequence

from newscrawl.css.keys import Filed
from newscrawl.css.scan import Frame, Rules, Taken

def separated(text: str) -> str: ...
def take_rules(
    text: str, position: int, rules: Rules, frames: list[Frame], *, keep_all: bool
) -> Taken: ...
def file_rules(rules: Sequence[str], *, quirks: bool) -> Filed: ...
