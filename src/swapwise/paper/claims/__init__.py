"""The sentences of the paper that are judged, each in one record with its check."""

from swapwise.paper.claims.record import Claim, Finding
from swapwise.paper.claims.verdicts import CLAIMS, describe, findings, summary, to_markdown

__all__ = ["CLAIMS", "Claim", "Finding", "describe", "findings", "summary", "to_markdown"]
