"""Near-duplicate detection: clusters copies, trimmed copies and versions of stories.

:class:`Index` clusters stories as they arrive; :mod:`newscrawl.neardup.batch` clusters a whole
collection.
"""

from newscrawl.neardup.database import NearDuplicateIndexError
from newscrawl.neardup.index import Index
from newscrawl.neardup.near_duplicate_options import Options
from newscrawl.neardup.story import Story, Verdict

__all__ = ["Index", "NearDuplicateIndexError", "Options", "Story", "Verdict"]
