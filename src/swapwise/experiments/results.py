"""The files that a reproduction leaves behind, each written in whole or not at all."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from swapwise.experiments.claims import Finding, describe, findings, to_markdown
from swapwise.experiments.figure import draw_figure
from swapwise.experiments.manifest import Manifest, what_is_missing
from swapwise.experiments.page import render_page
from swapwise.experiments.store import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_results(folder: Path, rows: pd.DataFrame, manifest: Manifest) -> list[Finding]:
    """Write rows.csv, figure.png, figure.pdf, claims.md and report.html; return what became of the claims.

    Parameters
    ----------
    folder : Path
    rows : pandas.DataFrame
        As of :func:`swapwise.experiments.run.run`; at least one.
    manifest : dict
        How the rows were made, to be shown in the report.
    """
    judged = findings(rows)
    about = f"{describe(rows)} {what_is_missing(manifest)}".strip()
    figure = draw_figure(rows)
    write_atomically(folder / "rows.csv", rows.to_csv(index=False).encode())
    write_atomically(folder / "figure.png", _saved(figure, "png"))
    write_atomically(folder / "figure.pdf", _saved(figure, "pdf"))
    write_atomically(folder / "claims.md", to_markdown(judged, about).encode())
    write_atomically(folder / "report.html", render_page(rows, judged, manifest).encode())
    return judged


def _saved(figure: Figure, kind: str) -> bytes:
    buffer = BytesIO()
    # No time of day in the file: the same rows give the same bytes.
    figure.savefig(buffer, format=kind, dpi=200, metadata={"CreationDate": None} if kind == "pdf" else None)
    return buffer.getvalue()
