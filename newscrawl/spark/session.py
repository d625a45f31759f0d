"""Spark session of a command, its errors, and Hadoop's file systems."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy.exceptions import UsageError

from newscrawl.optional import require

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

_DEFAULT_PROPERTIES: Final = {
    # The command reports errors in one line; WARN would log each lost task.
    "spark.log.level": "FATAL",
    "spark.sql.caseSensitive": "true",
}
_LOCAL: Final = "local[*,4]"
"""All cores; a task is retried when its Python process was killed, as on a cluster."""


def require_packages() -> None:
    """Raise :exc:`~newscrawl.optional.MissingPackageError` if a package of the extra is missing."""
    for module in ("pyspark", "pandas", "pyarrow", "fsspec"):
        require(module, module, "spark")


@contextmanager
def session(master: str | None, properties: Mapping[str, str]) -> Iterator[SparkSession]:
    """Provide a Spark session; errors in it are raised as a one-line :exc:`UsageError`."""
    from py4j.protocol import Py4JError  # noqa: PLC0415  # optional
    from pyspark.errors import PySparkException  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    if not (_is_submitted() or _java()):
        raise UsageError("Java 17 or later is required, but not found on PATH or in JAVA_HOME")
    # The pandas support of PySpark is not used.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    # The workers' Python must have this package; the Spark property does not reach them.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("newscrawl")
    if master := master or _default_master():
        builder = builder.master(master)
    for name, value in {**_DEFAULT_PROPERTIES, **properties}.items():
        builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
        try:
            yield spark
        finally:
            spark.stop()
    except (Py4JError, PySparkException) as error:
        raise UsageError(_reason(str(error))) from error


def _default_master() -> str | None:
    """Return the master unless Spark may have a file of properties, or spark-submit set one."""
    has_own = _is_submitted() or os.environ.keys() & {"SPARK_HOME", "SPARK_CONF_DIR"}
    return None if has_own else _LOCAL


def _is_submitted() -> bool:
    """Return whether spark-submit started Java before Python."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _java() -> str | None:
    """Return the path of Java, by the same rules as Spark's scripts."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which(Path(home, "bin", "java") if home else "java")


def _reason(message: str) -> str:
    """Return the line with the reason from an error message of Spark."""
    lines = filter(None, (line.strip(" :\t") for line in message.splitlines()))
    return next(
        (line for line in lines if not line.startswith("An error occurred")), "Spark failed"
    )


def exists(spark: SparkSession, path: str) -> bool:
    """Return whether *path* exists."""
    system, hadoop_path = _file_system(spark, path)
    return bool(system.exists(hadoop_path))


def delete(spark: SparkSession, path: str) -> None:
    """Delete *path* with its content, if it exists."""
    system, hadoop_path = _file_system(spark, path)
    system.delete(hadoop_path, True)  # noqa: FBT003  # Java


def _file_system(spark: SparkSession, path: str) -> tuple[Any, Any]:
    """Return the Hadoop file system of *path*, and the path as a Hadoop object."""
    context: Any = spark.sparkContext
    hadoop_path = context._jvm.org.apache.hadoop.fs.Path(path)  # noqa: SLF001  # no public API
    configuration = context._jsc.hadoopConfiguration()  # noqa: SLF001
    return hadoop_path.getFileSystem(configuration), hadoop_path
