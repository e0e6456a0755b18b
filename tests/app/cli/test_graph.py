"""``swapwise graph``: from columns of two values to a graph."""

import json
import sys
import types
from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import swapwise as sw
from swapwise.app.cli.graph_table import as_yes_or_no
from tests.app.cli.running import graph, refused


@pytest.fixture(scope="module")
def chain():
    """Five variables, each of which mostly repeats the one before, as booleans."""
    turns = np.where(np.random.default_rng(0).random((300, 5)) < 0.2, -1, 1)
    return pd.DataFrame(np.cumprod(turns, axis=1) > 0, columns=list("abcde"))


@pytest.fixture
def data(tmp_path, chain):
    chain.astype(int).to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def edges_of(path):
    return pd.read_csv(path).set_index(["source", "target"])["weight"]


def test_names_are_no_formulas_of_spreadsheets(tmp_path, chain):
    names = ["=1+2", "+a", "-b", "@c", "d=e"]
    chain.astype(int).set_axis(names, axis=1).to_csv(tmp_path / "t.csv", index=False)
    assert graph(tmp_path / "t.csv", "--edges", tmp_path / "e.csv").exit_code == 0
    ends = pd.read_csv(tmp_path / "e.csv")[["source", "target"]]
    assert set(ends.to_numpy().ravel()) == {"'=1+2", "'+a", "'-b", "'@c", "d=e"}


def test_decimals_are_as_options_say(tmp_path):
    rng = np.random.default_rng(0)
    cells = [[f'"{number},{digits}"' for number, digits in rng.integers(100, 999, (3, 2))] for _ in range(60)]
    (tmp_path / "t.csv").write_text("a,b,c\n" + "\n".join(map(",".join, cells)))
    refused(graph(tmp_path / "t.csv"), "'a' holds numbers such as '")
    refused(graph(tmp_path / "t.csv"), "; --decimal , or --decimal . says which")
    assert graph(tmp_path / "t.csv", "--decimal", ",").exit_code == 0
    refused(graph(tmp_path / "t.csv", "--decimal", ";"), "--decimal must be . or ,")


def test_the_graph_is_that_of_the_estimator(tmp_path, data, chain):
    files = ["--edges", tmp_path / "e.csv", "--graphml", tmp_path / "g.graphml"]
    done = graph(data, "--max-degree", "2", *files)
    assert done.exit_code == 0, done.output
    expected = sw.IsingGraphCV(2).fit(chain).graph_
    assert nx.utils.edges_equal(expected.edges, [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")])
    edges = edges_of(tmp_path / "e.csv")
    weights = {frozenset(edge): weight for edge, weight in edges.items()}
    assert weights == pytest.approx({frozenset((u, v)): w for u, v, w in expected.edges.data("weight")})
    read = nx.read_graphml(tmp_path / "g.graphml")
    assert nx.utils.nodes_equal(read.nodes.data(), expected.nodes.data())
    assert nx.utils.edges_equal(read.edges.data(), expected.edges.data())
    chosen = "5 variables, 4 edges, chosen by EBIC (γ = 0.25) among the graphs with at most 2 neighbours per"
    assert chosen in done.output
    assert "1 component; from 300 rows" in done.output
    assert "Search ended: local optimum, 4 moves (path)" in done.output
    line = next(line for line in done.output.splitlines() if line.startswith("b "))
    strongest = max(expected["b"], key=lambda vertex: abs(expected["b"][vertex]["weight"]))
    assert line.split()[1:3] == [strongest, f"({expected['b'][strongest]['weight']:+.2f}),"]


def test_without_a_criterion_limits_are_filled(tmp_path, data, chain):
    done = graph(data, "--max-degree", "2", "--criterion", "none", "--edges", tmp_path / "e.csv")
    assert done.exit_code == 0, done.output
    assert len(edges_of(tmp_path / "e.csv")) == 5
    assert "5 edges, the best of the graphs with at most 2 neighbours per variable" in done.output
    few = graph(data, "--max-edges", "2", "--criterion", "none")
    assert "2 edges, the best of the graphs with at most 2 edges" in few.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--criterion", "bic"], "4 edges, chosen by BIC among all graphs"),
        (["--criterion", "cv"], "chosen by cross-validation among all graphs"),
        (["--gamma", "1"], "chosen by EBIC (γ = 1) among all graphs"),
        (["--max-edges", "2"], "2 edges, chosen by EBIC"),
        (
            ["--threshold", "9"],
            "0 edges, chosen by EBIC (γ = 0.25) among all graphs, edges weaker than 9 left",
        ),
        (["--method", "semi-oblivious"], "4 edges, chosen by EBIC"),
        (["--certify"], "Proven optimal, "),
        (["--bootstrap", "3"], "Of 3 resampled tables, "),
    ],
)
def test_options(data, options, words):
    done = graph(data, *options)
    assert done.exit_code == 0, done.output
    assert words in done.output


