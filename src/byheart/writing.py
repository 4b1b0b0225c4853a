"""From what is to be remembered to the rows that a store takes: cut, analyse, embed, encode, write."""

import hashlib
import secrets
import string
import uuid
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from anyio import to_thread

from byheart.arguments import checked_episode
from byheart.errors import ByheartError, EmbedderError, InputError, StoreError
from byheart.models.base import Embedder, Encoding
from byheart.retrieval.codec import encode_tokens, encode_vector
from byheart.retrieval.document import document_terms, indexed_text
from byheart.stores.base import Added, EpisodeRow, MemoryRow, Store
from byheart.text.chunks import chunk
from byheart.types import BatchReport, Chunk, Coordinate, Episode, ItemError, NewEpisode, Part, Scope, Tier

_ID_ALPHABET = string.ascii_lowercase + string.digits


@dataclass(frozen=True, slots=True)
class Piece:
    """A text that becomes one memory, with what its part knows of it."""

    text: str
    part: Part
    key: str
    timestamp: datetime


def new_episode_id(agent_id: str, now: datetime) -> str:
    """`ep_{agent}_{seconds}_{random}` as the seed writes it (C2), with twelve random characters."""
    return f"ep_{agent_id}_{int(now.timestamp())}_{''.join(secrets.choice(_ID_ALPHABET) for _ in range(12))}"


def part_keys(new: NewEpisode) -> tuple[str, ...]:
    """A key for each part that stays the same when the same conversation is written again, grown or not.

    It is the part's own key or `source_id`, else a hash of speaker, time and text; repeats are numbered.
    """
    seen: Counter[str] = Counter()
    keys: list[str] = []
    for part in new.parts:
        key = part.key or part.source_id or _digest(part)
        seen[key] += 1
        keys.append(key if seen[key] == 1 else f"{key}#{seen[key]}")
    return tuple(keys)


def _digest(part: Part) -> str:
    said = "" if part.timestamp is None else part.timestamp.astimezone(UTC).isoformat()
    joined = "\0".join((part.speaker or "", part.role or "", said, part.text))
    return hashlib.sha256(joined.encode("utf-8")).hexdigest()[:16]


def cut(new: NewEpisode, now: datetime, known: Collection[str] = ()) -> list[Piece]:
    """The pieces that one episode becomes: each part whole, or in chunks where it is long; known parts are left out."""
    happened = new.timestamp or now
    pieces: list[Piece] = []
    for part, key in zip(new.parts, part_keys(new), strict=True):
        if key in known:
            continue
        texts = [part.text.strip()]
        if new.chunking is not None:
            texts = chunk(part.text, new.chunking.max_tokens, new.chunking.overlap, new.chunking.split_on)
        pieces.extend(Piece(text, part, key, part.timestamp or happened) for text in texts)
    return pieces


def embedding_text(piece: Piece) -> str:
    """The text that the model is given for a piece."""
    return indexed_text(piece.text, speaker=piece.part.speaker)


async def embed(embedder: Embedder, pieces: Sequence[Piece]) -> list[Encoding]:
    """Every piece's encoding, in order, from one call of the embedder.

    Raises:
        EmbedderError: the embedder failed, or its answer is unfit.
    """
    return await embedder.encode([embedding_text(piece) for piece in pieces])


def default_coordinate(new: NewEpisode) -> Coordinate:
    """The coordinate (G24) of a memory whose caller names none: a fact is semantic, all else an episode (P1)."""
    return Coordinate(information=(Tier.SEMANTIC if new.type == "fact" else Tier.EPISODIC).value)


def build_row(
    new: NewEpisode,
    pieces: Sequence[Piece],
    encodings: Sequence[Encoding],
    *,
    episode_id: str,
    scope: Scope,
    now: datetime,
    default_ttl: float,
) -> EpisodeRow:
    """The row of one episode out of its pieces and their encodings."""
    coordinate = replace(new.coordinate or default_coordinate(new), scope=scope.kind)
    ttl = default_ttl if new.ttl is None else new.ttl
    memories = tuple(
        MemoryRow(
            id=str(uuid.uuid4()),
            key=piece.key,
            text=piece.text,
            timestamp=piece.timestamp,
            terms=document_terms(piece.text, speaker=piece.part.speaker, timestamp=piece.timestamp),
            vector=encode_vector(encoding.pooled),
            tokens=encode_tokens(encoding, embedding_text(piece)),
            speaker=piece.part.speaker,
            role=piece.part.role,
            source_id=piece.part.source_id,
            importance=new.importance,
            coordinate=coordinate,
        )
        for piece, encoding in zip(pieces, encodings, strict=True)
    )
    return EpisodeRow(
        id=episode_id,
        type=new.type,
        tags=new.tags,
        metadata=new.metadata,
        created_at=new.timestamp or min((piece.timestamp for piece in pieces), default=now),
        recorded_at=now,
        memories=memories,
        session=new.session,
        key=new.key,
        expires_at=now + timedelta(seconds=ttl) if ttl else None,
    )


def as_episode(row: EpisodeRow, agent_id: str, scope: Scope) -> Episode:
    """A new episode as the store will give it back."""
    chunks = tuple(
        Chunk(
            id=f"chunk_{row.id}_{index}",
            memory_id=memory.id,
            episode_id=row.id,
            index=index,
            text=memory.text,
            timestamp=memory.timestamp,
            speaker=memory.speaker,
            role=memory.role,
            source_id=memory.source_id,
            importance=memory.importance,
            coordinate=memory.coordinate,
        )
        for index, memory in enumerate(row.memories)
    )
    return Episode(
        id=row.id,
        agent_id=agent_id,
        scope=scope,
        type=row.type,
        tags=row.tags,
        metadata=row.metadata,
        created_at=row.created_at,
        updated_at=row.recorded_at,
        recorded_at=row.recorded_at,
        session=row.session,
        expires_at=row.expires_at,
        chunk_count=len(chunks),
        chunks=chunks,
    )


