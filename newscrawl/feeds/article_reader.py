"""Articles of feeds, with the body in other formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from newscrawl.extraction.body_formats import write_html
from newscrawl.extraction.body_structure import text_blocks
from newscrawl.extraction.markdown_writer import write_markdown
from newscrawl.feeds.feed_rows import read_rows
from newscrawl.items import Article

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


def read_articles(path: str, extra_fields: Collection[str]) -> Iterator[Article | None]:
    """Yield the articles of a JSON Lines feed, None for a row that is no article.

    Of the *extra_fields* ``body_markdown`` and ``body_html``, what the feed lacks is made of the
    text of the body: its paragraphs. Raises ``OSError``.
    """
    for row in read_rows(path, ()):
        try:
            article = Article.from_dict(row or {})
            if not (isinstance(article.url, str) and isinstance(article.body, str)):
                raise TypeError  # noqa: TRY301  # a row of another kind
        except (AttributeError, KeyError, TypeError, ValueError):
            yield None
            continue
        blocks = text_blocks(article.body)
        if "body_markdown" in extra_fields and article.body_markdown is None:
            article.body_markdown = write_markdown(blocks)
        if "body_html" in extra_fields and article.body_html is None:
            article.body_html = write_html(blocks)
        yield article
