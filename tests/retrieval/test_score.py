import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byheart.retrieval.score import MICROS_PER_HOUR, protocol_score, recency
from byheart.types import Weights

shares = st.floats(0, 1)


@st.composite
def weights(draw: st.DrawFn) -> Weights:
    first, second = sorted((draw(shares), draw(shares)))
    return Weights(first, second - first, 1 - second, draw(st.floats(0, 1)))


@given(weights(), shares, shares, st.floats(0, 1e6))
def test_the_score_is_the_protocols_formula(given_weights: Weights, rel: float, imp: float, hours: float) -> None:
    """P8: score = w_rel*relevance + w_imp*importance + w_rec*exp(-lambda*hours)."""
    now = 2_000_000_000_000_000
    seen = np.array([now - round(hours * MICROS_PER_HOUR)])
    recent = recency(seen, now, given_weights.decay)
    expected_recency = math.exp(-given_weights.decay * (now - int(seen[0])) / MICROS_PER_HOUR)
    [score] = protocol_score(np.array([rel]), np.array([imp]), recent, given_weights)
    expected = given_weights.relevance * rel + given_weights.importance * imp + given_weights.recency * expected_recency
    assert score == pytest.approx(expected, abs=1e-12)
    assert -1e-9 <= score <= 1 + 1e-9


def test_the_defaults_by_hand() -> None:
    """P8: 0.5 * 0.8 + 0.3 * 0.5 + 0.2 * exp(-0.01 * 24)."""
    recent = recency(np.array([0]), 24 * MICROS_PER_HOUR, Weights().decay)
    [score] = protocol_score(np.array([0.8]), np.array([0.5]), recent, Weights())
    assert score == pytest.approx(0.4 + 0.15 + 0.2 * 0.7866278610665535)


@given(weights(), shares, shares, shares, shares, shares)
def test_a_larger_term_never_lowers_the_score(
    given_weights: Weights, low: float, rise: float, imp: float, rec: float, other: float
) -> None:
    """P8: monotone in every term."""
    high = min(1.0, low + rise)
    for place in range(3):
        terms = [np.array([imp, imp]), np.array([rec, rec]), np.array([other, other])]
        terms[place] = np.array([low, high])
        scores = protocol_score(terms[0], terms[1], terms[2], given_weights)
        assert scores[1] >= scores[0]


def test_recency_falls_with_time_and_the_future_counts_as_now() -> None:
    """P8: hours since access, never negative."""
    now = 10 * MICROS_PER_HOUR
    values = recency(np.array([now + 5, now, now - MICROS_PER_HOUR, 0]), now, 0.01)
    assert values[0] == values[1] == 1
    assert values[1] > values[2] > values[3] > 0
