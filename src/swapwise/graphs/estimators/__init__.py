"""The estimators of graphs, in scikit-learn's manner."""
