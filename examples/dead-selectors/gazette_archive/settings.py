"""Settings of the project."""

BOT_NAME = "gazette_archive"
SPIDER_MODULES = ["gazette_archive.spiders"]
ROBOTSTXT_OBEY = True
AUTOTHROTTLE_ENABLED = True
AUTOTHROTTLE_START_DELAY = 0.1
DOWNLOAD_DELAY = 0.1
ITEM_PIPELINES = {
    "gazette_archive.pipelines.RequiredFieldsPipeline": 100,
    "gazette_archive.pipelines.ArchivePipeline": 300,
}
