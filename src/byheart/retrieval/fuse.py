"""From signals to relevance: a weighted mean of scaled signals, and what each of them added.

Every signal is scaled to 0..1 by a fixed line, so relevance is bounded, never falls when a signal rises, does not depend
on what else is stored, and is the sum of its contributions.
"""

from collections.abc import Mapping

import numpy as np

from byheart.retrieval.arrays import Floats

#: How much each signal counts in relevance, before the weights are made to sum to 1:
#: bm25        the share of the query's information that the memory's words hold
#: vector      the cosine of the pooled vectors
#: maxsim      late interaction
#: user        what the user said, for long answers repeat the question's words
#: neighbours  what the memories before and after it lend
#: session     what the best of its conversation lend
WEIGHTS: Mapping[str, float] = {
    "bm25": 0.3,
    "vector": 0.3,
    "maxsim": 1.0,
    "user": 0.03,
    "neighbours": 0.9,
    "session": 0.5,
}
#: Below the first number a signal says nothing, at the second all it can.
SCALES: Mapping[str, tuple[float, float]] = {
    "bm25": (0.0, 1.0),
    "vector": (0.0, 1.0),
    "maxsim": (0.0, 1.0),
    "user": (0.0, 1.0),
    "neighbours": (0.0, 1.0),
    "session": (0.0, 1.0),
}
SIGNALS = tuple(WEIGHTS)


def query_weights(message: str) -> dict[str, float]:  # noqa: ARG001
    """How much each signal counts for a message."""
    return dict(WEIGHTS)


def scaled(name: str, values: Floats) -> Floats:
    """A signal's values on the line of its scale, cut to 0..1."""
    low, high = SCALES[name]
    return np.clip((values - low) / (high - low), 0, 1).astype(np.float32)


def contributions(raw: Mapping[str, Floats], weights: Mapping[str, float]) -> dict[str, Floats]:
    """What each signal adds to the relevance.

    Args:
        raw: the signals' values by name, arrays of one length.
        weights: by name, at least 0; made to sum to 1.
    """
    total = sum(weights.values())
    return {name: scaled(name, values) * np.float32(weights[name] / total) for name, values in raw.items()}


def relevance(parts: Mapping[str, Floats]) -> Floats:
    """The sum of the contributions, 0 to 1."""
    return np.clip(np.sum(list(parts.values()), axis=0), 0, 1)
