"""The retriever: from a query and a scope to hits with their reasons."""

from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from time import perf_counter

import numpy as np
from anyio import to_thread

from byheart.models.base import Embedder
from byheart.retrieval.filters import allowed
from byheart.retrieval.formulate import formulate
from byheart.retrieval.highlight import marked_passages, matches, query_words
from byheart.retrieval.index import PartitionIndex
from byheart.retrieval.partitions import Partitions
from byheart.retrieval.search import Question, Ranked, Reach, best, query_terms, question, search
from byheart.retrieval.signals import cosine, idf
from byheart.stores.base import Store, StoredMemory
from byheart.text.analyzer import analyze
from byheart.types import Evidence, Filter, Hit, HitTrace, RecallResult, RecallTrace, Scope, ScoreTerms, Weights

__all__ = ["Evidence", "Retriever"]

#: Bytes of search arrays that stay loaded: about 400,000 memories of 60 words.
MEMORY_CEILING = 1 << 30
#: A memory in a context takes at least about so many tokens, which bounds how many are worth reading.
LEAST_MEMORY_TOKENS = 8
_NO_FILTER = Filter()
_HIGHLIGHTS = 2
_WEIGHTS = Weights()


#: What a memory's relevance must exceed to be given to a model: below it, nothing speaks for the memory.
LEAST_RELEVANCE = 0.001


