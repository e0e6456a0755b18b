"""The declared grid holds what the paper runs, and every cell can be had by itself."""

import numpy as np
import pytest

from swapwise.paper import grid
from swapwise.paper.grid import cells, names
from swapwise.paper.neighbours import neighbours, runnable, searches_from_others
from swapwise.paper.procedures import LOCAL_SEARCHES
from swapwise.paper.settings import ISING_10, ISING_20, REGRESSION_200, REGRESSION_1000
from swapwise.search.methods import METHODS
from swapwise.search.methods.greedy import Greedy

pytestmark = pytest.mark.experiments


def methods_of(found, setting, part="paper"):
    return {cell.key[2] for cell in found if cell.key[:2] == (setting, part)}


class TestWhatIsInIt:
    @pytest.mark.parametrize("flavour", ["default", "as-published"])
    @pytest.mark.parametrize(
        ("setting", "others", "sizes"),
        [
            ("regression-200", {"random-residual-greedy", "modular"}, range(1, 11)),
            ("regression-1000", {"random-residual-greedy", "modular"}, range(1, 11)),
            ("ising-10", {"modular", "random"}, range(1, 6)),
            ("ising-20", {"modular", "random"}, range(1, 8)),
        ],
    )
    def test_all_methods_of_the_paper_in_both_settings(self, flavour, setting, others, sizes):
        found = [cell for cell in cells(10, flavour=flavour) if cell.key[:2] == (setting, "paper")]
        wanted = {
            (method, size, trial)
            for method in {*LOCAL_SEARCHES, *others}
            for size in sizes
            for trial in range(10)
        }
        assert {cell.key[2:5] for cell in found} == wanted
        assert len(found) == len(wanted)

    def test_what_goes_beyond_is_for_the_default_flavour(self):
        parts = {cell.key[1] for cell in cells(1)}
        assert parts == {
            *("paper", "printed", "plain", "optimum"),
            *("starts", "pairs", "certificates", "neighbours"),
        }
        assert {cell.key[1] for cell in cells(1, flavour="as-published")} == {
            *("paper", "printed", "plain", "optimum"),
        }

    @pytest.mark.parametrize("flavour", ["default", "as-published"])
    def test_the_searches_of_the_paper_from_either_start(self, flavour):
        both = [cell.key for cell in cells(3, flavour=flavour)]
        found = {part: [key for key in both if key[1] == part] for part in ("paper", "printed")}
        searches = [key for key in found["paper"] if key[2] in LOCAL_SEARCHES]
        printed = [(key[0], "printed", f"{key[2]} from arbitrary", *key[3:]) for key in searches]
        assert found["printed"] == printed
        without = {
            start: [cell.key for cell in cells(3, flavour=flavour, start=start)]
            for start in ("empty", "arbitrary")
        }
        papers = [key for key in both if key[1] != "plain"]
        assert [key for key in without["empty"] if key[1] != "plain"] == [
            key for key in papers if key not in set(printed)
        ]
        assert set(papers) - set(without["arbitrary"]) == set(searches)

    def test_beyond_the_paper(self):
        found = cells(1)
        assert methods_of(found, "ising-10", "pairs") == {f"{m} from greedy, q = 2" for m in LOCAL_SEARCHES}
        assert "non-oblivious from modular" in methods_of(found, "regression-1000", "starts")
        assert methods_of(found, "ising-10", "certificates") == {"certificate with ridge"}

    def test_times_are_taken_where_the_paper_shows_them(self):
        timed = {cell.key[:2] for cell in cells(1) if cell.is_timed}
        assert timed == {
            ("regression-200", "paper"),
            ("regression-200", "printed"),
            ("regression-200", "plain"),
            ("regression-200", "neighbours"),
            ("ising-10", "paper"),
            ("ising-10", "printed"),
            ("ising-10", "plain"),
            ("ising-10", "neighbours"),
        }

    def test_no_cell_is_there_twice(self):
        keys = [cell.key for cell in cells(10)]
        assert len(set(keys)) == len(keys)

    def test_the_plain_program_has_both_starts_and_what_they_are_compared_with(self):
        for setting, others in (
            (REGRESSION_200, {"random-residual-greedy", "modular"}),
            (ISING_10, {"modular"}),
        ):
            searches = {f"{method}{start}" for method in LOCAL_SEARCHES for start in ("", " from arbitrary")}
            wanted = {f"plain {method}" for method in searches | others}
            assert methods_of(cells(1), setting.name, "plain") == wanted
            from_empty = methods_of(cells(1, start="empty"), setting.name, "plain")
            assert from_empty == {name for name in wanted if "arbitrary" not in name}


