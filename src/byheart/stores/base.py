"""What a store is: the protocol of its verbs, and the base class that says each of them once.

A store keeps one agent's memories. Rows are the truth; terms, vectors and tags are written with them in one
transaction. Vectors and token vectors are opaque bytes here (`retrieval.codec` knows them); terms come analysed
(`text.analyzer`). Searching is done above, over arrays that `changes` feeds, so every store ranks alike.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol, Self

from byheart.errors import EmbedderMismatchError, InputError, StoreError
from byheart.stores.values import (
    OTHER_ROLE,
    ROLE_CODES,
    Added,
    Counts,
    EpisodeRow,
    IndexDelta,
    IndexRow,
    MemoryRow,
    ModelIdentity,
    StoredMemory,
    TermStats,
)
from byheart.types import (
    EPISODE_TYPES,
    Check,
    Chunk,
    Episode,
    EpisodeHeader,
    EpisodeType,
    PurgeReport,
    Scope,
    checked_id,
)

__all__ = [
    "OTHER_ROLE",
    "ROLE_CODES",
    "Added",
    "BaseStore",
    "Counts",
    "EpisodeRow",
    "IndexDelta",
    "IndexRow",
    "MemoryRow",
    "ModelIdentity",
    "Store",
    "StoredMemory",
    "TermStats",
    "canonical_json",
    "from_micros",
    "match_model",
    "storable",
    "to_micros",
    "with_chunks",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(time: datetime) -> int:
    """Microseconds since 1970 UTC of an aware datetime, exact."""
    return (time - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """The UTC datetime that `to_micros` came from."""
    return _EPOCH + timedelta(microseconds=micros)


class Store(Protocol):
    """One agent's memories. Every verb names the scope; a scope that holds nothing reads as empty, never as another's.

    Laws. A write is all or nothing, and durable when it returns. Calls may come from several tasks and processes at
    once. An expired memory is as good as gone to every read. A store that cannot read raises, and never answers empty.
    """

    @property
    def agent_id(self) -> str:
        """The agent that the store belongs to."""
        ...

    async def open(self) -> None:
        """Make the store ready; opening an open store does nothing."""
        ...

    async def close(self) -> None:
        """Let go of files and threads; closing a closed store does nothing."""
        ...

    async def bind_model(self, identity: ModelIdentity) -> None:
        """Remember the embedder on the first call; later refuse another one (EmbedderMismatchError)."""
        ...

    async def known_parts(self, scope: Scope, keys: Sequence[str]) -> Mapping[str, frozenset[str]]:
        """For each episode key that the scope has, the part keys it holds."""
        ...

    async def add(self, scope: Scope, episodes: Sequence[EpisodeRow]) -> list[Added]:
        """Write episodes in one transaction; for a key that exists, append the memories whose part key is new.

        An append leaves the episode's tags, metadata, session, times of creation and expiry as they are.

        Raises:
            StoreFullError: the agent would hold more than `max_episodes`; nothing was written.
        """
        ...

    async def get(self, scopes: Sequence[Scope], episode_id: str) -> Episode | None:
        """One episode with its chunks, if one of the scopes has it."""
        ...

    async def vectors(self, scope: Scope, episode_id: str) -> list[bytes]:
        """The encoded vectors of an episode's memories, in the order of its chunks; empty where there is none."""
        ...

    async def recent(
        self, scopes: Sequence[Scope], limit: int, types: Sequence[EpisodeType] = (), tags: Sequence[str] = ()
    ) -> list[Episode]:
        """Episodes by falling `created_at` (ties: last written first), any of the types, all of the tags."""
        ...

    async def delete(self, scope: Scope, episode_ids: Sequence[str]) -> int:
        """Delete episodes with their memories, terms and vectors; returns how many there were."""
        ...

    async def prune(self, scope: Scope, *, keep: int | None = None, older_than: datetime | None = None) -> int:
        """Delete all but the `keep` newest episodes, or those created before a time; returns how many went."""
        ...

    async def edit_tags(self, scope: Scope, episode_id: str, add: Sequence[str], remove: Sequence[str]) -> bool:
        """Add and remove tags of one episode; False where the scope has no such episode."""
        ...

    async def tags(self, scopes: Sequence[Scope]) -> list[str]:
        """All tags in use, sorted."""
        ...

    async def counts(self, scopes: Sequence[Scope]) -> Counts:
        """How much the scopes hold."""
        ...

    async def scopes(self) -> list[Scope]:
        """Every scope that holds something."""
        ...

    async def changes(self, scope: Scope, since: int) -> IndexDelta:
        """What the search arrays of a scope lack; `since` 0 asks for everything."""
        ...

    async def tagged(self, scope: Scope, tags: Sequence[str]) -> Sequence[int]:
        """The seqs of the memories whose episode has all of the tags."""
        ...

    async def session_number(self, scope: Scope, session: str) -> int:
        """The number that `IndexRow.session` has for a session's name; -1 where the scope has none."""
        ...

    async def term_stats(self, terms: Sequence[str]) -> TermStats:
        """Ids and document frequencies of terms, over the whole agent."""
        ...

    async def term_texts(self, term_ids: Sequence[int]) -> Mapping[int, str]:
        """The terms behind ids."""
        ...

    async def read(self, scope: Scope, seqs: Sequence[int]) -> list[StoredMemory]:
        """Memories for showing, in the order asked for; those that are gone are left out."""
        ...

    async def record_access(self, scope: Scope, seqs: Sequence[int], at: datetime) -> None:
        """Remember when memories were loaded into working memory (P10); those that are gone are left out."""
        ...

    async def clear(self, scopes: Sequence[Scope] | None = None) -> PurgeReport:
        """Delete everything in the scopes (None: in the whole store), then purge."""
        ...

    async def purge(self) -> PurgeReport:
        """Rewrite what is left so that no byte of a forgotten text stays in any file, and prove it.

        Raises:
            ResidueError: something was still found.
        """
        ...

    async def check(self) -> list[Check]:
        """Look at the store's health: opens, integrity, rows agree with terms and vectors, settings."""
        ...


