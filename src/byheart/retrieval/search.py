"""One search over partitions: candidates of every signal, late interaction, what neighbours lend, relevance, score.

Plain functions on arrays; `recall` brings the arrays and shows the result.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from byheart.models.base import Encoding
from byheart.retrieval import signals
from byheart.retrieval.arrays import Floats, Longs, Mask
from byheart.retrieval.fuse import (
    SIGNALS,
    USUAL,
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
from byheart.retrieval.index import PartitionIndex
from byheart.retrieval.score import Doubles, protocol_score, recency
from byheart.stores.base import TermStats, to_micros
from byheart.text.analyzer import Token, analyze
from byheart.types import Scope, ScoreTerms, Weights

#: How many memories of a partition late interaction looks at, beside the neighbours of the best.
CANDIDATES = 100
#: How many each further query string brings (P7).
PER_QUERY = 25
#: Of how many of the best the neighbours become candidates too.
WITH_NEIGHBOURS = 25
#: How many memories show what late interaction gives any memory for the query.
SAMPLE = 32
#: What a function word of the query counts in late interaction; content words count their IDF (about 1 to 7).
FUNCTION_WORD = 1.0
USER = 1
#: Groups of values for each of the best that are looked for.
_GROUPS = 8
_LOWEST = float(np.finfo(np.float32).min)


@dataclass(frozen=True, slots=True)
class Question:
    """What is searched for, analysed and embedded.

    Attributes:
        text: the message.
        terms: id and IDF of each term that some memory has.
        information: the sum of the IDF of all the query's terms, those that no memory has too.
        pooled: the message's vector and those of the other strings; shape (n, dimensions).
        tokens, weights: token vectors of shape (t, k) and what each counts; None where the model has none.
    """

    text: str
    terms: tuple[tuple[int, float], ...]
    information: float
    pooled: Floats
    tokens: Floats | None
    weights: Floats


def question(text: str, stats: TermStats, encodings: Sequence[Encoding]) -> Question:
    """Put together what is known of a query.

    Args:
        text: the message, as the first of `encodings` has read it.
        stats: ids and frequencies of its terms.
        encodings: of the message, and of further strings.
    """
    tokens = analyze(text)
    unknown = signals.idf(stats.documents, 0)
    information = {
        token.term: signals.idf(stats.documents, stats.terms[token.term][1]) if token.term in stats.terms else unknown
        for token in tokens
    }
    content = {token.term for token in tokens if not token.stop} or set(information)
    first = encodings[0]
    weights = token_weights(tokens, content, information, first.offsets, len(text))
    return Question(
        text=text,
        terms=tuple((stats.terms[term][0], information[term]) for term in content if term in stats.terms),
        information=sum(information[term] for term in content),
        pooled=np.stack([encoding.pooled for encoding in encodings]),
        tokens=first.tokens[weights > 0] if weights.any() else None,
        weights=weights[weights > 0],
    )


def query_terms(text: str) -> list[str]:
    """The terms of which a search needs the statistics."""
    return list(dict.fromkeys(token.term for token in analyze(text)))


def token_weights(
    tokens: Sequence[Token], content: set[str], information: Mapping[str, float], offsets: np.ndarray, length: int
) -> Floats:
    """What each token vector of a query counts: its word's IDF, shared by the word's pieces; no more for punctuation.

    Args:
        tokens: the query, analysed.
        content: the terms that are no function words.
        information: IDF by term.
        offsets: the characters of each token vector; shape (t, 2).
        length: of the query, in characters.
    """
    worth = np.zeros(length + 1, np.float32)
    word = np.full(length + 1, -1)
    for token in tokens:
        value = information[token.term] if token.term in content else FUNCTION_WORD
        worth[token.start : token.end] = np.maximum(worth[token.start : token.end], value)
        word[token.start : token.end] = token.position
    starts = np.minimum(offsets[:, 0], length) if len(offsets) else np.zeros(0, np.int64)
    words = word[starts]
    pieces = np.bincount(words[words >= 0], minlength=1) if len(words) else np.ones(1)
    shared = np.where(words >= 0, pieces[np.maximum(words, 0)], 1)
    is_content = worth[starts] > FUNCTION_WORD
    return np.where(is_content, worth[starts] / shared, worth[starts]).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Reach:
    """A partition that is searched, and which of its memories may be hits."""

    scope: Scope
    index: PartitionIndex
    allowed: Mask


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates, best first; arrays of one length.

    Attributes:
        reach: for each, which of the searched partitions it is in.
        seqs: their numbers in the store.
        raw, parts: each signal's own values, and what it added to the relevance.
        ranks: their places in each candidate source, 0 where that source did not bring them.
        counts: how many candidates each source brought.
    """

    reach: Longs
    seqs: Longs
    score: Doubles
    relevance: Doubles
    importance: Doubles
    recency: Doubles
    raw: Mapping[str, Floats]
    parts: Mapping[str, Floats]
    ranks: Mapping[str, Longs]
    counts: Mapping[str, int]

    def terms(self, place: int) -> ScoreTerms:
        """The score's terms of one candidate."""
        return ScoreTerms(float(self.relevance[place]), float(self.importance[place]), float(self.recency[place]))


