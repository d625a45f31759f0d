from lxml import etree

from newscrawl.document.flatten import Rows

BUILT_FOR: tuple[int, int]
COLUMNS: tuple[str, ...]

def flatten(root: etree._Element, *, scripts: bool = False) -> Rows: ...
