"""The public values: what goes in and what comes out.

All of them are frozen dataclasses: plain, light to import, compared by value. Times are aware UTC datetimes; the doors
turn them into text or milliseconds.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal, Self

from byheart.errors import InputError, ScopeError, brief

EpisodeType = Literal["conversation", "document", "fact", "event", "custom"]
EPISODE_TYPES: tuple[EpisodeType, ...] = ("conversation", "document", "fact", "event", "custom")
SplitOn = Literal["sentence", "paragraph", "fixed"]
ScopeKind = Literal["app", "user", "session", "shared"]
MAX_ID_CHARACTERS = 1024


def checked_id(field_name: str, value: object) -> str:
    """Return `value` if it may serve as an id: a non-empty string of at most 1,024 characters, any script.

    Raises:
        ScopeError: it is none, empty, too long, or holds a NUL or a lone surrogate, which no store can keep.
    """
    if not isinstance(value, str):
        raise ScopeError(field_name, f"is {type(value).__name__}, not a string", "pass an id of at least one character")
    if not value.strip():
        raise ScopeError(field_name, "is empty", "pass an id of at least one character; nothing is never 'all'")
    if len(value) > MAX_ID_CHARACTERS:
        raise ScopeError(field_name, f"has {len(value)} characters", f"use at most {MAX_ID_CHARACTERS}")
    if "\0" in value or any(0xD800 <= ord(character) <= 0xDFFF for character in value):
        raise ScopeError(field_name, "holds a NUL or a lone surrogate", "use well-formed Unicode")
    return value


def is_number(value: object) -> bool:
    """Whether `value` is a finite float, or an int (no bool) in the range of floats."""
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) <= sys.float_info.max  # one beyond it fits no float
    return isinstance(value, float) and math.isfinite(value)


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory it is: a typed key, compared for equality, never by prefix or pattern (N11).

    Make one with `Scope.app()`, `Scope.of_user(id)`, `Scope.of_session(session, user)` or `Scope.shared(name)`.
    """

    kind: ScopeKind
    user: str = ""
    session: str = ""
    space: str = ""

    @classmethod
    def app(cls) -> Self:
        """The agent's own memory, which all its users share."""
        return cls("app")

    @classmethod
    def of_user(cls, user: str) -> Self:
        """One user's memory."""
        return cls("user", user=checked_id("user", user))

    @classmethod
    def of_session(cls, session: str, user: str) -> Self:
        """What stays inside one session of one user."""
        return cls("session", user=checked_id("user", user), session=checked_id("session", session))

    @classmethod
    def shared(cls, space: str) -> Self:
        """A named space that several agents or users read and write."""
        return cls("shared", space=checked_id("space", space))

    def __post_init__(self) -> None:
        given = {"user": self.user, "session": self.session, "space": self.space}
        fields = {"app": (), "user": ("user",), "session": ("user", "session"), "shared": ("space",)}
        wanted = fields.get(self.kind) if isinstance(self.kind, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
        if wanted is None:
            raise ScopeError("scope.kind", f"is {brief(self.kind)}", "use app, user, session or shared")
        for name, value in given.items():
            if name in wanted:
                checked_id(name, value)
            elif value:
                raise ScopeError(name, f"does not belong to the {self.kind} scope", "leave it out")

    def readable(self) -> "tuple[Scope, ...]":
        """The scopes that a read from here sees: its own, then what it inherits. A write touches its own alone."""
        if self.kind == "session":
            return (self, Scope.of_user(self.user), Scope.app())
        if self.kind == "user":
            return (self, Scope.app())
        return (self,)


#: The agent's own memory: the scope of a memory that was opened without one.
APP_SCOPE = Scope.app()


class Tier(StrEnum):
    """Which kind of knowledge a memory is (P1); working memory is what the context renders and is never stored."""

    EPISODIC = "EPISODIC"
    SEMANTIC = "SEMANTIC"
    PROCEDURAL = "PROCEDURAL"


#: The axes of a memory's coordinate (G24) and the values each may take; `information` is the tier.
COORDINATE_AXES: Mapping[str, tuple[str, ...]] = {
    "information": ("EPISODIC", "SEMANTIC", "PROCEDURAL"),
    "organisation": ("collection", "profile", "summary"),
    "storage": ("vector", "graph", "both"),
    "creation": ("explicit", "implicit"),
    "scope": ("app", "user", "session", "shared"),
    "source": ("bootstrapped", "user_explicit", "user_implicit", "tool_output", "inferred"),
    "modality": ("text", "image", "audio", "video"),
}


@dataclass(frozen=True, slots=True)
class Coordinate:
    """Where a memory stands on the axes of the design space (G24). `COORDINATE_AXES` lists the values."""

    information: str = "EPISODIC"
    organisation: str = "collection"
    storage: str = "vector"
    creation: str = "explicit"
    scope: str = "app"
    source: str = "user_explicit"
    modality: str = "text"

    def __post_init__(self) -> None:
        for axis, allowed in COORDINATE_AXES.items():
            if getattr(self, axis) not in allowed:
                raise InputError(
                    f"coordinate.{axis}", f"is {brief(getattr(self, axis))}", f"use one of {', '.join(allowed)}"
                )

    def codes(self) -> tuple[int, ...]:
        """The place of each value on its axis, in the order of `COORDINATE_AXES`."""
        return tuple(allowed.index(getattr(self, axis)) for axis, allowed in COORDINATE_AXES.items())

    @classmethod
    def from_codes(cls, codes: Sequence[int]) -> Self:
        """The coordinate that `codes()` came from."""
        return cls(*(allowed[code] for code, allowed in zip(codes, COORDINATE_AXES.values(), strict=True)))


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation as the application has it."""

    role: str
    content: str
    name: str | None = None
    timestamp: datetime | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a new episode, kept whole as one turn and cut into chunks only where it is long.

    Attributes:
        speaker: the name to show (`Caroline`, `user`); None for text that nobody says.
        role: user, assistant, system, tool, or None.
        timestamp: when it was said; the episode's time if None.
        source_id: what the application calls it (a message's id).
        key: identifies the part inside its episode, so that a second ingest adds nothing; made from the text if None.
    """

    text: str
    speaker: str | None = None
    role: str | None = None
    timestamp: datetime | None = None
    source_id: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Chunking:
    """How a long text is cut (C2): at most `max_tokens` a chunk, `overlap` tokens of it repeated in the next."""

    max_tokens: int = 200
    overlap: int = 50
    split_on: SplitOn = "sentence"


#: The seed's defaults (C2).
DEFAULT_CHUNKING = Chunking()


@dataclass(frozen=True, slots=True)
class NewEpisode:
    """What is to be remembered in one call.

    Attributes:
        key: makes the write idempotent: an episode with this key in the same scope only takes the parts it lacks.
        session: the conversation it belongs to; its neighbours and its session lend it evidence at recall.
        timestamp: when it happened; now if None.
        ttl: seconds until it expires; the store's default if None, never if 0.
        chunking: None keeps every part whole.
    """

    parts: tuple[Part, ...]
    type: EpisodeType = "conversation"
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])
    session: str | None = None
    key: str | None = None
    timestamp: datetime | None = None
    ttl: float | None = None
    importance: float = 0.5
    coordinate: Coordinate | None = None
    chunking: Chunking | None = DEFAULT_CHUNKING


