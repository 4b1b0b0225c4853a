"""Threads, tasks and processes that cross each other: each call is done, or gets an error that says why not."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from byheart.errors import StoreError
from byheart.memory import AgentMemory
from byheart.models.custom import custom_embedder
from byheart.sync import open_memory
from byheart.testing.embedders import HashEmbedder
from byheart.types import NewEpisode, Part, Scope

TEXTS = [NewEpisode((Part(f"apple {number}"),)) for number in range(40)]


@pytest.mark.anyio
async def test_cancelled_writes_leave_no_transaction_open(tmp_path: Path) -> None:
    """asyncio cancels a task at once, while its thread still writes; the next write waits for that thread."""
    async with AgentMemory("bot", f"sqlite:///{tmp_path}/a.db", embedder=HashEmbedder()) as memory:
        for turn in range(30):
            task = asyncio.ensure_future(memory.remember_many(TEXTS))
            for _ in range(turn % 12):
                await asyncio.sleep(0.001)
            task.cancel()
            await memory.remember(f"kept {turn}", tags=["kept"])
        assert len(await memory.get_by_tag("kept")) == 30
        assert all(check.ok for check in await memory.check())


@pytest.mark.anyio
async def test_a_cancelled_open_is_taken_up_by_the_next_call(tmp_path: Path) -> None:
    memory = AgentMemory("bot", f"sqlite:///{tmp_path}/a.db", embedder=HashEmbedder())
    for _ in range(5):
        task = asyncio.ensure_future(memory.remember("cut off"))
        await asyncio.sleep(0)
        task.cancel()
    await memory.remember("kept", tags=["kept"])
    assert len(await memory.get_by_tag("kept")) == 1
    await memory.close()


def test_one_memory_in_several_event_loops(tmp_path: Path) -> None:
    memory = AgentMemory("bot", f"sqlite:///{tmp_path}/a.db", embedder=HashEmbedder())

    async def work() -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(5):
                tasks.start_soon(memory.remember, f"apple {number}")
                tasks.start_soon(memory.recall, "apple")

    asyncio.run(work())
    asyncio.run(work())
    stats = asyncio.run(memory.get_stats())
    asyncio.run(memory.close())
    assert stats.total_episodes == 10


def test_closing_waits_for_the_calls_of_other_threads(tmp_path: Path) -> None:
    started, proceed = threading.Event(), threading.Event()

    def slow(texts: Sequence[str]) -> list[list[float]]:
        started.set()
        proceed.wait(30)
        return [[1.0, 2.0] for _ in texts]

    url = f"sqlite:///{tmp_path}/a.db"
    memory = open_memory("bot", url, embedder=custom_embedder("mine", "m1", 2, slow))
    writer = threading.Thread(target=memory.remember, args=("under way",))
    writer.start()
    started.wait(30)
    closer = threading.Thread(target=memory.close)
    closer.start()
    while memory.usable:
        pass
    with pytest.raises(StoreError, match="closed"):
        memory.remember("too late")
    proceed.set()
    closer.join(30)
    writer.join(30)
    with open_memory("bot", url) as again:
        assert [episode.text for episode in again.get_recent()] == ["under way"]


def test_closing_without_waiting_gives_the_calls_an_error(tmp_path: Path) -> None:
    """A program that ends does not wait for an embedder that hangs."""
    started, refused = threading.Event(), threading.Event()

    async def hanging(texts: list[str]) -> list[list[float]]:
        started.set()
        await anyio.sleep_forever()
        return [[1.0, 2.0] for _ in texts]

    memory = open_memory("bot", f"sqlite:///{tmp_path}/a.db", embedder=custom_embedder("mine", "m1", 2, hanging))

    def call() -> None:
        with pytest.raises(StoreError, match="closed during the call"):
            memory.remember("never embedded")
        refused.set()

    caller = threading.Thread(target=call)
    caller.start()
    started.wait(30)
    memory.close(wait=False)
    caller.join(30)
    assert refused.is_set()


def test_a_view_of_a_closed_memory_is_closed(tmp_path: Path) -> None:
    memory = open_memory("bot", f"sqlite:///{tmp_path}/a.db", embedder=HashEmbedder())
    view = memory.scoped(Scope.of_user("anna"))
    view.close()
    view.remember("a view's close leaves the store open")
    memory.close()
    memory.close()
    for call in (view.get_recent, memory.get_recent, lambda: view.recall("view")):
        with pytest.raises(StoreError, match="closed"):
            call()


FORKED = """
import os, sys
from byheart.errors import StoreError
from byheart.sync import open_memory
from byheart.testing.embedders import HashEmbedder

memory = open_memory("bot", sys.argv[1], embedder=HashEmbedder())
memory.remember("from the parent")
child = os.fork()
if child == 0:
    try:
        memory.remember("from the child")
    except StoreError as error:
        print("refused" if "forked" in str(error) else error, flush=True)
    with open_memory("bot", sys.argv[1], embedder=HashEmbedder()) as own:
        own.remember("from the child's own")
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
memory.remember("again")
print(memory.get_stats().total_episodes, all(check.ok for check in memory.check()))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_opens_its_own(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED, url], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.splitlines() == ["refused", "3 True"], done.stderr