class TestNeighbours:
    @pytest.mark.parametrize("setting", [REGRESSION_200, REGRESSION_1000, ISING_10, ISING_20])
    def test_all_methods_that_can_be_run_are(self, setting):
        found = cells(1)
        instance = setting.instance(np.random.SeedSequence(3))
        problem = setting.problem(instance, setting.sizes[-1])
        can = {name for name in set(METHODS) - {"exhaustive"} if METHODS[name]().missing(*problem) is None}
        ran = methods_of(found, setting.name, "neighbours") | methods_of(found, setting.name)
        assert can - {"random"} <= ran
        rule = "oblivious" if setting.experiment == "regression" else "semi-oblivious"
        wanted = {"auto", *(f"{rule} from {name}" for name in can)}
        assert wanted <= methods_of(found, setting.name, "starts") | methods_of(
            found, setting.name, "printed"
        )

    def test_what_was_there_before_comes_first_and_in_its_order(self):
        keys = [cell.key for cell in cells(2)]
        before = [
            cell.key
            for block in (*grid.PAPER, *grid.PRINTED, *grid.PLAIN, *grid.OPTIMA, *grid.BEYOND)
            for cell in grid._cells_of(block, 2, grid.SEED, "default")
        ]
        assert keys[: len(before)] == before

    def test_a_method_that_is_registered_is_picked_up(self, monkeypatch):
        class Own(Greedy):
            name = "own"

        monkeypatch.setitem(METHODS, "own", Own)
        assert "own" in [procedure.name for procedure in neighbours(REGRESSION_200)]
        assert "oblivious from own" in [one.name for one in searches_from_others(REGRESSION_200)]

    def test_a_method_that_lacks_something_is_left_out(self):
        assert "random-residual-greedy" not in runnable(ISING_20)
        assert "random-residual-greedy" in runnable(REGRESSION_1000)


class TestSubsets:
    def test_only_keeps_the_order_and_the_cells(self):
        everything = [cell.key for cell in cells(3)]
        some = [cell.key for cell in cells(2, only=["ising", "modular", "oblivious"])]
        assert some == [key for key in everything if key in set(some)]
        assert {key[0] for key in some} == {"ising-10", "ising-20"}
        assert {key[2] for key in some} == {"modular", "oblivious", "oblivious from arbitrary"}

    def test_names_of_one_kind_add_up(self):
        assert len(cells(1, only=["ising-10", "ising-20", "random"])) == 5 + 7
        assert len(cells(1, only=["regression", "ising-20", "modular"])) == 10 + 10 + 7

    @pytest.mark.parametrize("method", [*LOCAL_SEARCHES, *(f"plain {name}" for name in LOCAL_SEARCHES)])
    def test_a_search_is_run_from_both_starts_unless_one_is_given(self, method):
        from_arbitrary = f"{method} from arbitrary"
        for start, found in {
            "both": {method, from_arbitrary},
            "empty": {method},
            "arbitrary": {from_arbitrary},
        }.items():
            some = [cell.key for cell in cells(2, start=start, only=["regression-200", method])]
            assert {key[2] for key in some} == found
            assert some == [key for key in (cell.key for cell in cells(2)) if key in set(some)]
        alone = cells(1, only=["ising-10", from_arbitrary])
        assert {cell.key[2] for cell in alone} == {from_arbitrary}

    def test_a_part_limits_the_starts_of_a_search(self):
        for part, method in {"paper": "oblivious", "printed": "oblivious from arbitrary"}.items():
            assert {cell.key[2] for cell in cells(1, only=["oblivious", part])} == {method}
        other = {cell.key[2] for cell in cells(1, only=["oblivious from greedy"])}
        assert other == {"oblivious from greedy"}

    def test_quick_is_a_subset(self):
        quick = [cell.key for cell in cells(2, quick=True)]
        assert set(quick) < {cell.key for cell in cells(10)}
        assert {key[4] for key in quick} == {0, 1}
        assert {key[0] for key in quick} == set(names()["setting"])

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                {"only": ["ising-30"]},
                r"no 'ising-30' \(did you mean 'ising-20'\?\); there are experiments: 'regression', ",
            ),
            (
                {"only": ["ising-20", "random-residual-greedy"]},
                "nothing is ising-20 and random-residual",
            ),
            ({"only": ["printed"], "start": "empty"}, "nothing is printed and from the empty start$"),
            ({"start": "greedy"}, "start must be one of both, empty, arbitrary; got 'greedy'"),
            ({"flavour": "new"}, "flavour must be one of default, as-published; got 'new'"),
        ],
    )
    def test_errors(self, options, message):
        with pytest.raises(ValueError, match=message):
            cells(**options)


class TestSeeds:
    def test_a_method_has_its_own_seed_in_every_cell(self):
        seeds = [cell.method_seed() for cell in cells(10, only=["random", "random-residual-greedy"])]
        assert len(set(seeds)) == len(seeds)

    def test_it_is_the_same_in_both_flavours_and_in_any_company(self):
        alone = cells(2, only=["ising-20", "random"])
        beside = cells(10, flavour="as-published")
        seeds = {cell.key[:5]: cell.method_seed() for cell in beside}
        assert [seeds[cell.key[:5]] for cell in alone] == [cell.method_seed() for cell in alone]