@dataclass(frozen=True, slots=True)
class Chunk:
    """One stored memory: the unit that is indexed, scored and recalled.

    Attributes:
        id: `chunk_{episode}_{index}`; `memory_id` is its UUIDv4 (P3).
        timestamp: when it was said or happened.
        last_accessed: when it was last loaded into working memory, if ever.
    """

    id: str
    memory_id: str
    episode_id: str
    index: int
    text: str
    timestamp: datetime
    speaker: str | None = None
    role: str | None = None
    source_id: str | None = None
    importance: float = 0.5
    last_accessed: datetime | None = None
    coordinate: Coordinate = field(default_factory=Coordinate)


@dataclass(frozen=True, slots=True)
class EpisodeHeader:
    """An episode without its texts.

    Attributes:
        created_at: when it happened (the seed's `createdAt`, which orders `get_recent`).
        recorded_at: when byheart took it in.
        chunk_count: how many chunks it has.
    """

    id: str
    agent_id: str
    scope: Scope
    type: EpisodeType
    tags: tuple[str, ...]
    metadata: Mapping[str, object]
    created_at: datetime
    updated_at: datetime
    recorded_at: datetime
    session: str | None = None
    expires_at: datetime | None = None
    chunk_count: int = 0


@dataclass(frozen=True, slots=True)
class Episode(EpisodeHeader):
    """An episode with all its chunks, in order."""

    chunks: tuple[Chunk, ...] = ()

    @property
    def text(self) -> str:
        """The chunks' texts, a line each."""
        return "\n".join(chunk.text for chunk in self.chunks)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories may be hits.

    Attributes:
        types: any of these episode types; empty for all.
        tags: all of these (AND).
        after, before: `after <= timestamp < before`.
        session: this conversation alone.
        coordinate: for each axis named, the values allowed.
    """

    types: tuple[EpisodeType, ...] = ()
    tags: tuple[str, ...] = ()
    after: datetime | None = None
    before: datetime | None = None
    session: str | None = None
    coordinate: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])


@dataclass(frozen=True, slots=True)
class Weights:
    """The protocol's weights (P8): they sum to 1; `decay` is lambda, per hour."""

    relevance: float = 0.5
    importance: float = 0.3
    recency: float = 0.2
    decay: float = 0.01

    def __post_init__(self) -> None:
        for name in ("relevance", "importance", "recency", "decay"):
            if not is_number(value := getattr(self, name)) or value < 0:
                raise InputError(f"weights.{name}", f"is {brief(value)}", "use a finite number of at least 0")
        total = self.relevance + self.importance + self.recency
        if abs(total - 1) > 1e-6:
            raise InputError("weights", f"sum to {total:g}", "make relevance, importance and recency sum to 1")

    @classmethod
    def with_recency(cls, recency: float, decay: float = 0.01) -> Self:
        """The baseline 0.5 / 0.3 / 0.2 with another share for recency; relevance and importance keep their ratio."""
        if not is_number(recency) or not 0 <= recency <= 1:
            raise InputError("recency_weight", f"is {brief(recency)}", "use a number from 0 to 1")
        return cls((1 - recency) * 0.625, (1 - recency) * 0.375, recency, decay)