class BaseStore(ABC):
    """The verbs of `Store`, with all that is alike in every store; a backend writes the `_verbs` behind them.

    The verbs check their arguments, ask for an open store and read the clock (`now`: microseconds since 1970 UTC); the
    `_verbs` trust them.

    Args:
        agent_id: whose memories they are.
        max_episodes: how many episodes the agent may hold; 0 for any number.
        auto_prune: make room by deleting the oldest episodes; without it an add beyond `max_episodes` is refused.

    Raises:
        InputError: an argument is out of range.
    """

    def __init__(self, agent_id: str, *, max_episodes: int = 0, auto_prune: bool = False) -> None:
        if max_episodes < 0:
            raise InputError("max_episodes", f"is {max_episodes}", "use 0 for any number, or a number above it")
        self._agent_id = checked_id("agent_id", agent_id)
        self._max_episodes = max_episodes
        self._auto_prune = auto_prune
        self._is_open = False

    @property
    def agent_id(self) -> str:
        """The agent that the store belongs to."""
        return self._agent_id

    async def open(self) -> None:
        """Make the store ready; opening an open store does nothing."""
        if not self._is_open:
            await self._open()
            self._is_open = True

    async def close(self) -> None:
        """Let go of files and threads; closing a closed store does nothing."""
        if self._is_open:
            self._is_open = False
            await self._close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def bind_model(self, identity: ModelIdentity) -> None:
        """Remember the embedder on the first call; later refuse another one.

        Raises:
            EmbedderMismatchError: the store was filled by another model, dimension or codec.
        """
        self._ready()
        await self._bind_model(identity, _now())

    async def known_parts(self, scope: Scope, keys: Sequence[str]) -> Mapping[str, frozenset[str]]:
        """For each episode key that the scope has, the part keys it holds."""
        self._ready()
        return await self._known_parts(scope, keys, _now()) if keys else {}

    async def add(self, scope: Scope, episodes: Sequence[EpisodeRow]) -> list[Added]:
        """Write episodes in one transaction; for a key that exists, append the memories whose part key is new.

        Raises:
            InputError: a row is malformed, or its id is in the store already; names the row and the field.
            StoreFullError: the agent would hold more than `max_episodes`; nothing was written.
        """
        self._ready()
        _check_rows(episodes)
        return await self._add(scope, episodes, _now()) if episodes else []

    async def get(self, scopes: Sequence[Scope], episode_id: str) -> Episode | None:
        """One episode with its chunks, if one of the scopes has it."""
        self._ready()
        return await self._get(scopes, episode_id, _now()) if storable(episode_id) else None

    async def vectors(self, scope: Scope, episode_id: str) -> list[bytes]:
        """The encoded vectors of an episode's memories, in the order of its chunks; empty where there is none."""
        self._ready()
        return await self._vectors(scope, episode_id, _now()) if storable(episode_id) else []

    async def recent(
        self, scopes: Sequence[Scope], limit: int, types: Sequence[EpisodeType] = (), tags: Sequence[str] = ()
    ) -> list[Episode]:
        """Episodes by falling `created_at` (ties: last written first), any of the types, all of the tags.

        Raises:
            InputError: `limit` is negative, or a type is none.
        """
        self._ready()
        if limit < 0:
            raise InputError("limit", f"is {limit}", "use 0 or more")
        for type_ in types:
            _check_type("types", type_)
        if not limit or not all(map(storable, tags)):
            return []
        return await self._recent(scopes, limit, types, tuple(dict.fromkeys(tags)), _now())

    async def delete(self, scope: Scope, episode_ids: Sequence[str]) -> int:
        """Delete episodes with their memories, terms and vectors; returns how many there were."""
        self._ready()
        ids = [id_ for id_ in dict.fromkeys(episode_ids) if storable(id_)]
        return await self._delete(scope, ids, _now()) if ids else 0

    async def prune(self, scope: Scope, *, keep: int | None = None, older_than: datetime | None = None) -> int:
        """Delete all but the `keep` newest episodes, or those created before a time; returns how many went.

        With both, an episode goes that fails either.

        Raises:
            InputError: neither is given, `keep` is negative, or the time is naive.
        """
        self._ready()
        if keep is None and older_than is None:
            raise InputError("keep", "is missing, and so is older_than", "say what to keep; use clear to delete all")
        if keep is not None and keep < 0:
            raise InputError("keep", f"is {keep}", "use 0 or more")
        return await self._prune(scope, keep, None if older_than is None else _micros("older_than", older_than), _now())

    async def edit_tags(self, scope: Scope, episode_id: str, add: Sequence[str], remove: Sequence[str]) -> bool:
        """Add and remove tags of one episode; False where the scope has no such episode."""
        self._ready()
        for index, tag in enumerate(add):
            _check_text(f"add[{index}]", tag)
        if not storable(episode_id):
            return False
        return await self._edit_tags(scope, episode_id, add, [tag for tag in remove if storable(tag)], _now())

    async def tags(self, scopes: Sequence[Scope]) -> list[str]:
        """All tags in use, sorted."""
        self._ready()
        return await self._tags(scopes, _now())

    async def counts(self, scopes: Sequence[Scope]) -> Counts:
        """How much the scopes hold."""
        self._ready()
        return await self._counts(scopes, _now())

    async def scopes(self) -> list[Scope]:
        """Every scope that holds something."""
        self._ready()
        return await self._scopes(_now())

    async def changes(self, scope: Scope, since: int) -> IndexDelta:
        """What the search arrays of a scope lack; `since` 0 asks for everything.

        Expired memories are among the rows, with their time of expiry; `deleted` may name memories never seen.
        """
        self._ready()
        return await self._changes(scope, since)

    async def tagged(self, scope: Scope, tags: Sequence[str]) -> Sequence[int]:
        """The seqs of the memories whose episode has all of the tags."""
        self._ready()
        if not all(map(storable, tags)):
            return []
        return await self._tagged(scope, tuple(dict.fromkeys(tags)), _now())

    async def session_number(self, scope: Scope, session: str) -> int:
        """The number that `IndexRow.session` has for a session's name; -1 where the scope has none."""
        self._ready()
        return await self._session_number(scope, session) if storable(session) else -1

    async def term_stats(self, terms: Sequence[str]) -> TermStats:
        """Ids and document frequencies of terms, over the whole agent."""
        self._ready()
        return await self._term_stats([term for term in terms if storable(term)])

    async def term_texts(self, term_ids: Sequence[int]) -> Mapping[int, str]:
        """The terms behind ids."""
        self._ready()
        return await self._term_texts(term_ids) if term_ids else {}

    async def read(self, scope: Scope, seqs: Sequence[int]) -> list[StoredMemory]:
        """Memories for showing, in the order asked for; those that are gone are left out."""
        self._ready()
        return await self._read(scope, seqs, _now()) if seqs else []

    async def record_access(self, scope: Scope, seqs: Sequence[int], at: datetime) -> None:
        """Remember when memories were loaded into working memory (P10); those that are gone are left out."""
        self._ready()
        if seqs:
            await self._record_access(scope, seqs, _micros("at", at), _now())

    async def clear(self, scopes: Sequence[Scope] | None = None) -> PurgeReport:
        """Delete everything in the scopes (None: in the whole store), then purge.

        Raises:
            StoreError: the message says whether the purge alone failed.
        """
        self._ready()
        await self._clear(scopes, _now())
        try:
            return await self._purge()
        except StoreError as error:
            raise type(error)(f"everything was deleted, but the purge failed, call purge again ({error})") from error

    async def purge(self) -> PurgeReport:
        """Rewrite what is left so that no byte of a forgotten text stays in any file, and prove it.

        Raises:
            ResidueError: something was still found.
        """
        self._ready()
        return await self._purge()

    async def check(self) -> list[Check]:
        """Look at the store's health: opens, integrity, rows agree with terms and vectors, settings."""
        self._ready()
        return await self._check()

    def _ready(self) -> None:
        if not self._is_open:
            raise StoreError(f"the store of agent {self._agent_id!r} is not open; await store.open() first")

    @abstractmethod
    async def _open(self) -> None: ...
    @abstractmethod
    async def _close(self) -> None: ...
    @abstractmethod
    async def _bind_model(self, identity: ModelIdentity, now: int) -> None: ...
    @abstractmethod
    async def _known_parts(self, scope: Scope, keys: Sequence[str], now: int) -> Mapping[str, frozenset[str]]: ...
    @abstractmethod
    async def _add(self, scope: Scope, episodes: Sequence[EpisodeRow], now: int) -> list[Added]: ...
    @abstractmethod
    async def _get(self, scopes: Sequence[Scope], episode_id: str, now: int) -> Episode | None: ...
    @abstractmethod
    async def _vectors(self, scope: Scope, episode_id: str, now: int) -> list[bytes]: ...
    @abstractmethod
    async def _recent(
        self, scopes: Sequence[Scope], limit: int, types: Sequence[EpisodeType], tags: Sequence[str], now: int
    ) -> list[Episode]: ...
    @abstractmethod
    async def _delete(self, scope: Scope, episode_ids: Sequence[str], now: int) -> int: ...
    @abstractmethod
    async def _prune(self, scope: Scope, keep: int | None, older_than: int | None, now: int) -> int: ...
    @abstractmethod
    async def _edit_tags(
        self, scope: Scope, episode_id: str, add: Sequence[str], remove: Sequence[str], now: int
    ) -> bool: ...
    @abstractmethod
    async def _tags(self, scopes: Sequence[Scope], now: int) -> list[str]: ...
    @abstractmethod
    async def _counts(self, scopes: Sequence[Scope], now: int) -> Counts: ...
    @abstractmethod
    async def _scopes(self, now: int) -> list[Scope]: ...
    @abstractmethod
    async def _changes(self, scope: Scope, since: int) -> IndexDelta: ...
    @abstractmethod
    async def _tagged(self, scope: Scope, tags: Sequence[str], now: int) -> Sequence[int]: ...
    @abstractmethod
    async def _session_number(self, scope: Scope, session: str) -> int: ...
    @abstractmethod
    async def _term_stats(self, terms: Sequence[str]) -> TermStats: ...
    @abstractmethod
    async def _term_texts(self, term_ids: Sequence[int]) -> Mapping[int, str]: ...
    @abstractmethod
    async def _read(self, scope: Scope, seqs: Sequence[int], now: int) -> list[StoredMemory]: ...
    @abstractmethod
    async def _record_access(self, scope: Scope, seqs: Sequence[int], at: int, now: int) -> None: ...
    @abstractmethod
    async def _clear(self, scopes: Sequence[Scope] | None, now: int) -> None: ...
    @abstractmethod
    async def _purge(self) -> PurgeReport: ...
    @abstractmethod
    async def _check(self) -> list[Check]: ...


