"""Fields beside the body: what a page says of itself, title, date."""
