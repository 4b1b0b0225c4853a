"""The store that lives in one SQLite file."""

import os
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import anyio.to_thread
import apsw

from byheart.errors import InputError, StoreError, StoreReadOnlyError
from byheart.stores.base import (
    Added,
    BaseStore,
    Counts,
    EpisodeRow,
    IndexDelta,
    ModelIdentity,
    StoredMemory,
    TermStats,
)
from byheart.stores.sqlite import read, write
from byheart.stores.sqlite.connection import consistent, patiently, translated, writing
from byheart.stores.sqlite.health import check_store
from byheart.stores.sqlite.opening import check_agent, open_reader, open_writer
from byheart.stores.sqlite.purge import purge
from byheart.stores.sqlite.residue import Forgotten
from byheart.types import Check, Episode, EpisodeType, PurgeReport, Scope

P = ParamSpec("P")
R = TypeVar("R")

_READERS = 4


class SQLiteStore(BaseStore):
    """One agent's memories in one SQLite file, which several processes may use at once.

    Writes go through one connection, one after another; reads run beside them on a few more, each on a thread. What a
    cancelled call has begun goes on to its end, so no transaction is left open. A commit is on the disk when its
    call returns (WAL, `synchronous=FULL`, one fsync).

    Args:
        path: the file; it and its folders are made where they are missing.
        agent_id: whose memories they are; the file remembers it.
        max_episodes: how many episodes the agent may hold; 0 for any number.
        auto_prune: make room by deleting the oldest episodes; without it an add beyond `max_episodes` is refused.
        busy_seconds: how long to wait for another process's write.
    """

    def __init__(
        self,
        path: Path | str,
        agent_id: str,
        *,
        max_episodes: int = 0,
        auto_prune: bool = False,
        busy_seconds: float = 30.0,
    ) -> None:
        super().__init__(agent_id, max_episodes=max_episodes, auto_prune=auto_prune)
        if not busy_seconds >= 0:
            raise InputError("busy_seconds", f"is {busy_seconds}", "use 0 or more")
        self._path = Path(path).absolute()
        self._busy_seconds = busy_seconds
        self._writer: apsw.Connection | None = None
        self._readers: list[apsw.Connection] = []
        self._forgotten = Forgotten()
        self._write_lane = anyio.CapacityLimiter(1)
        self._read_lanes = anyio.CapacityLimiter(_READERS)
        # A task that asyncio cancels leaves its lane while its thread still works.
        self._write_lock = threading.Lock()
        self._process = os.getpid()

    @property
    def path(self) -> Path:
        """The store's file."""
        return self._path

    async def _open(self) -> None:
        await anyio.to_thread.run_sync(self._connect, limiter=self._write_lane)

    def _connect(self) -> None:
        with self._write_lock, translated(self._path):
            if self._writer is not None or self._readers:  # a call that was cancelled got here first
                return
            self._process = os.getpid()
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._writer = open_writer(self._path, self._agent_id, self._busy_seconds)
            except (StoreReadOnlyError, apsw.CantOpenError, apsw.ReadOnlyError):
                self._writer = None
                self._readers = [self._connect_reader()]
            except OSError as error:
                raise StoreReadOnlyError(f"{self._path}: {error.strerror}; name a file that may be written") from error

    def _connect_reader(self) -> apsw.Connection:
        connection = open_reader(self._path, self._busy_seconds)
        check_agent(connection, self._path, self._agent_id)
        return connection

    async def _close(self) -> None:
        await anyio.to_thread.run_sync(self._disconnect, limiter=self._write_lane)

    def _disconnect(self) -> None:
        with self._write_lock, translated(self._path):
            while self._readers:
                self._readers.pop().close()
            if self._writer is not None:
                self._writer.close()
                self._writer = None

    async def _reading(
        self, function: Callable[Concatenate[apsw.Connection, P], R], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        def work() -> R:
            with self._reader() as connection:
                return function(connection, *args, **kwargs)

        def read_through() -> R:
            with translated(self._path), consistent(self._path):
                return patiently(work, self._busy_seconds)

        return await anyio.to_thread.run_sync(read_through, limiter=self._read_lanes)

    @contextmanager
    def _reader(self) -> Generator[apsw.Connection]:
        """A connection that nobody else has meanwhile."""
        self._check_process()
        connection = self._readers.pop() if self._readers else self._connect_reader()
        try:
            yield connection
        finally:
            if self._is_open:
                self._readers.append(connection)
            else:
                connection.close()

    async def _writing(
        self,
        now: int,
        function: Callable[Concatenate[apsw.Connection, Forgotten, P], R],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R:
        """Run a function in one write transaction, after what has expired was deleted."""

        def work() -> R:
            writer, forgotten = self._write_connection(), Forgotten()
            with writing(writer):
                write.delete_expired(writer, forgotten, now)
                result = function(writer, forgotten, *args, **kwargs)
            self._forgotten.add(forgotten.texts)
            return result

        def write_through() -> R:
            with self._write_lock, translated(self._path):
                return patiently(work, self._busy_seconds)

        return await anyio.to_thread.run_sync(write_through, limiter=self._write_lane)

    def _check_process(self) -> None:
        if self._process != os.getpid():
            raise StoreError(f"{self._path}: was opened before this process was forked; open it again in this process")

    def _write_connection(self) -> apsw.Connection:
        self._check_process()
        if self._writer is None:
            raise StoreReadOnlyError(f"{self._path}: may not be written; give write access to the file and its folder")
        return self._writer

    async def _bind_model(self, identity: ModelIdentity, now: int) -> None:
        if not await self._reading(read.is_bound, identity):
            await self._writing(now, write.bind_model, identity)

    async def _known_parts(self, scope: Scope, keys: Sequence[str], now: int) -> Mapping[str, frozenset[str]]:
        return await self._reading(read.known_parts, scope, keys, now)

    async def _add(self, scope: Scope, episodes: Sequence[EpisodeRow], now: int) -> list[Added]:
        room = write.Room(self._max_episodes, self._auto_prune)
        return await self._writing(now, write.add_episodes, scope, episodes, room)

    async def _get(self, scopes: Sequence[Scope], episode_id: str, now: int) -> Episode | None:
        return await self._reading(read.get_episode, scopes, episode_id, now)

    async def _vectors(self, scope: Scope, episode_id: str, now: int) -> list[bytes]:
        return await self._reading(read.vectors, scope, episode_id, now)

    async def _recent(
        self, scopes: Sequence[Scope], limit: int, types: Sequence[EpisodeType], tags: Sequence[str], now: int
    ) -> list[Episode]:
        return await self._reading(read.recent, scopes, limit, types, tags, now)

    async def _delete(self, scope: Scope, episode_ids: Sequence[str], now: int) -> int:
        return await self._writing(now, write.delete_ids, scope, episode_ids)

    async def _prune(self, scope: Scope, keep: int | None, older_than: int | None, now: int) -> int:
        return await self._writing(now, write.prune, scope, keep, older_than)

    async def _edit_tags(
        self, scope: Scope, episode_id: str, add: Sequence[str], remove: Sequence[str], now: int
    ) -> bool:
        return await self._writing(now, write.edit_tags, scope, episode_id, add, remove, now)

    async def _tags(self, scopes: Sequence[Scope], now: int) -> list[str]:
        return await self._reading(read.all_tags, scopes, now)

    async def _counts(self, scopes: Sequence[Scope], now: int) -> Counts:
        return await self._reading(read.count, scopes, now)

    async def _scopes(self, now: int) -> list[Scope]:
        return await self._reading(read.all_scopes, now)

    async def _changes(self, scope: Scope, since: int) -> IndexDelta:
        return await self._reading(read.changes, scope, since)

    async def _tagged(self, scope: Scope, tags: Sequence[str], now: int) -> Sequence[int]:
        return await self._reading(read.tagged, scope, tags, now)

    async def _session_number(self, scope: Scope, session: str) -> int:
        return await self._reading(read.session_number, scope, session)

    async def _term_stats(self, terms: Sequence[str]) -> TermStats:
        return await self._reading(read.term_stats, terms)

    async def _term_texts(self, term_ids: Sequence[int]) -> Mapping[int, str]:
        return await self._reading(read.term_texts, term_ids)

    async def _read(self, scope: Scope, seqs: Sequence[int], now: int) -> list[StoredMemory]:
        return await self._reading(read.read_memories, scope, seqs, now)

    async def _record_access(self, scope: Scope, seqs: Sequence[int], at: int, now: int) -> None:
        await self._writing(now, write.record_access, scope, seqs, at)

    async def _clear(self, scopes: Sequence[Scope] | None, now: int) -> None:
        await self._writing(now, write.clear, scopes)

    async def _purge(self) -> PurgeReport:
        def work() -> PurgeReport:
            with self._write_lock, translated(self._path):
                return purge(self._write_connection(), self._path, self._forgotten, self._busy_seconds)

        return await anyio.to_thread.run_sync(work, limiter=self._write_lane)

    async def _check(self) -> list[Check]:
        def work() -> list[Check]:
            with self._write_lock, translated(self._path), consistent(self._path):
                if self._writer is not None:
                    return check_store(self._writer, self._path)
                with self._reader() as connection:
                    return check_store(connection, self._path)

        return await anyio.to_thread.run_sync(work, limiter=self._write_lane)
