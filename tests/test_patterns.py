"""Patterns that are compiled when they are used."""

import pytest

from newscrawl.patterns import CJKPattern, lazy_regex

NAMES = CJKPattern(r"[가-힣]{2,4}|[\u4e00-\u9fff]{2,4}|[A-Z][^\W\u4e00-\u9fff]+")


@pytest.mark.parametrize("text", ["Ada", "Adélie", "김철수", "王小明", "Ada 王小明", "Ada：김철수"])
def test_ranges_do_not_depend_on_the_text(text: str):
    assert NAMES(text).findall(text) == NAMES.whole.findall(text)
    assert NAMES(text).findall(text)


def test_wrong_patterns_fail_when_used():
    pattern = lazy_regex("(")
    with pytest.raises(Exception, match="unterminated"):
        pattern.match("")
