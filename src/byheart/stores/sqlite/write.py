"""Writes: functions of a connection inside an open write transaction, and plain values."""

import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Self

import apsw

from byheart.errors import EmbedderMismatchError, InputError, StoreFullError
from byheart.stores.base import (
    OTHER_ROLE,
    ROLE_CODES,
    Added,
    EpisodeRow,
    MemoryRow,
    ModelIdentity,
    canonical_json,
    to_micros,
)
from byheart.stores.sqlite.connection import json_list, rows, run, run_many
from byheart.types import EPISODE_TYPES, Scope

SEQ_BITS = 40
WRITES_BITS = 32
MAX_PARTITIONS = 1 << (63 - SEQ_BITS)

#: How many writes back a partition's change log reaches; who is further behind loads everything again.
KEPT_WRITES = 20_000

_DELETE_BATCH = 500


@dataclass(slots=True)
class Counters:
    """The agent's counts, and the next number of each kind."""

    episodes: int
    documents: int
    next_partition: int
    next_seq: int
    next_episode: int
    next_session: int
    next_term: int

    @classmethod
    def load(cls, connection: apsw.Connection) -> Self:
        """Read them, once a transaction."""
        return cls(*rows(connection, "counters")[0])

    def save(self, connection: apsw.Connection) -> None:
        """Write them back, in the transaction that read them."""
        run(connection, "counters_set", *astuple(self))


@dataclass(slots=True)
class _Target:
    """An episode that memories are written to: one that exists, or a new one."""

    number: int
    id: str
    session: int
    type: int
    expires: int
    chunks: int
    parts: set[str] = field(default_factory=set[str])


@dataclass(slots=True)
class _Batch:
    """What one `add` will write, in the order it was given."""

    partition: int
    first_seq: int
    new: list[tuple[_Target, EpisodeRow]] = field(default_factory=list[tuple[_Target, EpisodeRow]])
    grown: dict[int, tuple[_Target, int]] = field(default_factory=dict[int, tuple[_Target, int]])
    memories: list[tuple[_Target, int, MemoryRow]] = field(default_factory=list[tuple[_Target, int, MemoryRow]])


def add_episodes(
    connection: apsw.Connection, scope: Scope, episodes: Sequence[EpisodeRow], max_episodes: int, *, auto_prune: bool
) -> tuple[list[Added], list[str]]:
    """Write episodes and all that hangs on them.

    Returns:
        What became of each row, and the texts and words that had to make room.

    Raises:
        InputError: an id is in the store already.
        StoreFullError: `max_episodes` would be exceeded.
    """
    counters = Counters.load(connection)
    partition = _partition(connection, scope, counters)
    batch = _Batch(partition, counters.next_seq)
    added = _plan(connection, batch, episodes, counters)
    if not batch.new and not batch.memories:
        return added, []
    _write_episodes(connection, batch)
    _write_memories(connection, batch, counters)
    counters.save(connection)
    seqs = range(batch.first_seq, counters.next_seq)
    _bump(connection, partition, len(batch.new), seqs)
    written = {target.number for target, _ in batch.new} | set(batch.grown)
    excess = counters.episodes - max_episodes if max_episodes else 0
    return added, _make_room(connection, excess, written, counters, auto_prune=auto_prune) if excess > 0 else []


def _partition(connection: apsw.Connection, scope: Scope, counters: Counters) -> int:
    found = rows(connection, "partition", scope.kind, scope.user, scope.session, scope.space)
    if found:
        return found[0][0]
    number = counters.next_partition
    if number >= MAX_PARTITIONS:
        raise StoreFullError(f"the store has had {MAX_PARTITIONS} scopes; start another file")
    counters.next_partition += 1
    key = (scope.kind, scope.user, scope.session, scope.space)
    run(connection, "partition_create", number, *key, number << WRITES_BITS)
    return number


