"""The metrics, each a pure function of one question's ranking or context, and their means with intervals.

any@k: some gold item in the top k. all@k: all of them. frac@k: the share of them. mrr: 1 / place of the first one.
ndcg@10: binary gains, log2 discounts, against the best order possible. coverage@T: the share of gold items whose text
stands in the rendered context of at most T tokens (4 characters a token, headers and markers counted).
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

CUTS = (1, 5, 10, 20)
BUDGETS = (500, 1000, 2000, 4000)
CHARACTERS_PER_TOKEN = 4
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
#: What every JSON report says of the metrics.
DEFINITIONS: Mapping[str, str] = {
    "any@k": "some gold item among the k best; mean over questions",
    "all@k": "all gold items among the k best; mean over questions",
    "frac@k": "share of the gold items among the k best; mean over questions",
    "mrr": "1 / place of the first gold item in the ranking asked for (0 where none is in it); mean over questions",
    "ndcg@10": "binary gains, log2 discounts, over the best order of min(10, gold) items; mean over questions",
    "coverage@T": "share of the gold items whose text, white space normalised, stands in the rendered context of at "
    "most T tokens, 4 characters a token, headers and markers counted; a session counts by one of its labelled answer "
    "turns, by any turn where none is labelled; mean over questions",
    "text@T": "as coverage@T, but a gold item counts by the share of its characters whose sentence or line is in there",
    "intervals": "95 %, percentile bootstrap over questions, 1,000 resamples, fixed seed",
}


def any_at(ranking: Sequence[str], gold: AbstractSet[str], k: int) -> float:
    """1 where some gold item is among the first `k` of the ranking, else 0."""
    return float(not gold.isdisjoint(ranking[:k]))


def all_at(ranking: Sequence[str], gold: AbstractSet[str], k: int) -> float:
    """1 where every gold item is among the first `k` of the ranking, else 0."""
    return float(gold <= set(ranking[:k]))


def frac_at(ranking: Sequence[str], gold: AbstractSet[str], k: int) -> float:
    """The share of the gold items among the first `k` of the ranking."""
    return len(gold & set(ranking[:k])) / len(gold)


def mrr(ranking: Sequence[str], gold: AbstractSet[str]) -> float:
    """1 / place of the first gold item; 0 where the ranking has none."""
    return next((1 / place for place, item in enumerate(ranking, 1) if item in gold), 0.0)


def ndcg_at(ranking: Sequence[str], gold: AbstractSet[str], k: int = 10) -> float:
    """Normalised discounted cumulative gain of the first `k`, with gains of 1 and discounts of log2(place + 1)."""
    gained = sum(1 / math.log2(place + 1) for place, item in enumerate(ranking[:k], 1) if item in gold)
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(k, len(gold)) + 1))
    return gained / ideal


def tokens(text: str) -> int:
    """How many tokens a text counts for: 4 characters each, rounded up."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def normal_space(text: str) -> str:
    """`text` with every run of white space as one space."""
    return " ".join(text.split())


def coverage(context: str, gold: AbstractSet[str], passages: Mapping[str, Sequence[str]], budget: int) -> float:
    """The share of gold items of which a passage stands in the context, cut at `budget` tokens.

    Args:
        context: as rendered; what lies beyond the budget counts for nothing.
        gold: the items that answer the question; at least one.
        passages: for each item, texts of which one must be there in full.
        budget: tokens.
    """
    seen = normal_space(context[: budget * CHARACTERS_PER_TOKEN])
    return sum(any(normal_space(text) in seen for text in passages[item]) for item in gold) / len(gold)


def text_share(context: str, gold: AbstractSet[str], passages: Mapping[str, Sequence[str]], budget: int) -> float:
    """Coverage in shares: for each gold item the share of its characters whose sentence or line is in the context.

    The same as `coverage` for an item of one sentence; a long message of which a context shows the part that matters
    counts for that part. Arguments as for `coverage`.
    """
    seen = normal_space(context[: budget * CHARACTERS_PER_TOKEN])

    def share(text: str) -> float:
        pieces = [normal_space(piece) for piece in _SENTENCE_END.split(text)]
        whole = sum(len(piece) for piece in pieces)
        return sum(len(piece) for piece in pieces if piece in seen) / whole if whole else 0.0

    return sum(max(share(text) for text in passages[item]) for item in gold) / len(gold)


def ranking_scores(ranking: Sequence[str], gold: AbstractSet[str]) -> dict[str, float]:
    """Every ranking metric of one question, by its name."""
    if len(set(ranking)) != len(ranking):
        raise ValueError("a ranking names each item once")
    scores: dict[str, float] = {}
    for k in CUTS:
        scores[f"any@{k}"] = any_at(ranking, gold, k)
        scores[f"all@{k}"] = all_at(ranking, gold, k)
        scores[f"frac@{k}"] = frac_at(ranking, gold, k)
    scores["mrr"] = mrr(ranking, gold)
    scores["ndcg@10"] = ndcg_at(ranking, gold)
    return scores


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over questions with its 95 % interval."""

    mean: float
    low: float
    high: float


@lru_cache(maxsize=8)
def _resamples(size: int, resamples: int, seed: int) -> npt.NDArray[np.float64]:
    """How often each of `size` questions is drawn in each resample; the same for every metric and system."""
    generator = np.random.default_rng(seed)
    return generator.multinomial(size, np.full(size, 1 / size), resamples).astype(np.float64)


def bootstrap(values: Iterable[float], *, resamples: int = 1000, seed: int = 7) -> Interval:
    """The mean of one metric over questions, and the percentile interval of resampled means.

    Args:
        values: one for each question; at least one.
        resamples: how many samples with replacement.
        seed: fixed, so that a report can be repeated to the digit.
    """
    array = np.fromiter(values, dtype=np.float64)
    means = _resamples(array.size, resamples, seed) @ array / array.size
    low, high = np.percentile(means, (2.5, 97.5))
    return Interval(float(array.mean()), float(low), float(high))
