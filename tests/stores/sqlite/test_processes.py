"""N10, bar 4 and 8: several processes use one file at once."""

# pyright: reportPrivateUsage=false

import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from byheart.errors import StoreBusyError
from byheart.stores.sqlite import SQLiteStore
from byheart.stores.sqlite.connection import writing
from byheart.testing.stores import AGENT, ALICE, APP, assert_terms_exact, episode_row

#: How many writes each writer makes; `BYHEART_TEST_WRITES=3000` for a run of about 20 seconds.
WRITES = int(os.environ.get("BYHEART_TEST_WRITES", "90"))


def start(kind: str, path: Path, number: int, count: int) -> subprocess.Popen[str]:
    script = str(Path(__file__).with_name("process_worker.py"))
    return subprocess.Popen(
        [sys.executable, script, kind, str(path), str(number), str(count)], stderr=subprocess.PIPE, text=True
    )


def test_two_writers_and_two_readers(tmp_path: Path) -> None:
    """N10: no error reaches a caller, nothing is lost, and equal keys make one episode."""
    path = tmp_path / "store.db"
    shared = {n for n in range(WRITES) if n % 3 == 0}
    own = {n for n in range(WRITES) if n % 3}
    seen_by_alice = 2 * len([n for n in (*own, *shared) if n % 2 == 0])
    processes = [start("write", path, n, WRITES) for n in range(2)]
    processes += [start("read", path, n, seen_by_alice) for n in range(2)]
    try:
        for process in processes:
            _, complaints = process.communicate()
            assert process.returncode == 0, complaints
    finally:
        for process in processes:
            process.kill()

    async def verify() -> None:
        async with SQLiteStore(path, AGENT) as store:
            counts = await store.counts([ALICE, APP])
            assert counts.memories == 2 * WRITES
            assert counts.episodes == 2 * len(own) + len(shared)
            await assert_terms_exact(store, [ALICE, APP])
            assert [check for check in await store.check() if not check.ok] == []

    anyio.run(verify)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_writer_that_waits_too_long_says_so(tmp_path: Path, anyio_backend: str) -> None:  # noqa: ARG001
    """Bar 6: busy is an error of its own, nothing was changed, and the next try works."""
    path = tmp_path / "store.db"
    async with SQLiteStore(path, AGENT) as first, SQLiteStore(path, AGENT, busy_seconds=0) as second:
        assert first._writer is not None
        with writing(first._writer), pytest.raises(StoreBusyError, match="try again"):
            await second.add(ALICE, [episode_row("late")])
        assert (await second.counts([ALICE])).episodes == 0
        await second.add(ALICE, [episode_row("in time")])
        assert (await first.counts([ALICE])).episodes == 1


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_many_tasks_and_a_cancelled_one(tmp_path: Path, anyio_backend: str) -> None:  # noqa: ARG001
    """N10: tasks write and read at once; a task that is cancelled leaves no transaction open."""
    async with SQLiteStore(tmp_path / "store.db", AGENT) as store:

        async def use(number: int) -> None:
            await store.add(ALICE, [episode_row(f"task {number}", key="one for all")])
            assert await store.recent([ALICE], 1)

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(use, number)
        async with anyio.create_task_group() as tasks:
            for number in range(20, 40):
                tasks.start_soon(use, number)
            await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        assert store._writer is not None
        assert not store._writer.in_transaction
        await store.add(ALICE, [episode_row("after")])
        assert (await store.counts([ALICE])).episodes == 2
        await assert_terms_exact(store, [ALICE])
