"""From signals to relevance: evidence above the ordinary, summed, then mapped to 0..1.

What a signal says of a memory is how far it stands above what any memory has for this query. The weighted sum of that
is the evidence; a memory that has as much of it as the tenth best (the protocol's working memory holds ten, P9) has
relevance .5. All steps are monotone: no signal that rises lowers a relevance.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from byheart.retrieval.arrays import Floats

#: How much each signal counts where the words of the query are found (LoCoMo, BEAM, QMSum):
#: bm25        the share of the query's information that the memory's words hold, squared: most of the words together
#:             say much, some of them little
#: vector      the cosine of the pooled vectors
#: maxsim      late interaction
#: user        said by the user; long answers of an assistant repeat the words of every question
#: neighbours  what the memories before and after it have, summed
#: session     what the best of its conversation have, on average
FOUND: Mapping[str, float] = {
    "bm25": 1.0,
    "vector": 0.3,
    "maxsim": 1.0,
    "user": 0.1,
    "neighbours": 0.35,
    "session": 0.3,
}
#: And where they are not, so that the link is implied and words, or what stands beside them, mislead (LoCoMo-Plus).
IMPLIED: Mapping[str, float] = {
    "bm25": 0.0,
    "vector": 0.6,
    "maxsim": 1.0,
    "user": 0.1,
    "neighbours": 0.0,
    "session": 0.0,
}
SIGNALS = tuple(FOUND)
DIRECT = ("bm25", "vector", "maxsim", "user")
#: The best memory's share of the query's information from which on words count, and from which on they count fully.
FOUND_FROM, FOUND_FULLY = 0.1, 0.2
#: The place whose evidence means relevance .5, how steeply relevance rises there, and the least evidence that means .5:
#: where even the best says little, or less than ten memories are there, relevance stays low.
MIDDLE_PLACE = 10
STEEPNESS = 4
LEAST_MIDDLE = 0.2
#: What share of the best memory's evidence means .5 at least, so that in a small store, too, what says much less than
#: the best is told from it, and cannot pass it by being newer. (LoCoMo, turns in the top ten: .785 with 0 and a least
#: of .15, .783 as it is.)
MIDDLE_OF_BEST = 0.4


@dataclass(frozen=True, slots=True)
class Levels:
    """What any memory has for this query: the means of cosine and late interaction over what is searched."""

    vector: float
    maxsim: float


#: What the packaged model gives for a query and a memory that have nothing to do with each other, and how many
#: memories that counts for beside those that are searched.
USUAL = Levels(0.2, 0.22)
USUAL_WEIGHT = 20


#: Terms in a memory from which on it lends little: a short turn is explained by what stands beside it, a long message
#: speaks for itself, and it is often near a query for its length alone (BEAM, in the top ten: .490 undamped, .549).
LONG = 20


def lent(evidences: Floats, lengths: Floats) -> Floats:
    """What each memory lends to those beside it: its evidence, less the longer it is.

    Args:
        evidences: what it has by itself.
        lengths: its terms, repeats counted.
    """
    return (np.maximum(evidences, 0) / (1 + (lengths / np.float32(LONG)) ** 2)).astype(np.float32)


def level(values: Floats, usual: float) -> float:
    """The mean of some values and of `USUAL_WEIGHT` times the usual one, so that a few memories do not set it alone."""
    return (float(values.sum()) + USUAL_WEIGHT * usual) / (len(values) + USUAL_WEIGHT)


def query_weights(best_share: float) -> dict[str, float]:
    """How much each signal counts for a query.

    Args:
        best_share: the largest share of the query's information that one memory's words hold, 0 to 1.
    """
    found = min(max((best_share - FOUND_FROM) / (FOUND_FULLY - FOUND_FROM), 0.0), 1.0)
    return {name: found * FOUND[name] + (1 - found) * IMPLIED[name] for name in SIGNALS}


def evidence(raw: Mapping[str, Floats], levels: Levels, weights: Mapping[str, float]) -> dict[str, Floats]:
    """What each signal adds to the evidence for each memory.

    Args:
        raw: values by the signal's name, arrays of one length.
        levels: what any memory has; the other signals' ordinary value is 0.
        weights: by the signal's name, at least 0.
    """
    above = dict(raw)
    for name, ordinary in (("vector", levels.vector), ("maxsim", levels.maxsim)):
        if name in raw:
            above[name] = raw[name] - np.float32(ordinary)
    if "bm25" in raw:
        above["bm25"] = np.square(np.maximum(raw["bm25"], 0))
    return {name: (values * np.float32(weights[name])).astype(np.float32) for name, values in above.items()}


def total(parts: Mapping[str, Floats]) -> Floats:
    """The sum of the parts of the evidence; at least one part."""
    sums, *others = parts.values()
    for values in others:
        sums = sums + values
    return sums


def middle(sums: Floats) -> float:
    """The evidence that means relevance .5: that of the tenth best memory, or a share of the best one's if it is more.

    It is at least `LEAST_MIDDLE`, so that where even the best says little, relevance stays low.
    """
    if not sums.size:
        return LEAST_MIDDLE
    tenth = 0.0
    if sums.size >= MIDDLE_PLACE:
        tenth = float(np.partition(sums, sums.size - MIDDLE_PLACE)[sums.size - MIDDLE_PLACE])
    return max(tenth, MIDDLE_OF_BEST * float(sums.max()), LEAST_MIDDLE)


def relevance(sums: Floats, half: float) -> Floats:
    """Evidence mapped to 0..1: `e^4 / (e^4 + half^4)`, and 0 where it is below 0.

    Args:
        sums: evidence.
        half: where relevance is .5; above 0.
    """
    powered = (np.maximum(sums, 0) / np.float32(half)) ** STEEPNESS
    return (1 - 1 / (1 + powered)).astype(np.float32)


def contributions(parts: Mapping[str, Floats], sums: Floats, relevant: Floats) -> dict[str, Floats]:
    """The relevance split over the signals as the evidence is; the shares of one memory add up to its relevance."""
    factor = np.where(sums > 0, relevant / np.where(sums > 0, sums, 1), 0).astype(np.float32)
    return {name: values * factor for name, values in parts.items()}