def _plan(
    connection: apsw.Connection, batch: _Batch, episodes: Sequence[EpisodeRow], counters: Counters
) -> list[Added]:
    """Decide for each row whether its episode is new and which of its memories are."""
    targets = _existing(connection, batch.partition, episodes)
    _refuse_taken_ids(connection, [row.id for row in episodes if row.key is None or row.key not in targets])
    sessions: dict[str, int] = {}
    added: list[Added] = []
    for row in episodes:
        target = targets.get(row.key) if row.key is not None else None
        if target is None:
            session = _session(connection, batch.partition, row.session, sessions, counters)
            target = _new_target(row, session, counters)
            batch.new.append((target, row))
            if row.key is not None:
                targets[row.key] = target
        added.append(Added(target.id, _take_memories(batch, target, row)))
    return added


def _existing(connection: apsw.Connection, partition: int, episodes: Sequence[EpisodeRow]) -> dict[str, _Target]:
    keys = {row.key for row in episodes if row.key is not None}
    if not keys:
        return {}
    targets = {
        key: _Target(number, id_, session, type_, expires, chunks)
        for key, number, id_, session, type_, expires, chunks in rows(
            connection, "episode_by_key", partition, json_list(keys)
        )
    }
    asked = [
        (targets[row.key].number, memory.key) for row in episodes if row.key in targets for memory in row.memories
    ]
    by_number = {target.number: target for target in targets.values()}
    for number, part in rows(connection, "memory_parts_taken", json_list(asked)):
        by_number[number].parts.add(part)
    return targets


def _refuse_taken_ids(connection: apsw.Connection, ids: Sequence[str]) -> None:
    for (id_,) in rows(connection, "episode_ids_taken", json_list(ids)):
        raise InputError("episodes", f"the id {id_!r} is in the store already", "give every new episode a fresh id")


def _new_target(row: EpisodeRow, session: int, counters: Counters) -> _Target:
    number = counters.next_episode
    counters.next_episode += 1
    counters.episodes += 1
    expires = to_micros(row.expires_at) if row.expires_at else 0
    return _Target(number, row.id, session, EPISODE_TYPES.index(row.type), expires, 0)


def _take_memories(batch: _Batch, target: _Target, row: EpisodeRow) -> int:
    """Put a row's memories into the batch, but for those whose part is there already."""
    fresh = [memory for memory in row.memories if row.key is None or memory.key not in target.parts]
    batch.memories.extend((target, target.chunks + index, memory) for index, memory in enumerate(fresh))
    target.chunks += len(fresh)
    target.parts.update(memory.key for memory in fresh)
    if fresh:
        batch.grown[target.number] = (target, to_micros(row.recorded_at))
    return len(fresh)


def _session(
    connection: apsw.Connection, partition: int, name: str | None, seen: dict[str, int], counters: Counters
) -> int:
    if name is None:
        return 0
    if name not in seen:
        found = rows(connection, "session", partition, name)
        seen[name] = found[0][0] if found else counters.next_session
        if not found:
            run(connection, "session_create", counters.next_session, partition, name)
            counters.next_session += 1
    return seen[name]


def _write_episodes(connection: apsw.Connection, batch: _Batch) -> None:
    run_many(connection, "episode_add", (_episode_values(batch.partition, target, row) for target, row in batch.new))
    new = {target.number for target, _ in batch.new}
    grown = ((at, target.chunks, target.number) for target, at in batch.grown.values() if target.number not in new)
    run_many(connection, "episode_grow", grown)
    tags = (
        (batch.partition, tag, target.number, position)
        for target, row in batch.new
        for position, tag in enumerate(dict.fromkeys(row.tags))
    )
    run_many(connection, "tag_add", tags)
    sessions = Counter(target.session for target, _ in batch.new if target.session)
    run_many(connection, "session_more", ((count, number) for number, count in sessions.items()))


def _episode_values(partition: int, target: _Target, row: EpisodeRow) -> tuple[object, ...]:
    created, recorded = to_micros(row.created_at), to_micros(row.recorded_at)
    metadata = canonical_json(row.metadata)
    numbers = (target.type, target.session, created, recorded, recorded, target.expires, target.chunks)
    return (target.number, target.id, partition, row.key, *numbers, metadata)


