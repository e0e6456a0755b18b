"""Limits of ``swapwise select``: the choice is the best that meets them; impossible ones are refused."""

import json
from itertools import combinations

import joblib
import numpy as np
import pandas as pd
import pytest

import swapwise as sw
from swapwise.app.cli.limit_files import read_costs
from swapwise.app.cli.products import parents_of
from tests.app.cli.running import refused, select

ROOMS = ("roof", "hall", "cellar")
NAMES = [f"{room}_{number}" for room in ROOMS for number in range(3)]
COSTS = {name: 1 + place % 4 for place, name in enumerate(NAMES)}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((80, 9)), columns=NAMES)
    signal = 3 * frame["roof_1"] - 2 * frame["hall_0"] + frame["hall_2"] + 0.6 * frame["roof_0"]
    return frame.assign(y=signal + 0.3 * rng.standard_normal(80))


@pytest.fixture
def data(tmp_path, table):
    table.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


@pytest.fixture
def terms(tmp_path, table):
    made = table[["roof_0", "roof_1", "hall_0", "y"]].copy()
    made["roof_0:hall_0"] = made["roof_0"] * made["hall_0"]
    made["roof_1^2"] = made["roof_1"] ** 2
    made["y"] += 4 * made["roof_0:hall_0"] + 3 * made["roof_1^2"]
    made.to_csv(tmp_path / "terms.csv", index=False)
    return tmp_path / "terms.csv"


def file_of(path, words, header="feature,group"):
    path.write_text(f"{header}\n" + "".join(f"{name},{word}\n" for name, word in words.items()))
    return path


def room_of(name):
    return name.split("_")[0]


def answer(tmp_path, data, *options):
    out = tmp_path / "answer.json"
    done = select(data, "--target", "y", *options, "--json", out, "--force")
    assert done.exit_code == 0, done.output
    return json.loads(out.read_text()), done


def chosen_of(answer):
    return [row["feature"] for row in answer["chosen"]]


def r2_of(table, support):
    left = np.column_stack([np.ones(len(table)), table[list(support)]])
    residual = table["y"] - left @ np.linalg.lstsq(left, table["y"], rcond=None)[0]
    return 1 - residual.var(ddof=0) / table["y"].var(ddof=0)


def best_by_trying(table, is_allowed, names=NAMES):
    """Return the set that explains the target best of all that are allowed."""
    sets = (s for size in range(1, len(names) + 1) for s in combinations(names, size) if is_allowed(s))
    return max(sets, key=lambda support: r2_of(table, support))


def counts(support):
    rooms = [room_of(name) for name in support]
    return [rooms.count(room) for room in ROOMS]


def cost(support):
    return sum(COSTS[name] for name in support)


# What is chosen is the best of all that the limits allow.

LIMITS = {
    "at least 1 of each": (
        ["--groups-from-prefix", "_", "--at-least", 1, "--size", 5],
        lambda s: min(counts(s)) >= 1 and len(s) <= 5,
        "at least 1 of each prefix before '_', at most 5 in all",
    ),
    "1 to 2 of each": (
        ["--groups-from-prefix", "_", "--at-least", 1, "--per-group", 2, "--size", 4],
        lambda s: min(counts(s)) >= 1 and max(counts(s)) <= 2 and len(s) <= 4,
        "1 to 2 of each prefix before '_', at most 4 in all",
    ),
    "exactly 2 of each": (
        ["--groups-from-prefix", "_", "--at-least", 2, "--per-group", 2],
        lambda s: counts(s) == [2, 2, 2],
        "exactly 2 of each prefix before '_'",
    ),
    "exactly 4": (["--exactly", 4], lambda s: len(s) == 4, "exactly 4 in all"),
    "at least 3": (["--at-least", 3, "--size", 3], lambda s: len(s) == 3, "exactly 3 in all"),
    "pairs": (
        ["--not-both", "roof_1,hall_0", "--not-both", "roof_0, roof_2,cellar_1", "--size", 4],
        lambda s: (
            not {"roof_1", "hall_0"} <= set(s)
            and len({"roof_0", "roof_2", "cellar_1"} & set(s)) < 2
            and len(s) <= 4
        ),
        "not both of roof_1 and hall_0, no two of roof_0, roof_2 and cellar_1, at most 4 in all",
    ),
    "one room": (
        ["--groups-from-prefix", "_", "--few-groups", 1, "--per-group", 2],
        lambda s: sum(n > 0 for n in counts(s)) == 1 and max(counts(s)) <= 2,
        "from at most 1 of the prefixes before '_', at most 2 of each prefix before '_'",
    ),
    "two rooms": (
        ["--groups-from-prefix", "_", "--few-groups", 2, "--size", 4],
        lambda s: sum(n > 0 for n in counts(s)) <= 2 and len(s) <= 4,
        "from at most 2 of the prefixes before '_', at most 4 in all",
    ),
    "budget": (
        ["--costs", "costs.csv", "--budget", 6],
        lambda s: cost(s) <= 6,
        "costs of costs.csv within 6",
    ),
    "budget and pairs": (
        ["--costs", "costs.csv", "--budget", 6.5, "--not-both", "roof_1,hall_0", "--size", 3],
        lambda s: cost(s) <= 6.5 and not {"roof_1", "hall_0"} <= set(s) and len(s) <= 3,
        "not both of roof_1 and hall_0, costs of costs.csv within 6.5, at most 3 in all",
    ),
    "budget and rooms": (
        ["--costs", "costs.csv", "--budget", 9, "--groups-from-prefix", "_", "--at-least", 1],
        lambda s: cost(s) <= 9 and min(counts(s)) >= 1,
        "at least 1 of each prefix before '_', costs of costs.csv within 9",
    ),
    "forced": (
        ["--groups-from-prefix", "_", "--at-least", 1, "--size", 4, "--force-in", "cellar_0,hall_1"],
        lambda s: min(counts(s)) >= 1 and len(s) <= 4 and {"cellar_0", "hall_1"} <= set(s),
        "at least 1 of each prefix before '_', at most 4 in all",
    ),
}


