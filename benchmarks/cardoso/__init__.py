"""The tables of Cardoso and others (DocEng 2011) for the corpora of today."""
