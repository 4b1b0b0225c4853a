"""The plain values that go into a store and come out of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from byheart.types import Chunk, Coordinate, EpisodeHeader, EpisodeType

#: What `IndexRow.role` says of a role; any other is `OTHER_ROLE`.
ROLE_CODES: Mapping[str | None, int] = {None: 0, "user": 1, "assistant": 2, "system": 3, "tool": 4}
OTHER_ROLE = 5


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which embedder filled the store: model id, dimension of the pooled vector, and the codec of the bytes."""

    model: str
    dimensions: int
    codec: str


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One memory to write.

    Attributes:
        id: UUIDv4.
        key: identifies the part it was cut from, within its episode; the chunks of one part share it.
        terms: index term -> how often the text has it (stop words left out).
        vector, tokens: encoded by `retrieval.codec`; `tokens` may be empty, `vector` may not.
    """

    id: str
    key: str
    text: str
    timestamp: datetime
    terms: Mapping[str, int]
    vector: bytes
    tokens: bytes = b""
    speaker: str | None = None
    role: str | None = None
    source_id: str | None = None
    importance: float = 0.5
    coordinate: Coordinate = field(default_factory=Coordinate)


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """One episode to write, with its memories in order."""

    id: str
    type: EpisodeType
    tags: tuple[str, ...]
    metadata: Mapping[str, object]
    created_at: datetime
    recorded_at: datetime
    memories: tuple[MemoryRow, ...]
    session: str | None = None
    key: str | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Added:
    """What became of one episode row: the id it has in the store, and how many of its memories were new."""

    episode_id: str
    memories_added: int


class IndexRow(NamedTuple):
    """What the search arrays hold of one memory; small numbers and bytes, no text.

    A tuple, for a partition of 100,000 memories is loaded at once and a tuple costs a tenth of a dataclass.

    Attributes:
        seq: the memory's number in the store; grows with every write, is never used again.
        episode, session: numbers that are equal for memories of one episode, one session (0: no session).
        timestamp, expires, last_accessed: microseconds since 1970 UTC; 0 for never.
        type: place in `EPISODE_TYPES`.
        coordinate: place on each axis (`Coordinate.codes`).
        role: 0 none, 1 user, 2 assistant, 3 system, 4 tool, 5 another.
        term_ids, term_counts: int32 and int32 little-endian arrays of equal length, as bytes.
    """

    seq: int
    episode: int
    session: int
    timestamp: int
    expires: int
    last_accessed: int
    importance: float
    type: int
    role: int
    coordinate: tuple[int, ...]
    term_ids: bytes
    term_counts: bytes
    vector: bytes
    tokens: bytes


@dataclass(frozen=True, slots=True)
class IndexDelta:
    """What changed in a partition since a version.

    Attributes:
        version: the partition's version now; pass it to the next call.
        reset: forget what was loaded before; `rows` is everything.
        rows: new or changed memories, by growing seq.
        deleted: seqs that are gone.
    """

    version: int
    reset: bool
    rows: Sequence[IndexRow]
    deleted: Sequence[int]


@dataclass(frozen=True, slots=True)
class TermStats:
    """What the agent's whole store knows of some terms, for IDF.

    Attributes:
        documents: how many memories the agent has.
        terms: term -> (its id, in how many memories it occurs); terms that occur nowhere are absent.
    """

    documents: int
    terms: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory read back for showing: the chunk and its episode's header."""

    seq: int
    chunk: Chunk
    episode: EpisodeHeader


@dataclass(frozen=True, slots=True)
class Counts:
    """How much some scopes hold."""

    episodes: int
    memories: int
    by_type: Mapping[str, int]
    oldest: datetime | None
    newest: datetime | None
