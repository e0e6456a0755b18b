"""The result of ``swapwise graph``: the fitted estimator, its bootstrap and proof, and all its files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swapwise.app.cli.answers import json_text, proof_in_json, search_in_json, with_notes
from swapwise.search.result import Status

if TYPE_CHECKING:
    from swapwise.app.cli.graph_table import GraphTable
    from swapwise.certify.certificate import Certificate
    from swapwise.graphs.stability.bootstrap import GraphBootstrap

# Journals ask for 300 dots per inch.
FIGURE_DPI = 300

# Beginnings of names that a spreadsheet takes for formulas.
FORMULA = r"^([=+\-@\t\r])"

# Characters that XML cannot hold, and line feeds and tabs, which its readers turn into blanks.
NOT_IN_XML = re.compile(r"[^\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, eq=False)
class GraphAnswer:
    """A learnt graph with its data, proof and bootstrap."""

    model: Any
    rows: GraphTable
    settings: dict[str, Any]
    seconds: float
    certificate: Certificate | None
    bootstrap: GraphBootstrap | None
    notes: list[str]
    #: The options "certify" and "bootstrap", where an interrupt came before they had any result
    nothing_of: tuple[str, ...] = ()

    @property
    def interrupted(self) -> bool:
        search = self.model.result_.status is Status.INTERRUPTED
        proof = self.certificate is not None and self.certificate.status is Status.INTERRUPTED
        boot = self.bootstrap is not None and self.bootstrap.interrupted
        return search or proof or boot or bool(self.nothing_of)

    def edges(self) -> Any:
        """Return the edges, strongest first, with their intervals if there was a bootstrap."""
        frame = self.model.to_frame()
        if self.bootstrap is None:
            return frame
        extra = self.bootstrap.edges[["source", "target", "lower", "upper", "inclusion"]]
        return frame.merge(extra, on=["source", "target"], how="left")

    def to_csv(self) -> str:
        """Return the edges as a table; names that spreadsheets would run as formulas have ' before them."""
        edges = self.edges()
        for end in ("source", "target"):
            edges[end] = edges[end].astype(str).str.replace(FORMULA, r"'\1", regex=True)
        text: str = edges.to_csv(index=False)
        return text

    def to_graphml(self) -> bytes:
        """Return the graph as GraphML; control characters, which XML cannot hold at all, become blanks."""
        import networkx as nx

        file, graph = BytesIO(), self.model.graph_
        names = {name: NOT_IN_XML.sub(" ", str(name)) for name in graph}
        if len(set(names.values())) == len(names):
            graph = nx.relabel_nodes(graph, names)
        else:  # two columns that look alike would become one node
            graph = nx.relabel_nodes(
                graph, {name: f"{names[name]} ({n + 1})" for n, name in enumerate(names)}
            )
        nx.write_graphml(graph, file)
        return file.getvalue()

    def to_figure(self, path: Path) -> bytes:
        """Return a picture of the graph, in the format of the file's suffix."""
        import matplotlib as mpl

        mpl.use("agg")
        import matplotlib.pyplot as plt

        from swapwise.graphs.pictures.plots import plot_graph

        file = BytesIO()
        figure = plot_graph(self.model).get_figure(root=True)
        assert figure is not None
        figure.savefig(file, format=path.suffix[1:].lower(), dpi=FIGURE_DPI, bbox_inches="tight")
        plt.close(figure)
        return file.getvalue()

    def to_html(self) -> str:
        from swapwise.app.report.graph_page import graph_report

        settings = {name: "yes" if value is True else str(value) for name, value in self.settings.items()}
        return graph_report(
            self.model,
            self.rows.table,
            sample_weight=self.rows.counts,
            bootstrap=self.bootstrap,
            certificate=self.certificate,
            asked=with_notes(settings, self.notes),
            seconds=self.seconds,
        )

    def to_json(self) -> str:
        import networkx as nx

        model = self.model
        parts = [sorted(map(str, part)) for part in nx.connected_components(model.graph_) if len(part) > 1]
        answer: dict[str, Any] = {
            "asked": self.settings,
            "model": type(model).__name__,
            "summary": model.summary(),
            "variables": [str(name) for name in model.graph_],
            "edges": self.edges().to_dict("records"),
            "components": parts,
            "n_rows": len(self.rows.table),
            "missing_share": float(self.rows.table.isna().to_numpy().mean()),
            "search": search_in_json(model.result_),
            "interrupted": self.interrupted,
            "seconds": self.seconds,
            "notes": self.notes,
        }
        if hasattr(model, "field_"):
            answer["fields"] = dict(zip(answer["variables"], model.field_.tolist(), strict=True))
        if hasattr(model, "path_"):
            answer["n_edges"], answer["criterion"] = model.n_edges_, model.criterion
            answer["path"] = model.path_.to_dict("records")
        if self.certificate is not None:
            answer["certificate"] = proof_in_json(self.certificate)
        if self.bootstrap is not None:
            pairs = self.bootstrap.edges
            some = pairs[(pairs["weight"] != 0) | (pairs["inclusion"] > 0)]
            answer["bootstrap"] = {
                "samples": self.bootstrap.n_boots,
                "level": self.bootstrap.level,
                "pairs": some.to_dict("records"),
                "centralities": self.bootstrap.centralities.to_dict("records"),
            }
        return json_text(answer)
