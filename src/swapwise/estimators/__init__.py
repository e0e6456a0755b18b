"""The face for scikit-learn: estimators with fit, predict and score."""
