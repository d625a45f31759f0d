"""The paper, with the selectors of its templates of 2018."""

from scrapy.spiders import SitemapSpider

from gazette_archive.items import StoryItem


class GazetteSpider(SitemapSpider):
    """Reads the stories in the sitemap of the paper. Argument: ``base``, its address."""

    name = "gazette"
    sitemap_rules = [(r"/\d{4}/\d{2}/\d{2}/", "parse_story")]

    def __init__(self, base="http://127.0.0.1:8700", *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.sitemap_urls = [f"{base}/sitemap-2026-11.xml"]

    def parse_story(self, response):
        """Yield the story of a page."""
        yield StoryItem(
            url=response.url,
            publication="The Harbour Gazette",
            headline=response.css("div.titles > h1.headline::text").get(),
            byline=response.css("div.article-meta a.author-link::text").get(),
            published_at=response.css("meta[name='published']::attr(content)").get(),
            text="\n\n".join(response.css("div.article-container > p::text").getall()),
        )
