"""The crawl: site lists, discovery, network, history, output."""
