"""Figures and tables for people; the only place that plots."""
