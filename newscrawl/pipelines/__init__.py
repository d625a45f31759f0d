"""Item pipelines: what a Scrapy project switches on."""