def test_the_answer_for_programs(tmp_path, data):
    done = graph(data, "--json", "-", "--certify", "--bootstrap", "3")
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert len(answer["edges"]) == 4
    assert answer["components"] == [["a", "b", "c", "d", "e"]]
    assert (answer["n_edges"], answer["criterion"]) == (4, "ebic")
    assert answer["path"][4]["n_edges"] == 4
    assert answer["certificate"]["proven_optimal"]
    assert answer["bootstrap"]["samples"] == 3
    assert set(answer["edges"][0]) == {"source", "target", "weight", "lower", "upper", "inclusion"}
    assert set(answer["fields"]) == set("abcde")
    graph(data, "--json", tmp_path / "a.json", "--quiet")
    assert json.loads((tmp_path / "a.json").read_text())["summary"] == answer["summary"]


@pytest.mark.parametrize("kind", ["png", "pdf", "svg"])
def test_the_graph_is_drawn(tmp_path, data, kind):
    done = graph(data, "--figure", tmp_path / f"g.{kind}")
    assert done.exit_code == 0, done.output
    assert (tmp_path / f"g.{kind}").stat().st_size > 1000


class TestOtherColumns:
    @pytest.fixture
    def numbers(self):
        rng = np.random.default_rng(0)
        return pd.DataFrame(np.cumsum(rng.standard_normal((200, 4)), axis=1), columns=list("abcd"))

    def chain_found(self, tmp_path, frame, *options):
        frame.to_csv(tmp_path / "t.csv", index=False)
        done = graph(tmp_path / "t.csv", *options, "--edges", tmp_path / "e.csv", "--force")
        assert done.exit_code == 0, done.output
        found = {tuple(sorted(edge)) for edge in edges_of(tmp_path / "e.csv").index}
        assert {("a", "b"), ("b", "c"), ("c", "d")} <= found
        return done.output

    def test_numbers_are_a_gaussian_graph(self, tmp_path, numbers):
        assert "(partial correlation)" in self.chain_found(tmp_path, numbers)
        self.chain_found(tmp_path, numbers, "--correlation", "spearman")
        self.chain_found(tmp_path, numbers.mask(np.random.default_rng(1).random((200, 4)) < 0.1))

    def test_both_are_a_mixed_graph(self, tmp_path, numbers):
        frame = numbers.assign(b=np.where(numbers["b"] > 0, "yes", "no"))
        self.chain_found(tmp_path, frame)
        refused(
            graph(tmp_path / "t.csv", "--model", "ising"), "columns must hold two values, such as 0 and 1"
        )

    def test_counts_of_events_are_named(self, tmp_path, numbers):
        visits = np.random.default_rng(2).poisson(np.exp(numbers["d"].clip(-3, 3)))
        frame = numbers.assign(visits=visits)
        printed = self.chain_found(tmp_path, frame, "--poisson", "visits", "--json", tmp_path / "a.json")
        assert printed.startswith("Mixed graph: 5 variables")
        assert '"counts of events": "visits"' in (tmp_path / "a.json").read_text()
        refused(
            graph(tmp_path / "t.csv", "--poisson", "visits", "--model", "ising"),
            "--poisson is for --model mixed, got --model ising",
        )
        refused(graph(tmp_path / "t.csv", "--poisson", "visit"), "did you mean 'visits'?")
        refused(graph(tmp_path / "t.csv", "--poisson", "a"), "'a' of X must hold whole numbers from 0")

    def test_numbers_for_missing_answers_are_reported(self, tmp_path, numbers):
        frame = numbers.rank(pct=True).mul(4).round().astype(int)
        frame.loc[:3, "b"] = 99
        frame.to_csv(tmp_path / "t.csv", index=False)
        refused(graph(tmp_path / "t.csv"), "99 in 'b' seems to stand for missing answers: leave such cells")

    def test_polychoric_is_not_advised_where_it_would_fail(self, tmp_path, numbers):
        frame = numbers.rank(pct=True).mul(4).round().astype(int).assign(d=numbers["d"])
        frame.to_csv(tmp_path / "t.csv", index=False)
        refused(graph(tmp_path / "t.csv"), "give --correlation spearman if they are ordered, --poisson")

    def test_answers_on_a_scale_have_to_be_explained(self, tmp_path, numbers):
        frame = numbers.rank(pct=True).mul(4).round().astype(int)
        frame.to_csv(tmp_path / "t.csv", index=False)
        refused(graph(tmp_path / "t.csv"), "give --correlation polychoric (or spearman) if they are ordered")
        self.chain_found(tmp_path, frame, "--correlation", "polychoric")

    def test_what_does_not_fit_is_reported(self, tmp_path, numbers):
        frame = numbers.assign(town=["Ulm", "Bonn", "Kiel", "Hof"] * 50)
        frame.to_csv(tmp_path / "t.csv", index=False)
        refused(graph(tmp_path / "t.csv"), "'town'")
        words = "columns must hold numbers, got text such as 'Ulm' in 'town'"
        refused(graph(tmp_path / "t.csv", "--model", "gaussian"), words)
        both = ["--model", "ising", "--correlation", "kendall"]
        refused(graph(tmp_path / "t.csv", *both), "--correlation is for --model gaussian")
        numbers.assign(a=np.inf).to_csv(tmp_path / "t.csv", index=False)
        refused(graph(tmp_path / "t.csv", "--model", "gaussian"), "infinite numbers in the column 'a'")


