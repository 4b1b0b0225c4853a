"""Writes: functions of a connection inside an open write transaction, and plain values."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Self

import apsw

from byheart.errors import InputError, StoreFullError
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
from byheart.stores.sqlite.connection import Bindable, Row, json_list, rows, run, run_many
from byheart.stores.sqlite.layout import (
    KEPT_WRITES,
    LAST_SEQ,
    MAX_PARTITIONS,
    SEQ_BITS,
    WRITES_BITS,
    pack_int32,
    ranges,
    unpack_int32,
)
from byheart.stores.sqlite.read import find_partition, is_bound
from byheart.stores.sqlite.residue import Forgotten
from byheart.types import EPISODE_TYPES, Scope

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


@dataclass(frozen=True, slots=True)
class Room:
    """How many episodes the agent may hold (0: any number), and whether old ones make room for new ones."""

    max_episodes: int
    auto_prune: bool


def add_episodes(
    connection: apsw.Connection, forgotten: Forgotten, scope: Scope, episodes: Sequence[EpisodeRow], room: Room
) -> list[Added]:
    """Write episodes and all that hangs on them; returns what became of each row.

    Raises:
        InputError: an id is in the store already.
        StoreFullError: there is no room.
    """
    counters = Counters.load(connection)
    partition = _partition(connection, scope, counters)
    batch = _Batch(partition, counters.next_seq)
    added = _plan(connection, batch, episodes, counters)
    if not batch.new and not batch.memories:
        return added
    _write_episodes(connection, batch)
    _write_memories(connection, batch, counters)
    counters.save(connection)
    seqs = range(batch.first_seq, counters.next_seq)
    _bump(connection, partition, len(batch.new), seqs)
    if room.max_episodes and counters.episodes > room.max_episodes:
        written = {target.number for target, _ in batch.new} | set(batch.grown)
        _make_room(connection, forgotten, room, counters.episodes, written)
    return added


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
    _refuse_taken_ids(connection, episodes, set(targets))
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
    asked = [(targets[row.key].number, memory.key) for row in episodes if row.key in targets for memory in row.memories]
    by_number = {target.number: target for target in targets.values()}
    for number, part in rows(connection, "memory_parts_taken", json_list(asked)):
        by_number[number].parts.add(part)
    return targets


def _refuse_taken_ids(connection: apsw.Connection, episodes: Sequence[EpisodeRow], keys: set[str]) -> None:
    """Refuse a new episode whose id the store has; a row that only appends does not use its id."""
    new: list[str] = []
    for row in episodes:
        if row.key is None or row.key not in keys:
            new.append(row.id)
        if row.key is not None:
            keys.add(row.key)
    for (id_,) in rows(connection, "episode_ids_taken", json_list(new)):
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


def _episode_values(partition: int, target: _Target, row: EpisodeRow) -> Sequence[Bindable]:
    created, recorded = to_micros(row.created_at), to_micros(row.recorded_at)
    metadata = canonical_json(row.metadata)
    numbers = (target.type, target.session, created, recorded, recorded, target.expires, target.chunks)
    return (target.number, target.id, partition, row.key, *numbers, metadata)


def _write_memories(connection: apsw.Connection, batch: _Batch, counters: Counters) -> None:
    counters.documents += len(batch.memories)
    counters.next_seq += len(batch.memories)
    if counters.next_seq >= LAST_SEQ:
        raise StoreFullError(f"the store has had {LAST_SEQ} memories; start another file")
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


def _index_values(place: int, target: _Target, row: MemoryRow, numbers: Mapping[str, int]) -> Sequence[Bindable]:
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


def _make_room(connection: apsw.Connection, forgotten: Forgotten, room: Room, episodes: int, written: set[int]) -> None:
    """Delete the oldest episodes; those just written only where the batch alone is too many."""
    if not room.auto_prune:
        raise StoreFullError(
            f"the agent would hold {episodes} episodes of at most {room.max_episodes}; nothing was written: prune or "
            "forget some, raise max_episodes, or open with auto_prune=True"
        )
    excess = episodes - room.max_episodes
    going = rows(connection, "episode_oldest", json_list(written), excess)
    if len(going) < excess:
        others = [number for _, number in going]
        going += rows(connection, "episode_oldest", json_list(others), excess - len(going))
    _delete_anywhere(connection, forgotten, going)


def delete_expired(connection: apsw.Connection, forgotten: Forgotten, now: int) -> None:
    """Delete what has expired, in every scope."""
    _delete_anywhere(connection, forgotten, rows(connection, "episode_expired", now))


def _delete_anywhere(connection: apsw.Connection, forgotten: Forgotten, going: Iterable[Row]) -> None:
    by_partition: dict[int, list[int]] = {}
    for partition, number in going:
        by_partition.setdefault(partition, []).append(number)
    for partition, numbers in by_partition.items():
        _delete_episodes(connection, forgotten, partition, numbers)


def delete_ids(connection: apsw.Connection, forgotten: Forgotten, scope: Scope, episode_ids: Sequence[str]) -> int:
    """Delete the episodes of a scope that have one of the ids; returns how many there were."""
    partition = find_partition(connection, scope)
    if partition is None:
        return 0
    found = rows(connection, "episode_numbers", partition, json_list(episode_ids))
    return _delete_episodes(connection, forgotten, partition, [number for (number,) in found])


def prune(
    connection: apsw.Connection, forgotten: Forgotten, scope: Scope, keep: int | None, older_than: int | None
) -> int:
    """Delete the episodes of a scope beyond the `keep` newest, and those from before a time; returns how many went."""
    partition = find_partition(connection, scope)
    if partition is None:
        return 0
    beyond = [] if keep is None else rows(connection, "episode_beyond", partition, keep)
    older = [] if older_than is None else rows(connection, "episode_older", partition, older_than)
    return _delete_episodes(connection, forgotten, partition, sorted({number for (number,) in (*beyond, *older)}))


def clear(connection: apsw.Connection, forgotten: Forgotten, scopes: Sequence[Scope] | None) -> None:
    """Delete everything in the scopes, or everything there is."""
    if scopes is None:
        forgotten.add(text for (text,) in rows(connection, "some_texts", forgotten.MOST_TEXTS))
        run(connection, "wipe")
        return
    for scope in dict.fromkeys(scopes):
        partition = find_partition(connection, scope)
        if partition is not None:
            found = rows(connection, "episode_all", partition)
            _delete_episodes(connection, forgotten, partition, [number for (number,) in found])


def _delete_episodes(connection: apsw.Connection, forgotten: Forgotten, partition: int, numbers: Sequence[int]) -> int:
    """Delete episodes of a partition with all that hangs on them; returns how many there were."""
    if not numbers:
        return 0
    seqs: list[int] = []
    for start in range(0, len(numbers), _DELETE_BATCH):
        listed = json_list(numbers[start : start + _DELETE_BATCH])
        found = rows(connection, "memory_forget", listed)
        forgotten.add(text for *_, text in found)
        forgotten.add(_uncount_terms(connection, (ids for _, ids, _ in found)))
        places = [(place,) for place, *_ in found]
        for name in ("memory_delete", "index_delete", "access_delete"):
            run_many(connection, name, places)
        run(connection, "tag_delete", listed)
        _leave_sessions(connection, Counter(session for (session,) in rows(connection, "episode_delete", listed)))
        seqs += (place & LAST_SEQ for (place,) in places)
    run(connection, "counters_less", len(numbers), len(seqs))
    _bump(connection, partition, -len(numbers), seqs)
    return len(numbers)


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


def edit_tags(
    connection: apsw.Connection,
    _: Forgotten,
    scope: Scope,
    episode_id: str,
    add: Sequence[str],
    remove: Sequence[str],
    now: int,
) -> bool:
    """Remove tags of an episode, then add some behind those it has; False where the scope has no such episode."""
    partition = find_partition(connection, scope)
    found = [] if partition is None else rows(connection, "episode_numbers", partition, json_list([episode_id]))
    if partition is None or not found:
        return False
    number = found[0][0]
    run_many(connection, "tag_remove", ((partition, tag, number) for tag in remove))
    ((last,),) = rows(connection, "tag_last", number)
    tags = enumerate(dict.fromkeys(add), last + 1)
    run_many(connection, "tag_add", ((partition, tag, number, position) for position, tag in tags))
    run(connection, "episode_touch", now, number)
    _bump(connection, partition, 0, ())
    return True


def record_access(connection: apsw.Connection, _: Forgotten, scope: Scope, seqs: Sequence[int], at: int) -> None:
    """Set the access time of the memories that are there; a time never goes back."""
    partition = find_partition(connection, scope)
    if partition is None:
        return
    places = json_list(partition << SEQ_BITS | seq for seq in seqs if 0 < seq <= LAST_SEQ)
    touched = [seq for (seq,) in rows(connection, "access_set", places=places, at=at)]
    if touched:
        _bump(connection, partition, 0, touched)


def bind_model(connection: apsw.Connection, _: Forgotten, identity: ModelIdentity) -> None:
    """Write the model down if there is none yet.

    Raises:
        EmbedderMismatchError: there is another one.
    """
    if not is_bound(connection, identity):
        run(connection, "store_bind", identity.model, identity.dimensions, identity.codec)
