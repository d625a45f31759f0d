"""Ensembles of decision trees: model files and prediction."""