def test_notes_are_on_the_page(tmp_path, data):
    done = graph(data, "--max-degree", "9", "--report", tmp_path / "r.html", "--quiet")
    assert done.exit_code == 0, done.output
    note = "--max-degree is 9, but a column has only 4 others: no limit"
    assert f'<th scope="row">notes</th><td>{note}</td>' in (tmp_path / "r.html").read_text()


def test_codings_may_differ_from_column_to_column(tmp_path, data, chain):
    mixed = chain.astype(object)
    mixed["a"] = np.where(chain["a"], "Yes", "no ")
    mixed["b"] = np.where(chain["b"], 1, -1)
    mixed["c"] = chain["c"].astype(float)
    mixed.to_csv(tmp_path / "mixed.csv", index=False)
    for name in ("data", "mixed"):
        graph(tmp_path / f"{name}.csv", "--edges", tmp_path / f"{name}-edges.csv")
    pd.testing.assert_series_equal(
        edges_of(tmp_path / "data-edges.csv"), edges_of(tmp_path / "mixed-edges.csv")
    )


@given(
    st.lists(st.booleans(), min_size=1),
    st.sampled_from([(0, 1), (-1.0, 1.0), ("NO", "yes"), ("N", "Y"), (False, True)]),
)
def test_two_values_are_read(answers, coding):
    column = pd.Series([coding[answer] for answer in answers], name="x")
    assert as_yes_or_no(column.to_frame()).iloc[:, 0].tolist() == answers


def test_any_two_values_are_read_and_what_is_yes_is_reported(tmp_path, data, chain):
    named = chain.assign(
        a=np.where(chain["a"], "m", "f"), b=np.where(chain["b"], 2, 1), c=np.where(chain["c"], "10", "9")
    )
    named.to_csv(tmp_path / "named.csv", index=False)
    for name in ("data", "named"):
        done = graph(tmp_path / f"{name}.csv", "--edges", tmp_path / f"{name}-edges.csv")
        note = "taken for yes, as it is the later of two values: 'm' in 'a'; '2' in 'b'; '10' in 'c'"
        assert (note in done.stderr) == (name == "named")
    pd.testing.assert_series_equal(
        edges_of(tmp_path / "data-edges.csv"), edges_of(tmp_path / "named-edges.csv")
    )


def test_words_for_yes_and_no_of_other_languages(tmp_path, chain):
    table = chain.assign(**{name: np.where(chain[name], "Ja", "nein") for name in "abc"})
    assert as_yes_or_no(table)["a"].tolist() == chain["a"].astype(bool).tolist()
    table.to_csv(tmp_path / "t.csv", index=False)
    assert "taken for" not in graph(tmp_path / "t.csv").stderr


