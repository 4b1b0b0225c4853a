"""The store that lives in the process and dies with it; the reference for what every other store does."""

import json
import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from byheart.errors import InputError, StoreFullError
from byheart.stores.base import (
    OTHER_ROLE,
    ROLE_CODES,
    Added,
    BaseStore,
    Counts,
    EpisodeRow,
    IndexDelta,
    IndexRow,
    MemoryRow,
    ModelIdentity,
    StoredMemory,
    TermStats,
    canonical_json,
    from_micros,
    match_model,
    to_micros,
    with_chunks,
)
from byheart.types import EPISODE_TYPES, Check, Chunk, Episode, EpisodeHeader, EpisodeType, PurgeReport, Scope

_WRITES_BITS = 32


@dataclass(slots=True)
class _Memory:
    row: MemoryRow
    index: IndexRow


@dataclass(slots=True)
class _Episode:
    """An episode as it is kept."""

    number: int
    row: EpisodeRow
    metadata: str
    updated_at: int
    tags: list[str]
    memories: dict[int, _Memory] = field(default_factory=dict[int, _Memory])

    @property
    def order(self) -> tuple[int, int]:
        """Later is greater."""
        return (to_micros(self.row.created_at), self.number)

    def expired(self, now: int) -> bool:
        """Whether it is as good as gone."""
        return self.row.expires_at is not None and to_micros(self.row.expires_at) <= now


@dataclass(slots=True)
class _Partition:
    """A scope's episodes by number, its sessions' numbers, and which seqs each version touched."""

    version: int
    episodes: dict[int, _Episode] = field(default_factory=dict[int, _Episode])
    sessions: dict[str, int] = field(default_factory=dict[str, int])
    touched: dict[int, set[int]] = field(default_factory=dict[int, set[int]])

    def bump(self, seqs: set[int]) -> None:
        """Go to the next version."""
        self.version += 1
        self.touched[self.version] = seqs

    def live(self, now: int) -> Iterator[_Episode]:
        """The episodes that have not expired."""
        return (episode for episode in self.episodes.values() if not episode.expired(now))

    def by_id(self, episode_id: str, now: int) -> _Episode | None:
        """The live episode with an id."""
        return next((episode for episode in self.live(now) if episode.row.id == episode_id), None)

    def memories(self, now: int) -> dict[int, tuple[_Episode, _Memory]]:
        """Every live memory by its seq."""
        return {seq: (episode, memory) for episode in self.live(now) for seq, memory in episode.memories.items()}