def storable(text: str) -> bool:
    """Whether a store can hold the string: no NUL, no lone surrogate. What it cannot hold, it does not have."""
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def canonical_json(value: Mapping[str, object]) -> str:
    """One text for equal metadata: keys sorted, no spaces.

    Raises:
        InputError: it is no JSON.
    """
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            "metadata", f"is no JSON ({error})", "use strings, numbers, booleans, None, lists, dicts"
        ) from error


def match_model(bound: ModelIdentity, asked: ModelIdentity) -> None:
    """Refuse a model that the store was not filled by.

    Raises:
        EmbedderMismatchError: they differ.
    """
    if bound != asked:
        raise EmbedderMismatchError(
            f"the store was filled by {bound.model} ({bound.dimensions} dimensions, codec {bound.codec}), not by "
            f"{asked.model} ({asked.dimensions}, {asked.codec}); open it with the first, or fill a new store"
        )


def with_chunks(header: EpisodeHeader, chunks: tuple[Chunk, ...]) -> Episode:
    """An episode out of its header and its chunks."""
    return Episode(**{name: getattr(header, name) for name in EpisodeHeader.__slots__}, chunks=chunks)


def _now() -> int:
    return to_micros(datetime.now(UTC))


def _micros(field: str, time: datetime) -> int:
    if time.tzinfo is None:
        raise InputError(field, "is a naive time", "use an aware datetime, such as datetime.now(UTC)")
    try:
        return to_micros(time.astimezone(UTC))
    except OverflowError:
        raise InputError(field, f"is {time.isoformat()}", "use one from year 1 to 9999 in UTC") from None


