"""Archive of one newspaper, written in 2018."""
