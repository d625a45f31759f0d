"""Item pipelines: what a Scrapy project switches on."""

from newscrawl.pipelines.extract import NewsExtractPipeline
from newscrawl.pipelines.neardup import NearDuplicatePipeline

__all__ = ["NearDuplicatePipeline", "NewsExtractPipeline"]
