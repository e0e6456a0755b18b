"""What ``swapwise select`` reads: files of many kinds, names, numbers, groups and targets."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer import BadParameter

import swapwise as sw
from swapwise.app.cli.checking.columns import names_among, read_dataset
from swapwise.app.cli.checking.targets import FOLDS, require_rows_for_folds
from swapwise.app.cli.failures import BadInput
from swapwise.app.cli.limit_files import read_groups
from swapwise.app.cli.limits import LimitOptions
from swapwise.app.cli.options import FamilyName, SizeCriterion
from swapwise.app.cli.problem import read_problem
from swapwise.app.cli.reading.rows import Dialect
from swapwise.app.cli.reading.tables import read_table
from swapwise.app.cli.request import SelectOptions, request_of
from swapwise.checks import unwarned

ROWS = 40


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((ROWS, 2)).round(2), columns=["h", "k"])
    frame.insert(0, "age", rng.integers(20, 60, ROWS))
    return frame.assign(y=(frame["h"] + rng.standard_normal(ROWS)).round(2))


@pytest.fixture
def towns(table):
    table.insert(1, "town", ["Ulm", "Bonn", "Kiel", "Bonn"] * (ROWS // 4))
    return table.assign(ill=[True, False] * (ROWS // 2))


def request_with(**options):
    limits = {name: options.pop(name) for name in LimitOptions.__dataclass_fields__ if name in options}
    given = {"data": Path("t.csv"), "target": "y"} | options
    return request_of(SelectOptions(**given, limits=LimitOptions(**limits)))


def problem_of(table, **options):
    return read_problem(request_with(**options), table)


def refused(message, table, **options):
    with unwarned(), pytest.raises(BadInput) as error:
        problem_of(table, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def as_read(path, table, **how):
    """Write a table and return it as it is read."""
    table.to_csv(path, index=False, **how)
    return read_table(path)


def assert_same(read, table):
    pd.testing.assert_frame_equal(read.reset_index(drop=True), table)


# Text becomes columns.


@pytest.mark.parametrize("dtype", ["object", "str", "category"])
def test_text_of_any_type_becomes_columns(towns, dtype):
    towns["town"] = towns["town"].astype(dtype)
    towns["ill"] = towns["ill"].astype("boolean")
    towns["age"] = towns["age"].astype("Int64")
    with pytest.warns(UserWarning, match="'town' is one-hot encoded, reference level 'Bonn': 'town_Kiel'"):
        dataset = read_dataset(towns, "y", classes=False)
    assert list(dataset.X.columns) == ["age", "town_Kiel", "town_Ulm", "h", "k", "ill"]
    assert dataset.variables == ["age", "town", "h", "k", "ill"]
    assert {dtype.kind for dtype in dataset.X.dtypes} == {"f"}
    expected = pd.get_dummies(towns["town"].astype(str), prefix="town", drop_first=True).astype(float)
    pd.testing.assert_frame_equal(dataset.X[["town_Kiel", "town_Ulm"]], expected)
    np.testing.assert_array_equal(dataset.X["ill"], [1.0, 0.0] * (ROWS // 2))
    assert list(dataset.variable_of) == list(dataset.X.columns)


def test_numbers_beside_words_are_categories(table):
    kinds = pd.Series([2, "b", 10, 10] * (ROWS // 4), dtype=object)
    with pytest.warns(UserWarning, match="reference level '2': 'kind_10', 'kind_b'"):
        dataset = read_dataset(table[["h", "y"]].assign(kind=kinds), "y", classes=False)
    np.testing.assert_array_equal(dataset.X["kind_b"], kinds == "b")


def test_objects_that_are_numbers_are_numbers(table):
    huge = [10**25 + number for number in range(ROWS)]
    flags = pd.Series([True, None] * (ROWS // 2), dtype=object)
    with pytest.warns(UserWarning, match="20 of 40 rows have missing values"):
        dataset = problem_of(table.assign(huge=huge, flag=flags), drop_missing=True).dataset
    assert dataset.X["huge"].tolist() == [1e25] * (ROWS // 2)
    assert dataset.X["flag"].tolist() == [1.0] * (ROWS // 2)


# Names.


@given(st.lists(st.text("ab, ", min_size=1).map(str.strip).filter(bool), unique=True, min_size=1))
def test_names_with_commas_are_names(columns):
    assert names_among(columns, columns) == columns


def test_words_that_are_no_column_are_split():
    assert names_among(["a, b", "b,c,", " d "], ["size, m"]) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("target", ["", " "])
@pytest.mark.parametrize("demo", [True, False])
def test_a_target_has_a_name(target, demo):
    with pytest.raises(BadParameter, match="--target must say which column to explain, got '"):
        request_with(target=target, demo=demo, data=None if demo else Path("t.csv"))


def test_forced_names_are_columns(table):
    named = table.rename(columns={"h": "height, m"})
    problem = problem_of(named, force_in=["height, m", "height, m"], force_out=["k,age"])
    assert (problem.request.force_in, problem.request.force_out) == (["height, m"], ["k", "age"])
    assert problem.dataset.variables == ["height, m"]
    words = problem.request.in_words()
    assert (words["forced in"], words["forced out"]) == ("'height, m'", "k, age")


def test_forced_features_must_be_allowed_together(tmp_path, table):
    roofs = table.rename(columns={"h": "roof_h", "k": "roof_k"})
    by_prefix = {"groups_from_prefix": "_", "force_in": ["roof_h,roof_k"]}
    refused("names 2 features of group 'roof', but at most 1 of each is allowed", roofs, **by_prefix)
    assert problem_of(roofs, **by_prefix, per_group=2).request.force_in == ["roof_h", "roof_k"]
    (tmp_path / "g.csv").write_text("age,a\nroof_h,a\nroof_k,b\n")
    both = by_prefix | {"per_group": 3, "and_groups": tmp_path / "g.csv", "force_in": ["roof_h,age"]}
    refused(
        "names 2 features of group 'a', but at most 1 of each is allowed; --and-per-group 2", roofs, **both
    )
    many = pd.DataFrame(np.eye(12), columns=[f"x{number}" for number in range(12)]).assign(y=range(12))
    refused("names 11 features, but at most 10 in all", many, force_in=[f"x{number}" for number in range(11)])


def test_names_have_no_blanks_around_them(tmp_path, table):
    path = tmp_path / "t.csv"
    assert_same(as_read(path, table.set_axis([" age", "h ", " k ", "y\t"], axis=1)), table)
    for doubled in (table, table.assign(h="a", k="b")):
        with pytest.raises(BadInput, match="several columns of the same name: 'h'"):
            as_read(path, doubled.set_axis(["age", "h", "h ", "y"], axis=1))


def test_separators_at_the_end_of_lines_make_no_column(tmp_path, table):
    lines = [line + ",," for line in table.to_csv(index=False).splitlines()]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    assert_same(read_table(tmp_path / "t.csv"), table)
    lines[1] += "1"
    (tmp_path / "t.csv").write_text("\n".join(lines))
    assert list(read_table(tmp_path / "t.csv").columns) == [*table.columns, "column 6"]


# Formats.


@pytest.mark.parametrize("separator", {";": "semicolons", "\t": "tabs", "|": "bars"}.items())
def test_separators_are_found(tmp_path, table, separator):
    sign, name = separator
    with pytest.warns(UserWarning, match=f"t.csv is read with {name} between its columns"):
        assert_same(as_read(tmp_path / "t.csv", table, sep=sign), table)


def test_commas_are_the_separator_wherever_they_are(tmp_path, table):
    named = table.rename(columns={"h": "a;b", "k": "c|d"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(as_read(tmp_path / "t.csv", named), named)
        quoted = pd.DataFrame({"a;b": [1, 2]})
        assert_same(as_read(tmp_path / "t.csv", quoted, quoting=1), quoted)


@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
@pytest.mark.filterwarnings("ignore:.*is read with")
def test_plain_text_is_a_table(tmp_path, table, separator):
    assert_same(as_read(tmp_path / "t.txt", table, sep=separator), table)


@pytest.mark.filterwarnings("ignore:.*is read with")
def test_decimal_commas_are_read_between_semicolons(tmp_path, table):
    table.loc[3, "h"] = np.nan
    table["k"] = table["k"].map("{:+.1e}".format).astype(float)
    with pytest.warns(UserWarning, match="read with decimal commas: 1,5 is 1.5"):
        assert_same(as_read(tmp_path / "t.csv", table, sep=";", decimal=","), table)


@pytest.mark.filterwarnings("ignore:.*is read with")
def test_commas_in_text_stay(tmp_path, table):
    table["town"] = ["Ulm, north", "1,5"] * (ROWS // 2)
    assert_same(as_read(tmp_path / "t.csv", table, sep=";"), table)
    table["town"] = ["1,234", "1,5"] * (ROWS // 2)  # what this means only semicolons would tell
    assert_same(as_read(tmp_path / "t.csv", table), table)


@pytest.mark.filterwarnings("ignore:.*(is read with|decimal commas)")
def test_a_typing_error_among_decimal_commas_is_found(tmp_path, table):
    text = table.to_csv(index=False, sep=";", decimal=",").splitlines()
    text[7] = "30;1,o;2,5;1,0"
    (tmp_path / "t.csv").write_text("\n".join(text))
    refused("'h' has text in 1 of 40 rows: '1,o' in line 8", read_table(tmp_path / "t.csv"))


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zip"])
def test_packed_files_are_read(tmp_path, table, suffix):
    path = tmp_path / f"t.csv.{suffix}"
    assert_same(as_read(path, table), table)
    path.write_bytes(b"no such thing")
    with pytest.raises(BadInput, match=f"t.csv.{suffix} cannot be read"):
        read_table(path)


@pytest.mark.parametrize("name", ["t.xlsx", "t.parquet.gz", "t", "t.gz"])
def test_other_formats_are_reported(tmp_path, name):
    (tmp_path / name).write_text("a,y\n1,2\n")
    with pytest.raises(BadInput, match=r"must end in \.csv, .*save it as \.csv"):
        read_table(tmp_path / name)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_that_say_what_they_are(tmp_path, table, encoding):
    named = table.rename(columns={"age": "größe"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(as_read(tmp_path / "t.csv", named, encoding=encoding), named)


def test_other_encodings_are_for_the_user_to_name(tmp_path, table):
    # Far behind the first lines, which would be text in UTF-8 too.
    table["town"] = ["Ulm"] * (ROWS - 1) + ["Köln – €"]
    with pytest.raises(BadInput, match=r"no text in UTF-8, as line 41 shows: --encoding says which") as error:
        as_read(tmp_path / "t.csv", table, encoding="cp1252")
    assert "--encoding cp1252 reads '" in str(error.value)
    assert "Köln – €'" in str(error.value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(read_table(tmp_path / "t.csv", Dialect(encoding="cp1252")), table)
    with pytest.raises(BadInput, match=r"--encoding must be one that Python knows, .*; got 'klingon'"):
        read_table(tmp_path / "t.csv", Dialect(encoding="klingon"))


@pytest.mark.parametrize("content", [b"a,y\n\x81\0,2\n", "a,y\n1,2\n".encode("utf-16-le"), bytes(range(256))])
def test_what_is_no_text_is_reported(tmp_path, content):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(BadInput, match=r"t\.csv must be text.*save it as"):
        read_table(tmp_path / "t.csv")


# Numbers.


def with_cells(tmp_path, table, name, cells):
    """Return a table as it is read if some cells were written otherwise, by the line of the file."""
    changed = table.astype({name: object})
    for line, cell in cells.items():
        changed.loc[line - 2, name] = cell
    return as_read(tmp_path / "t.csv", changed)


def test_typing_errors_are_shown(tmp_path, table):
    read = with_cells(tmp_path, table, "age", {17: "4O"})
    message = (
        "the column 'age' has text in 1 of 40 rows: '4O' in line 17; correct it in the data, or leave out"
    )
    refused(message, read)
    refused(message, read, one_hot=True)  # with so many values, it is no text either
    gaps = read.assign(h=read["h"].where(np.arange(ROWS) > 9))
    refused("'4O' in line 17", gaps.drop(columns="k"), drop_missing=True)
    assert problem_of(read, force_out=["age"]).dataset.variables == ["h", "k"]
    read = with_cells(tmp_path, table, "y", {3: "1.2.3"})
    refused("the target 'y' has text in 1 of 40 rows: '1.2.3' in line 3", read)


def test_other_columns_with_errors_are_named(tmp_path, table):
    table["k"] = table["k"].astype(object)
    table.loc[0, "k"] = "?"
    read = with_cells(tmp_path, table, "age", {17: "4O", 20: "4 1"})
    with pytest.raises(BadInput, match=r"'4O' in line 17, '4 1' in line 20\n  the column 'k' has '\?' in"):
        problem_of(read)


def test_words_for_missing_values_are_reported(tmp_path, table):
    read = with_cells(tmp_path, table, "age", {5: "?", 9: "Unknown", 11: "?"})
    message = "'age' has '?', 'Unknown' in 3 of 40 rows, the first in line 5, which looks like missing values"
    refused(message, read)
    classes = table.assign(y=[0, 1] * (ROWS // 2))
    read = with_cells(tmp_path, classes, "y", {5: "-"})
    refused("the target 'y' has '-' in 1 of 40 rows", read, family=FamilyName.LOGISTIC)


def test_numbers_and_a_word_may_be_classes_or_text(tmp_path, table):
    read = with_cells(tmp_path, table.assign(age=[1, 2] * (ROWS // 2)), "age", {5: "other"})
    with pytest.warns(UserWarning, match="'age' is one-hot encoded, reference level"):
        assert "age_other" in problem_of(read, one_hot=True).dataset.X
    read = with_cells(tmp_path, table.assign(y=[1, 2] * (ROWS // 2)), "y", {5: "other"})
    assert set(problem_of(read, family=FamilyName.LOGISTIC).dataset.y) == {"1", "2", "other"}


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%y", "%Y-%m-%d %H:%M", None])
def test_dates_are_called_dates(table, form):
    days = pd.Series(pd.date_range("2021-02-03", periods=ROWS))
    table["day"] = days if form is None else days.dt.strftime(form)
    refused("the column 'day' holds dates such as '", table)
    refused("the target 'day' holds dates such as '", table, target="day")


def test_numbers_stored_as_text_are_reported(table):
    table["code"] = table["age"].map("0{}".format)
    refused("the column 'code' holds numbers as text, such as '0", table)
    classes = problem_of(table.assign(y=["0", "1"] * (ROWS // 2), code=0), family=FamilyName.LOGISTIC)
    assert set(classes.dataset.y) == {"0", "1"}


@pytest.mark.parametrize(
    "form", ["({})", "\u2212{}", "\u2013 {}", "(5{}%)", "€{}", "-$ {}", "\u22121{} m", "{}µg/m3", "1,2.{} m²"]
)
def test_numbers_with_signs_or_units_are_reported(table, form):
    table["cost"] = [form.format(number) for number in range(ROWS - 1)] + ["7"]
    shown = f"'cost' holds numbers with a sign or unit, such as {form.format(0)!r}; write the numbers alone"
    refused(f"the column {shown}, with - for minus, or leave out the column by --force-out", table)
    refused(f"the target {shown}", table, target="cost")


@pytest.mark.parametrize("values", ["1st 2nd", "5a 5b", "A1 A2", "10:30 11:30", "1-2 3-4"])
def test_words_with_numbers_are_words(table, values):
    table["kind"] = values.split() * (ROWS // 2)
    refused("no numbers in the column 'kind', such as", table)


def test_huge_integers_become_numbers(tmp_path, table):
    huge = [10**25 + number * 10**24 for number in range(ROWS)]
    read = as_read(tmp_path / "t.csv", table.assign(age=pd.Series(huge, dtype=object)))
    np.testing.assert_allclose(read["age"].to_numpy(dtype=float), np.array(huge, dtype=float))
    assert read["age"].dtype == float


# Files of groups.

FEATURES = ["age", "h", "k"]
GROUPS = {
    "plain": "age,a\nh,b\nk,b\n",
    "a header": "feature,group\nage,a\nh,b\nk,b\n",
    "other words": "Name,Cluster\nage,a\nh,b\nk,b\n",
    "blanks": " Feature , Group\n age , a\nh ,b \n\nk,b\n",
    "semicolons": "feature;group\nage;a\nh;b\nk;b\n",
    "tabs": "age\ta\nh\tb\nk\tb\n",
    "the target": "age,a\ny,c\nh,b\nk,b\n",
    "twice": "age,a\nage,a\nh,b\nk,b\n",
}


@pytest.mark.parametrize("kind", GROUPS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_groups_are_read(tmp_path, table, kind, encoding):
    (tmp_path / "g.csv").write_text(GROUPS[kind], encoding=encoding)
    problem = problem_of(table, groups=tmp_path / "g.csv")
    assert problem.group_of == {"age": "a", "h": "b", "k": "b"}
    assert problem.constraint.max_size() == 2


BAD_GROUPS = {
    "the other way round": ("a,age\nb,h\nb,k\n", "must have features first and groups second"),
    "so with a header": ("group,feature\na,age\nb,h\nb,k\n", "must have features first and groups second"),
    "incomplete": (
        "age,a\nh,\n",
        "has no group for 'h', 'k', 2 of 3 features; name a group for each, which may be its own, or leave",
    ),
    "ragged": ("age,a\nh,b,c\n", "line 2 must have 2 cells as the lines before, got 3"),
    "narrow": ("age\nh\n", "must have two columns, feature and group, got 1"),
    "unknown": ("age,a\nhh,b\nkk,b\n", "names 'hh', which is not a feature of the data"),
    "unknown below a header": (
        "feature,group\nage,a\nhh,b\n",
        "names 'hh', which is not a feature of the data",
    ),
    "blank": ("\n\n", "g.csv is empty"),
}


@pytest.mark.parametrize("mistake", BAD_GROUPS)
def test_bad_groups_are_reported(tmp_path, mistake):
    content, message = BAD_GROUPS[mistake]
    (tmp_path / "g.csv").write_text(content)
    with pytest.raises(BadInput, match=message):
        read_groups(tmp_path / "g.csv", FEATURES)


def test_a_feature_may_be_called_feature(tmp_path):
    (tmp_path / "g.csv").write_text("feature,group\nh,b\n")
    assert read_groups(tmp_path / "g.csv", ["feature", "h"]) == {"feature": "group", "h": "b"}


# Targets.


@pytest.mark.parametrize("pair", [(0, 1), ("no", "yes"), (False, True), (1.0, 2.0), (0.5, 1.5), (-1, 1)])
@pytest.mark.filterwarnings("error")
def test_two_values_are_classes(table, pair):
    problem = problem_of(
        table.assign(y=list(pair) * (ROWS // 2)), family=FamilyName.LOGISTIC, choose=SizeCriterion.CV
    )
    sw.SparseClassifier(1).fit(problem.dataset.X, problem.dataset.y.to_numpy())
    assert problem.dataset.y.nunique() == 2


def test_an_offset_is_no_feature(table):
    table = table.assign(y=np.arange(ROWS) % 3, hours=np.linspace(1, 2, ROWS))
    with unwarned():
        problem = problem_of(table, exposure="hours", family=FamilyName.POISSON)
    assert "hours" not in problem.dataset.X
    np.testing.assert_allclose(problem.offset, np.log(table["hours"]))
    assert problem.request.in_words()["exposure"] == "hours"


def test_counts_that_are_none_are_reported(table):
    counts = np.arange(ROWS).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem_of(table.assign(y=counts), family=FamilyName.POISSON)
    counts[3] = 3.5
    with pytest.warns(UserWarning, match="1 of 40 numbers of the target 'y' are not counts, such as 3.5"):
        problem_of(table.assign(y=counts), family=FamilyName.POISSON)


def test_rare_classes_are_reported(table):
    def rare(*counts):
        classes = [name for name, count in zip("abc", counts, strict=False) for _ in range(count)]
        return table.assign(y=classes + ["z"] * (ROWS - len(classes)))

    for counts, message in {
        (1,): "few of the 40 rows have these classes, of which little can be learnt: 1 'a'$",
        (4, 5): "learnt: 4 'a'$",
        (2, 1, 3): "learnt: 1 'b', 2 'a', 3 'c'$",
    }.items():
        with pytest.warns(UserWarning, match=message):
            problem_of(rare(*counts), family=FamilyName.LOGISTIC)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem_of(rare(5), family=FamilyName.LOGISTIC)


def test_blanks_make_no_classes(table):
    y = pd.Series(["no", "yes", "no ", " yes"] * (ROWS // 4))
    for kind in ("object", "category"):
        problem = problem_of(table.assign(y=y.astype(kind)), family=FamilyName.LOGISTIC)
        assert problem.dataset.y.tolist() == ["no", "yes"] * (ROWS // 2)


def test_there_must_be_as_many_rows_as_folds(table):
    assert sw.SparseRegressorCV().cv == FOLDS
    refused("cross-validation needs at least 5 rows, got 4; --choose bic", table[:4], choose=SizeCriterion.CV)
    assert problem_of(table[:4], choose=SizeCriterion.BIC).constraint is None
    require_rows_for_folds(FOLDS)
    with pytest.raises(BadInput, match=r"^cross-validation needs at least 5 rows, got 4$"):
        require_rows_for_folds(FOLDS - 1)
    rare = table.assign(y=["no"] * (ROWS - 4) + ["yes"] * 4)
    message = "cross-validation needs at least 5 rows of each class of the target 'y', got 4 of yes"
    refused(message, rare, choose=SizeCriterion.CV, family=FamilyName.LOGISTIC)
    assert len(problem_of(rare, choose=SizeCriterion.EBIC, family=FamilyName.LOGISTIC).dataset.y) == ROWS
    kinds = pd.Categorical(["no", "yes"] * (ROWS // 2), categories=["no", "perhaps", "yes"])
    assert (
        problem_of(table.assign(y=kinds), choose=SizeCriterion.CV, family=FamilyName.LOGISTIC).constraint
        is None
    )


# Sizes.


def test_sizes_that_no_choice_has_are_left_out(table):
    with pytest.warns(UserWarning, match="--path goes up to 40, but at most 3 can be chosen"):
        problem = problem_of(table, path="1:40")
    assert problem.request.sizes == range(1, 4)
    assert problem.request.in_words()["sizes tried"] == "1 to 3"
    roofs = table.rename(columns={"h": "roof_h", "k": "roof_k"})
    with pytest.warns(UserWarning, match="at most 2 can be chosen"):
        assert problem_of(roofs, path="3:5", groups_from_prefix="_").request.sizes == range(2, 3)


def test_the_default_size_is_reported(table):
    problem = problem_of(table)
    assert problem.constraint.max_size() == 3
    assert problem.request.in_words()["limits"] == "at most 3 in all"
    assert "limits" not in problem_of(table, choose=SizeCriterion.BIC).request.in_words()


# What is refused: the message, what the columns hold, and the options.

LOGISTIC, POISSON = {"family": FamilyName.LOGISTIC}, {"family": FamilyName.POISSON}
TOWN, TWO, THREE, HOURS = ["Ulm", "Bonn"] * 20, [0, 1] * 20, np.arange(ROWS) % 3, {"hours": 1.0}
REFUSED = [
    ("--force-in names the target 'y'", {}, {"force_in": ["y"]}),
    ("--force-out names the target 'y'", {}, {"force_out": ["y"]}),
    ("--force-in and --force-out both name 'k'", {}, {"force_in": ["h,k"], "force_out": ["k"]}),
    ("--force-in names 'hh', but the data have no such column", {}, {"force_in": ["hh"]}),
    ("no such column (did you mean 'town'?)", {"town": TOWN}, {"force_out": ["town_Ulm"]}),
    ("at most 2 in all are allowed; --size 3 allows them", {}, {"force_in": ["h,k,age"], "size": 2}),
    ("--path must go up to 2 or more, the number of", {}, {"path": "1:1", "force_in": ["h,k"]}),
    ("--force-in names 'k', which is constant: it is 3 in all 40", {"k": 3}, {"force_in": ["k"]}),
    ("no numbers in the column 'town', such as 'Ulm'; --one-hot encodes", {"town": TOWN}, {}),
    ("the target 'y' has no values: all 40 are missing", {"y": np.nan}, {"drop_missing": True}),
    ("the target 'y' must hold numbers, got text such as 'Ulm'; for classes, --family log", {"y": TOWN}, {}),
    ("the target 'y' is constant: it is 0 in all 40 rows", {"y": 0}, POISSON),
    ("is constant: it is no in all 40", {"y": ["no", "no "] * 20}, LOGISTIC),
    ("such as 0.3; --family linear fits numbers", {"y": np.arange(ROWS) + 0.3}, LOGISTIC),
    ("person 0; a class needs several rows", {"y": [f"person {n}" for n in range(ROWS)]}, LOGISTIC),
    ("must hold counts for --family poisson, got -1", {"y": np.arange(ROWS) - 1}, POISSON),
    ("positive amounts for --family gamma, got 0", {"y": np.arange(ROWS)}, {"family": FamilyName.GAMMA}),
    *[("infinite numbers in the target 'y'", {"y": [np.inf, 1] * 20}, {"family": one}) for one in FamilyName],
    ("--exposure names 'hour', but the data have no such", HOURS, POISSON | {"exposure": "hour"}),
    ("--offset names the target 'y'", {"y": THREE}, POISSON | {"offset": "y"}),
    ("names 'hours', which is the offset", HOURS, POISSON | {"offset": "hours", "force_in": ["hours"]}),
    ("--offset does not go with --family linear", HOURS, {"offset": "hours"}),
    ("--exposure does not go with --family logistic", HOURS | {"y": TWO}, LOGISTIC | {"exposure": "hours"}),
    ("--offset is for two classes, whose log-odds", HOURS | {"y": THREE}, LOGISTIC | {"offset": "hours"}),
    ("of finite numbers, got 't' with 'Ulm'", {"y": THREE, "t": TOWN}, POISSON | {"offset": "t"}),
    ("of positive numbers, got 'h' with -1", {"y": THREE, "h": -1.0}, POISSON | {"exposure": "h"}),
]


@pytest.mark.parametrize(("message", "columns", "options"), REFUSED)
def test_what_cannot_be_is_refused(table, message, columns, options):
    refused(message, table.assign(**columns), **options)


@pytest.mark.parametrize("rows", [1, 2])
def test_there_must_be_rows(table, rows):
    refused(f"there must be at least 3 rows to choose by, got {rows}", table[:rows])
    assert len(problem_of(table[:3]).dataset.X) == 3


def test_an_offset_and_an_exposure_are_one_too_many():
    with pytest.raises(BadParameter, match=r"give --offset or --exposure, .* not both"):
        request_with(offset="hours", exposure="hours")


def test_many_numbers_may_be_classes(table):
    with pytest.warns(UserWarning, match="the 14 different numbers of the target 'y' are a class each"):
        problem_of(table.assign(y=np.arange(ROWS) % 14), **LOGISTIC)