def test_the_higher_of_two_words_is_reported_of_numbers_too(tmp_path, chain):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(1, 6, (300, 3)), columns=list("xyz"))
    table = table.assign(**{name: np.where(chain[name], "m", "f") for name in "ab"})
    table.to_csv(tmp_path / "t.csv", index=False)
    for options in (["--correlation", "polychoric"], ["--correlation", "spearman"], ["--model", "gaussian"]):
        done = graph(tmp_path / "t.csv", *options)
        note = "taken for the higher value, as it is the later of two values: 'm' in 'a', 'b'"
        assert note in " ".join(done.stderr.split())


def test_criteria_may_be_in_capitals(data):
    assert "chosen by BIC" in graph(data, "--criterion", "BIC").output


def test_columns_can_be_left_out(tmp_path, chain):
    chain.astype(int).assign(id=range(300), **{"a, b": 7}).to_csv(tmp_path / "t.csv", index=False)
    done = graph(tmp_path / "t.csv", "--force-out", "id", "--force-out", "a, b")
    assert done.exit_code == 0, done.output
    assert "5 variables" in done.output
    refused(graph(tmp_path / "t.csv", "--force-out", "ids"), "did you mean 'id'?")


def test_more_neighbours_than_there_are_columns_are_reported(data):
    done = graph(data, "--max-degree", "9")
    assert done.exit_code == 0
    assert "a column has only 4 others: no limit" in done.stderr


@pytest.mark.parametrize("option", ["--max-degree", "--max-edges"])
@pytest.mark.parametrize("criterion", ["none", "ebic"])
def test_a_limit_that_no_array_can_hold_limits_nothing(tmp_path, data, option, criterion):
    edges = []
    for number in (10, 10**22):
        path = tmp_path / f"{number}.csv"
        done = graph(data, option, number, "--criterion", criterion, "--edges", path)
        assert done.exit_code == 0, done.output
        edges.append(path.read_text())
    assert edges[0] == edges[1]


