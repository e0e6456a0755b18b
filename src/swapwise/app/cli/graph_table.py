"""The table of ``swapwise graph``: the kind of each variable, and the count of each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from swapwise.app.cli.checking.cells import is_number, not_numbers, text_columns
from swapwise.app.cli.checking.columns import names_among, require_columns, without_missing
from swapwise.app.cli.failures import BadInput
from swapwise.app.cli.options import Correlation, GraphModel
from swapwise.checks import some_of, warn
from swapwise.graphs.estimators.correlation import MOST_CATEGORIES
from swapwise.graphs.estimators.two_values import is_scale, missing_code

# Pairs of words for no and yes, in lower case.
CODINGS = (
    ("0", "1"),
    ("-1", "1"),
    ("no", "yes"),
    ("n", "y"),
    ("false", "true"),
    ("off", "on"),
    ("absent", "present"),
    ("nein", "ja"),
    ("nee", "ja"),
    ("nej", "ja"),
    ("nei", "ja"),
    ("non", "oui"),
    ("no", "sí"),
    ("no", "si"),
    ("no", "sì"),
    ("não", "sim"),
    ("nao", "sim"),
    ("nie", "tak"),
    ("ne", "ano"),
    ("нет", "да"),
)

# The number of columns that a message names.
MOST_COLUMNS = 3


@dataclass(frozen=True, eq=False)
class GraphTable:
    """The variables, the model that fits them, and the count or weight of each row, if that is known."""

    table: pd.DataFrame
    counts: pd.Series | None
    model: GraphModel = GraphModel.ISING
    correlation: Correlation = Correlation.PEARSON
    #: Variables that are counts, in a mixed graph
    poisson: tuple[str, ...] = ()

    def families(self) -> list[str]:
        numbers = ["gaussian" if dtype.kind == "f" else "binary" for dtype in self.table.dtypes]
        return [
            "counts" if name in self.poisson else family
            for name, family in zip(self.table.columns, numbers, strict=True)
        ]

    def in_words(self) -> str:
        """Return how many rows there are, and how many samples if their counts are whole numbers."""
        n_rows = f"{len(self.table)} rows"
        if self.counts is None:
            return n_rows
        if (self.counts % 1 == 0).all():
            return f"{int(self.counts.sum())} samples in {n_rows}"
        return f"{n_rows}, weighted by {self.counts.name!r}"

    def missing_in_words(self) -> str | None:
        """Return how many answers are missing and from how many rows edges are learnt."""
        there = self.table.notna().to_numpy()
        if there.all():
            return None
        fewest = int((there.astype(int).T @ there).min())
        return (
            f"{1 - there.mean():.1%}".replace("%", " %")
            + " of the cells are missing; any two columns are both there in "
            f"{fewest} row{'s' * (fewest != 1)} or more"
        )


def read_graph_table(
    table: pd.DataFrame,
    counts: str | None,
    force_out: list[str],
    drop_missing: bool,
    model: GraphModel,
    correlation: Correlation | None,
    poisson: list[str],
) -> GraphTable:
    """Return a table as the data of a graph; refuse one that cannot be."""
    left_out = names_among(force_out, table.columns)
    require_columns(left_out, table, "--force-out")
    weights = [] if counts is None else [counts]
    require_columns(weights, table, "--counts")
    if counts in left_out:
        raise BadInput(
            f"--counts names {counts!r}, which --force-out leaves out: it is not a variable anyway"
        )
    table = table.drop(columns=left_out)
    if drop_missing:
        table = without_missing(table, drop=True)
    without_missing(table[weights], drop=False)
    seen = None if counts is None else as_counts(table[counts])
    table = table.drop(columns=weights).reset_index(drop=True)
    if table.shape[1] < 2:
        raise BadInput(f"the table must have at least two columns to join, got {table.shape[1]}")
    _require_answers(table)
    _require_clear_decimals(table)
    events = names_among(poisson, table.columns)
    require_columns(events, table, "--poisson")
    return _as_data(table, seen, model, correlation, events)


def _require_answers(table: pd.DataFrame) -> None:
    empty = [name for name in table.columns if table[name].isna().all()]
    if empty:
        raise BadInput(f"no row has a value in {some_of(empty)}; --force-out leaves columns out")


def _require_clear_decimals(table: pd.DataFrame) -> None:
    """Refuse columns of text that are numbers, if an option says which."""
    for name in text_columns(table):
        wrong = not_numbers(table[name])
        if wrong is not None and wrong.decide:
            raise BadInput(f"the column {wrong.message}")


def _as_data(
    table: pd.DataFrame,
    seen: pd.Series | None,
    model: GraphModel,
    correlation: Correlation | None,
    poisson: list[str],
) -> GraphTable:
    """Choose the model that fits the columns, and convert them for it."""
    if poisson and (correlation is not None or model not in (GraphModel.AUTO, GraphModel.MIXED)):
        other = f"--model {model.value}" if correlation is None else f"--correlation {correlation.value}"
        raise BadInput(f"--poisson is for --model mixed, got {other}")
    if correlation is not None and model in (GraphModel.ISING, GraphModel.MIXED):
        raise BadInput(f"--correlation is for --model gaussian, got --model {model.value}")
    if model is GraphModel.AUTO:
        model = GraphModel.GAUSSIAN if correlation is not None else model_of(table.drop(columns=poisson))
        model = GraphModel.MIXED if poisson else model
    if model is GraphModel.ISING:
        return GraphTable(as_yes_or_no(table), seen)
    if model is GraphModel.GAUSSIAN:
        return GraphTable(as_numbers(table), seen, model, correlation or Correlation.PEARSON)
    binary = [name for name in table.columns if name not in poisson and _is_binary(table[name])]
    parts = [as_yes_or_no(table[binary]), as_numbers(table.drop(columns=binary))]
    return GraphTable(pd.concat(parts, axis=1)[list(table.columns)], seen, model, poisson=tuple(poisson))


def model_of(table: pd.DataFrame) -> GraphModel:
    """Return the model that fits the columns; where that is open, refuse and name the options."""
    binary = [name for name in table.columns if _is_binary(table[name])]
    if len(binary) == table.shape[1]:
        return GraphModel.ISING
    others = table.drop(columns=binary)
    words = [name for name in others.columns if not is_numeric_dtype(others[name])]
    if len(words) == others.shape[1]:
        return GraphModel.ISING  # as_yes_or_no refuses them, with the reason
    if words:
        some = some_of(list(dict.fromkeys(others[words[0]].dropna().map(str))))
        raise BadInput(
            f"text in {some_of([repr(name) for name in words])}, such as {some}: columns must hold numbers, "
            "or two values such as no and yes; leave cells without an answer empty; --force-out leaves "
            "columns out"
        )
    levels = {name: tuple(np.unique(others[name].dropna().astype(float))) for name in others.columns}
    codes = {name: missing_code(values) for name, values in levels.items()}
    coded = [name for name, code in codes.items() if code is not None]
    if coded:
        found = f"{codes[coded[0]]:g} in {some_of([repr(name) for name in coded])}"
        raise BadInput(
            f"{found} seems to stand for missing answers: leave such cells empty, or give --poisson with the "
            "names of columns that count something, or --model gaussian (or mixed) for numbers like any other"
        )
    scales = [name for name, values in levels.items() if is_scale(values)]
    if scales:
        some = some_of([f"{value:g}" for value in sorted(others[scales[0]].dropna().unique())])
        few = all(len(values) <= MOST_CATEGORIES for values in levels.values())
        ordered = "polychoric (or spearman)" if few else "spearman"
        raise BadInput(
            f"answers on a scale in {some_of([repr(name) for name in scales])}, such as {some}: give "
            f"--correlation {ordered} if they are ordered, --poisson with their names if they "
            "count something, or --model gaussian (or mixed) if they are numbers like any other; --force-out "
            "leaves columns out"
        )
    return GraphModel.MIXED if binary else GraphModel.GAUSSIAN


def _is_binary(column: pd.Series) -> bool:
    return _yes_of(set(_in_words(column.dropna()))) is not None


def as_counts(column: pd.Series) -> pd.Series:
    """Return the counts of the rows as numbers, or say why they are none."""
    expected = f"--counts names {column.name!r}, which must say how often each row was seen"
    if not is_number(column):
        wrong = not_numbers(column)
        if wrong:
            raise BadInput(f"{expected}, but {wrong.message}")
        raise BadInput(f"{expected}, got text such as {column.iloc[0]!r}")
    counts = column.astype(float)
    is_bad = ~(np.isfinite(counts) & (counts >= 0)).to_numpy()
    if is_bad.any():
        row = int(np.argmax(is_bad))
        raise BadInput(f"{expected}, got {column.iloc[row]} in row {row + 1} of those that are used")
    if not counts.any():
        raise BadInput(f"{expected}, got nothing but 0")
    return counts


def as_yes_or_no(table: pd.DataFrame) -> pd.DataFrame:
    """Return columns of two values as booleans; missing values stay missing.

    >>> as_yes_or_no(pd.DataFrame({"ill": ["no", None]}))["ill"].tolist()
    [False, <NA>]
    """
    others = [name for name in table.columns if not _is_binary(table[name])]
    if others:
        got = [
            f"{some_of(list(dict.fromkeys(table[name].dropna().map(str))))} in {name!r}" for name in others
        ]
        raise BadInput(
            "columns must hold two values, such as 0 and 1 or no and yes; got "
            + "; ".join(got[:MOST_COLUMNS])
            + (f"; and {len(got) - MOST_COLUMNS} columns more" if len(got) > MOST_COLUMNS else "")
            + "; --force-out leaves columns out"
        )
    _note_values_taken_for_yes(table)
    return table.apply(_as_booleans)


def _note_values_taken_for_yes(table: pd.DataFrame, taken_for: str = "taken for yes") -> None:
    """Note which of two values is yes, or higher, where that is not clear: signs of weights depend on it."""
    words = {name: set(_in_words(table[name].dropna())) for name in table.columns}
    columns_of: dict[str, list[str]] = {}
    for name, seen in words.items():
        if _known_yes(seen) is None:
            columns_of.setdefault(str(_yes_of(seen)), []).append(repr(name))
    if columns_of:
        notes = [f"{yes!r} in {some_of(names)}" for yes, names in columns_of.items()]
        more = f"; and {len(notes) - MOST_COLUMNS} more" if len(notes) > MOST_COLUMNS else ""
        warn(f"{taken_for}, as it is the later of two values: {'; '.join(notes[:MOST_COLUMNS])}{more}")


def _as_booleans(column: pd.Series) -> pd.Series:
    words = _in_words(column.dropna())
    is_yes = words == _yes_of(set(words))
    return is_yes if len(words) == len(column) else is_yes.astype("boolean").reindex(column.index)


def as_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Return columns as numbers, those of two values as 0 and 1; missing values are NaN."""
    numbers = {}
    words = [name for name in table.columns if not is_numeric_dtype(table[name]) and _is_binary(table[name])]
    _note_values_taken_for_yes(table[words], "taken for the higher value")
    for name in table.columns:
        column = table[name]
        if name in words:
            column = _as_booleans(column)
        if not is_numeric_dtype(column):
            raise BadInput(
                f"columns must hold numbers, got text such as {column.dropna().iloc[0]!r} in {name!r}; "
                "--force-out leaves columns out"
            )
        numbers[name] = column.astype("Float64").astype(float)
        if np.isinf(numbers[name]).any():
            raise BadInput(f"infinite numbers in the column {name!r}; --force-out leaves it out")
    return pd.DataFrame(numbers, index=table.index)


def _in_words(column: pd.Series) -> pd.Series:
    if is_numeric_dtype(column) and not is_bool_dtype(column):
        return column.map({value: f"{value:g}" for value in column.unique()})  # few, as a rule
    return column.astype(str).str.strip().str.lower()


def _known_yes(seen: set[str]) -> str | None:
    """Return the word for yes among those of a column, None if no usual pair has them."""
    return next((high for low, high in CODINGS if seen <= {low, high}), None)


def _yes_of(seen: set[str]) -> str | None:
    """Return the value of a column that counts as yes, None if there are not two.

    >>> _yes_of({"no", "yes"}), _yes_of({"2", "10"}), _yes_of({"f", "m"}), _yes_of({"a", "b", "c"})
    ('yes', '10', 'm', None)
    """
    return _known_yes(seen) or (max(seen, key=_in_order) if len(seen) == 2 else None)


def _in_order(word: str) -> tuple[bool, float, str]:
    """Return the key by which words are sorted: numbers first, and by their size."""
    try:
        return False, float(word), word
    except ValueError:
        return True, 0.0, word