def _write_memories(connection: apsw.Connection, batch: _Batch, counters: Counters) -> None:
    counters.documents += len(batch.memories)
    counters.next_seq += len(batch.memories)
    if counters.next_seq >= 1 << SEQ_BITS:
        raise StoreFullError(f"the store has had {1 << SEQ_BITS} memories; start another file")
    numbers = _count_terms(connection, Counter(term for *_, row in batch.memories for term in row.terms), counters)
    first = batch.partition << SEQ_BITS | batch.first_seq
    numbered = list(enumerate(batch.memories, first))
    run_many(
        connection,
        "memory_add",
        (
            (place, target.number, position, row.id, row.key, row.speaker, row.role, row.source_id, row.text)
            for place, (target, position, row) in numbered
        ),
    )
    index = (_index_values(place, target, row, numbers) for place, (target, _, row) in numbered)
    run_many(connection, "index_add", index)


def _index_values(place: int, target: _Target, row: MemoryRow, numbers: Mapping[str, int]) -> tuple[object, ...]:
    return (
        place,
        target.number,
        target.session,
        to_micros(row.timestamp),
        target.expires,
        float(row.importance),
        target.type,
        ROLE_CODES.get(row.role, OTHER_ROLE),
        bytes(row.coordinate.codes()),
        pack_int32([numbers[term] for term in row.terms]),
        pack_int32(list(row.terms.values())),
        row.vector,
        row.tokens,
    )


def pack_int32(numbers: Sequence[int]) -> bytes:
    """int32 little-endian, as bytes."""
    return struct.pack(f"<{len(numbers)}i", *numbers)


def unpack_int32(packed: bytes) -> tuple[int, ...]:
    """The numbers that `pack_int32` packed."""
    return struct.unpack(f"<{len(packed) // 4}i", packed)


def _count_terms(connection: apsw.Connection, counts: Counter[str], counters: Counters) -> dict[str, int]:
    """Add to the terms' document counts, making the terms that are new; returns each one's number."""
    numbers: dict[str, int] = {text: number for text, number, _ in rows(connection, "term_stats", json_list(counts))}
    more = sorted((number, counts[text]) for text, number in numbers.items())
    run_many(connection, "term_more", ((count, number) for number, count in more))
    new = [text for text in counts if text not in numbers]
    numbers.update(zip(new, range(counters.next_term, counters.next_term + len(new)), strict=True))
    run_many(connection, "term_add", ((numbers[text], counts[text], text) for text in new))
    counters.next_term += len(new)
    return numbers


def _make_room(
    connection: apsw.Connection, excess: int, written: set[int], counters: Counters, *, auto_prune: bool
) -> list[str]:
    """Delete the oldest episodes; those just written only where the batch alone is too many."""
    if not auto_prune:
        most = counters.episodes - excess
        raise StoreFullError(
            f"the agent would hold {counters.episodes} episodes of at most {most}; nothing was written: prune or "
            "forget some, raise max_episodes, or open with auto_prune=True"
        )
    going = rows(connection, "episode_oldest", json_list(written), excess)
    if len(going) < excess:
        others = [number for _, number in going]
        going += rows(connection, "episode_oldest", json_list(others), excess - len(going))
    return _delete_anywhere(connection, going)


def delete_expired(connection: apsw.Connection, now: int) -> list[str]:
    """Delete what has expired, in every scope; returns the texts and words that went."""
    return _delete_anywhere(connection, rows(connection, "episode_expired", now))


def _delete_anywhere(connection: apsw.Connection, going: Iterable[tuple[int, int]]) -> list[str]:
    by_partition: dict[int, list[int]] = {}
    for partition, number in going:
        by_partition.setdefault(partition, []).append(number)
    forgotten: list[str] = []
    for partition, numbers in by_partition.items():
        forgotten += delete_episodes(connection, partition, numbers)
    return forgotten


