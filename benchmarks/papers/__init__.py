"""The tables of the papers on NCE, CoreEx and ECON, measured on labelled pages."""
