from newscrawl.css.sheets.rule_scanner import OpenBlock, RuleColumns

def scan_rules(
    text: str, position: int, rules: RuleColumns, open_blocks: list[OpenBlock], *, keep_all: bool
) -> int: ...