def test_interrupted_among_folds_a_graph_is_written(tmp_path, data, monkeypatch):
    def impatient(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("swapwise.graphs.estimators.cross_validated._fold_scores", impatient)
    options = ["--criterion", "cv", "--edges", tmp_path / "e.csv", "--report", tmp_path / "r.html"]
    done = graph(data, *options)
    assert done.exit_code == 130
    assert len(edges_of(tmp_path / "e.csv"))
    assert "was interrupted" in (tmp_path / "r.html").read_text()


def test_a_proof_is_of_the_graph_before_the_threshold(tmp_path, data):
    graph(data, "--edges", tmp_path / "e.csv")
    second = edges_of(tmp_path / "e.csv").abs().sort_values().iloc[1]
    done = graph(data, "--threshold", second + 1e-6, "--certify", "--report", tmp_path / "r.html")
    words = "about the graph with 2 edges that the threshold left out"
    assert words in done.output
    assert words in (tmp_path / "r.html").read_text()


def test_an_interrupted_bootstrap_leaves_the_graph(tmp_path, data, monkeypatch):
    def impatient(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("swapwise.graphs.stability.bootstrap.bootstrap_graph", impatient)
    done = graph(data, "--bootstrap", "5", "--edges", tmp_path / "e.csv", "--report", tmp_path / "r.html")
    assert done.exit_code == 130
    assert "the bootstrap was interrupted" in done.output
    assert len(edges_of(tmp_path / "e.csv"))


BAD = {
    "three values": (
        "a,b\n0,1\n2,0\n1,1\n",
        "answers on a scale in 'a', such as 0, 1, 2: give --correlation",
    ),
    "text": ("a,b\nx,1\ny,0\nz,0\n", "0 and 1 or no and yes; got x, y, z in 'a'; --force-out leaves columns"),
    "several": (
        "a,b\nx,1\ny,7\nz,8\n",
        "text in 'a', such as x, y, z: columns must hold numbers, or two values",
    ),
    "numbers": ("id,b\n9,1\n10,0\n11,0\n", "answers on a scale in 'id', such as 9, 10, 11"),
    "very many": ("a,b,c,d,e\nu,u,u,u,u\nv,v,v,v,v\nw,w,w,w,w\n", "u, v, w in 'c'; and 2 columns more; --fo"),
    "missing": ("a,b\n1,\n0,\n", "no row has a value in b; --force-out leaves columns out"),
    "one column": ("a\n1\n0\n", "must have at least two columns to join, got 1"),
    "empty": ("", "t.csv is empty"),
    "same names": ("a,a\n1,1\n0,1\n", "several columns of the same name: 'a'"),
}


@pytest.mark.parametrize("mistake", BAD)
def test_bad_tables_are_reported(tmp_path, mistake):
    content, message = BAD[mistake]
    (tmp_path / "t.csv").write_text(content)
    refused(graph(tmp_path / "t.csv"), message)


def test_bad_options_are_reported(tmp_path, data):
    refused(graph(data, "--max-degree", "0"), "--max-degree must be at least 1, got 0")
    (tmp_path / "there.csv").write_text("mine")
    refused(graph(data, "--edges", tmp_path / "there.csv"), "exists already; --force overwrites it")
    refused(graph(data, "--edges", data, "--force"), "would be overwritten, but it is an input")
    refused(graph(data, "--graphml", tmp_path / "no" / "g.xml"), "there is no folder")
    (tmp_path / "few.csv").write_text("a,b\n0,1\n1,0\n")
    refused(graph(tmp_path / "few.csv", "--criterion", "cv"), "cross-validation needs at least 5 rows, got 2")
    refused(graph(data, "--criterion", "none"), "give --max-degree or --max-edges")
    refused(graph(data, "--criterion", "bic", "--gamma", "1"), "--gamma is for --criterion ebic, got --crit")
    refused(graph(data, "--bootstrap", "-1"), "--bootstrap must be at least 0, got -1")
    refused(graph(data, "--method", "obliviuos"), "did you mean 'oblivious'?")
    refused(graph(data, "--figure", "g.gif"), "--figure draws .png, .pdf or .svg, got g.gif")
    refused(graph(data, "--graphml", "g.gml"), "--graphml writes .graphml or .xml, got g.gml")
    refused(graph(data, "--edges", "e.txt"), "--edges writes .csv, got e.txt; --json has the edges, too")
    assert graph().exit_code == 2
    assert graph(data, "--criterion", "aic").exit_code == 2


def test_rows_with_missing_values_can_be_left_out(tmp_path, chain):
    frame = chain.astype(float)
    frame.loc[:4, "b"] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = graph(tmp_path / "t.csv", "--drop-missing")
    assert "5 of 300 rows have missing values and are left out" in done.stderr
    assert "from 295 rows" in done.output


def test_missing_answers_are_used_and_reported(tmp_path, chain):
    frame = chain.astype(float)
    frame.loc[:4, "b"] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = graph(tmp_path / "t.csv")
    assert "4 edges" in done.output
    assert "from 300 rows" in done.output
    note = "0.3 % of the cells are missing; any two columns are both there in 295 rows or more"
    assert note in done.output


def test_the_report_gets_all_there_is(tmp_path, data, chain, monkeypatch):
    given = []

    def graph_report(model, frame, **options):
        given.append((model, frame, options))
        return "<html></html>"

    module = types.SimpleNamespace(graph_report=graph_report)
    monkeypatch.setitem(sys.modules, "swapwise.app.report.graph_page", module)
    done = graph(data, "--max-degree", "2", "--report", tmp_path / "r.html", "--quiet")
    assert (done.exit_code, done.output) == (0, "")
    assert (tmp_path / "r.html").read_text() == "<html></html>"
    ((model, frame, options),) = given
    pd.testing.assert_frame_equal(frame, chain)
    assert model.graph_.number_of_nodes() == 5
    wanted = {"model": "ising", "largest degree": "2", "criterion": "ebic", "method": "auto"}
    assert options["asked"] == {"data": str(data)} | wanted


def test_interrupted_it_writes_the_best_so_far(tmp_path, data, monkeypatch):
    fit = sw.IsingGraphCV.fit

    def cut_short(model, X, **options):
        fit(model, X, **options)
        model.result_ = replace(model.result_, status=sw.Status.INTERRUPTED)
        return model

    monkeypatch.setattr(sw.IsingGraphCV, "fit", cut_short)
    done = graph(data, "--edges", tmp_path / "e.csv")
    assert done.exit_code == 130
    assert "with the best so far" in done.output
    assert len(edges_of(tmp_path / "e.csv"))


class TestCounts:
    @pytest.fixture
    def patterns(self, chain):
        """The chain as patterns, each with the number of its rows."""
        return chain.astype(int).value_counts().rename("times").reset_index()

    @pytest.mark.parametrize("options", [[], ["--max-degree", "2"]])
    def test_patterns_with_counts_are_the_rows(self, tmp_path, data, patterns, options):
        patterns.to_csv(tmp_path / "patterns.csv", index=False)
        counted = ["--counts", "times", "--edges", tmp_path / "counted.csv", "--report", tmp_path / "r.html"]
        done = graph(tmp_path / "patterns.csv", *counted, *options)
        assert done.exit_code == 0, done.output
        assert f"from 300 samples in {len(patterns)} rows" in done.output
        graph(data, "--edges", tmp_path / "rows.csv", *options)
        here, there = (edges_of(tmp_path / f"{name}.csv").sort_index() for name in ("counted", "rows"))
        pd.testing.assert_series_equal(here, there, rtol=1e-8)
        page = (tmp_path / "r.html").read_text()
        assert f"Learnt from 300 samples ({len(patterns)} rows with counts) by swapwise" in page
        assert '<th scope="row">counts in</th><td>times</td>' in page

    def test_other_weights(self, tmp_path, patterns):
        patterns.assign(times=patterns["times"] / 7).to_csv(tmp_path / "p.csv", index=False)
        done = graph(tmp_path / "p.csv", "--counts", "times", "--report", tmp_path / "r.html")
        assert f"from {len(patterns)} rows, weighted by 'times'" in done.output
        assert f"Learnt from {len(patterns)} weighted samples by" in (tmp_path / "r.html").read_text()

    def test_the_number_of_edges_is_chosen_with_weights(self, tmp_path, chain):
        chain.astype(int).assign(n=2).to_csv(tmp_path / "p.csv", index=False)
        done = graph(tmp_path / "p.csv", "--counts", "n", "--criterion", "cv")
        assert done.exit_code == 0, done.output
        assert "chosen by cross-validation" in done.output
        assert "from 600 samples in 300 rows" in done.output

    def test_rows_with_missing_counts_can_be_left_out(self, tmp_path, patterns):
        patterns["times"] = patterns["times"].astype(float)
        patterns.loc[0, "times"] = np.nan
        patterns.to_csv(tmp_path / "p.csv", index=False)
        refused(graph(tmp_path / "p.csv", "--counts", "times"), "rows, by column: 'times' 1; --drop")
        done = graph(tmp_path / "p.csv", "--counts", "times", "--drop-missing")
        assert f"from {int(patterns['times'].sum())} samples in {len(patterns) - 1} rows" in done.output

    @pytest.mark.parametrize(
        ("counts", "message"),
        [
            ([1, -2, 3], "--counts names 'n', which must say how often each row was seen, got -2 in row 2"),
            ([1, np.inf, 3], "which must say how often each row was seen, got inf in row 2"),
            ([0, 0, 0], "which must say how often each row was seen, got nothing but 0"),
            (["few", "many", "few"], "how often each row was seen, got text such as 'few'"),
            (["3", "4", "many"], "how often each row was seen, but 'n' has text in 1 of 3 rows: 'many'"),
        ],
    )
    def test_wrong_counts_are_reported(self, tmp_path, counts, message):
        pd.DataFrame({"a": [0, 1, 1], "b": [1, 0, 1], "n": counts}).to_csv(tmp_path / "p.csv", index=False)
        refused(graph(tmp_path / "p.csv", "--counts", "n"), message)

    def test_wrong_columns_are_reported(self, tmp_path):
        pd.DataFrame({"a": [0, 1], "b": [1, 0], "times": [2, 3]}).to_csv(tmp_path / "p.csv", index=False)
        refused(graph(tmp_path / "p.csv", "--counts", "tmies"), "no such column (did you mean 'times'?)")
        left_out = ["--counts", "times", "--force-out", "times"]
        refused(graph(tmp_path / "p.csv", *left_out), "--counts names 'times', which --force-out leaves out")
        one = ["--counts", "times", "--force-out", "a"]
        refused(graph(tmp_path / "p.csv", *one), "must have at least two columns to join, got 1")


def test_columns_that_xml_cannot_tell_apart_stay_apart(tmp_path):
    names = ["a\x01b", "a\x02b", "a\ufffeb", "c"]
    column = np.arange(64) % 2
    flipped = np.where(np.arange(64) % 16 == 0, 1 - column, column)
    columns = [column, flipped, np.roll(flipped, 2), np.arange(64) // 2 % 2]
    pd.DataFrame(dict(zip(names, columns, strict=True))).to_csv(tmp_path / "data.csv", index=False)
    path = tmp_path / "g.graphml"
    options = ["--max-degree", 2, "--criterion", "none", "--graphml", path, "--json", tmp_path / "g.json"]
    assert graph(tmp_path / "data.csv", *options).exit_code == 0
    read = nx.read_graphml(path)
    assert sorted(read) == ["a b (1)", "a b (2)", "a b (3)", "c (4)"]
    assert read.number_of_edges() == len(json.loads((tmp_path / "g.json").read_text())["edges"]) >= 2


class TestNotes:
    def notes_of(self, tmp_path, table, *options):
        table.to_csv(tmp_path / "t.csv", index=False)
        done = graph(tmp_path / "t.csv", *options)
        assert done.exit_code == 0, done.output
        return " ".join(done.output.split())

    def test_few_rows(self, tmp_path, chain):
        wide = pd.DataFrame(np.random.default_rng(0).standard_normal((8, 10))).add_prefix("x")
        none = ["--criterion", "none", "--max-edges", "2"]
        assert "8 samples of 10 variables" in self.notes_of(tmp_path, wide, "--max-edges", "3")
        assert "8 rows for 10 columns" in self.notes_of(tmp_path, wide, *none)
        assert "X has 20 samples of 5 variables: criteria" in self.notes_of(tmp_path, chain[:20].astype(int))
        assert "criteria that choose" not in self.notes_of(tmp_path, chain[:40].astype(int))
        assert "criteria that choose" not in self.notes_of(tmp_path, chain[:20], *none)

    def test_a_column_that_numbers_the_rows(self, tmp_path, chain):
        table = chain.astype(int).assign(person_id=range(1001, 1301))
        assert "seems to number the rows" in self.notes_of(tmp_path, table)
        assert "number the rows" not in self.notes_of(tmp_path, table, "--force-out", "person_id")
        assert "number the rows" not in self.notes_of(tmp_path, table.rename(columns={"person_id": "income"}))

    def test_whole_numbers_may_be_survey_weights(self, tmp_path, chain):
        weighted = chain.astype(int).assign(w=np.arange(300) % 5 + 1)
        assert "If they are survey weights" in self.notes_of(tmp_path, weighted, "--counts", "w")
        patterns = chain.astype(int).value_counts().rename("w").reset_index()
        assert "survey weights" not in self.notes_of(tmp_path, patterns, "--counts", "w")

    def test_very_many_edges(self, tmp_path, monkeypatch, data):
        assert "more than a picture can show" not in graph(data).output
        monkeypatch.setattr("swapwise.app.cli.graph.MANY_EDGES", 3)
        assert "4 edges are more than a picture can show: --max-edges 1" in " ".join(
            graph(data).output.split()
        )


def test_the_demonstration_needs_no_table(data):
    done = graph("--demo", "--max-degree", "2")
    assert "Gaussian graph: 13 variables" in done.output
    assert "flavanoids" in done.output
    for wrong, words in ((["--demo", data], "--demo goes without a table"), ([], "give a table, or --demo")):
        assert words in " ".join(graph(*wrong).output.replace("│", "").split())


def test_the_seed_decides_on_resampled_tables(tmp_path, data):
    def intervals(seed):
        path = tmp_path / f"{seed}.csv"
        done = graph(data, "--bootstrap", "5", "--seed", seed, "--edges", path, "--force")
        assert done.exit_code == 0, done.output
        return path.read_text()

    assert intervals(1) == intervals(1) != intervals(2)


def test_the_trivial_bound_of_a_graph_is_of_all_edges():
    from swapwise.app.cli.show import proof_in_words

    f, one = sw.LeastSquares(np.eye(4), np.ones(4)), sw.Uniform(4, 4)
    proof = replace(sw.certify(f, one), kind="all")
    assert "by the fit of all edges together" in proof_in_words(proof, elements="edges")
    assert "by the fit of all features together" in proof_in_words(proof)
