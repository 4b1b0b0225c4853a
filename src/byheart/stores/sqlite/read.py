"""Reads: functions of a connection and plain values; several queries share one snapshot."""

import json
from collections.abc import Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import Any, cast

import apsw

from byheart.stores.base import (
    Counts,
    IndexDelta,
    IndexRow,
    ModelIdentity,
    StoredMemory,
    TermStats,
    from_micros,
    match_model,
    with_chunks,
)
from byheart.stores.sqlite.connection import Row, json_list, reading, rows
from byheart.stores.sqlite.layout import KEPT_WRITES, LAST_SEQ, SEQ_BITS, WRITES_BITS, ranges
from byheart.types import EPISODE_TYPES, Chunk, Coordinate, Episode, EpisodeHeader, EpisodeType, Scope


def find_partition(connection: apsw.Connection, scope: Scope) -> int | None:
    """The number of a scope's partition, if it holds anything."""
    found = rows(connection, "partition", scope.kind, scope.user, scope.session, scope.space)
    return found[0][0] if found else None


def _partitions(connection: apsw.Connection, scopes: Sequence[Scope]) -> list[int]:
    numbers = (find_partition(connection, scope) for scope in dict.fromkeys(scopes))
    return [number for number in numbers if number is not None]


def known_parts(connection: apsw.Connection, scope: Scope, keys: Sequence[str], now: int) -> dict[str, frozenset[str]]:
    """For each episode key that the scope has, the part keys it holds."""
    with reading(connection):
        partition = find_partition(connection, scope)
        if partition is None:
            return {}
        found = rows(connection, "episode_by_key", partition, json_list(keys))
        numbers = {number: key for key, number, _, _, _, expires, _ in found if not 0 < expires <= now}
        parts: dict[str, set[str]] = {key: set() for key in numbers.values()}
        for number, part in rows(connection, "memory_parts", json_list(numbers)):
            parts[numbers[number]].add(part)
    return {key: frozenset(found_parts) for key, found_parts in parts.items()}


def get_episode(connection: apsw.Connection, scopes: Sequence[Scope], episode_id: str, now: int) -> Episode | None:
    """One episode with its chunks, if one of the scopes has it."""
    with reading(connection):
        for partition in _partitions(connection, scopes):
            found = rows(connection, "header_of", episode_id, partition, now)
            if found:
                return _episodes(connection, [found[0][0]])[0]
    return None


def vectors(connection: apsw.Connection, scope: Scope, episode_id: str, now: int) -> list[bytes]:
    """The encoded vectors of an episode's memories, in their order."""
    with reading(connection):
        partition = find_partition(connection, scope)
        found = [] if partition is None else rows(connection, "header_of", episode_id, partition, now)
        return [vector for number, *_ in found for (vector,) in rows(connection, "vectors_of", number)]


def recent(
    connection: apsw.Connection,
    scopes: Sequence[Scope],
    limit: int,
    types: Sequence[EpisodeType],
    tags: Sequence[str],
    now: int,
) -> list[Episode]:
    """The newest episodes of the scopes, each scope read along its own index."""
    listed = json_list(EPISODE_TYPES.index(type_) for type_ in types) if types else None
    filters = {"types": listed, "tags": json_list(tags), "wanted": len(tags), "limit": limit, "now": now}
    with reading(connection):
        newest = [
            rows(connection, "recent", partition=partition, **filters) for partition in _partitions(connection, scopes)
        ]
        return _episodes(connection, [number for _, number in islice(merge(*newest, reverse=True), limit)])


def _headers(connection: apsw.Connection, numbers: Sequence[int]) -> dict[int, EpisodeHeader]:
    agent = rows(connection, "store")[0][0]
    return {row[0]: _header(agent, row) for row in rows(connection, "headers", json_list(numbers))}


def _type_name(code: int) -> EpisodeType:
    return EPISODE_TYPES[code]


def _header(agent: str, row: Row) -> EpisodeHeader:
    _, id_, kind, user, session, space, type_, metadata, created, updated, recorded, name, expires, chunks, tags = row
    return EpisodeHeader(
        id=id_,
        agent_id=agent,
        scope=Scope(kind, user, session, space),
        type=_type_name(type_),
        tags=tuple(cast("list[str]", json.loads(tags))),
        metadata=json.loads(metadata),
        created_at=from_micros(created),
        updated_at=from_micros(updated),
        recorded_at=from_micros(recorded),
        session=name,
        expires_at=from_micros(expires) if expires else None,
        chunk_count=chunks,
    )


def _chunk(episode_id: str, row: Sequence[Any]) -> Chunk:
    position, id_, speaker, role, source_id, text, timestamp, importance, coordinate, accessed = row
    return Chunk(
        id=f"chunk_{episode_id}_{position}",
        memory_id=id_,
        episode_id=episode_id,
        index=position,
        text=text,
        timestamp=from_micros(timestamp),
        speaker=speaker,
        role=role,
        source_id=source_id,
        importance=importance,
        last_accessed=None if accessed is None else from_micros(accessed),
        coordinate=Coordinate.from_codes(coordinate),
    )


def _episodes(connection: apsw.Connection, numbers: Sequence[int]) -> list[Episode]:
    headers = _headers(connection, numbers)
    chunks: dict[int, list[Chunk]] = {number: [] for number in numbers}
    for number, *row in rows(connection, "memory_of", json_list(numbers)):
        chunks[number].append(_chunk(headers[number].id, row))
    return [with_chunks(headers[number], tuple(chunks[number])) for number in numbers]


