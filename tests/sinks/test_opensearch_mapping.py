"""The mapping of articles in OpenSearch decides on each field."""

from newscrawl.items import EXTRA_FIELDS, Article
from newscrawl.sinks.opensearch import _ARTICLES

#: fields whose type OpenSearch chooses by their values
DYNAMIC = {
    "breadcrumbs", "date_raw", "image", "pages", "paywalled", "rendered", "style_complete"
}  # fmt: skip


def test_each_field_is_mapped_or_dynamic():
    """A new field of ``Article`` needs a type in the mapping, or an entry in ``DYNAMIC``."""
    mapped = _ARTICLES["mappings"]["properties"].keys() - EXTRA_FIELDS
    assert Article().to_dict().keys() == mapped | DYNAMIC
