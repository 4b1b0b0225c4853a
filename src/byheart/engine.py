"""What all views of one agent's memory share, and the loader that wires stores and models by URL and name.

The only place that imports inside functions: a store's driver and a model's libraries load when they are asked for.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

import anyio
from anyio import to_thread

from byheart.arguments import checked_count, checked_seconds, checked_value
from byheart.config import Settings
from byheart.errors import InputError, MissingPartError, brief
from byheart.models.base import Embedder
from byheart.retrieval.codec import CODEC
from byheart.retrieval.recall import Retriever
from byheart.stores.base import ModelIdentity, Store
from byheart.writing import Writer

_URL_FORMS = "use sqlite:///relative.db, sqlite:////absolute.db or memory:"


@dataclass(frozen=True, slots=True)
class MemoryConfig:
    """How a memory behaves (C1).

    Attributes:
        url: where it is kept; None for `BYHEART_URL` or the platform's data folder.
        default_ttl: seconds after which an episode expires unless it says otherwise; 0 for never.
        max_episodes: how many episodes the agent may keep; 0 for any number.
        auto_prune: whether the oldest go when there are more; otherwise the write is refused.
        max_text_bytes: how long one text may be.
        redis_url, redis_token, key_prefix: CLAWS's names for a Redis store.
    """

    url: str | None = None
    default_ttl: float = 0
    max_episodes: int = 0
    auto_prune: bool = False
    max_text_bytes: int = 1_048_576
    redis_url: str | None = None
    redis_token: str | None = None
    key_prefix: str = "mem"

    def __post_init__(self) -> None:
        checked_seconds("default_ttl", self.default_ttl)
        checked_count("max_episodes", self.max_episodes, least=0, most=10**12)
        checked_count("max_text_bytes", self.max_text_bytes, most=2**30)


def now_utc() -> datetime:
    """The moment, aware, in UTC."""
    return datetime.now(UTC)


def store_for(url: str, agent_id: str, config: MemoryConfig) -> Store:
    """The store behind a URL; each driver is imported only when it is asked for."""
    scheme, _, rest = checked_value("url", url, str, _URL_FORMS).partition(":")
    scheme = scheme.lower()
    if scheme == "memory" and not rest:
        from byheart.stores.memory import MemoryStore

        return MemoryStore(agent_id, max_episodes=config.max_episodes, auto_prune=config.auto_prune)
    if scheme == "sqlite":
        from byheart.stores.sqlite import SQLiteStore
        from byheart.stores.urls import sqlite_path

        path = sqlite_path(url, agent_id)
        return SQLiteStore(path, agent_id, max_episodes=config.max_episodes, auto_prune=config.auto_prune)
    if scheme in {"postgresql", "postgres", "redis", "rediss", "https"}:
        raise MissingPartError(f"this version of byheart has no {scheme} store; use sqlite:///path or memory:")
    raise InputError("url", f"is {brief(url)}", _URL_FORMS)


def embedder_for(settings: Settings) -> Embedder:
    """The embedder that the settings name; its libraries are imported only when it is asked for."""
    if settings.embedder == "minilm":
        from byheart.models.minilm import MiniLM

        return MiniLM(threads=settings.threads)
    if settings.embedder == "hash":
        from byheart.testing.embedders import HashEmbedder

        return HashEmbedder()
    from byheart.models.providers import embedder_from_name

    return embedder_from_name(settings.embedder, settings.api_keys)


class Engine:
    """What all views of one agent's memory share: the store, the embedder, the writer and the retriever."""

    def __init__(self, agent_id: str, store: Store, embedder: Embedder, config: MemoryConfig) -> None:
        self.agent_id = agent_id
        self.store = store
        self.embedder = embedder
        self.max_text_bytes = config.max_text_bytes
        self.retriever = Retriever(store, embedder)
        self.writer = Writer(
            store,
            embedder,
            agent_id=agent_id,
            default_ttl=config.default_ttl,
            max_text_bytes=config.max_text_bytes,
            clock=now_utc,
        )
        self._lock = anyio.Lock()
        self._open = False
        self._bound = False

    async def ready(self, *, embedding: bool) -> None:
        """Open the store once; before the first embedding, make sure that the store's model is this one."""
        async with self._lock:
            if not self._open:
                await self.store.open()
                self._open = True
            if embedding and not self._bound:
                model, dimensions = await to_thread.run_sync(lambda: (self.embedder.model, self.embedder.dimensions))
                await self.store.bind_model(ModelIdentity(model, dimensions, CODEC))
                self._bound = True

    async def close(self) -> None:
        """Close the store; a later call opens it again."""
        async with self._lock:
            await self.store.close()
            self._open = False
