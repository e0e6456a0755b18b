"""Figures, tables and HTML pages for users. Only the paper's reproduction, in experiments, plots besides."""