class Retriever:
    """Finds memories. One for each store; it keeps the search arrays of the partitions that were read.

    Args:
        store: where the memories are.
        embedder: the model that filled the store.
        memory_ceiling: how many bytes of arrays stay loaded.
    """

    def __init__(self, store: Store, embedder: Embedder, *, memory_ceiling: int = MEMORY_CEILING) -> None:
        self._store = store
        self._embedder = embedder
        self._partitions = Partitions(store, memory_ceiling)

    async def recall(
        self,
        scope: Scope,
        query: str,
        *,
        filter: Filter = _NO_FILTER,  # noqa: A002  (the facade's word)
        weights: Weights = _WEIGHTS,
        limit: int = 10,
        min_score: float = 0.0,
        now: datetime,
    ) -> RecallResult:
        """The best memories for a message, with all their reasons (P7, P8, N13).

        Args:
            scope: who asks; what it inherits is searched too.
            query: the message.
            filter: which memories may be hits.
            weights: the protocol's weights.
            limit: how many hits at most.
            min_score: hits of a lower final score are left out.
            now: the moment of the question.

        Raises:
            EmbedderError: the query could not be embedded.
            StoreError: the store could not be read.
        """
        clock = _Clock()
        queries, asked = await self._question(query, clock)
        async with self._reached(scope, filter, now) as reaches:
            clock.lap("load")
            ranked = await to_thread.run_sync(lambda: search(reaches, asked, weights, depth=limit, now=now))
        clock.lap("search")
        passed = int((ranked.score >= min_score).sum())
        found = await self._read(reaches, ranked, min(limit, passed))
        clock.lap("read")
        words = query_words(asked.text)
        hits = tuple(_hit(ranked, place, memory, words) for place, memory in found)
        clock.lap("highlight")
        trace = RecallTrace(
            queries=queries,
            candidates=ranked.counts,
            weights=weights,
            searched={
                "memories": sum(reach.index.living for reach in reaches),
                "allowed": sum(int(reach.allowed.sum()) for reach in reaches),
            },
            timings_ms=clock.laps,
        )
        return RecallResult(hits, passed, trace)

    async def evidence(
        self,
        scope: Scope,
        query: str,
        *,
        filter: Filter = _NO_FILTER,  # noqa: A002
        weights: Weights = _WEIGHTS,
        max_tokens: int,
        now: datetime,
    ) -> list[Evidence]:
        """The memories that a context of `max_tokens` is made of: more than fit, best first, none that is irrelevant.

        Raises:
            EmbedderError: the query could not be embedded.
            StoreError: the store could not be read.
        """
        depth = max(1, max_tokens // LEAST_MEMORY_TOKENS)
        _, asked = await self._question(query, _Clock())
        async with self._reached(scope, filter, now) as reaches:
            ranked = await to_thread.run_sync(lambda: search(reaches, asked, weights, depth=depth, now=now))
        found = await self._read(reaches, ranked, min(depth, len(ranked.seqs)))
        return [
            Evidence(memory.chunk, memory.episode, float(ranked.score[place]))
            for place, memory in found
            if ranked.relevance[place] > LEAST_RELEVANCE
        ]

    async def similar(
        self,
        scope: Scope,
        text: str,
        *,
        filter: Filter = _NO_FILTER,  # noqa: A002
        limit: int = 10,
        min_score: float = 0.0,
        now: datetime,
    ) -> list[Hit]:
        """The memories whose pooled vectors are nearest to a text's; the score is the cosine cut to 0..1 (C2, C5).

        Raises:
            EmbedderError: the text could not be embedded.
            StoreError: the store could not be read.
        """
        [encoding] = await self._embedder.encode([text])
        words = query_words(text)
        found: list[tuple[float, StoredMemory]] = []
        async with self._reached(scope, filter, now) as reaches:
            nearest = await to_thread.run_sync(lambda: [_nearest(reach, encoding.pooled, limit) for reach in reaches])
        for reach, scores in zip(reaches, nearest, strict=True):
            stored = await self._store.read(reach.scope, [seq for seq, score in scores.items() if score >= min_score])
            found += [(scores[memory.seq], memory) for memory in stored]
        found.sort(key=lambda pair: -pair[0])
        return [_similar_hit(rank, score, memory, words) for rank, (score, memory) in enumerate(found[:limit], 1)]

    async def topics(self, scope: Scope, n: int) -> list[str]:
        """The words that weigh most over all memories in reach, by frequency times IDF, as a text writes them (C2)."""
        counts: Counter[int] = Counter()
        samples: dict[int, tuple[Scope, int]] = {}
        async with self._held(scope) as held:
            documents = sum(index.living for _, index in held)
            for _, index in held:
                ids, frequencies = index.term_counts()
                counts.update(dict(zip(ids.tolist(), frequencies.tolist(), strict=True)))
            weighed = sorted(counts, key=lambda term: (-counts[term] * idf(documents, counts[term]), term))[: 4 * n]
            for term in weighed:
                samples[term] = next(
                    (place, int(index.column("seq")[slots[0]]))
                    for place, index in held
                    if (slots := _living_slots(index, term)).size
                )
        return await self._words(weighed, samples, n)

    async def unique_words(self, scope: Scope) -> int:
        """How many different terms the memories in reach have."""
        async with self._held(scope) as held:
            return len({term for _, index in held for term in index.term_counts()[0].tolist()})

    # -- parts ------------------------------------------------------------------------------------------------------

    async def _question(self, query: str, clock: "_Clock") -> tuple[tuple[str, ...], Question]:
        queries = formulate(query)
        encodings = await self._embedder.encode(queries.embedded, query=True)
        clock.lap("embed")
        stats = await self._store.term_stats(query_terms(queries.message))
        clock.lap("terms")
        return queries.strings, question(queries.message, stats, encodings)

    @asynccontextmanager
    async def _held(self, scope: Scope) -> AsyncGenerator[list[tuple[Scope, PartitionIndex]]]:
        """The arrays of every partition that a scope reads, always locked in the same order."""
        async with AsyncExitStack() as stack:
            yield [(place, await stack.enter_async_context(self._partitions.held(place))) for place in scope.readable()]

    @asynccontextmanager
    async def _reached(self, scope: Scope, given: Filter, now: datetime) -> AsyncGenerator[list[Reach]]:
        """The partitions that a scope reads, with what the filter lets through."""
        async with self._held(scope) as held:
            yield [Reach(place, index, await self._allowed(place, index, given, now)) for place, index in held]

    async def _allowed(self, scope: Scope, index: PartitionIndex, given: Filter, now: datetime) -> "np.ndarray":
        tagged = await self._store.tagged(scope, given.tags) if given.tags else None
        number = None if given.session is None else await self._store.session_number(scope, given.session)
        return allowed(index, given, tagged=tagged, session_number=number, now=now)

    async def _read(self, reaches: Sequence[Reach], ranked: Ranked, count: int) -> list[tuple[int, StoredMemory]]:
        """The first `count` ranked memories that still exist, each with its place in the ranking."""
        found: dict[int, StoredMemory] = {}
        for number, reach in enumerate(reaches):
            places = np.flatnonzero(ranked.reach[:count] == number)
            if not places.size:
                continue
            by_seq = {int(ranked.seqs[place]): int(place) for place in places}
            for memory in await self._store.read(reach.scope, list(by_seq)):
                found[by_seq[memory.seq]] = memory
        return sorted(found.items())

    async def _words(self, weighed: Sequence[int], samples: Mapping[int, tuple[Scope, int]], n: int) -> list[str]:
        terms = await self._store.term_texts(weighed)
        texts: dict[tuple[Scope, int], str] = {}
        for place in {place for place, _ in samples.values()}:
            seqs = sorted({seq for other, seq in samples.values() if other == place})
            texts |= {(place, memory.seq): memory.chunk.text for memory in await self._store.read(place, seqs)}
        words: dict[str, None] = {}
        for number in weighed:
            text = texts.get(samples[number], "")
            token = next((token for token in analyze(text) if token.term == terms.get(number)), None)
            if token is not None:
                words.setdefault(text[token.start : token.end])
        return list(words)[:n]


class _Clock:
    """Laps in milliseconds."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, name: str) -> None:
        """Note how long it was since the last lap."""
        now = perf_counter()
        self.laps[name] = (now - self._last) * 1000
        self._last = now


def _living_slots(index: PartitionIndex, term: int) -> "np.ndarray":
    slots, _ = index.postings.find(term)
    return slots[index.alive[slots]]


def _nearest(reach: Reach, pooled: "np.ndarray", limit: int) -> dict[int, float]:
    """The seqs of a partition's nearest memories, with their cosines cut to 0..1."""
    similar = np.where(reach.allowed, cosine(reach.index, pooled), -np.inf)
    places = best(similar, limit)
    seqs = reach.index.column("seq")[places]
    return dict(zip(seqs.tolist(), np.clip(similar[places], 0, 1).tolist(), strict=True))


def _hit(ranked: Ranked, place: int, memory: StoredMemory, words: dict[str, str]) -> Hit:
    trace = HitTrace(
        signals={name: float(values[place]) for name, values in ranked.raw.items()},
        ranks={name: int(values[place]) for name, values in ranked.ranks.items() if values[place]},
        contributions={name: float(values[place]) for name, values in ranked.parts.items()},
    )
    return _shown(memory, words, float(ranked.score[place]), ranked.terms(place), trace)


def _similar_hit(rank: int, score: float, memory: StoredMemory, words: dict[str, str]) -> Hit:
    trace = HitTrace({"vector": score}, {"vector": rank}, {"vector": score})
    return _shown(memory, words, score, ScoreTerms(score, memory.chunk.importance, 0.0), trace)


def _shown(memory: StoredMemory, words: dict[str, str], score: float, terms: ScoreTerms, trace: HitTrace) -> Hit:
    text = memory.chunk.text
    found = matches(words, text)
    held = {token.term for token in found}
    return Hit(
        chunk=memory.chunk,
        episode=memory.episode,
        score=score,
        matched_terms=tuple(dict.fromkeys(word for term, word in words.items() if term in held)),
        highlights=marked_passages(found, text, _HIGHLIGHTS),
        terms=terms,
        trace=trace,
    )
