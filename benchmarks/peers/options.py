"""Options of other tools that several benchmarks use; imports nothing, for measured processes."""

RESILIPARSE = {
    "main_content": True,
    "comments": False,
    "post_meta": False,
    "alt_texts": False,
    "list_bullets": False,
}
"""Arguments of ``extract_plain_text``, for the text of an article."""
