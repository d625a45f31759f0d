"""URL discovery: site lists, feeds, sitemaps, links."""