@pytest.mark.parametrize("case", LIMITS)
def test_the_best_choice_within_limits(tmp_path, data, table, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    file_of(tmp_path / "costs.csv", COSTS, "feature,cost")
    options, is_allowed, words = LIMITS[case]
    found, done = answer(tmp_path, data, *options, "--certify")
    chosen = chosen_of(found)
    assert is_allowed(chosen)
    assert r2_of(table, chosen) == pytest.approx(r2_of(table, best_by_trying(table, is_allowed)))
    assert found["certificate"]["ratio"] > 0.9999  # the gap that proofs leave
    assert found["asked"]["limits"] == words
    assert f"Allowed: {words}\n" in done.output


PRODUCTS = ["roof_0", "roof_1", "hall_0", "roof_0:hall_0", "roof_1^2"]
FACTORS = {"roof_0:hall_0": ["roof_0", "hall_0"], "roof_1^2": ["roof_1"]}


@pytest.mark.parametrize("sign", [":", " ", "*"])
@pytest.mark.parametrize(("kind", "enough"), [("strong", all), ("weak", any)])
@pytest.mark.parametrize("size", [2, 4])
def test_products_with_their_factors(tmp_path, terms, sign, kind, enough, size):
    table = pd.read_csv(terms)
    table.rename(columns=lambda name: name.replace(":", sign)).to_csv(terms, index=False)
    options = ["--hierarchy", kind, "--size", size, *(["--product-sign", "*"] if sign == "*" else [])]
    found, done = answer(tmp_path, terms, *options, "--certify")
    chosen = [name.replace(sign, ":") for name in chosen_of(found)]

    def is_allowed(support):
        fit = all(enough(f in support for f in FACTORS[name]) for name in support if name in FACTORS)
        return fit and len(support) <= size

    assert is_allowed(chosen)
    assert r2_of(table, chosen) == pytest.approx(r2_of(table, best_by_trying(table, is_allowed, PRODUCTS)))
    needed = "all of" if kind == "strong" else "one or more of"
    assert f"Allowed: products only with {needed} their factors, at most {size} in all" in done.output


def test_names_with_blanks(tmp_path, terms):
    named = {"roof_0:hall_0": "roof_0 hall_0", "roof_1": "body mass", "roof_1^2": "body mass^2"}
    table = pd.read_csv(terms).rename(columns=named).assign(other=1.0)
    table["other"] = table["hall_0"] * table["body mass"]
    table.rename(columns={"other": "hall_0 body mass"}).to_csv(terms, index=False)
    found, _ = answer(tmp_path, terms, "--hierarchy", "strong", "--size", 5)
    assert chosen_of(found) == ["roof_0", "body mass", "hall_0", "roof_0 hall_0", "body mass^2"]
    table.rename(columns={"other": "mean hall_0"}).to_csv(terms, index=False)
    message = "'mean hall_0' is spelled as a product or power of 'mean', but there is no such column; add it"
    refused(select(terms, "--target", "y", "--hierarchy", "strong"), message)


def test_what_products_are_made_of():
    assert parents_of(["a", "b", "a:b", "a^2", "a:b^2"], ":")["a:b^2"] == ["a:b"]
    names = ["x", "heat:in", "x:heat:in", "x^2:heat:in", "x^2", "heat:in^3"]
    assert parents_of([*names, "heat", "in"], ":") == {
        "heat:in": ["heat", "in"],
        "x:heat:in": ["x", "heat:in"],
        "x^2:heat:in": ["x:heat:in", "x^2"],
        "x^2": ["x"],
        "heat:in^3": ["heat:in"],
    }


def test_a_forced_product_brings_its_factors(tmp_path, terms):
    options = ["--hierarchy", "strong", "--force-in", "roof_0:hall_0"]
    found, done = answer(tmp_path, terms, *options, "--size", 3)
    assert set(chosen_of(found)) == {"roof_0", "hall_0", "roof_0:hall_0"}
    assert "Note: 'roof_0', 'hall_0' are forced in, too, as factors" in done.stderr
    found, _ = answer(tmp_path, terms, *options, "--path", "3:5", "--choose", "bic")
    assert {"roof_0", "hall_0", "roof_0:hall_0"} <= set(chosen_of(found))


def test_all_kinds_at_once(tmp_path, terms):
    table, costs = pd.read_csv(terms), dict.fromkeys(PRODUCTS, 2) | {"roof_1": 1}
    file_of(tmp_path / "costs.csv", costs, "feature,cost")
    options = ["--hierarchy", "weak", "--costs", tmp_path / "costs.csv", "--budget", 7]
    options += ["--not-both", "roof_0,hall_0", "--groups-from-prefix", "_", "--per-group", 3]

    def is_allowed(support):
        rooms = [room_of(name) for name in support]
        return (
            sum(costs[name] for name in support) <= 7
            and not {"roof_0", "hall_0"} <= set(support)
            and rooms.count("roof") <= 3
            and all(any(f in support for f in FACTORS[name]) for name in support if name in FACTORS)
        )

    found, _ = answer(tmp_path, terms, *options, "--certify")
    best = best_by_trying(table, is_allowed, PRODUCTS)
    assert is_allowed(chosen_of(found))
    assert r2_of(table, chosen_of(found)) == pytest.approx(r2_of(table, best))


# Groups.


def test_limit_by_is_groups(tmp_path, data):
    file = file_of(tmp_path / "rooms.csv", {name: room_of(name) for name in NAMES})
    found = [
        answer(tmp_path, data, option, file, "--per-group", 1)[0] for option in ("--groups", "--limit-by")
    ]
    assert found[0]["chosen"] == found[1]["chosen"]
    assert [row["group"] for row in found[0]["chosen"]] == list(ROOMS)


def test_which_groups_names_make_is_reported(tmp_path, data):
    line = "Note: 3 groups by {}: roof (3), hall (3), cellar (3)\n"
    _, done = answer(tmp_path, data, "--groups-from-prefix", "_")
    assert line.format("prefix") in done.stderr
    found, done = answer(tmp_path, data, "--groups-from-pattern", "^(.*)_")
    assert line.format("pattern") in done.stderr
    assert [row["group"] for row in found["chosen"]] == list(ROOMS)
    assert line.format("pattern")[6:-1] in found["notes"]


def test_a_pattern_without_parentheses_is_the_group(tmp_path, data):
    found, _ = answer(tmp_path, data, "--groups-from-pattern", "[0-9]", "--per-group", 1)
    assert sorted(row["group"] for row in found["chosen"]) == ["0", "1", "2"]


def test_groups_that_say_nothing_are_warned_of(tmp_path, table):
    table.rename(columns=lambda name: name if name == "y" else f"site_{name}").to_csv(
        tmp_path / "t.csv", index=False
    )
    _, done = answer(tmp_path, tmp_path / "t.csv", "--groups-from-prefix", "_")
    assert "all 9 features are in one group by prefix, 'site'; --groups-from-pattern '(.+)_'" in done.stderr
    found, done = answer(tmp_path, tmp_path / "t.csv", "--groups-from-pattern", "(.+)_")
    assert "3 groups by pattern: site_roof (3), " in done.stderr
    assert len(found["chosen"]) == 3
    _, done = answer(tmp_path, tmp_path / "t.csv", "--groups-from-pattern", ".+")
    assert "each of the 9 features is a group of its own by pattern" in done.stderr


def test_whole_groups(tmp_path, data, table):
    whole = {name: room_of(name) for name in NAMES if room_of(name) != "cellar"}  # others are by themselves
    file = file_of(tmp_path / "whole.csv", whole)
    groups = {name: whole.get(name, name) for name in NAMES}
    found, done = answer(tmp_path, data, "--whole-groups", file, "--size", 2, "--report", tmp_path / "r.html")
    model = sw.SparseRegressor(2, groups=groups).fit(table[NAMES], table["y"])
    assert sorted(chosen_of(found)) == sorted(model.get_feature_names_out())
    assert [row["group"] for row in found["chosen"]] == ["roof"] * 3 + ["hall"] * 3
    assert "6 of 9 columns" in done.output
    assert "3 of 3 of roof; 3 of 3 of hall" in (tmp_path / "r.html").read_text()


def test_other_options_name_the_features_of_whole_groups(tmp_path, data):
    file = file_of(tmp_path / "whole.csv", {name: room_of(name) for name in NAMES})
    costs = file_of(tmp_path / "costs.csv", COSTS, "feature,cost")  # 6, 7 and 8 of the rooms
    found, _ = answer(tmp_path, data, "--whole-groups", file, "--costs", costs, "--budget", 14)
    assert {row["group"] for row in found["chosen"]} == {"roof", "hall"}
    found, _ = answer(tmp_path, data, "--whole-groups", file, "--not-both", "roof_0,hall_1", "--size", 2)
    assert {row["group"] for row in found["chosen"]} == {"roof", "cellar"}
    found, _ = answer(tmp_path, data, "--whole-groups", file, "--force-in", "cellar_0,cellar_2", "--size", 2)
    assert {row["group"] for row in found["chosen"]} == {"roof", "cellar"}


# Pairs that are correlated, sizes, lower limits.


def test_no_two_that_are_correlated(tmp_path, data, table):
    table.assign(twin=table["roof_1"] + 0.01 * table["roof_0"]).to_csv(data, index=False)
    found, done = answer(tmp_path, data, "--not-both-above", "0.95", "--size", 9)
    assert not {"twin", "roof_1"} <= set(chosen_of(found))
    assert "Note: 1 pair correlated above 0.95: roof_1 and twin\n" in done.stderr
    both = ["--not-both-above", "0.95", "--force-in", "twin,roof_1"]
    refused(select(data, "--target", "y", *both, "--quiet"), "but --not-both-above 0.95 allows one of them")


def test_uncorrelated_features_are_all_allowed(tmp_path, data):
    found, done = answer(tmp_path, data, "--not-both-above", "0.95")
    assert len(found["chosen"]) == 9
    assert "Note: no two features are correlated above 0.95\n" in done.stderr


@pytest.mark.parametrize(
    ("options", "size"),
    [
        ([], 10),
        (["--not-both", "x0,x1"], 10),
        (["--at-least", 12], 12),
        (["--groups-from-pattern", "[0-4]$|[5-9]$", "--at-least", 1], 10),
        (["--groups-from-pattern", "^x1?", "--few-groups", 2], 10),
        (["--costs", "costs.csv", "--budget", 14], 14),
        (["--groups-from-pattern", "[0-9]+", "--per-group", 1], 15),
    ],
)
def test_the_size_by_default(tmp_path, monkeypatch, options, size):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((60, 15)), columns=[f"x{n}" for n in range(15)])
    file_of(tmp_path / "costs.csv", dict.fromkeys(frame.columns, 1), "feature,cost")
    frame.assign(y=frame.sum(axis=1)).to_csv(tmp_path / "t.csv", index=False)
    found, _ = answer(tmp_path, tmp_path / "t.csv", *options)
    assert len(found["chosen"]) == size


