"""AgentMemory: the verbs. Each checks what it is given, makes one call of a room below, and shapes the answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import Self

from byheart.arguments import (
    checked_count,
    checked_filter,
    checked_list,
    checked_share,
    checked_tags,
    checked_time,
    checked_value,
    messages_to_parts,
)
from byheart.blocks import memory_block
from byheart.config import load_settings
from byheart.engine import Engine, MemoryConfig, embedder_for, now_utc, store_for
from byheart.errors import ScopeError, brief
from byheart.models.base import Embedder, checked_embedder
from byheart.models.lazy import LazyEmbedder
from byheart.retrieval.codec import decode_vector
from byheart.retrieval.recall import Evidence
from byheart.text.validate import checked_text
from byheart.types import (
    APP_SCOPE,
    DEFAULT_CHUNKING,
    EPISODE_TYPES,
    BatchReport,
    Check,
    Chunking,
    Coordinate,
    Episode,
    EpisodeType,
    Hit,
    MemoryStats,
    Message,
    NewEpisode,
    Part,
    PurgeReport,
    RecallResult,
    Scope,
    Weights,
    checked_id,
)
from byheart.working.context import from_episodes, from_hits, render


class AgentMemory:
    """One agent's memory, seen from one scope.

    A read sees the scope and what it inherits (a session sees its user and the agent's application, a user the
    application); a write touches the scope alone. Without a scope the memory is the agent's own (`Scope.app()`), and
    never anybody's all. The store is opened by the first call, or by `async with`.

    Args:
        agent_id: which agent; any Unicode.
        url: `sqlite:///relative.db`, `sqlite:////absolute.db` (a folder of agents' files if it ends in `/`), `memory:`;
            by default `config.url`, then `BYHEART_URL`, then the platform's data folder.
        scope: whose memory; a `Scope`.
        embedder: the model that turns texts into vectors; by default `BYHEART_EMBEDDER`, else the packaged MiniLM.
        config: time to live, limits and pruning.

    Raises:
        InputError: an argument is wrong.
        MissingPartError: the URL asks for a store that is not installed.
    """

    def __init__(
        self,
        agent_id: str,
        url: str | None = None,
        *,
        scope: Scope | None = APP_SCOPE,
        embedder: Embedder | None = None,
        config: MemoryConfig | None = None,
    ) -> None:
        config = (
            MemoryConfig() if config is None else checked_value("config", config, MemoryConfig, "pass MemoryConfig()")
        )
        settings = load_settings()
        self._scope = checked_scope(scope)
        address = next(given for given in (url, config.url, config.redis_url, settings.url) if given is not None)
        store = store_for(address, checked_id("agent_id", agent_id), config)
        model = LazyEmbedder(lambda: embedder_for(settings)) if embedder is None else checked_embedder(embedder)
        self._engine = Engine(agent_id, store, model, config)

    @classmethod
    async def open(
        cls,
        agent_id: str,
        url: str | None = None,
        *,
        scope: Scope | None = APP_SCOPE,
        embedder: Embedder | None = None,
        config: MemoryConfig | None = None,
    ) -> Self:
        """Make a memory and open its store at once, so that a wrong path or file shows here and not later."""
        memory = cls(agent_id, url, scope=scope, embedder=embedder, config=config)
        await memory._engine.ready(embedding=False)
        return memory

    async def close(self) -> None:
        """Let go of the store's files and threads, for every scoped view too; a later call opens it again."""
        await self._engine.close()

    async def __aenter__(self) -> Self:
        await self._engine.ready(embedding=False)
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def agent_id(self) -> str:
        """The agent whose memory it is (C16)."""
        return self._engine.agent_id

    @property
    def scope(self) -> Scope:
        """The scope that this view reads from and writes to (N11)."""
        return self._scope

    def scoped(self, scope: Scope | None) -> Self:
        """The same store seen from another scope.

        Raises:
            ScopeError: no scope is given; nothing stands for all of them.
        """
        view = object.__new__(type(self))
        view._scope = checked_scope(scope)
        view._engine = self._engine
        return view

    # -- writing ----------------------------------------------------------------------------------------------------

    async def remember(
        self,
        text: str,
        *,
        type: EpisodeType = "custom",  # noqa: A002  (the seed's name)
        tags: Sequence[str] = (),
        metadata: Mapping[str, object] | None = None,
        chunking: Chunking | None = DEFAULT_CHUNKING,
        session: str | None = None,
        key: str | None = None,
        timestamp: datetime | None = None,
        ttl: float | None = None,
        importance: float = 0.5,
        speaker: str | None = None,
        coordinate: Coordinate | None = None,
    ) -> Episode:
        """Remember a text, cut into chunks where it is long (C2).

        Args:
            text: what to remember; at most 1 MiB unless the config says otherwise.
            type: conversation, document, fact, event or custom.
            tags: up to 256 characters each.
            metadata: a JSON object, kept and given back.
            chunking: how a long text is cut (200 tokens, 50 overlap, at sentences); None keeps it whole.
            session: the conversation that it belongs to.
            key: makes the call safe to repeat: the same key in the same scope is stored once.
            timestamp: when it happened; now if None.
            ttl: seconds until it expires; 0 never, None for the config's default.
            importance: 0 to 1 (P5).
            speaker: who said it.
            coordinate: where it stands on the axes of the design space (G24).

        Returns:
            The episode as stored, durable by now.

        Raises:
            InputError: a field is wrong; nothing was stored.
            EmbedderError: the embedder failed; nothing was stored.
            StoreError: the store could not write it.
        """
        new = NewEpisode(
            parts=(Part(text, speaker),),
            type=type,
            tags=tuple(checked_tags("tags", tags)),
            metadata=metadata or {},
            session=session,
            key=key,
            timestamp=timestamp,
            ttl=ttl,
            importance=importance,
            coordinate=coordinate,
            chunking=chunking,
        )
        return await self._write(new)

    async def remember_fact(
        self, text: str, tags: Sequence[str] = (), metadata: Mapping[str, object] | None = None
    ) -> Episode:
        """Remember one fact, whole (C2); it becomes a semantic memory."""
        return await self.remember(text, type="fact", tags=tags, metadata=metadata, chunking=None)

    async def remember_conversation(
        self,
        messages: Iterable[Message | Mapping[str, object]],
        tags: Sequence[str] = (),
        metadata: Mapping[str, object] | None = None,
        *,
        session: str | None = None,
        key: str | None = None,
        timestamp: datetime | None = None,
    ) -> Episode:
        """Remember a conversation as one episode, a memory a turn (C2).

        Args:
            messages: dicts with `role` and `content` (and, if known, `name`, `timestamp`, `id`), or `Message`s.
            tags: as in `remember`.
            metadata: as in `remember`.
            session: the conversation's name; neighbouring turns and their session help each other at recall.
            key: with it, a later call with more messages only adds the new ones.
            timestamp: when it took place, for messages without a time of their own; now if None.
        """
        new = NewEpisode(
            parts=messages_to_parts(messages),
            type="conversation",
            tags=tuple(checked_tags("tags", tags)),
            metadata=metadata or {},
            session=session,
            key=key,
            timestamp=timestamp,
        )
        return await self._write(new)

    async def remember_many(self, episodes: Sequence[NewEpisode]) -> BatchReport:
        """Remember many episodes, a few hundred memories a transaction, and report on each.

        What is refused is named with its reason in `errors`; everything else is stored. Episodes with a `key` may be
        sent again, whole or grown: only what is new is added.
        """
        given = checked_list("episodes", episodes, "NewEpisode")
        await self._engine.ready(embedding=True)
        return await self._engine.writer.write_many(self._scope, given)

    async def _write(self, new: NewEpisode) -> Episode:
        await self._engine.ready(embedding=True)
        return await self._engine.writer.write_one(self._scope, new)

    # -- reading ----------------------------------------------------------------------------------------------------

    async def recall(
        self,
        query: str,
        *,
        limit: int = 10,
        types: Sequence[EpisodeType] = (),
        tags: Sequence[str] = (),
        after: datetime | None = None,
        before: datetime | None = None,
        recency_weight: float = 0.2,
        weights: Weights | None = None,
        min_score: float = 0.0,
        format_for_llm: bool = False,
        max_context_tokens: int = 2000,
        session: str | None = None,
        coordinate: Mapping[str, str | Sequence[str]] | None = None,
        now: datetime | None = None,
    ) -> RecallResult:
        """Find the memories that bear on a message, best first (C2, P7, P8).

        Args:
            query: the message as it came, a question or a statement.
            limit: how many hits at most.
            types: episodes of any of these types.
            tags: episodes with all of these tags.
            after: said or happened at or after this time.
            before: said or happened before this time.
            recency_weight: the share of recency in the score; relevance and importance share the rest 5 to 3.
            weights: all three weights and the decay, instead of `recency_weight`.
            min_score: leave out hits that score less, 0 to 1.
            format_for_llm: also render a context from the hits.
            max_context_tokens: how long the context may be.
            session: this conversation alone.
            coordinate: for any axis of the design space, the value or values allowed (G24).
            now: the moment that the question is asked at, for recency; the present if None.

        Raises:
            InputError: an option is wrong.
            EmbedderError: the query could not be embedded.
            StoreError: the store could not be read.
        """
        given = checked_filter(
            types=types, tags=tags, after=after, before=before, session=session, coordinate=coordinate
        )
        checked_text("query", query, self._engine.max_text_bytes)
        moment = _moment(now)
        chosen = Weights.with_recency(recency_weight)
        if weights is not None:
            chosen = checked_value("weights", weights, Weights, "pass Weights(relevance, importance, recency)")
        budget = checked_count("max_context_tokens", max_context_tokens, most=10**7)
        await self._engine.ready(embedding=True)
        result = await self._engine.retriever.recall(
            self._scope,
            query,
            filter=given,
            weights=chosen,
            limit=checked_count("limit", limit),
            min_score=checked_share("min_score", min_score),
            now=moment,
        )
        if not format_for_llm:
            return result
        return replace(result, context=render(from_hits(result.results), max_tokens=budget))

    async def find_similar(
        self,
        text: str,
        *,
        limit: int = 10,
        types: Sequence[EpisodeType] = (),
        tags: Sequence[str] = (),
        after: datetime | None = None,
        before: datetime | None = None,
        min_score: float = 0.0,
        now: datetime | None = None,
    ) -> list[Hit]:
        """Find the memories whose vectors are nearest to a text's; the score is the cosine, 0 to 1 (C2, C5)."""
        given = checked_filter(types=types, tags=tags, after=after, before=before)
        checked_text("text", text, self._engine.max_text_bytes)
        await self._engine.ready(embedding=True)
        return await self._engine.retriever.similar(
            self._scope,
            text,
            filter=given,
            limit=checked_count("limit", limit),
            min_score=checked_share("min_score", min_score),
            now=_moment(now),
        )

    async def build_context(
        self,
        query: str,
        *,
        max_tokens: int = 2000,
        include_recent: int = 0,
        include_similar: bool = True,
        tags: Sequence[str] = (),
        now: datetime | None = None,
    ) -> str:
        """A context for a model: what bears on the query, with its neighbours, dates and speakers (C2).

        Args:
            query: the message that the model is about to answer.
            max_tokens: the context is never longer, by `text.tokens.estimate_tokens`.
            include_recent: how many of the newest episodes to add, whatever they are about.
            include_similar: whether to search at all; without it only the newest episodes are shown.
            tags: episodes with all of these tags.
            now: the moment that the question is asked at; the present if None.
        """
        given = checked_filter(tags=tags)
        checked_text("query", query, self._engine.max_text_bytes)
        budget = checked_count("max_tokens", max_tokens, most=10**7)
        recent = checked_count("include_recent", include_recent, least=0)
        moment = _moment(now)
        await self._engine.ready(embedding=include_similar)
        evidence: list[Evidence] = []
        if include_similar:
            evidence += await self._engine.retriever.evidence(
                self._scope, query, filter=given, weights=Weights(), max_tokens=budget, now=moment
            )
        if recent:
            episodes = await self._engine.store.recent(self._scope.readable(), recent, (), given.tags)
            evidence += from_episodes(episodes)
        return render(evidence, max_tokens=budget)

    async def get_recent(
        self, limit: int = 10, *, types: Sequence[EpisodeType] = (), tags: Sequence[str] = ()
    ) -> list[Episode]:
        """The newest episodes, newest first (C2)."""
        given = checked_filter(types=types, tags=tags)
        await self._engine.ready(embedding=False)
        count = checked_count("limit", limit)
        return await self._engine.store.recent(self._scope.readable(), count, given.types, given.tags)

    async def get_by_tag(self, tag: str, limit: int = 100) -> list[Episode]:
        """The episodes that have a tag, newest first (C2)."""
        return await self.get_recent(limit, tags=[tag])

    async def get_episode(self, episode_id: str) -> Episode | None:
        """One episode with its chunks, or None where this scope has none of that id (C2)."""
        await self._engine.ready(embedding=False)
        return await self._engine.store.get(self._scope.readable(), checked_id("episode_id", episode_id))

    async def get_stats(self) -> MemoryStats:
        """How much this scope can read (C2)."""
        await self._engine.ready(embedding=False)
        counts = await self._engine.store.counts(self._scope.readable())
        return MemoryStats(
            total_episodes=counts.episodes,
            total_chunks=counts.memories,
            unique_words=await self._engine.retriever.unique_words(self._scope),
            oldest_memory=counts.oldest,
            newest_memory=counts.newest,
            by_type={kind: counts.by_type.get(kind, 0) for kind in EPISODE_TYPES},
        )

    async def list_tags(self) -> list[str]:
        """All tags in use, sorted (C2)."""
        await self._engine.ready(embedding=False)
        return await self._engine.store.tags(self._scope.readable())

    async def extract_topics(self, top_n: int = 10) -> list[str]:
        """The words that weigh most over all memories, by frequency times IDF (C2)."""
        await self._engine.ready(embedding=False)
        return await self._engine.retriever.topics(self._scope, checked_count("top_n", top_n))

    async def export_blocks(self, episode_id: str) -> list[dict[str, object]]:
        """An episode's memories as MemoryBlocks of the recall protocol, with their vectors (P2); empty if unknown."""
        await self._engine.ready(embedding=False)
        scopes = self._scope.readable()
        episode = await self._engine.store.get(scopes, checked_id("episode_id", episode_id))
        if episode is None:
            return []
        vectors = await self._engine.store.vectors(episode.scope, episode.id)
        return [
            memory_block(chunk, episode, decode_vector(vector).tolist())
            for chunk, vector in zip(episode.chunks, vectors, strict=True)
        ]

    # -- changing and forgetting ------------------------------------------------------------------------------------

    async def forget(self, episode_id: str) -> bool:
        """Delete one episode of this scope with its chunks, terms and vectors; False if there is none (C2).

        Its bytes are zeroed where SQLite can reach them; `purge` removes the rest and proves it.
        """
        await self._engine.ready(embedding=False)
        return await self._engine.store.delete(self._scope, [checked_id("episode_id", episode_id)]) > 0

    async def add_tags(self, episode_id: str, tags: Sequence[str]) -> bool:
        """Add tags to an episode of this scope; False if there is none of that id (C2)."""
        return await self._edit_tags(episode_id, checked_tags("tags", tags), ())

    async def remove_tags(self, episode_id: str, tags: Sequence[str]) -> bool:
        """Remove tags from an episode of this scope; False if there is none of that id (C2)."""
        return await self._edit_tags(episode_id, (), checked_tags("tags", tags))

    async def _edit_tags(self, episode_id: str, add: Sequence[str], remove: Sequence[str]) -> bool:
        await self._engine.ready(embedding=False)
        return await self._engine.store.edit_tags(self._scope, checked_id("episode_id", episode_id), add, remove)

    async def prune(self, keep_count: int) -> int:
        """Keep the newest episodes of this scope and delete the others; returns how many went (C2)."""
        await self._engine.ready(embedding=False)
        return await self._engine.store.prune(
            self._scope, keep=checked_count("keep_count", keep_count, least=0, most=10**12)
        )

    async def prune_older_than(self, date: datetime) -> int:
        """Delete the episodes of this scope that happened before a time; returns how many went (C2)."""
        await self._engine.ready(embedding=False)
        return await self._engine.store.prune(self._scope, older_than=checked_time("date", date))

    async def clear(self) -> PurgeReport:
        """Delete everything in this scope, then purge; the report is the proof (C2).

        Raises:
            ResidueError: a byte of a forgotten text was still found.
            StoreBusyError: another process kept the file open for reading too long.
        """
        await self._engine.ready(embedding=False)
        return await self._engine.store.clear([self._scope])

    async def purge(self) -> PurgeReport:
        """Rewrite the store so that nothing of what was forgotten is left in any file, and prove it.

        Raises:
            ResidueError: a byte of a forgotten text was still found.
            StoreBusyError: another process kept the file open for reading too long.
        """
        await self._engine.ready(embedding=False)
        return await self._engine.store.purge()

    async def check(self) -> list[Check]:
        """Look at the store's health; `byheart doctor` prints it."""
        await self._engine.ready(embedding=False)
        return await self._engine.store.check()


def create_agent_memory(agent_id: str, config: MemoryConfig | None = None) -> AgentMemory:
    """An agent's memory from a config (C1); the first call opens it."""
    return AgentMemory(agent_id, config=config)


def create_agent_memory_from_env(agent_id: str) -> AgentMemory:
    """An agent's memory as the environment says (C1): `KV_REST_API_URL` if set, else `BYHEART_URL`, else a file."""
    settings = load_settings()
    config = MemoryConfig(url=settings.redis_url or settings.url, redis_token=settings.redis_token)
    return AgentMemory(agent_id, config=config)


def checked_scope(scope: object) -> Scope:
    """The scope, if it is one.

    Raises:
        ScopeError: it is missing or something else; a missing scope never means all of them (N11).
    """
    if not isinstance(scope, Scope):
        raise ScopeError("scope", f"is {brief(scope)}", "pass Scope.app(), Scope.of_user(...) or another Scope")
    return scope


def _moment(now: datetime | None) -> datetime:
    return now_utc() if now is None else checked_time("now", now)