def _check_text(field: str, text: str | None) -> None:
    if text is not None and not storable(text):
        raise InputError(field, "holds a NUL or a lone surrogate", "use well-formed Unicode")


def _check_type(field: str, type_: str) -> None:
    if type_ not in EPISODE_TYPES:
        raise InputError(field, f"has {type_!r}", f"use {', '.join(EPISODE_TYPES)}")


def _check_rows(episodes: Sequence[EpisodeRow]) -> None:
    """Refuse rows that no store could give back as they came.

    Raises:
        InputError: names the row and the field.
    """
    ids: set[str] = set()
    for index, row in enumerate(episodes):
        name = f"episodes[{index}]"
        checked_id(f"{name}.id", row.id)
        if row.id in ids:
            raise InputError(f"{name}.id", f"{row.id!r} comes twice", "give every episode an id of its own")
        ids.add(row.id)
        _check_type(f"{name}.type", row.type)
        for field, text in (("key", row.key), ("session", row.session), *(("tags", tag) for tag in row.tags)):
            _check_text(f"{name}.{field}", text)
        for field, time in (("created_at", row.created_at), ("recorded_at", row.recorded_at)):
            _micros(f"{name}.{field}", time)
        if row.expires_at is not None:
            _micros(f"{name}.expires_at", row.expires_at)
        _check_text(f"{name}.metadata", canonical_json(row.metadata))
        for position, memory in enumerate(row.memories):
            _check_memory(f"{name}.memories[{position}]", memory)


def _check_memory(name: str, memory: MemoryRow) -> None:
    for field in ("id", "key", "text", "speaker", "role", "source_id"):
        _check_text(f"{name}.{field}", getattr(memory, field))
    _check_text(f"{name}.terms", "".join(memory.terms))
    _micros(f"{name}.timestamp", memory.timestamp)
    if not memory.vector:
        raise InputError(f"{name}.vector", "is empty", "every memory has a vector")
