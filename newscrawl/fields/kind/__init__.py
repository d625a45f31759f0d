"""Page kind: article, live, gallery, index or other."""
