"""The signals of a recall, each a number a memory: how well it fits the query in one respect.

All but `late` and `session` are dense: an array over a partition's slots. Values are raw; `fuse` scales them.
"""

import math
from collections.abc import Sequence

import numpy as np

from byheart.retrieval.arrays import Floats, Ints, Longs
from byheart.retrieval.codec import similarity, token_width
from byheart.retrieval.index import PartitionIndex

#: BM25's saturation and length normalisation, as Robertson and Zaragoza (2009) have them.
K1 = 1.2
B = 0.75
#: A memory's token vectors are compared by passages of about so many, the best one speaking for it: over a whole long
#: message late interaction favours length (BEAM, messages in the top ten: .375 whole, .478 by passages).
PASSAGE_TOKENS = 48
#: A conversation's evidence is the mean of so many of its best memories.
SESSION_BEST = 3


def idf(documents: int, frequency: int) -> float:
    """How much a term tells: `ln(1 + (N - n + 0.5) / (n + 0.5))`, never below 0 (Robertson and Zaragoza 2009).

    Args:
        documents: N, how many memories the agent has.
        frequency: n, how many of them have the term.
    """
    return math.log(1 + max(documents - frequency + 0.5, 0.0) / (frequency + 0.5))


def bm25(index: PartitionIndex, terms: Sequence[tuple[int, float]], average_length: float) -> Floats:
    """BM25 of every slot (C3).

    Args:
        index: the partition.
        terms: the query's terms: id and IDF.
        average_length: terms in a memory, on average over all that is searched.
    """
    scores = np.zeros(index.size, np.float32)
    lengths = index.lengths
    for term, weight in terms:
        slots, counts = index.postings.find(term)
        if slots.size:
            damping = K1 * (1 - B + B * lengths[slots] / max(average_length, 1.0))
            scores[slots] += weight * (K1 + 1) * counts / (counts + damping)
    return scores


def cosine(index: PartitionIndex, pooled: Floats) -> Floats:
    """The cosine of every slot's pooled vector with the query's, of shape (dimensions,)."""
    if not index.size:
        return np.zeros(0, np.float32)
    # Row by row on one thread: BLAS's matrix-vector product takes twice the time, and ten times that on a busy machine.
    # BLAS kernels may leave floating-point flags raised without a cause.
    with np.errstate(all="ignore"):
        return np.vecdot(index.pooled, pooled)


def passage_starts(counts: Longs) -> tuple[Longs, Longs]:
    """Where the passages of several memories start, their tokens lying one after the other.

    Args:
        counts: how many tokens each memory has; at least 1.

    Returns:
        The first token of each passage, and the first passage of each memory.
    """
    passages = np.maximum(1, (counts + PASSAGE_TOKENS // 2) // PASSAGE_TOKENS)
    first = np.cumsum(passages) - passages
    place = np.arange(int(passages.sum())) - np.repeat(first, passages)
    token = np.repeat(np.cumsum(counts) - counts, passages)
    return token + place * np.repeat(counts, passages) // np.repeat(passages, passages), first


def late(index: PartitionIndex, slots: Longs, tokens: Floats, weights: Floats) -> Floats:
    """Late interaction of some slots: the weighted mean, over the query's tokens, of each one's best match.

    Args:
        index: the partition.
        slots: which memories; those without token vectors get 0.
        tokens: the query's token vectors, shape (t, k).
        weights: how much each of them counts, shape (t,), with a positive sum.

    Source: Khattab and Zaharia (2020), with weights.
    """
    scores = np.zeros(len(slots), np.float32)
    codes, counts = index.token_codes(slots, token_width(tokens.shape[1]))
    has = np.flatnonzero(counts)
    if not has.size:
        return scores
    similar = similarity(codes, tokens)
    starts, first = passage_starts(counts[has])
    by_passage = np.dot(np.maximum.reduceat(similar, starts, axis=0), weights / weights.sum())
    scores[has] = np.maximum.reduceat(by_passage, first)
    return scores


def neighbours(values: Floats, links: Ints) -> Floats:
    """The sum of what the memories before and after each one have; nothing for a side where there is none.

    Args:
        values: what those before and after have; shape (n, 2).
        links: the slots before and after, -1 for none; shape (n, 2).
    """
    return np.where(links >= 0, values, 0).sum(axis=1).astype(np.float32)


def session(values: Floats, groups: Ints) -> Floats:
    """For each memory the mean of the `SESSION_BEST` best values of its conversation.

    Args:
        values: shape (n,).
        groups: each one's conversation, shape (n,).
    """
    if not values.size:
        return values
    order = np.lexsort((-values, groups))
    starts = np.flatnonzero(np.diff(groups[order], prepend=groups[order[0]] - 1))
    sizes = np.diff(np.append(starts, len(order)))
    place = np.arange(len(order)) - np.repeat(starts, sizes)
    best = np.where(place < SESSION_BEST, values[order], 0)
    means = np.add.reduceat(best, starts) / np.minimum(sizes, SESSION_BEST)
    result = np.empty(len(order), np.float32)
    result[order] = np.repeat(means, sizes)
    return result
