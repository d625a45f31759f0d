"""Training: labels from corpora, fitting with scikit-learn, export to ``.npz``."""
