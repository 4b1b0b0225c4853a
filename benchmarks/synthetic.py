"""Made-up memories for the speed runs: words by Zipf's law, topics, named speakers, sessions, and vectors to match.

Everything follows from the seed, so that two runs, or a run and its exact scan, see the same rows.
"""

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt

from byheart.models.base import BaseEmbedder, Embedder, Encoding, Vector
from byheart.types import NewEpisode, Part

WORDS = 20_000
TOPICS = 200
TOPIC_WORDS = 60
TURNS = 20
#: The shapes of the packaged MiniLM.
DIMENSIONS = 384
TOKEN_DIMENSIONS = 64
NAMES = ("Ada", "Bo", "Chen", "Dina", "Emil", "Farah", "Gus", "Hana", "Ivo", "June", "Kofi", "Lena", "Mara", "Nils")
_FUNCTION_WORDS = (
    "the of and to a in is that it was for on with he as you at by not this had they but she from or have an which we "
    "are been were all their would there what so if no when who will more out up into them then some could him my than"
)
#: The commonest words of any English text; what carries no meaning is a third of what people write.
FUNCTION_WORDS = tuple(_FUNCTION_WORDS.split())
_START = datetime(2024, 1, 1, 9, tzinfo=UTC)
_WORD = re.compile(r"\w+")
_SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]


def word(number: int) -> str:
    """The word of a number: a function word, then made-up ones of three syllables, unique below 70 ** 3."""
    if number < len(FUNCTION_WORDS):
        return FUNCTION_WORDS[number]
    base = len(_SYLLABLES)
    return _SYLLABLES[number % base] + _SYLLABLES[number // base % base] + _SYLLABLES[number // base**2 % base]


@dataclass(frozen=True, slots=True)
class Turn:
    """One made-up turn: its words as numbers too, for the scan that it is compared with."""

    id: str
    speaker: str
    session: int
    timestamp: datetime
    words: npt.NDArray[np.int64]

    @property
    def text(self) -> str:
        """The words, as a sentence."""
        return " ".join(word(int(number)) for number in self.words) + "."


def turns(rows: int, *, seed: int, shortest: int = 12, longest: int = 60) -> Iterator[Turn]:
    """`rows` turns of `shortest` to `longest` words, 20 a session; three words in ten come from the session's topic."""
    generator = np.random.default_rng(seed)
    shares = 1 / np.arange(1, WORDS + 1)
    shares /= shares.sum()
    topic_shares = 1 / np.arange(1, TOPIC_WORDS + 1)
    topic_shares /= topic_shares.sum()
    for session in range(-(-rows // TURNS)):
        topic = int(generator.integers(TOPICS))
        pair = generator.choice(len(NAMES), 2, replace=False)
        lengths = generator.integers(shortest, longest + 1, TURNS)
        common = generator.choice(WORDS, int(lengths.sum()), p=shares)
        special = generator.choice(TOPIC_WORDS, common.size, p=topic_shares) + 1000 + topic * TOPIC_WORDS
        numbers = np.where(generator.random(common.size) < 0.3, special, common)
        pieces = np.split(numbers, np.cumsum(lengths)[:-1])
        for place, piece in enumerate(pieces[: rows - session * TURNS]):
            when = _START + timedelta(hours=7 * session, minutes=place)
            yield Turn(f"t{session * TURNS + place}", NAMES[int(pair[place % 2])], session, when, piece)


def episodes(rows: Iterator[Turn]) -> Iterator[NewEpisode]:
    """The turns as episodes, one a session."""
    waiting: list[Turn] = []
    for turn in rows:
        if waiting and turn.session != waiting[0].session:
            yield _episode(waiting)
            waiting = []
        waiting.append(turn)
    if waiting:
        yield _episode(waiting)


def _episode(rows: Sequence[Turn]) -> NewEpisode:
    name = f"session {rows[0].session}"
    parts = tuple(Part(row.text, row.speaker, timestamp=row.timestamp, source_id=row.id) for row in rows)
    return NewEpisode(parts=parts, session=name, key=name, timestamp=rows[0].timestamp)


def query(turn: Turn, generator: np.random.Generator) -> str:
    """A question about a turn: its speaker and four to eight of its words that carry meaning."""
    meaning = turn.words[turn.words >= len(FUNCTION_WORDS)]
    some = generator.choice(meaning if meaning.size else turn.words, int(generator.integers(4, 9)))
    return f"What did {turn.speaker} say about {' '.join(word(int(number)) for number in some)}?"


class SyntheticEmbedder(BaseEmbedder):
    """Word vectors around topic centres instead of a model: a vector for each word, and their mean, of MiniLM's shape.

    Args:
        real: an embedder whose forward pass each query goes through too, so that its cost is in the call; its answer
            is not used.
    """

    def __init__(self, real: Embedder | None = None) -> None:
        super().__init__("benchmark", "synthetic-words", DIMENSIONS)
        generator = np.random.default_rng(11)
        centres = generator.standard_normal((TOPICS, DIMENSIONS), dtype=np.float32)
        vectors = generator.standard_normal((WORDS, DIMENSIONS), dtype=np.float32)
        special = np.arange(1000, 1000 + TOPICS * TOPIC_WORDS)
        vectors[special] = 0.8 * centres[(special - 1000) // TOPIC_WORDS] + 0.6 * vectors[special]
        self._vectors: Vector = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        shorter = vectors @ generator.standard_normal((DIMENSIONS, TOKEN_DIMENSIONS), dtype=np.float32)
        self._tokens: Vector = shorter / np.linalg.norm(shorter, axis=1, keepdims=True)
        self._numbers = {word(number): number for number in range(WORDS)}
        self.real = real
        #: Seconds spent in here, to be taken off what is measured around it.
        self.spent = 0.0

    async def encode(self, texts: Sequence[str], *, query: bool = False) -> list[Encoding]:
        """Word vectors and their mean; unknown words fall on known ones by their letters."""
        started = time.perf_counter()
        encodings = await super().encode(texts, query=query)
        self.spent += time.perf_counter() - started
        return encodings

    async def _encode(self, texts: Sequence[str], *, query: bool) -> Sequence[Encoding]:
        if query and self.real is not None:
            await self.real.encode(texts, query=True)
        return [self._encoding(text) for text in texts]

    def _encoding(self, text: str) -> Encoding:
        matches = list(_WORD.finditer(text))
        numbers = [self._number(match[0]) for match in matches]
        offsets = np.array([match.span() for match in matches], dtype=np.int32).reshape(-1, 2)
        mean = self._vectors[numbers].mean(axis=0) if numbers else self._vectors[0]
        return Encoding(mean / np.linalg.norm(mean), self._tokens[numbers], offsets)

    def _number(self, text: str) -> int:
        number = self._numbers.get(text)
        return sum(text.encode()) % 1000 if number is None else number