def delete_episodes(connection: apsw.Connection, partition: int, numbers: Sequence[int]) -> list[str]:
    """Delete episodes of a partition with all that hangs on them; returns the texts and words that went."""
    if not numbers:
        return []
    forgotten: list[str] = []
    seqs: list[int] = []
    for start in range(0, len(numbers), _DELETE_BATCH):
        listed = json_list(numbers[start : start + _DELETE_BATCH])
        found = rows(connection, "memory_forget", listed)
        forgotten += (text for *_, text in found)
        forgotten += _uncount_terms(connection, (ids for _, ids, _ in found))
        places = [(place,) for place, *_ in found]
        for name in ("memory_delete", "index_delete", "access_delete"):
            run_many(connection, name, places)
        run(connection, "tag_delete", listed)
        _leave_sessions(connection, Counter(session for (session,) in rows(connection, "episode_delete", listed)))
        seqs += (place & ((1 << SEQ_BITS) - 1) for (place,) in places)
    run(connection, "counters_less", len(numbers), len(seqs))
    _bump(connection, partition, -len(numbers), seqs)
    return forgotten


def _uncount_terms(connection: apsw.Connection, packed: Iterable[bytes]) -> list[str]:
    counts = Counter(number for ids in packed for number in unpack_int32(ids))
    run_many(connection, "term_less", ((count, number) for number, count in sorted(counts.items())))
    return [text for (text,) in rows(connection, "term_delete", json_list(counts))]


def _leave_sessions(connection: apsw.Connection, counts: Counter[int]) -> None:
    counts.pop(0, None)
    for session, count in counts.items():
        for number, left in rows(connection, "session_less", count, session):
            if left <= 0:
                run(connection, "session_delete", number)


def _bump(connection: apsw.Connection, partition: int, episodes: int, seqs: Iterable[int]) -> None:
    """Give the partition its next version and write down what changed; a partition that is empty goes."""
    ((version, left),) = rows(connection, "partition_bump", episodes, partition)
    if left <= 0:
        run(connection, "partition_delete", partition)
        run(connection, "change_delete", partition)
        return
    run_many(connection, "change_add", ((partition, version, first, last) for first, last in ranges(seqs)))
    run(connection, "change_prune", partition, version - KEPT_WRITES)


def ranges(seqs: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Growing numbers as (first, last) of each unbroken run."""
    first = last = None
    for seq in sorted(seqs):
        if first is None or last is None:
            first = last = seq
        elif seq > last + 1:
            yield first, last
            first = last = seq
        else:
            last = seq
    if first is not None and last is not None:
        yield first, last


def edit_tags(
    connection: apsw.Connection, partition: int, number: int, add: Sequence[str], remove: Sequence[str], now: int
) -> None:
    """Remove tags of an episode, then add some behind those it has."""
    run_many(connection, "tag_remove", ((partition, tag, number) for tag in remove))
    ((last,),) = rows(connection, "tag_last", number)
    tags = dict.fromkeys(add)
    run_many(connection, "tag_add", ((partition, tag, number, last + 1 + n) for n, tag in enumerate(tags)))
    run(connection, "episode_touch", now, number)
    _bump(connection, partition, 0, ())


def record_access(connection: apsw.Connection, partition: int, seqs: Sequence[int], at: int) -> None:
    """Set the access time of the memories that are there; a time never goes back."""
    places = json_list(partition << SEQ_BITS | seq for seq in seqs)
    touched = [seq for (seq,) in rows(connection, "access_set", places=places, at=at)]
    if touched:
        _bump(connection, partition, 0, touched)


def bind_model(connection: apsw.Connection, identity: ModelIdentity) -> None:
    """Write the model down if there is none yet.

    Raises:
        EmbedderMismatchError: there is another one.
    """
    ((_, model, dimensions, codec),) = rows(connection, "store")
    if model is None:
        run(connection, "store_bind", identity.model, identity.dimensions, identity.codec)
    else:
        match_model(ModelIdentity(model, dimensions, codec), identity)


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