def test_what_only_meets_a_limit_is_reported(tmp_path, data, table):
    table.assign(twin=table["roof_1"])[["roof_1", "hall_0", "twin", "y"]].to_csv(data, index=False)
    found, done = answer(tmp_path, data, "--exactly", 3)
    assert len(found["filled"]) == 1
    assert (
        f"\n'{found['filled'][0]}' adds nothing, and was chosen only to meet a lower limit\n" in done.output
    )
    assert "result_" not in done.output
    found, done = answer(tmp_path, data, "--exactly", 2)
    assert found["filled"] == []
    assert "adds nothing" not in done.output


def test_a_size_alone_is_not_repeated(tmp_path, data):
    found, done = answer(tmp_path, data, "--size", 3)
    assert found["asked"]["limits"] == "at most 3 in all"
    assert "Allowed" not in done.output


# Beside other options.

PATHS = {
    "lower limits": (["--groups-from-prefix", "_", "--at-least", 1], [3, 4, 5]),
    "in all": (["--at-least", 2], [2, 3, 4, 5]),
    "pairs": (["--not-both", "roof_1,hall_0"], [1, 2, 3, 4, 5]),
    "few groups": (["--groups-from-prefix", "_", "--few-groups", 1], [1, 2, 3]),
    "budget": (["--costs", "costs.csv", "--budget", 6], [1, 2, 3, 4]),
    "two groupings": (
        ["--groups-from-prefix", "_", "--per-group", 2, "--and-groups", "kinds.csv"],
        [1, 2, 3],
    ),
}


