"""The transformer that turns tables like that of the fit into the columns of the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from swapwise.cli.reading.cells import is_number
from swapwise.cli.reading.messages import hint, quoted

if TYPE_CHECKING:
    import pandas as pd


class Preparation(TransformerMixin, BaseEstimator):
    """Columns of numbers for some variables of a table, whatever else is in it.

    A variable is a column of numbers, or one of text with ``categories``, of which every one but the first
    becomes an indicator column of 0 and 1: all of them would add up to the intercept. Only variables in
    ``used`` are read, None for all; columns of others are 0.

    >>> import pandas as pd
    >>> preparation = Preparation(["age", "town"], {"town": ["Kiel", "Ulm"]})
    >>> preparation.transform(pd.DataFrame({"town": ["Ulm", "Kiel"], "street": "Lange", "age": [40, 41]}))
        age  town_Ulm
    0  40.0       1.0
    1  41.0       0.0
    """

    def __init__(
        self,
        variables: Sequence[str],
        categories: Mapping[str, Sequence[str]],
        used: Sequence[str] | None = None,
    ) -> None:
        self.variables = variables
        self.categories = categories
        self.used = used

    @property
    def variable_of(self) -> list[tuple[str, str]]:
        """Every column that is made, and the variable that it is made of.

        >>> Preparation(["age", "town"], {"town": ["Kiel", "Ulm"]}).variable_of
        [('age', 'age'), ('town_Ulm', 'town')]
        """
        made = []
        for name in self.variables:
            values = self.categories.get(name)
            columns = [name] if values is None else [f"{name}_{value}" for value in values[1:]]
            made += [(column, name) for column in columns]
        return made

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Return the same: there is nothing to learn.

        >>> Preparation(["age"], {}).fit(None)
        Preparation(categories={}, variables=['age'])
        """
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns that are made.

        >>> Preparation(["age", "town"], {"town": ["Kiel", "Ulm"]}).get_feature_names_out().tolist()
        ['age', 'town_Ulm']
        """
        return np.array([column for column, _ in self.variable_of], dtype=object)

    def restricted_to(self, columns: Iterable[str]) -> Preparation:
        """Return what reads only the variables of some of the columns that are made, and makes 0 of others.

        >>> import pandas as pd
        >>> chosen = Preparation(["age", "size", "town"], {"town": ["Kiel", "Ulm"]}).restricted_to(["size"])
        >>> chosen.transform(pd.DataFrame({"size": [1.8]}))
           age  size  town_Ulm
        0  0.0   1.8       0.0
        """
        wanted = set(columns)
        used = dict.fromkeys(variable for column, variable in self.variable_of if column in wanted)
        return Preparation(self.variables, self.categories, list(used))

    def transform(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the columns of numbers of a table, or say what it lacks.

        >>> import pandas as pd
        >>> towns = Preparation(["town"], {"town": ["Kiel", "Ulm"]})
        >>> towns.transform(pd.DataFrame({"town": ["Rom"]}))
        Traceback (most recent call last):
        ...
        ValueError: the column 'town' has 'Rom', which was not in the data of the fit; it had 'Kiel', 'Ulm'
        """
        import pandas as pd

        read = list(self.variables) if self.used is None else list(self.used)
        table = self._with_names(table, read)
        made = self.variable_of
        numbers = np.zeros((len(table), len(made)))
        place_of = {column: place for place, (column, _) in enumerate(made)}
        plain = [name for name in read if name not in self.categories]
        numbers[:, [place_of[name] for name in plain]] = _as_numbers(table[plain])
        for name in read:
            if name in self.categories:
                first, *others = self.categories[name]
                places = [place_of[f"{name}_{value}"] for value in others]
                numbers[:, places] = _one_hot(table[name], [first, *others])[:, 1:]
        return pd.DataFrame(numbers, columns=self.get_feature_names_out(), index=table.index)

    def _with_names(self, table: pd.DataFrame, read: list[str]) -> pd.DataFrame:
        """Return the columns that are read, each of which must be there once and have no missing values."""
        import pandas as pd

        if not isinstance(table, pd.DataFrame):
            raise TypeError(f"the data must be a pandas DataFrame with names, got {type(table).__name__}")
        named = table.set_axis([str(name) for name in table.columns], axis=1)
        known, which = set(named.columns), "of the fit" if self.used is None else "that were chosen"
        missing = [name for name in read if name not in known]
        if missing:
            close = hint(missing[0], named.columns)
            raise ValueError(
                f"the table must have the columns {quoted(read)} {which}; {quoted(missing)} "
                f"{'is' if len(missing) == 1 else 'are'} missing{close}"
            )
        named = named[read]
        if named.shape[1] > len(read):
            twice = dict.fromkeys(named.columns[named.columns.duplicated()])
            raise ValueError(f"the table has several columns of the same name: {quoted(twice)}")
        counts = named.isna().sum()
        empty = [f"{name!r}: {count} of {len(named)} rows" for name, count in counts[counts > 0].items()]
        if empty:
            word = "column" if len(empty) == 1 else "columns"
            raise ValueError(f"missing values in the {word} {', '.join(empty)}")
        return named


def words_of(column: pd.Series) -> pd.Series:
    """Return the values of a column as words, the same ones whatever type or blanks they are stored with.

    >>> import pandas as pd
    >>> words_of(pd.Series([1.0, "Ulm ", True])).tolist()
    ['1', 'Ulm', 'True']
    """
    return column.astype(object).map(
        lambda value: (
            str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
        )
    )


def _as_numbers(table: pd.DataFrame) -> np.ndarray:
    # By the types first, which is fast for thousands of columns.
    unsure = [name for name, dtype in table.dtypes.items() if dtype.kind not in "biuf"]
    for name in unsure:
        if len(table) and not is_number(table[name]):
            got = table[name].iloc[0]
            raise ValueError(
                f"the column {name!r} must hold numbers as in the data of the fit, got {got!r}; "
                "if they are numbers in the file, read it as the command line did: "
                "swapwise.cli.reading.tables.read_table"
            )
    numbers: np.ndarray = table.to_numpy(dtype=float)
    if not np.isfinite(numbers).all():
        raise ValueError(f"infinite numbers in the columns {quoted(infinite_columns(table))}")
    return numbers


def infinite_columns(table: pd.DataFrame) -> list[str]:
    """Return the names of the columns, all of numbers, that have infinite ones.

    >>> import pandas as pd
    >>> infinite_columns(pd.DataFrame({"a": [1, 2], "b": [1, float("inf")]}))
    ['b']
    """
    finite = np.isfinite(table.to_numpy(dtype=float)).all(axis=0)
    return [str(name) for name in table.columns[~finite]]


def _one_hot(column: pd.Series, values: Sequence[str]) -> np.ndarray:
    """Return one indicator column per category."""
    place_of = {value: place for place, value in enumerate(values)}
    words = words_of(column)
    places = words.map(place_of)
    if places.isna().any():
        unseen = quoted(dict.fromkeys(words[places.isna()]))
        raise ValueError(
            f"the column {column.name!r} has {unseen}, which was not in the data of the fit; it had "
            f"{quoted(values)}"
        )
    return np.eye(len(values))[places.to_numpy(dtype=int)]