@dataclass(frozen=True, slots=True)
class _Dense:
    """The signals that every memory of a partition has: its words' share, and its cosine with each query string."""

    words: Floats
    similar: Floats


@dataclass(frozen=True, slots=True)
class _Found:
    """What one partition brought: slots, each signal's values, places in the sources, and the sources' sizes."""

    slots: Longs
    raw: Mapping[str, Floats]
    ranks: Mapping[str, Longs]
    counts: Mapping[str, int]


def best(values: Floats, count: int) -> Longs:
    """The places of the `count` largest values above -inf, largest first, the earlier place first among equals."""
    if not count:
        return np.zeros(0, np.int64)
    top = np.flatnonzero(values >= max(_least_of_best(values, count), _LOWEST))
    if len(top) > count:
        top = top[values[top] >= _kth(values[top], count)]
    return top[np.argsort(-values[top], kind="stable")][:count]


def _least_of_best(values: Floats, count: int) -> float:
    """A bound that at least `count` values reach, and few more: the `count`-th largest of the maxima of as many groups.

    Sorting a whole array out takes several times as long as one pass for the maxima.
    """
    groups = _GROUPS * count
    if len(values) < 2 * groups:
        return float("-inf")
    whole = values[: len(values) // groups * groups]
    return float(_kth(whole.reshape(-1, groups).max(axis=0), count))


def _kth(values: Floats, count: int) -> np.float32:
    return np.partition(values, len(values) - count)[len(values) - count]


def search(reaches: Sequence[Reach], asked: Question, weights: Weights, *, depth: int, now: datetime) -> Ranked:
    """Rank the memories of some partitions for a query.

    Args:
        reaches: where to look; at least one.
        asked: what for.
        weights: the protocol's weights (P8).
        depth: how many ranked memories are wanted, at least, where there are so many.
        now: the moment of the question.
    """
    length = _average_length(reaches)
    dense = [_dense(reach, asked, length) for reach in reaches]
    shares = [float(one.words[reach.allowed].max(initial=0)) for reach, one in zip(reaches, dense, strict=True)]
    signal_weights = query_weights(max(shares))
    levels = _levels(reaches, dense, asked)
    count = max(CANDIDATES, depth)
    found = [_candidates(r, asked, d, levels, signal_weights, count) for r, d in zip(reaches, dense, strict=True)]
    raw = {name: np.concatenate([one.raw[name] for one in found]) for name in SIGNALS}
    parts = evidence(raw, levels, signal_weights)
    sums = total(parts)
    relevant = relevance(sums, middle(sums))
    pairs = list(zip(reaches, found, strict=True))
    seqs, accessed, said = (
        np.concatenate([reach.index.column(name)[one.slots] for reach, one in pairs])
        for name in ("seq", "last_accessed", "timestamp")
    )
    importance = np.concatenate([reach.index.importance[one.slots] for reach, one in pairs]).astype(np.float64)
    recent = recency(np.where(accessed > 0, accessed, said), to_micros(now), weights.decay)
    score = protocol_score(relevant.astype(np.float64), importance, recent, weights)
    order = np.lexsort((-seqs, -score))
    names = list(dict.fromkeys(name for one in found for name in one.ranks))
    return Ranked(
        reach=np.repeat(np.arange(len(found)), [len(one.slots) for one in found])[order],
        seqs=seqs[order],
        score=score[order],
        relevance=relevant[order].astype(np.float64),
        importance=importance[order],
        recency=recent[order],
        raw={name: values[order] for name, values in raw.items()},
        parts={name: values[order] for name, values in contributions(parts, sums, relevant).items()},
        ranks={name: np.concatenate([one.ranks[name] for one in found])[order] for name in names},
        counts={name: sum(one.counts[name] for one in found) for name in found[0].counts},
    )


def _average_length(reaches: Sequence[Reach]) -> float:
    living = sum(reach.index.living for reach in reaches)
    return sum(float(reach.index.lengths[reach.index.alive].sum()) for reach in reaches) / max(living, 1)


def _dense(reach: Reach, asked: Question, average_length: float) -> _Dense:
    most = np.float32(max(asked.information, 1e-6) * (signals.K1 + 1))
    words = signals.bm25(reach.index, asked.terms, average_length) / most
    if not reach.index.size:
        return _Dense(words, np.zeros((len(asked.pooled), 0), np.float32))
    return _Dense(words, np.stack([signals.cosine(reach.index, pooled) for pooled in asked.pooled]))


def _levels(reaches: Sequence[Reach], dense: Sequence[_Dense], asked: Question) -> Levels:
    """What any memory has for the query; for late interaction, by a sample spread over the partitions."""
    pairs = list(zip(reaches, dense, strict=True))
    cosines = np.concatenate([one.similar[0][reach.allowed] for reach, one in pairs])
    late: list[Floats] = []
    if asked.tokens is not None:
        for reach, _ in pairs:
            living = np.flatnonzero(reach.allowed)
            sample = living[:: max(1, len(living) // SAMPLE)][:SAMPLE]
            late.append(signals.late(reach.index, sample, asked.tokens, asked.weights))
    sampled = np.concatenate(late) if late else np.zeros(0, np.float32)
    return Levels(level(cosines, USUAL.vector), level(sampled, USUAL.maxsim) if late else 0.0)


def _candidates(
    reach: Reach, asked: Question, dense: _Dense, levels: Levels, weights: Mapping[str, float], count: int
) -> _Found:
    """The candidates of one partition with all their signals."""
    index, may = reach.index, reach.allowed
    user = (index.column("role") == USER).astype(np.float32)
    cheap = {"bm25": dense.words, "vector": dense.similar[0], "user": user}
    base = total(evidence(cheap, levels, weights))
    leading = best(_only(may, base), count)
    sources = {"bm25": best(_only(may & (dense.words > 0), dense.words), PER_QUERY)}
    for place, similar in enumerate(dense.similar, 1):
        sources["vector" if place == 1 else f"vector {place}"] = best(_only(may, similar), PER_QUERY)
    beside = index.links[leading[:WITH_NEIGHBOURS]].ravel().astype(np.int64)
    beside = np.unique(beside[beside >= 0])
    slots = np.unique(np.concatenate((leading, beside[may[beside]], *sources.values())))
    maxsim = np.zeros(len(slots), np.float32)
    if asked.tokens is not None and len(slots):
        maxsim = signals.late(index, slots, asked.tokens, asked.weights)
    base[slots] += evidence({"maxsim": maxsim}, levels, weights)["maxsim"]

    def lends(places: np.ndarray) -> Floats:
        return lent(base[places], index.lengths[places]) * may[places]

    raw = {name: values[slots] for name, values in cheap.items()} | {
        "maxsim": maxsim,
        "neighbours": signals.neighbours(lends(index.links[slots]), index.links[slots]),
        "session": signals.session(lends(slots), index.groups[slots]),
    }
    ranks = {name: np.zeros(len(slots), np.int64) for name in sources}
    for name, places in sources.items():
        ranks[name][np.searchsorted(slots, places)] = np.arange(1, len(places) + 1)
    counts = {name: len(places) for name, places in sources.items()} | {"neighbours": len(beside), "union": len(slots)}
    return _Found(slots, raw, ranks, counts)


def _only(mask: Mask, values: Floats) -> Floats:
    """Values where the mask lets them through, else -inf."""
    return np.where(mask, values, np.float32(-np.inf))
