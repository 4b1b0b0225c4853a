"""Memory: AgentMemory's verbs, blocking. Each call runs on one event loop in a thread of its own."""

import atexit
import functools
import os
import threading
import weakref
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError, Future
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar

import anyio
from anyio.from_thread import BlockingPortal

from byheart.config import load_settings
from byheart.engine import MemoryConfig
from byheart.errors import StoreError
from byheart.memory import AgentMemory
from byheart.models.base import Embedder
from byheart.types import APP_SCOPE, Scope

_P = ParamSpec("_P")
_R = TypeVar("_R")


class _Loop:
    """An event loop in a daemon thread. A daemon, because a memory that nobody closed must not keep a program alive."""

    def __init__(self) -> None:
        started: Future[BlockingPortal] = Future()
        self._thread = threading.Thread(target=anyio.run, args=(self._serve, started), name="byheart", daemon=True)
        self._thread.start()
        self.portal = started.result()
        self._process = os.getpid()
        self._idle = threading.Condition()
        self._running = 0
        self._stopped = False

    @property
    def usable(self) -> bool:
        """Whether it takes calls: it was not stopped, and its thread is in this process."""
        return not self._stopped and self._process == os.getpid()

    def call(self, function: Callable[[], Awaitable[_R]]) -> _R:
        """Run a coroutine function on the loop and wait for it.

        Raises:
            StoreError: the loop was stopped, or is another process's.
        """
        if self._process != os.getpid():
            raise StoreError("this memory was opened before the process was forked; call open_memory(...) in this one")
        with self._idle:
            if self._stopped:
                raise StoreError("this memory was closed; open it again with open_memory(...)")
            self._running += 1
        try:
            return self.portal.call(function)
        except CancelledError:
            raise StoreError("this memory was closed during the call, which may or may not have been done") from None
        finally:
            with self._idle:
                self._running -= 1
                self._idle.notify_all()

    @staticmethod
    async def _serve(started: "Future[BlockingPortal]") -> None:
        async with BlockingPortal() as portal:
            started.set_result(portal)
            await portal.sleep_until_stopped()

    def stop(self, last: Callable[[], Awaitable[None]], *, wait: bool) -> None:
        """Take no more calls, do one last thing, and end the thread.

        Args:
            last: what to do when nobody calls any more.
            wait: let the calls that are running come to their end; otherwise they are cancelled.
        """
        with self._idle:
            self._stopped = True
            self._idle.wait_for(lambda: not (wait and self._running))
        try:
            self.portal.call(last)
        finally:
            self.portal.start_task_soon(self.portal.stop, True)
            self._thread.join()


def _blocking(
    verb: Callable[Concatenate[AgentMemory, _P], Awaitable[_R]],
) -> "Callable[Concatenate[Memory, _P], _R]":
    """The same verb, waiting for its answer; name, signature and docstring are the verb's own."""

    @functools.wraps(verb)
    def call(self: "Memory", *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return self.run(functools.partial(verb, self.asynchronous, *args, **kwargs))

    return call


class Memory:
    """One agent's memory, blocking: the verbs of `AgentMemory` with the same names and arguments.

    It may be used from several threads. Close it, or use it in a `with` block; what was acknowledged is durable either
    way. Made by `open_memory`.
    """

    def __init__(self, asynchronous: AgentMemory, loop: _Loop, *, owner: bool) -> None:
        self.asynchronous = asynchronous
        self._loop = loop
        self._owner = owner
        if owner:
            atexit.register(_close_at_exit, weakref.ref(self))

    @property
    def agent_id(self) -> str:
        """The agent whose memory it is (C16)."""
        return self.asynchronous.agent_id

    @property
    def scope(self) -> Scope:
        """The scope that this view reads from and writes to (N11)."""
        return self.asynchronous.scope

    def scoped(self, scope: Scope | None) -> Self:
        """The same store seen from another scope; closing the view leaves the store open."""
        return type(self)(self.asynchronous.scoped(scope), self._loop, owner=False)

    @property
    def usable(self) -> bool:
        """Whether it takes calls: it was not closed, and this is the process that opened it."""
        return self._loop.usable

    def run(self, call: Callable[[], Awaitable[_R]]) -> _R:
        """Run a coroutine function on the memory's loop and wait for it.

        Raises:
            StoreError: the memory was closed.
        """
        return self._loop.call(call)

    def close(self, *, wait: bool = True) -> None:
        """Let go of the store's files and threads, of every view too; closing twice does nothing.

        Args:
            wait: let the calls of other threads come to their end first; otherwise they get a StoreError.
        """
        if self._owner and self._loop.usable:
            self._loop.stop(self.asynchronous.close, wait=wait)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    remember = _blocking(AgentMemory.remember)
    remember_fact = _blocking(AgentMemory.remember_fact)
    remember_conversation = _blocking(AgentMemory.remember_conversation)
    remember_many = _blocking(AgentMemory.remember_many)
    recall = _blocking(AgentMemory.recall)
    find_similar = _blocking(AgentMemory.find_similar)
    build_context = _blocking(AgentMemory.build_context)
    get_recent = _blocking(AgentMemory.get_recent)
    get_by_tag = _blocking(AgentMemory.get_by_tag)
    get_episode = _blocking(AgentMemory.get_episode)
    get_stats = _blocking(AgentMemory.get_stats)
    list_tags = _blocking(AgentMemory.list_tags)
    extract_topics = _blocking(AgentMemory.extract_topics)
    export_blocks = _blocking(AgentMemory.export_blocks)
    forget = _blocking(AgentMemory.forget)
    add_tags = _blocking(AgentMemory.add_tags)
    remove_tags = _blocking(AgentMemory.remove_tags)
    prune = _blocking(AgentMemory.prune)
    prune_older_than = _blocking(AgentMemory.prune_older_than)
    clear = _blocking(AgentMemory.clear)
    purge = _blocking(AgentMemory.purge)
    check = _blocking(AgentMemory.check)


async def _nothing() -> None:
    """For a loop that has nothing to close."""


def _close_at_exit(reference: "weakref.ref[Memory]") -> None:
    memory = reference()
    if memory is not None:
        memory.close(wait=False)  # a program that ends must not wait for a call that hangs


def open_memory(
    agent_id: str | None = None,
    url: str | None = None,
    *,
    scope: Scope | None = APP_SCOPE,
    embedder: Embedder | None = None,
    config: MemoryConfig | None = None,
) -> Memory:
    """Open an agent's memory for blocking use.

    Args:
        agent_id: which agent; `BYHEART_AGENT`, else `default`, if None.
        url: where it is kept; see `AgentMemory`.
        scope: whose memory; the agent's own unless named.
        embedder: the model that turns texts into vectors; the packaged MiniLM unless named.
        config: time to live, limits and pruning.

    Raises:
        InputError: an argument is wrong.
        StoreError: the store cannot be opened; it says why and what to do.
    """
    name = load_settings().agent if agent_id is None else agent_id
    loop = _Loop()
    try:
        memory = AgentMemory(name, url, scope=scope, embedder=embedder, config=config)
        loop.call(memory.__aenter__)
    except BaseException:
        loop.stop(_nothing, wait=False)
        raise
    return Memory(memory, loop, owner=True)
