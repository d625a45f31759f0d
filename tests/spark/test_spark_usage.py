"""Wrong usage of ``newscrawl-spark`` that is found before Spark starts."""

import pytest

from newscrawl.spark.spark_command import main
from tests.helpers.spark_cluster import require_spark


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["extract", "out"], "expected a SOURCE or --cc-news"),
        (["extract", "a.warc", "out", "--split", "0"], "--split"),
        (["extract", "out", "--cc-news", "yesterday"], "--cc-news: Invalid isoformat"),
        (["run", "a.warc", "out", "-s", "NEWSCRAWL_KEEP=x"], "NEWSCRAWL_KEEP"),
        (["run", "a.warc", "out", "-s", "NEWSCRAWL_NEARDUP_CONTAINMENT=2"], "NEWSCRAWL_NEARDUP_"),
    ],
)
def test_rejects_wrong_usage(
    capsys: pytest.CaptureFixture[str], args: list[str], message: str
) -> None:
    """Prints one line."""
    require_spark()
    assert main(args) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("newscrawl-spark: ")
    assert message in line
