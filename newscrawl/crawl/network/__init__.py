"""Network access: safe resolution, downloads, pacing, robots.txt."""
