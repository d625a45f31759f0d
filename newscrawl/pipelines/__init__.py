"""Item pipelines."""

from newscrawl.pipelines.near_duplicates import NearDuplicatePipeline
from newscrawl.pipelines.news_extract import NewsExtractPipeline

__all__ = ["NearDuplicatePipeline", "NewsExtractPipeline"]
