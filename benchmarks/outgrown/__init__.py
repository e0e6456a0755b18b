"""Data larger than memory: a fit from a file, on a cluster, and on a cluster that loses a worker."""
