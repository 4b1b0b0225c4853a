import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byheart.retrieval.arrays import Floats
from byheart.retrieval.fuse import (
    LEAST_MIDDLE,
    SIGNALS,
    Levels,
    contributions,
    evidence,
    lent,
    level,
    middle,
    query_weights,
    relevance,
    total,
)
from byheart.retrieval.search import best

values = st.floats(-1, 1, width=32)
levels = st.builds(Levels, st.floats(0, 1), st.floats(0, 1))


@st.composite
def raw_signals(draw: st.DrawFn) -> dict[str, Floats]:
    count = draw(st.integers(1, 30))
    return {
        name: np.array(draw(st.lists(values, min_size=count, max_size=count)), np.float32) for name in SIGNALS
    }  # fmt: skip


@given(raw_signals(), levels, st.floats(0, 1))
def test_relevance_is_bounded_and_its_contributions_add_up(
    raw: dict[str, Floats], ordinary: Levels, share: float
) -> None:
    """P8, N13: relevance lies in 0..1, and the trace's contributions sum to it."""
    parts = evidence(raw, ordinary, query_weights(share))
    sums = total(parts)
    relevant = relevance(sums, middle(sums))
    assert np.all((relevant >= 0) & (relevant <= 1))
    split = np.sum(list(contributions(parts, sums, relevant).values()), axis=0)
    assert np.allclose(split, relevant, atol=1e-3)


@given(raw_signals(), levels, st.floats(0, 1), st.sampled_from(SIGNALS), st.floats(0, 1, width=32), st.floats(0.15, 2))
def test_relevance_never_falls_when_a_signal_rises(
    raw: dict[str, Floats], ordinary: Levels, share: float, name: str, rise: float, half: float
) -> None:
    weights = query_weights(share)
    before = relevance(total(evidence(raw, ordinary, weights)), half)
    raised = raw | {name: (raw[name] + np.float32(rise)).astype(np.float32)}
    after = relevance(total(evidence(raised, ordinary, weights)), half)
    assert np.all(after >= before - 1e-6)


def test_the_tenth_best_has_relevance_one_half() -> None:
    """P9: the working memory holds ten; what would be the last of them stands in the middle."""
    sums = np.linspace(0.2, 2.0, 40, dtype=np.float32)
    assert middle(sums) == pytest.approx(sums[-10])
    assert relevance(sums, middle(sums))[-10] == pytest.approx(0.5)


def test_little_evidence_is_little_relevance_however_few_there_are() -> None:
    sums = np.array([0.02, 0.05], np.float32)
    assert middle(sums) == LEAST_MIDDLE
    assert relevance(sums, middle(sums)).max() < 0.05
    assert middle(np.zeros(0, np.float32)) == LEAST_MIDDLE


def test_context_and_words_count_only_where_the_words_are_found() -> None:
    implied, found = query_weights(0.0), query_weights(1.0)
    assert implied["bm25"] == implied["neighbours"] == implied["session"] == 0
    assert all(found[name] > 0 for name in SIGNALS)
    assert found["vector"] < implied["vector"]


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=20), st.floats(0, 1))
def test_a_level_lies_between_what_is_there_and_what_is_usual(found: list[float], usual: float) -> None:
    mean = float(np.mean(found))
    assert min(mean, usual) - 1e-5 <= level(np.array(found, np.float32), usual) <= max(mean, usual) + 1e-5


def test_long_memories_lend_less() -> None:
    lends = lent(np.array([0.4, 0.4, -0.4], np.float32), np.array([5, 100, 5], np.float32))
    assert lends[0] > 5 * lends[1] > 0
    assert lends[2] == 0


@given(st.lists(st.integers(-3, 3).map(float) | st.just(float("-inf")), max_size=30), st.integers(0, 12))
def test_the_best_are_those_of_a_full_sort(numbers: list[float], count: int) -> None:
    places = [place for place, number in enumerate(numbers) if number > float("-inf")]
    expected = sorted(places, key=lambda place: -numbers[place])[:count]
    assert best(np.array(numbers, np.float32), count).tolist() == expected


@given(st.integers(0, 2**32), st.integers(0, 6000), st.sampled_from([0, 1, 3, 25, 100, 300]), st.sampled_from([1, 6]))
def test_the_best_of_many_are_those_that_sorting_gives(seed: int, size: int, count: int, decimals: int) -> None:
    values = np.random.default_rng(seed).standard_normal(size).astype(np.float32)
    values = np.where(values > 2, np.float32(-np.inf), np.round(values, decimals))
    order = np.argsort(-values, kind="stable")
    assert best(values, count).tolist() == order[np.isfinite(values[order])][:count].tolist()
