"""The comparison of structure learners counts what it says it counts."""

from benchmarks.graphs import SETTINGS, compare, graph_table, learners


def test_counts_of_a_small_instance():
    answers = compare(6, 3, 80, trials=1)
    assert [answer.program for answer in answers] == list(learners())
    truth = answers[-1]
    assert (truth.right, truth.wrong, truth.missed) == (9, 0, 0)
    for answer in answers:
        assert answer.right + answer.missed == 9
        assert answer.right + answer.wrong <= 9  # the degree allows no more
        assert 0 < answer.share <= 1
    assert max(answer.share for answer in answers) == 1
    assert graph_table(answers, "small").row_count == len(answers)


def test_settings_are_those_of_the_paper():
    assert {(vertices, degree) for vertices, degree, _ in SETTINGS} == {(10, 5), (20, 7)}