class MemoryStore(BaseStore):
    """One agent's memories in plain dictionaries: for tests, trials, and agents that need not remember tomorrow.

    Args:
        agent_id: whose memories they are.
        max_episodes: how many episodes the agent may hold; 0 for any number.
        auto_prune: make room by deleting the oldest episodes; without it an add beyond `max_episodes` is refused.
    """

    def __init__(self, agent_id: str, *, max_episodes: int = 0, auto_prune: bool = False) -> None:
        super().__init__(agent_id, max_episodes=max_episodes, auto_prune=auto_prune)
        self._model: ModelIdentity | None = None
        self._partitions: dict[Scope, _Partition] = {}
        self._terms: dict[str, int] = {}
        self._documents: Counter[int] = Counter()
        self._last = Counter({"partition": 0, "episode": 0, "seq": 0, "session": 0, "term": 0})

    def _next(self, kind: str) -> int:
        self._last[kind] += 1
        return self._last[kind]

    async def _open(self) -> None:
        """Nothing to do."""

    async def _close(self) -> None:
        """What was stored stays, so that the store can be opened again."""

    async def _bind_model(self, identity: ModelIdentity, now: int) -> None:
        self._delete_expired(now)
        self._model = self._model or identity
        match_model(self._model, identity)

    async def _known_parts(self, scope: Scope, keys: Sequence[str], now: int) -> Mapping[str, frozenset[str]]:
        wanted = set(keys)
        return {
            episode.row.key: frozenset(memory.row.key for memory in episode.memories.values())
            for episode in self._live([scope], now)
            if episode.row.key in wanted
        }

    def _live(self, scopes: Sequence[Scope], now: int) -> Iterator[_Episode]:
        for scope in dict.fromkeys(scopes):
            if scope in self._partitions:
                yield from self._partitions[scope].live(now)

    async def _add(self, scope: Scope, episodes: Sequence[EpisodeRow], now: int) -> list[Added]:
        self._delete_expired(now)
        partition = self._partitions.get(scope)
        held = partition.episodes.values() if partition else ()
        by_key = {episode.row.key: episode for episode in held if episode.row.key is not None}
        self._refuse(episodes, set(by_key))
        if partition is None:
            partition = self._partitions[scope] = _Partition(self._next("partition") << _WRITES_BITS)
        added: list[Added] = []
        written: set[int] = set()
        seqs: set[int] = set()
        for row in episodes:
            episode = by_key.get(row.key) if row.key is not None else None
            if episode is None:
                episode = self._new_episode(partition, row)
                written.add(episode.number)
                if row.key is not None:
                    by_key[row.key] = episode
            new = self._append(partition, episode, row)
            if new:
                written.add(episode.number)
            seqs |= new
            added.append(Added(episode.row.id, len(new)))
        if written:
            partition.bump(seqs)
        self._make_room(written)
        return added

    def _refuse(self, episodes: Sequence[EpisodeRow], keys: set[str]) -> None:
        """Raise for what may not be written, before anything is."""
        taken = {episode.row.id for partition in self._partitions.values() for episode in partition.episodes.values()}
        held = len(taken)
        for row in episodes:
            if row.key is None or row.key not in keys:
                if row.id in taken:
                    raise InputError(
                        "episodes", f"the id {row.id!r} is in the store already", "give every new episode a fresh id"
                    )
                held += 1
                if row.key is not None:
                    keys.add(row.key)
        if self._max_episodes and held > self._max_episodes and not self._auto_prune:
            raise StoreFullError(
                f"the agent would hold {held} episodes of at most {self._max_episodes}; nothing was written: prune or "
                "forget some, raise max_episodes, or open with auto_prune=True"
            )

    def _new_episode(self, partition: _Partition, row: EpisodeRow) -> _Episode:
        number = self._next("episode")
        tags = list(dict.fromkeys(row.tags))
        if row.session is not None and row.session not in partition.sessions:
            partition.sessions[row.session] = self._next("session")
        episode = _Episode(number, row, canonical_json(row.metadata), to_micros(row.recorded_at), tags)
        partition.episodes[number] = episode
        return episode

    def _append(self, partition: _Partition, episode: _Episode, row: EpisodeRow) -> set[int]:
        known = {memory.row.key for memory in episode.memories.values()} if row.key is not None else set[str]()
        new: set[int] = set()
        for memory in row.memories:
            if memory.key in known:
                continue
            seq = self._next("seq")
            episode.memories[seq] = _Memory(memory, self._index_row(partition, episode, seq, memory))
            episode.updated_at = to_micros(row.recorded_at)
            new.add(seq)
        return new

    def _index_row(self, partition: _Partition, episode: _Episode, seq: int, row: MemoryRow) -> IndexRow:
        for term in row.terms:
            if term not in self._terms:
                self._terms[term] = self._next("term")
            self._documents[self._terms[term]] += 1
        first = episode.row
        return IndexRow(
            seq=seq,
            episode=episode.number,
            session=0 if first.session is None else partition.sessions[first.session],
            timestamp=to_micros(row.timestamp),
            expires=0 if first.expires_at is None else to_micros(first.expires_at),
            last_accessed=0,
            importance=float(row.importance),
            type=EPISODE_TYPES.index(first.type),
            role=ROLE_CODES.get(row.role, OTHER_ROLE),
            coordinate=row.coordinate.codes(),
            term_ids=struct.pack(f"<{len(row.terms)}i", *(self._terms[term] for term in row.terms)),
            term_counts=struct.pack(f"<{len(row.terms)}i", *row.terms.values()),
            vector=row.vector,
            tokens=row.tokens,
        )

    def _make_room(self, written: set[int]) -> None:
        everything = [
            (episode.number in written, episode.order, scope)
            for scope, partition in self._partitions.items()
            for episode in partition.episodes.values()
        ]
        excess = len(everything) - self._max_episodes if self._max_episodes else 0
        going = sorted(everything, key=lambda item: item[:2])[: max(excess, 0)]
        for scope in {scope for *_, scope in going}:
            self._delete_numbers(scope, [number for _, (_, number), of in going if of == scope])

    def _delete_expired(self, now: int) -> None:
        for scope, partition in list(self._partitions.items()):
            self._delete_numbers(scope, [n for n, episode in partition.episodes.items() if episode.expired(now)])

    def _delete_numbers(self, scope: Scope, numbers: Sequence[int]) -> int:
        if not numbers:
            return 0
        partition = self._partitions[scope]
        going = [partition.episodes.pop(number) for number in numbers]
        for episode in going:
            for memory in episode.memories.values():
                self._documents.subtract(self._terms[term] for term in memory.row.terms)
        self._documents = +self._documents
        self._terms = {term: id_ for term, id_ in self._terms.items() if id_ in self._documents}
        sessions = {episode.row.session for episode in partition.episodes.values()}
        partition.sessions = {name: id_ for name, id_ in partition.sessions.items() if name in sessions}
        partition.bump({seq for episode in going for seq in episode.memories})
        if not partition.episodes:
            del self._partitions[scope]
        return len(going)

    async def _get(self, scopes: Sequence[Scope], episode_id: str, now: int) -> Episode | None:
        found = ((scope, episode) for scope in scopes for episode in self._live([scope], now))
        return next((self._shown(scope, episode) for scope, episode in found if episode.row.id == episode_id), None)

    async def _vectors(self, scope: Scope, episode_id: str, now: int) -> list[bytes]:
        partition = self._partitions.get(scope)
        episode = partition.by_id(episode_id, now) if partition else None
        return [memory.row.vector for memory in episode.memories.values()] if episode else []

    def _header(self, scope: Scope, episode: _Episode) -> EpisodeHeader:
        row = episode.row
        return EpisodeHeader(
            id=row.id,
            agent_id=self._agent_id,
            scope=scope,
            type=row.type,
            tags=tuple(episode.tags),
            metadata=json.loads(episode.metadata),
            created_at=from_micros(to_micros(row.created_at)),
            updated_at=from_micros(episode.updated_at),
            recorded_at=from_micros(to_micros(row.recorded_at)),
            session=row.session,
            expires_at=None if row.expires_at is None else from_micros(to_micros(row.expires_at)),
            chunk_count=len(episode.memories),
        )

    def _shown(self, scope: Scope, episode: _Episode) -> Episode:
        memories = enumerate(episode.memories.values())
        return with_chunks(
            self._header(scope, episode), tuple(_chunk(episode.row.id, place, memory) for place, memory in memories)
        )

    async def _recent(
        self, scopes: Sequence[Scope], limit: int, types: Sequence[EpisodeType], tags: Sequence[str], now: int
    ) -> list[Episode]:
        found = [
            (episode.order, scope, episode)
            for scope in dict.fromkeys(scopes)
            for episode in self._live([scope], now)
            if (not types or episode.row.type in types) and set(tags) <= set(episode.tags)
        ]
        found.sort(key=lambda item: item[0], reverse=True)
        return [self._shown(scope, episode) for _, scope, episode in found[:limit]]

    async def _delete(self, scope: Scope, episode_ids: Sequence[str], now: int) -> int:
        self._delete_expired(now)
        wanted = set(episode_ids)
        numbers = [episode.number for episode in self._live([scope], now) if episode.row.id in wanted]
        return self._delete_numbers(scope, numbers)

    async def _prune(self, scope: Scope, keep: int | None, older_than: int | None, now: int) -> int:
        self._delete_expired(now)
        newest = sorted((episode.order for episode in self._live([scope], now)), reverse=True)
        kept = newest if keep is None else newest[:keep]
        kept = [(at, number) for at, number in kept if older_than is None or at >= older_than]
        return self._delete_numbers(scope, [number for _, number in set(newest) - set(kept)])

    async def _edit_tags(
        self, scope: Scope, episode_id: str, add: Sequence[str], remove: Sequence[str], now: int
    ) -> bool:
        self._delete_expired(now)
        partition = self._partitions.get(scope)
        episode = partition.by_id(episode_id, now) if partition else None
        if partition is None or episode is None:
            return False
        episode.tags = list(dict.fromkeys([*(tag for tag in episode.tags if tag not in remove), *add]))
        episode.updated_at = now
        partition.bump(set())
        return True

    async def _tags(self, scopes: Sequence[Scope], now: int) -> list[str]:
        return sorted({tag for episode in self._live(scopes, now) for tag in episode.tags})

    async def _counts(self, scopes: Sequence[Scope], now: int) -> Counts:
        found = list(self._live(scopes, now))
        times = [from_micros(episode.order[0]) for episode in found]
        return Counts(
            episodes=len(found),
            memories=sum(len(episode.memories) for episode in found),
            by_type=dict(Counter(episode.row.type for episode in found)),
            oldest=min(times, default=None),
            newest=max(times, default=None),
        )

    async def _scopes(self, now: int) -> list[Scope]:
        return [scope for scope, partition in self._partitions.items() if any(partition.live(now))]

    async def _changes(self, scope: Scope, since: int) -> IndexDelta:
        partition = self._partitions.get(scope)
        if partition is None:
            return IndexDelta(0, True, (), ())
        rows = {
            seq: memory.index for episode in partition.episodes.values() for seq, memory in episode.memories.items()
        }
        if since >> _WRITES_BITS != partition.version >> _WRITES_BITS or since > partition.version:
            return IndexDelta(partition.version, True, [rows[seq] for seq in sorted(rows)], ())
        touched = {seq for version, seqs in partition.touched.items() if version > since for seq in seqs}
        there = [rows[seq] for seq in sorted(touched) if seq in rows]
        return IndexDelta(partition.version, False, there, sorted(touched - rows.keys()))

    async def _tagged(self, scope: Scope, tags: Sequence[str], now: int) -> Sequence[int]:
        wanted = set(tags)
        return sorted(
            seq for episode in self._live([scope], now) if wanted <= set(episode.tags) for seq in episode.memories
        )

    async def _session_number(self, scope: Scope, session: str) -> int:
        partition = self._partitions.get(scope)
        return partition.sessions.get(session, -1) if partition else -1

    async def _term_stats(self, terms: Sequence[str]) -> TermStats:
        documents = sum(len(e.memories) for partition in self._partitions.values() for e in partition.episodes.values())
        found = {term: self._terms[term] for term in terms if term in self._terms}
        return TermStats(documents, {term: (id_, self._documents[id_]) for term, id_ in found.items()})

    async def _term_texts(self, term_ids: Sequence[int]) -> Mapping[int, str]:
        wanted = set(term_ids)
        return {id_: term for term, id_ in self._terms.items() if id_ in wanted}

    async def _read(self, scope: Scope, seqs: Sequence[int], now: int) -> list[StoredMemory]:
        partition = self._partitions.get(scope)
        memories = partition.memories(now) if partition else {}
        return [self._stored(scope, seq, *memories[seq]) for seq in seqs if seq in memories]

    def _stored(self, scope: Scope, seq: int, episode: _Episode, memory: _Memory) -> StoredMemory:
        place = list(episode.memories).index(seq)
        return StoredMemory(seq, _chunk(episode.row.id, place, memory), self._header(scope, episode))

    async def _record_access(self, scope: Scope, seqs: Sequence[int], at: int, now: int) -> None:
        self._delete_expired(now)
        partition = self._partitions.get(scope)
        memories = partition.memories(now) if partition else {}
        touched = {seq for seq in seqs if seq in memories}
        for seq in touched:
            memory = memories[seq][1]
            memory.index = memory.index._replace(last_accessed=max(at, memory.index.last_accessed))
        if partition is not None and touched:
            partition.bump(touched)

    async def _clear(self, scopes: Sequence[Scope] | None, now: int) -> None:
        self._delete_expired(now)
        for scope in list(self._partitions) if scopes is None else dict.fromkeys(scopes):
            if scope in self._partitions:
                self._delete_numbers(scope, list(self._partitions[scope].episodes))

    async def _purge(self) -> PurgeReport:
        return PurgeReport({}, 0, 0)

    async def _check(self) -> list[Check]:
        recount = Counter(
            self._terms[term]
            for partition in self._partitions.values()
            for episode in partition.episodes.values()
            for memory in episode.memories.values()
            for term in memory.row.terms
        )
        return [Check("terms", recount == self._documents, f"{len(self._terms)} terms")]


def _chunk(episode_id: str, place: int, memory: _Memory) -> Chunk:
    row, index = memory.row, memory.index
    return Chunk(
        id=f"chunk_{episode_id}_{place}",
        memory_id=row.id,
        episode_id=episode_id,
        index=place,
        text=row.text,
        timestamp=from_micros(index.timestamp),
        speaker=row.speaker,
        role=row.role,
        source_id=row.source_id,
        importance=index.importance,
        last_accessed=from_micros(index.last_accessed) if index.last_accessed else None,
        coordinate=row.coordinate,
    )
