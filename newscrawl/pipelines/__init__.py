"""Item pipelines: what a Scrapy project switches on."""

from newscrawl.pipelines.extract import NewsExtractPipeline

__all__ = ["NewsExtractPipeline"]
