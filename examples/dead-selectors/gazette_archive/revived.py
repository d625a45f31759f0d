"""Settings of the project, with newscrawl in place of the selectors."""

from gazette_archive.settings import *

SPIDER_MIDDLEWARES = {"newscrawl.integrations.FillMiddleware": 900}
NEWSCRAWL_FIELDS = {
    "title": "headline",
    "body": "text",
    "date": "published_at",
    "authors": "byline",
}
NEWSCRAWL_FIELD_CONVERTERS = {"authors": ", ".join}