def read_memories(connection: apsw.Connection, scope: Scope, seqs: Sequence[int], now: int) -> list[StoredMemory]:
    """Memories for showing, in the order asked for."""
    with reading(connection):
        partition = find_partition(connection, scope)
        if partition is None:
            return []
        places = json_list(partition << SEQ_BITS | seq for seq in seqs if 0 < seq <= LAST_SEQ)
        found = {row[0] & LAST_SEQ: row[1:] for row in rows(connection, "memory_read", places, now)}
        headers = _headers(connection, list({row[0] for row in found.values()}))
    memories = {
        seq: StoredMemory(seq, _chunk(headers[row[0]].id, row[1:]), headers[row[0]]) for seq, row in found.items()
    }
    return [memories[seq] for seq in seqs if seq in memories]


def all_tags(connection: apsw.Connection, scopes: Sequence[Scope], now: int) -> list[str]:
    """All tags in use, sorted."""
    with reading(connection):
        found = (
            rows(connection, "tags", partition=partition, now=now) for partition in _partitions(connection, scopes)
        )
        return sorted({tag for tags in found for (tag,) in tags})


def count(connection: apsw.Connection, scopes: Sequence[Scope], now: int) -> Counts:
    """How much the scopes hold."""
    with reading(connection):
        found = [row for number in _partitions(connection, scopes) for row in rows(connection, "counts", number, now)]
    by_type: dict[str, int] = {}
    for type_, episodes, *_ in found:
        by_type[_type_name(type_)] = by_type.get(_type_name(type_), 0) + episodes
    return Counts(
        episodes=sum(row[1] for row in found),
        memories=sum(row[2] for row in found),
        by_type=by_type,
        oldest=from_micros(min(row[3] for row in found)) if found else None,
        newest=from_micros(max(row[4] for row in found)) if found else None,
    )


def all_scopes(connection: apsw.Connection, now: int) -> list[Scope]:
    """Every scope that holds something, in the order in which they came."""
    return [Scope(*row) for row in rows(connection, "scopes", now)]


def changes(connection: apsw.Connection, scope: Scope, since: int) -> IndexDelta:
    """What changed since a version; with nothing new, one look-up."""
    found = rows(connection, "partition", scope.kind, scope.user, scope.session, scope.space)
    if not found:
        return IndexDelta(0, True, (), ())
    if found[0][1] == since:
        return IndexDelta(since, False, (), ())
    with reading(connection):
        return _changes(connection, scope, since)


def _changes(connection: apsw.Connection, scope: Scope, since: int) -> IndexDelta:
    found = rows(connection, "partition", scope.kind, scope.user, scope.session, scope.space)
    if not found:
        return IndexDelta(0, True, (), ())
    ((partition, version),) = found
    if since >> WRITES_BITS != partition or not version - KEPT_WRITES <= since <= version:
        return IndexDelta(version, True, _index_rows(connection, partition, 1, LAST_SEQ), ())
    touched: set[int] = set()
    for first, last in rows(connection, "change_since", partition, since):
        touched.update(range(first, last + 1))
    delta = [row for first, last in ranges(touched) for row in _index_rows(connection, partition, first, last)]
    return IndexDelta(version, False, delta, sorted(touched.difference(row.seq for row in delta)))


class _Codes(dict[bytes, tuple[int, ...]]):
    """Coordinates by their bytes: a store has few different ones."""

    def __missing__(self, key: bytes) -> tuple[int, ...]:
        self[key] = tuple(key)
        return self[key]


def _index_rows(connection: apsw.Connection, partition: int, first: int, last: int) -> list[IndexRow]:
    between = (partition << SEQ_BITS | first, partition << SEQ_BITS | last)
    accessed: Mapping[int, int] = dict(rows(connection, "access_range", *between))
    codes, make = _Codes(), IndexRow._make
    return [
        make((*row[:5], accessed.get(row[0], 0), *row[5:8], codes[row[8]], *row[9:]))
        for row in rows(connection, "index_range", *between)
    ]


def tagged(connection: apsw.Connection, scope: Scope, tags: Sequence[str], now: int) -> list[int]:
    """The seqs of the memories whose episode has all of the tags."""
    with reading(connection):
        partition = find_partition(connection, scope)
        if partition is None:
            return []
        if not tags:
            found = rows(connection, "tagged_any", partition=partition, now=now)
        else:
            found = rows(connection, "tagged", partition=partition, tags=json_list(tags), wanted=len(tags), now=now)
    return [place & LAST_SEQ for (place,) in found]


def session_number(connection: apsw.Connection, scope: Scope, session: str) -> int:
    """The number of a session, or -1."""
    with reading(connection):
        partition = find_partition(connection, scope)
        found = [] if partition is None else rows(connection, "session", partition, session)
    return found[0][0] if found else -1


def term_stats(connection: apsw.Connection, terms: Sequence[str]) -> TermStats:
    """Ids and document frequencies of terms, over the whole agent."""
    with reading(connection):
        ((documents,),) = rows(connection, "documents")
        found = rows(connection, "term_stats", json_list(dict.fromkeys(terms)))
    return TermStats(documents, {text: (number, count) for text, number, count in found})


def term_texts(connection: apsw.Connection, term_ids: Sequence[int]) -> dict[int, str]:
    """The terms behind ids."""
    return dict(rows(connection, "term_texts", json_list(dict.fromkeys(term_ids))))


def is_bound(connection: apsw.Connection, identity: ModelIdentity) -> bool:
    """Whether the store has a model.

    Raises:
        EmbedderMismatchError: it has another one than this.
    """
    ((_, model, dimensions, codec),) = rows(connection, "store")
    if model is not None:
        match_model(ModelIdentity(model, dimensions, codec), identity)
    return model is not None
