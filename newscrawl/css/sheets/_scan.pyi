from collections.abc import Sequence

from newscrawl.css.selectors.rule_keys import Filed
from newscrawl.css.sheets.scan import Frame, Rules, Taken

def separated(text: str) -> str: ...
def take_rules(
    text: str, position: int, rules: Rules, frames: list[Frame], *, keep_all: bool
) -> Taken: ...
def file_rules(rules: Sequence[str], *, quirks: bool) -> Filed: ...
