"""Near-duplicate stories: clusters while a crawl runs, and in batch.

:class:`Index` is a file of sketches that tells for each story which stories it is a copy, a
trimmed copy, or a version of; :mod:`newscrawl.neardup.batch` does the same for a whole collection.
"""

from newscrawl.neardup.database import NearDuplicateIndexError
from newscrawl.neardup.index import Index
from newscrawl.neardup.near_duplicate_options import Options, SketchName
from newscrawl.neardup.story import Story, Verdict

__all__ = ["Index", "NearDuplicateIndexError", "Options", "SketchName", "Story", "Verdict"]
