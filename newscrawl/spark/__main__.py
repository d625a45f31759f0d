"""Command ``python -m newscrawl.spark``, also for ``spark-submit``."""

from __future__ import annotations

import sys

from newscrawl.spark.spark_command import main

if __name__ == "__main__":
    sys.exit(main())
