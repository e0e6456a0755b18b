"""How a text file is written, as far as options say it."""

from __future__ import annotations

from dataclasses import dataclass

from swapwise.cli.failures import BadInput

BLANKS = r"\s+"


@dataclass(frozen=True)
class Dialect:
    """How a text file is written, as far as options say it; None for what the file itself must tell."""

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        if self.separator is not None and len(self.sign or "") != 1 and self.sign != BLANKS:
            expected = "a single character such as ',' or ';', tab, or blank"
            raise BadInput(f"--separator must be {expected}; got {self.separator!r}")
        if self.decimal not in (None, ".", ","):
            raise BadInput(f"--decimal must be . or , (a point or a comma); got {self.decimal!r}")

    @property
    def sign(self) -> str | None:
        """The separator as pandas knows it."""
        words = {"tab": "\t", "\\t": "\t", "blank": BLANKS, "space": BLANKS, " ": BLANKS}
        return words.get(self.separator or "", self.separator)
