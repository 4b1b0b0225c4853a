"""The metrics by hand-made cases, and their bounds."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.metrics import (
    all_at,
    any_at,
    bootstrap,
    coverage,
    frac_at,
    mrr,
    ndcg_at,
    ranking_scores,
    text_share,
    tokens,
)

RANKING = ["a", "b", "c", "d", "e", "f"]
ITEMS = st.lists(st.integers(0, 60).map(str), unique=True, max_size=60)
GOLD = st.frozensets(st.integers(0, 60).map(str), min_size=1, max_size=12)


def test_any_all_and_frac_count_gold_items_in_the_first_k() -> None:
    gold = {"b", "e", "missing"}
    assert [any_at(RANKING, gold, k) for k in (1, 2, 6)] == [0, 1, 1]
    assert [all_at(RANKING, gold, k) for k in (1, 6)] == [0, 0]
    assert [all_at(RANKING, {"b", "e"}, k) for k in (4, 5)] == [0, 1]
    assert [frac_at(RANKING, gold, k) for k in (1, 2, 5, 20)] == [0, 1 / 3, 2 / 3, 2 / 3]


def test_mrr_is_one_over_the_place_of_the_first_gold_item() -> None:
    assert mrr(RANKING, {"c", "e"}) == 1 / 3
    assert mrr(RANKING, {"z"}) == 0
    assert mrr([], {"z"}) == 0


def test_ndcg_against_a_sum_done_by_hand() -> None:
    # Gold at places 1 and 3 of two: (1 + 1/2) / (1 + 1/log2(3)).
    assert ndcg_at(["a", "x", "b"], {"a", "b"}) == pytest.approx(1.5 / (1 + 1 / math.log2(3)))
    assert ndcg_at(["a", "b"], {"a", "b"}) == 1
    # More gold than ten places: the best order possible fills ten.
    many = {str(n) for n in range(30)}
    assert ndcg_at([str(n) for n in range(30)], many) == 1


def test_coverage_finds_a_text_in_full_whatever_its_white_space() -> None:
    passages = {"1": ("I went\n\nto the  museum",), "2": ("It rained",), "3": ("not there", "a later turn")}
    context = "## 8 May 2023\nAna: I went to the museum\nBo: it rained\nAna: a later turn"
    assert coverage(context, {"1"}, passages, 500) == 1
    assert coverage(context, {"2"}, passages, 500) == 0, "another case is another text"
    assert coverage(context, {"3"}, passages, 500) == 1, "one of an item's passages is enough"
    assert coverage(context, {"1", "2"}, passages, 500) == 0.5


def test_coverage_ignores_what_lies_beyond_the_budget() -> None:
    context = "x" * 36 + "gold"
    assert coverage(context, {"1"}, {"1": ("gold",)}, 10) == 1
    assert coverage(context, {"1"}, {"1": ("gold",)}, 9) == 0


def test_the_share_of_a_text_counts_its_sentences_and_lines_by_their_length() -> None:
    passages = {"1": ("I saw it. You did not.\nWe left",), "2": ("short",)}
    assert text_share("Ana: You did not. We left", {"1"}, passages, 500) == 19 / 28
    assert text_share("short", {"1", "2"}, passages, 500) == 0.5
    assert text_share("short", {"2"}, passages, 1) == 0


@given(st.text("ab. \n", min_size=1, max_size=60), st.text("ab. \n", max_size=60))
def test_the_share_is_one_where_the_whole_text_is_there(text: str, around: str) -> None:
    context = f"{around}\n{text}\n{around}"
    expected = 1 if text.strip() else 0
    assert text_share(context, {"1"}, {"1": (text,)}, 500) == pytest.approx(expected)
    assert 0 <= text_share(around, {"1"}, {"1": (text,)}, 500) <= 1


def test_a_token_is_four_characters_rounded_up() -> None:
    assert [tokens(text) for text in ("", "a", "abcd", "abcde")] == [0, 1, 1, 2]


def test_a_ranking_that_names_an_item_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="once"):
        ranking_scores(["a", "a"], {"a"})


@given(ITEMS, GOLD)
def test_every_metric_lies_between_0_and_1_and_grows_with_k(ranking: list[str], gold: frozenset[str]) -> None:
    scores = ranking_scores(ranking, gold)
    assert all(0 <= value <= 1 for value in scores.values())
    for name in ("any", "all", "frac"):
        assert scores[f"{name}@1"] <= scores[f"{name}@5"] <= scores[f"{name}@10"] <= scores[f"{name}@20"]
    for k in (1, 5, 10, 20):
        assert scores[f"all@{k}"] <= scores[f"frac@{k}"] <= scores[f"any@{k}"]
    assert scores["any@1"] <= scores["mrr"]


@given(ITEMS, GOLD)
def test_gold_first_is_the_best_ranking(ranking: list[str], gold: frozenset[str]) -> None:
    best = [*sorted(gold), *(item for item in ranking if item not in gold)]
    assert ndcg_at(best, gold) == pytest.approx(1)
    assert mrr(best, gold) == 1
    assert ndcg_at(ranking, gold) <= ndcg_at(best, gold) + 1e-12


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_the_interval_holds_the_mean_and_is_the_same_every_time(values: list[float]) -> None:
    interval = bootstrap(values, resamples=100)
    assert interval == bootstrap(values, resamples=100)
    assert min(values) - 1e-9 <= interval.low <= interval.high <= max(values) + 1e-9
    assert interval.mean == pytest.approx(sum(values) / len(values))


def test_the_interval_of_a_fair_coin_is_about_two_standard_errors_wide() -> None:
    interval = bootstrap([0.0, 1.0] * 200)
    assert interval.low == pytest.approx(0.5 - 1.96 * 0.025, abs=0.01)
    assert interval.high == pytest.approx(0.5 + 1.96 * 0.025, abs=0.01)
