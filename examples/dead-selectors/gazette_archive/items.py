"""Items."""

import scrapy


class StoryItem(scrapy.Item):
    """A story of the paper. All values are text."""

    url = scrapy.Field()
    publication = scrapy.Field()
    headline = scrapy.Field()
    byline = scrapy.Field()
    published_at = scrapy.Field()
    text = scrapy.Field()