@dataclass(frozen=True, slots=True)
class ScoreTerms:
    """The three terms of the protocol's score, each 0 to 1, before their weights; `Hit.score` is their weighted sum."""

    relevance: float
    importance: float
    recency: float


@dataclass(frozen=True, slots=True)
class HitTrace:
    """Why a hit stands where it stands.

    Attributes:
        signals: each signal's own value for this memory (bm25, vector, maxsim, neighbours, session ...).
        ranks: its place in each candidate source, from 1; absent where that source did not bring it.
        contributions: what each signal added to the relevance.
    """

    signals: Mapping[str, float]
    ranks: Mapping[str, int]
    contributions: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of a recall (the seed's SearchResult) with its reasons.

    Attributes:
        score: 0 to 1, the protocol's weighted sum.
        matched_terms: the words of the query that the text holds, as the query writes them.
        highlights: the passages of the text that answer best, matched words between `**`.
        trace: filled by every recall; `recall --explain` prints it.
    """

    chunk: Chunk
    episode: EpisodeHeader
    score: float
    matched_terms: tuple[str, ...]
    highlights: tuple[str, ...]
    terms: ScoreTerms
    trace: HitTrace


@dataclass(frozen=True, slots=True)
class Evidence:
    """One memory that a context may show.

    Attributes:
        score: how much it matters, 0 to 1; where there is no room for all, the highest are shown.
    """

    chunk: Chunk
    episode: EpisodeHeader
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class RecallTrace:
    """What a recall did.

    Attributes:
        queries: the query strings that were searched for (P7).
        candidates: how many memories each source brought, and how many their union held.
        weights: the protocol's weights that were used.
        searched: how many memories were in reach, and how many the filter let through.
        timings_ms: what each step took, in milliseconds.
    """

    queries: tuple[str, ...]
    candidates: Mapping[str, int]
    weights: Weights
    searched: Mapping[str, int]
    timings_ms: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RecallResult:
    """The answer to a recall.

    Attributes:
        context: text for a model, if `format_for_llm` was asked for.
        total_matches: how many memories matched before `limit` cut the list.
    """

    results: tuple[Hit, ...]
    total_matches: int
    trace: RecallTrace
    context: str | None = None


@dataclass(frozen=True, slots=True)
class ItemError:
    """One item of a batch that was refused; the others went in."""

    index: int
    error: str
    message: str


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What became of each item of a batch: every index is in exactly one of the three.

    Attributes:
        added: index -> the episode's id, where something new was stored.
        unchanged: index -> the id of the episode that already held all of it.
        errors: the items that were refused, each with its reason.
        chunks_added: how many new memories the batch stored.
    """

    added: Mapping[int, str]
    unchanged: Mapping[int, str]
    errors: tuple[ItemError, ...]
    chunks_added: int


@dataclass(frozen=True, slots=True)
class MemoryStats:
    """Counts over what the scope can read (the seed's MemoryStats)."""

    total_episodes: int
    total_chunks: int
    unique_words: int
    oldest_memory: datetime | None
    newest_memory: datetime | None
    by_type: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PurgeReport:
    """The proof that no byte of a forgotten text is left: what was read, and what was found (always 0; else an error).

    Attributes:
        files: every file that was scanned, with its size in bytes.
        texts_checked: forgotten texts that were searched for byte by byte.
        pages_checked: pages whose unused space was checked to be zero.
    """

    files: Mapping[str, int]
    texts_checked: int
    pages_checked: int


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `doctor`: what was looked at, whether it is well, and what to do if not."""

    name: str
    ok: bool
    detail: str
