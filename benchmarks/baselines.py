"""The systems to beat: plain BM25, and the cosine of mean-pooled vectors, which is what most memories do.

Both see a unit as `speaker: text`, and both render their context the same simple way.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

import numpy as np
import numpy.typing as npt

from benchmarks.datasets import Question, Unit
from benchmarks.metrics import CHARACTERS_PER_TOKEN
from byheart.models.base import Embedder

Scores = npt.NDArray[np.float64]
#: From a text to its index terms, each with how often it is there.
Analyze = Callable[[str], Mapping[str, int]]


class Bm25:
    """BM25 over a fixed list of documents (k1 1.2, b .75, the idf that is never negative).

    Args:
        counts: for each document, how often it has each term.
        k1: how fast repeats of a term stop to count.
        b: how much a document's length counts.
    """

    def __init__(self, counts: Sequence[Mapping[str, int]], *, k1: float = 1.2, b: float = 0.75) -> None:
        lengths = np.array([sum(count.values()) for count in counts], dtype=np.float64)
        norms = k1 * (1 - b + b * lengths / max(float(lengths.mean()), 1.0)) if counts else lengths
        entries: dict[str, list[tuple[int, int]]] = {}
        for place, count in enumerate(counts):
            for term, often in count.items():
                entries.setdefault(term, []).append((place, often))
        self._documents = len(counts)
        self._postings: dict[str, tuple[npt.NDArray[np.int64], Scores]] = {}
        for term, posting in entries.items():
            places = np.array([place for place, _ in posting], dtype=np.int64)
            often = np.array([count for _, count in posting], dtype=np.float64)
            idf = math.log(1 + (len(counts) - len(posting) + 0.5) / (len(posting) + 0.5))
            self._postings[term] = (places, idf * often * (k1 + 1) / (often + norms[places]))

    def scores(self, query: Mapping[str, int]) -> Scores:
        """The score of each document; a term that the query repeats counts once for each time."""
        totals = np.zeros(self._documents)
        for term, times in query.items():
            if term in self._postings:
                places, shares = self._postings[term]
                totals[places] += shares * times
        return totals


def best_first(scores: Scores) -> list[int]:
    """The places of the scores above zero, best first, ties in their order."""
    order = np.argsort(-scores, kind="stable")
    return [int(place) for place in order if scores[place] > 0]


def _day(when: datetime | None) -> str:
    return f"## {when:%d %B %Y}" if when else ""


def plain_context(units: Iterable[Unit], budget: int) -> str:
    """Units in the order given, each in full or not at all, under a date wherever it changes, in `budget` tokens."""
    lines: list[str] = []
    left = budget * CHARACTERS_PER_TOKEN
    header = ""
    for unit in units:
        day = _day(unit.timestamp)
        new = [line for line in (day if day != header else "", unit.spoken) if line]
        size = sum(len(line) + 1 for line in new)
        if size <= left:
            lines.extend(new)
            left -= size
            header = day
    return "\n".join(lines)


class Baseline(ABC):
    """A system that scores every unit of a case."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self._units = units
        self._last: tuple[str, list[Unit]] = ("", [])

    @abstractmethod
    async def fill(self) -> None:
        """Take the case's units in."""

    @abstractmethod
    async def _scores(self, text: str) -> Scores: ...

    async def _ranked(self, text: str) -> list[Unit]:
        if self._last[0] != text:
            self._last = (text, [self._units[place] for place in best_first(await self._scores(text))])
        return self._last[1]

    async def rank(self, question: Question, depth: int) -> list[str]:
        """The ids of the `depth` best units."""
        return [unit.id for unit in (await self._ranked(question.text))[:depth]]

    async def context(self, question: Question, budget: int) -> str:
        """The best units, rendered plainly in at most `budget` tokens."""
        return plain_context(await self._ranked(question.text), budget)


class Bm25Baseline(Baseline):
    """BM25 over `speaker: text`, with byheart's own analyzer (stems, stop words left out)."""

    def __init__(self, units: Sequence[Unit], analyze: Analyze) -> None:
        super().__init__(units)
        self._analyze = analyze
        self._index = Bm25([])

    async def fill(self) -> None:
        """Index the units."""
        self._index = Bm25([self._analyze(unit.spoken) for unit in self._units])

    async def _scores(self, text: str) -> Scores:
        return self._index.scores(self._analyze(text))


class CosineBaseline(Baseline):
    """The cosine between the mean-pooled vectors of the question and of `speaker: text`."""

    def __init__(self, units: Sequence[Unit], embedder: Embedder) -> None:
        super().__init__(units)
        self._embedder = embedder
        self._vectors = np.zeros((0, 0), dtype=np.float32)

    async def fill(self) -> None:
        """Embed the units."""
        encodings = await self._embedder.encode([unit.spoken for unit in self._units])
        self._vectors = np.stack([encoding.pooled for encoding in encodings])

    async def _scores(self, text: str) -> Scores:
        [query] = await self._embedder.encode([text], query=True)
        return (self._vectors @ query.pooled).astype(np.float64)