@pytest.mark.parametrize("case", PATHS)
def test_sizes_within_limits(tmp_path, data, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    file_of(tmp_path / "costs.csv", COSTS, "feature,cost")
    file_of(tmp_path / "kinds.csv", {name: name[-1] for name in NAMES})
    options, sizes = PATHS[case]
    found, _ = answer(tmp_path, data, *options, "--path", "1:5", "--choose", "bic", "--certify")
    assert [row["size"] for row in found["path"]] == sizes
    assert len(found["chosen"]) == found["size"]


HUGE = {
    "per group": ["--groups-from-prefix", "_", "--size", 4, "--per-group"],
    "few groups": ["--groups-from-prefix", "_", "--size", 4, "--few-groups"],
    "two groupings": [*("--groups-from-prefix", "_", "--and-groups", "kinds.csv", "--and-per-group")],
}


@pytest.mark.parametrize("case", HUGE)
def test_a_limit_that_no_array_can_hold_limits_nothing(tmp_path, data, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    file_of(tmp_path / "kinds.csv", {name: name[-1] for name in NAMES})
    (usual, _), (huge, _) = (answer(tmp_path, data, *HUGE[case], number) for number in (9, 10**22))
    assert huge["chosen"] == usual["chosen"]


@pytest.mark.parametrize("family", ["logistic", "poisson"])
def test_other_families_have_the_same_limits(tmp_path, table, family):
    y = (table["y"] > 0).astype(int) if family == "logistic" else table["y"].clip(0).round()
    table.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    limits = ["--groups-from-prefix", "_", "--at-least", 1, "--size", 4, "--not-both", "roof_1,hall_0"]
    how = [
        "--family",
        family,
        "--ridge",
        "0.01",
        "--save",
        tmp_path / "m.joblib",
        "--report",
        tmp_path / "r.html",
    ]
    found, _ = answer(tmp_path, tmp_path / "t.csv", *limits, *how)
    chosen = chosen_of(found)
    assert min(counts(chosen)) >= 1
    assert not {"roof_1", "hall_0"} <= set(chosen)
    assert len(joblib.load(tmp_path / "m.joblib").predict(table[chosen])) == 80
    assert "not both of roof_1 and hall_0" in (tmp_path / "r.html").read_text()


def test_text_in_columns_has_costs_and_pairs(tmp_path, table):
    town = np.random.default_rng(1).choice(["Bonn", "Kiel", "Ulm"], 80)
    table.assign(town=town, y=table["y"] + 9 * (town == "Kiel")).to_csv(tmp_path / "t.csv", index=False)
    costs = file_of(tmp_path / "costs.csv", COSTS | {"town": 4}, "feature,cost")
    limits = [
        "--one-hot",
        "--costs",
        costs,
        "--budget",
        5,
        "--not-both",
        "town,roof_0",
        "--not-both-above",
        0.9,
    ]
    found, _ = answer(tmp_path, tmp_path / "t.csv", *limits)
    assert chosen_of(found) == ["hall_1", "town_Kiel", "town_Ulm"]  # roof_0 costs no more


def test_files_of_limits_are_never_overwritten(tmp_path, data):
    costs = file_of(tmp_path / "costs.csv", COSTS, "feature,cost")
    how = ["--costs", costs, "--budget", 5, "--json", costs, "--force"]
    refused(select(data, "--target", "y", *how), "would be overwritten, but it is an input")


def test_names_with_commas(tmp_path, data, table):
    table.rename(columns={"roof_1": "roof, east", "hall_0": "hall"}).to_csv(data, index=False)
    found, _ = answer(tmp_path, data, "--not-both", "roof, east,hall", "--size", 2)
    assert "roof, east" in chosen_of(found)
    assert "hall" not in chosen_of(found)


# Files of costs.


def test_costs_may_be_written_in_many_ways(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("feature;cost\nx;2,5\ny;3\n")
    assert read_costs(path, ["x", "y"]) == {"x": 2.5, "y": 3}
    path.write_text("y,1e2\nleft,free\nx,.5\n")  # without a header, in any order
    assert read_costs(path, ["x", "y"], ["left"]) == {"x": 0.5, "y": 100}


BAD_COSTS = {
    "text": ("x,free\ny,1\n", "the cost of 'x' must be a number of at least 0, got 'free'"),
    "negative": ("x,-1\ny,1\n", "the cost of 'x' must be a number of at least 0, got '-1'"),
    "nan": ("x,nan\ny,1\n", "got 'nan'"),
    "infinite": ("x,inf\ny,1\n", "got 'inf'"),
    "huge": ("x,1e999\ny,1\n", "got '1e999'"),
    "missing": ("x,1\n", "has no cost for 'y', 1 of 2 features"),
    "blank": ("x,1\ny,\n", "has no cost for 'y', 1 of 2 features"),
    "unknown": ("x,1\ny,1\nxx,3\n", "names 'xx', which is not a feature of the data (did you mean 'x'?)"),
    "twice": ("x,1\ny,1\nx,3\n", "names 'x' twice, '1' and '3'"),
    "wide": ("x,1,2\n", "must have two columns, feature and cost, got 3"),
    "backwards": ("1,x\n2,y\n", "must have features first and costs second"),
}


@pytest.mark.parametrize("mistake", BAD_COSTS)
def test_bad_costs_are_reported(tmp_path, mistake):
    content, message = BAD_COSTS[mistake]
    (tmp_path / "t.csv").write_text("x,y,z\n1,2,1\n2,1,2\n3,5,3\n4,3,1\n")
    (tmp_path / "costs.csv").write_text(content)
    limits = ["--costs", tmp_path / "costs.csv", "--budget", 3]
    refused(select(tmp_path / "t.csv", "--target", "z", *limits), message)


# Errors take one line, and come before any search.

ROOM = ["--groups-from-prefix", "_"]
BAD = {
    "at least above per group": (
        [*ROOM, "--per-group", 1, "--at-least", 2],
        "--at-least is 2, but --per-group allows no more than 1; --per-group 2 or more allows them",
    ),
    "at least above size": (
        ["--at-least", 4, "--size", 3],
        "--at-least is 4, but --size allows no more than 3",
    ),
    "at least above exactly": (["--at-least", 4, "--exactly", 3], "but --exactly allows no more than 3"),
    "at least above a group": (
        [*ROOM, "--at-least", 4],
        "asks for 4 of each group, but there are fewer in 'roof' (3), 'hall' (3), 'cellar' (3); --at-least 3",
    ),
    "at least of all above size": (
        [*ROOM, "--at-least", 2, "--size", 5],
        "--at-least 2 of each of 3 groups is 6 features, but --size allows 5 in all; --size 6 allows them",
    ),
    "at least of all above exactly": (
        [*ROOM, "--at-least", 2, "--exactly", 5],
        "but --exactly allows 5 in all; --exactly 6 allows them",
    ),
    "exactly too many": (["--exactly", 10], "--exactly is 10, but there are only 9 features to choose from"),
    "at least too many": (
        ["--at-least", 10],
        "--at-least is 10, but there are only 9 features to choose from",
    ),
    "forced beyond exactly": (
        ["--exactly", 1, "--force-in", "roof_0,roof_1"],
        "at most 1 in all are allowed; --exactly 2 allows them",
    ),
    "exactly 0": (["--exactly", 0], "--exactly must be at least 1, got 0"),
    "few groups 0": ([*ROOM, "--few-groups", 0], "--few-groups must be at least 1, got 0"),
    "unknown": (
        ["--not-both", "roof_1,hal_0"],
        "names 'hal_0', but the data have no such column (did you mean '",
    ),
    "one name": (
        ["--not-both", "roof_1"],
        "--not-both must name two features or more, such as a,b; got 'roof_1'",
    ),
    "the target": (["--not-both", "roof_1,y"], "names the target 'y', which is to be explained"),
    "both forced": (
        ["--not-both", "roof_1,hall_0", "--force-in", "hall_0,roof_1"],
        "--force-in names 'roof_1' and 'hall_0', but --not-both roof_1,hall_0 allows one of them",
    ),
    "correlation": (["--not-both-above", 1.5], "--not-both-above must be at least 0 and below 1"),
    "forced groups": (
        [*ROOM, "--few-groups", 1, "--force-in", "roof_1,hall_0"],
        "features of 2 groups, 'hall', 'roof', but they may come from 1 at most; --few-groups 2 allows them",
    ),
    "budget": (
        ["--costs", "costs.csv", "--budget", "nan"],
        "--budget must be a number of at least 0, got nan",
    ),
    "no file": (["--costs", "no.csv", "--budget", 1], "there is no file no.csv"),
    "poor": (
        ["--costs", "costs.csv", "--budget", 0.5],
        "--budget 0.5 pays for no feature: the cheapest, 'roof_0', costs 1",
    ),
    "forced costs": (
        ["--costs", "costs.csv", "--budget", 4, "--force-in", "roof_1,hall_0"],
        "--force-in names features that cost 6, but --budget is 4; --budget 6 allows it",
    ),
    "at least costs": (
        ["--costs", "costs.csv", "--budget", 2, *ROOM, "--at-least", 1],
        "--at-least 1 of each of 3 groups costs at least 3, but --budget is 2; --budget 3 allows it",
    ),
    "exactly costs": (
        ["--costs", "costs.csv", "--budget", 3, "--exactly", 4],
        "--exactly 4 costs at least 5, but --budget is 3; --budget 5 allows it",
    ),
    "contradiction": (
        [*ROOM, "--at-least", 2, "--not-both", "hall_0,hall_1,hall_2"],
        "no choice meets all limits: at least 2 of each prefix before '_', no two of hall_0, hall_1 and",
    ),
    "forced contradiction": (
        [*ROOM, "--at-least", 1, "--size", 3, "--force-in", "roof_0,roof_1"],
        "--force-in names 'roof_0', 'roof_1' but what may be chosen is at least 1 of each prefix before",
    ),
    "a short path": (
        [*ROOM, "--at-least", 2, "--path", "1:5", "--force-in", "roof_0"],
        "--path must go up to 6 or more, the number of features that --force-in and lower limits need, got 5",
    ),
    "a shorter path": (
        [*ROOM, "--at-least", 1, "--path", "1:3", "--force-in", "roof_0,roof_1"],
        "--path must go up to 4 or more",
    ),
    "no match": (
        ["--groups-from-pattern", "x[0-9]"],
        "--groups-from-pattern 'x[0-9]' finds nothing in 'roof_0', 'roof_1', 'roof_2', 'hall_0', 'hall_1' ",
    ),
    "empty match": (["--groups-from-pattern", "x*"], "9 of 9 features; let it match every name"),
    "some match": (
        ["--groups-from-pattern", "roof|hall"],
        "finds nothing in 'cellar_0', 'cellar_1', 'cellar_2', 3",
    ),
    "no pattern": (
        ["--groups-from-pattern", "roof("],
        "--groups-from-pattern must be a regular expression, got 'roof(': missing ), unterminated subpattern",
    ),
    "no products": (
        ["--hierarchy", "strong"],
        "no name is a product or a power of others; products must be col",
    ),
    "whole groups apart": (
        ["--whole-groups", "rooms.csv", "--groups", "kinds.csv"],
        "the group 'roof' of --whole-groups has features of the groups '0' and '1', but it is chosen whole",
    ),
    "a whole group named as another feature": (
        ["--whole-groups", "named.csv"],
        "named.csv has a group 'hall_0', but the feature of that name is not in it: put it there, or rename",
    ),
    "whole groups not both": (
        ["--whole-groups", "rooms.csv", "--not-both", "roof_0,roof_1"],
        "names 'roof_0' and 'roof_1', which --whole-groups puts into one group",
    ),
}


@pytest.mark.parametrize("mistake", BAD)
def test_what_cannot_be_is_reported(tmp_path, data, monkeypatch, mistake):
    monkeypatch.chdir(tmp_path)
    file_of(tmp_path / "costs.csv", COSTS, "feature,cost")
    file_of(tmp_path / "rooms.csv", {name: room_of(name) for name in NAMES})
    file_of(tmp_path / "kinds.csv", {name: name[-1] for name in NAMES})
    file_of(tmp_path / "named.csv", {"roof_0": "hall_0", "roof_1": "hall_0"})
    monkeypatch.setattr("swapwise.app.cli.selection.select_features", None)  # nothing is searched
    options, message = BAD[mistake]
    refused(select(data, "--target", "y", *options, "--quiet"), message)


BAD_PRODUCTS = {
    "a factor that is left out": (
        ["--hierarchy", "strong", "--force-out", "hall_0"],
        "'roof_0:hall_0' needs 'hall_0', which is left out; --force-out leaves out 'roof_0:hall_0', too",
    ),
    "no room": (
        ["--hierarchy", "strong", "--size", 2, "--force-in", "roof_0:hall_0"],
        "--force-in names 'roof_0:hall_0', with 'roof_0', 'hall_0' as factors, but what may be chosen is",
    ),
    "which of them": (
        ["--hierarchy", "weak", "--force-in", "roof_0:hall_0"],
        "--force-in names 'roof_0:hall_0', which needs one of 'roof_0', 'hall_0': name it, too",
    ),
}


@pytest.mark.parametrize("mistake", BAD_PRODUCTS)
def test_products_that_cannot_be_are_reported(terms, mistake):
    options, message = BAD_PRODUCTS[mistake]
    refused(select(terms, "--target", "y", *options), message)


def test_a_product_without_its_factor_is_reported(terms):
    pd.read_csv(terms).drop(columns="hall_0").to_csv(terms, index=False)
    message = "'roof_0:hall_0' is spelled as a product or power of 'hall_0', but there is no such column"
    refused(select(terms, "--target", "y", "--hierarchy", "strong"), message)


def test_another_sign_finds_no_products(terms):
    done = select(
        terms, "--target", "y", "--hierarchy", "weak", "--product-sign", "*", "--force-out", "roof_1^2"
    )
    refused(done, "no name is a product or a power of others with '*' between its factors; products must be")


USAGE = {
    "size and exactly": (["--size", 2, "--exactly", 2], "give --size, a maximum, or --exactly, not both"),
    "path and exactly": (["--path", "1:3", "--exactly", 2], "does not go with --exactly"),
    "few groups": (
        ["--few-groups", 2],
        "--few-groups needs --groups, --groups-from-prefix or --groups-from-pattern",
    ),
    "few and at least": ([*ROOM, "--few-groups", 2, "--at-least", 1], "--few-groups for features of some"),
    "costs": (["--costs", "c.csv"], "--costs needs --budget"),
    "budget": (["--budget", 3], "--budget needs --costs"),
    "sign": (["--product-sign", "*"], "--product-sign needs --hierarchy"),
    "no sign": (["--hierarchy", "weak", "--product-sign", ""], "must be the sign between factors"),
    "kind": (["--hierarchy", "strict"], "strong"),
    "two groupings": (
        [*ROOM, "--groups-from-pattern", "x"],
        "give --groups-from-prefix or --groups-from-pattern",
    ),
    "whole products": (["--hierarchy", "weak", "--whole-groups", "w.csv"], "does not go with --whole-groups"),
}


@pytest.mark.parametrize("mistake", USAGE)
def test_options_that_do_not_go_together_are_reported(mistake):
    options, message = USAGE[mistake]
    done = select("--demo", *options)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())


# Coefficients.


def test_no_negative_coefficients(tmp_path, data, table):
    found, done = answer(tmp_path, data, "--positive", "--size", 3)
    model = sw.SparseRegressor(3, positive=True).fit(table[NAMES], table["y"])
    assert chosen_of(found) == list(model.get_feature_names_out())
    assert all(row["coefficient"] >= 0 for row in found["chosen"])
    assert "Allowed: coefficients of at least 0, at most 3 in all" in done.output


def test_bounds_on_coefficients(tmp_path, data):
    file = tmp_path / "bounds.csv"
    file.write_text("feature,lower,upper\nroof_1,,2\nhall_0,-1.5,\ny,0,1\n")
    found, done = answer(tmp_path, data, "--bounds", file, "--size", 3)
    coefficients = {row["feature"]: row["coefficient"] for row in found["chosen"]}
    assert coefficients["roof_1"] == pytest.approx(2)
    assert coefficients["hall_0"] == pytest.approx(-1.5)
    assert f"Allowed: coefficients within {file}, at most 3 in all" in done.output
    assert found["at_bound"] == ["roof_1", "hall_0"]
    assert "At a bound: 'roof_1', 'hall_0'" in done.output


@pytest.fixture
def estimators(monkeypatch):
    """What estimators are made with, in place of a search."""
    given = []

    def estimator(constraint, **options):
        given.append(options)
        raise ValueError("made")

    monkeypatch.setattr(sw, "SparseRegressor", estimator)
    return given


def test_estimators_get_bounds_if_there_are_any(tmp_path, table, estimators):
    town = np.random.default_rng(1).choice(["Bonn", "Kiel", "Ulm"], 80)
    table.assign(town=town).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "bounds.csv").write_text("town,0,\nroof_0,-1,2.5\n")
    for options in ([], ["--positive"], ["--bounds", tmp_path / "bounds.csv"]):
        select(tmp_path / "t.csv", "--target", "y", "--one-hot", *options)
    plain, positive, bounded = estimators
    assert not {"positive", "bounds"} & set(plain)
    assert positive == plain | {"positive": True}
    both = {"roof_0": (-1.0, 2.5), "town_Kiel": (0.0, None), "town_Ulm": (0.0, None)}
    assert bounded == plain | {"bounds": both}


BAD_BOUNDS = {
    "text": ("x,none,\n", "the bounds of 'x' must be numbers, or empty for none, got 'none'"),
    "infinite": ("x,-inf,\n", "must be numbers, or empty for none, got '-inf'"),
    "above 0": (
        "x,1,2\n",
        "the bounds of 'x' must hold 0, the coefficient of features that are not chosen, got 1 to 2",
    ),
    "below 0": ("x,,-1\n", "the bounds of 'x' must hold 0"),
    "unknown": ("x,0,\ny,0,\nxx,0,\n", "names 'xx', which is not a feature of the data (did you mean 'x'?)"),
    "narrow": ("x,1\n", "must have three columns, feature, lower and upper, got 2"),
    "twice": ("x,0,1\nx,0,2\n", "names 'x' twice, '0,1' and '0,2'"),
}


@pytest.mark.parametrize("mistake", BAD_BOUNDS)
def test_bad_bounds_are_reported(tmp_path, mistake):
    content, message = BAD_BOUNDS[mistake]
    (tmp_path / "t.csv").write_text("x,y,z\n1,2,1\n2,1,2\n3,5,3\n4,3,1\n")
    (tmp_path / "bounds.csv").write_text(content)
    refused(select(tmp_path / "t.csv", "--target", "z", "--bounds", tmp_path / "bounds.csv"), message)
