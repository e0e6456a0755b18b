"""Objectives to be maximised, one per file or folder."""