#: How many memories one embedding call and one transaction take: large enough to amortise a commit, small enough to
#: bound memory and to lose little when a long ingest is interrupted.
SLICE_MEMORIES = 256


@dataclass(frozen=True, slots=True)
class Draft:
    """An episode that passed the checks, cut into the pieces that the store does not have yet."""

    index: int
    new: NewEpisode
    pieces: list[Piece]


class Writer:
    """Writes episodes to a store: checks, cuts, embeds and adds them, and reports on each one."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        agent_id: str,
        default_ttl: float,
        max_text_bytes: int,
        clock: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._agent_id = agent_id
        self._default_ttl = default_ttl
        self._max_text_bytes = max_text_bytes
        self._clock = clock

    async def write_one(self, scope: Scope, new: NewEpisode) -> Episode:
        """Write one episode and return it as stored: grown, or as it was, if there was one with the same key.

        Raises:
            InputError: a field is wrong.
            EmbedderError: the embedder failed.
            StoreError: the store could not write it.
        """
        checked = checked_episode(new, self._max_text_bytes)
        known = await self._known(scope, [checked])
        [(row, added)] = await self._add(scope, [await self._draft(0, checked, known)])
        if row.id == added.episode_id:
            return as_episode(row, self._agent_id, scope)
        episode = await self._store.get([scope], added.episode_id)
        if episode is None:
            raise StoreError(f"the episode with the key {new.key!r} was deleted or expired while it was written")
        return episode

    async def write_many(self, scope: Scope, episodes: Sequence[object]) -> BatchReport:
        """Write many episodes, a few hundred memories a transaction; what is refused is reported, the rest goes in."""
        errors: list[ItemError] = []
        checked: list[tuple[int, NewEpisode]] = []
        for index, new in enumerate(episodes):
            try:
                checked.append((index, checked_episode(new, self._max_text_bytes)))
            except InputError as error:
                errors.append(ItemError(index, type(error).__name__, str(error)))
        added: dict[int, Added] = {}
        async for drafts in self._slices(checked, await self._known(scope, [new for _, new in checked])):
            added.update(await self._add_slice(scope, drafts, errors))
        return BatchReport(
            added={index: one.episode_id for index, one in added.items() if one.memories_added},
            unchanged={index: one.episode_id for index, one in added.items() if not one.memories_added},
            errors=tuple(sorted(errors, key=lambda error: error.index)),
            chunks_added=sum(one.memories_added for one in added.values()),
        )

    async def _known(self, scope: Scope, episodes: Sequence[NewEpisode]) -> Mapping[str, frozenset[str]]:
        keys = [new.key for new in episodes if new.key is not None]
        return await self._store.known_parts(scope, keys) if keys else {}

    async def _slices(
        self, checked: Sequence[tuple[int, NewEpisode]], known: Mapping[str, frozenset[str]]
    ) -> AsyncGenerator[list[Draft]]:
        """Cut episodes and hand on a few hundred memories at a time."""
        drafts: list[Draft] = []
        waiting = 0
        for index, new in checked:
            drafts.append(await self._draft(index, new, known))
            waiting += len(drafts[-1].pieces)
            if waiting >= SLICE_MEMORIES:
                yield drafts
                drafts, waiting = [], 0
        if drafts:
            yield drafts

    async def _draft(self, index: int, new: NewEpisode, known: Mapping[str, frozenset[str]]) -> Draft:
        """Cut an episode, in a thread: a text of a megabyte takes seconds."""
        pieces = await to_thread.run_sync(cut, new, self._clock(), known.get(new.key or "", ()))
        return Draft(index, new, pieces)

    async def _add_slice(self, scope: Scope, drafts: list[Draft], errors: list[ItemError]) -> dict[int, Added]:
        try:
            added = await self._add(scope, drafts)
        except ByheartError as error:
            if isinstance(error, EmbedderError) and len(drafts) > 1:
                # One text that the embedder cannot take must not cost its neighbours their place.
                results: dict[int, Added] = {}
                for draft in drafts:
                    results.update(await self._add_slice(scope, [draft], errors))
                return results
            errors.extend(ItemError(draft.index, type(error).__name__, str(error)) for draft in drafts)
            return {}
        return {draft.index: one for draft, (_, one) in zip(drafts, added, strict=True)}

    async def _add(self, scope: Scope, drafts: Sequence[Draft]) -> list[tuple[EpisodeRow, Added]]:
        encodings = await embed(self._embedder, [piece for draft in drafts for piece in draft.pieces])
        rows = await to_thread.run_sync(self._rows, scope, drafts, encodings)
        return list(zip(rows, await self._store.add(scope, rows), strict=True))

    def _rows(self, scope: Scope, drafts: Sequence[Draft], encodings: Sequence[Encoding]) -> list[EpisodeRow]:
        now = self._clock()
        remaining = iter(encodings)
        return [
            build_row(
                draft.new,
                draft.pieces,
                [next(remaining) for _ in draft.pieces],
                episode_id=new_episode_id(self._agent_id, now),
                scope=scope,
                now=now,
                default_ttl=self._default_ttl,
            )
            for draft in drafts
        ]
