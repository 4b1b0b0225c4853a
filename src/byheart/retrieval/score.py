"""The protocol's score (P8): the last step of every recall."""

import numpy as np
import numpy.typing as npt

from byheart.types import ScoreTerms, Weights

MICROS_PER_HOUR = 3_600_000_000

Doubles = npt.NDArray[np.float64]


def recency(last_seen: npt.NDArray[np.int64], now: int, decay: float) -> Doubles:
    """`exp(-decay x hours)` since a memory was last seen (P8).

    Args:
        last_seen: microseconds since 1970; `last_accessed`, or else `timestamp`.
        now: microseconds since 1970; what lies after it counts as seen now.
        decay: lambda, per hour.
    """
    hours = np.maximum(now - last_seen, 0) / MICROS_PER_HOUR
    return np.exp(-decay * hours)


def protocol_score(relevance: Doubles, importance: Doubles, recent: Doubles, weights: Weights) -> Doubles:
    """`w_rel x relevance + w_imp x importance + w_rec x recency`, each term 0 to 1 (P8)."""
    return weights.relevance * relevance + weights.importance * importance + weights.recency * recent


def total(terms: ScoreTerms, weights: Weights) -> float:
    """The protocol's score of one hit's terms."""
    weighted = weights.relevance * terms.relevance + weights.importance * terms.importance
    return weighted + weights.recency * terms.recency
