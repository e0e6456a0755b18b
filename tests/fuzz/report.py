"""What is known of one instance when it has been checked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Report:
    """How often each claim was put to the test, what was refused, and what was wrong."""

    #: What was tried, in words, and the kinds of it that are counted
    words: str
    kinds: tuple[str, ...] = ()
    claims: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    violations: list[tuple[str, str]] = field(default_factory=list)

    def claim(self, name: str, holds: Any, words: str = "") -> bool:
        """Count a claim; take it down if it does not hold."""
        self.claims[name] += 1
        if not holds:
            self.violations.append((name, words))
        return bool(holds)
