from lxml import etree

from newscrawl.rows import Rows

BUILT_FOR: tuple[int, int]

def flatten(root: etree._Element, *, scripts: bool = False) -> Rows: ...
