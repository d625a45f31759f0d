"""Kind of page: article, live, gallery, index or other."""
