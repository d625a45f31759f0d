"""Properties with which Spark starts."""

from __future__ import annotations

from unittest.mock import MagicMock

import pytest

from newscrawl.spark import session
from tests.helpers.spark_cluster import require_spark

JAVA = "spark.driver.extraJavaOptions"
SMALL = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.mark.parametrize(
    ("master", "environment", "given", "expected"),
    [
        (None, {}, {}, SMALL),
        ("local[2,4]", {}, {}, SMALL),
        ("local[2,4]", {}, {JAVA: "-Xss8m"}, "-Xss8m"),
        ("local[2,4]", {"SPARK_CONF_DIR": "/etc/spark"}, {}, None),
        (None, {"SPARK_HOME": "/opt/spark"}, {}, None),
        (None, {"PYSPARK_GATEWAY_PORT": "4711"}, {}, None),
        ("spark://host:7077", {}, {}, None),
    ],
)
def test_java_of_local_extraction_is_small(
    monkeypatch: pytest.MonkeyPatch,
    master: str | None,
    environment: dict[str, str],
    given: dict[str, str],
    expected: str | None,
) -> None:
    require_spark()
    for name in ("SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    start = MagicMock()
    monkeypatch.setattr(session, "_start", start)
    with session.extraction_context(master, given):
        pass
    assert start.call_args.args[1].get(JAVA) == expected
