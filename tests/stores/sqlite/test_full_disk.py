"""Bar 6: a full disk is an error of its own; what was acknowledged stays, and nothing is half."""

# pyright: reportPrivateUsage=false

import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from byheart.errors import StoreFullError
from byheart.stores.sqlite import SQLiteStore
from byheart.stores.sqlite.connection import execute
from byheart.testing.stores import AGENT, ALICE, assert_terms_exact, episode_row


def test_no_more_pages(tmp_path: Path) -> None:
    """Bar 6, M3: SQLite says full; reads, a deletion and, with room again, writes work."""

    async def fill() -> None:
        async with SQLiteStore(tmp_path / "store.db", AGENT) as store:
            assert store._writer is not None
            [(pages,)] = execute(store._writer, "PRAGMA page_count")
            execute(store._writer, f"PRAGMA max_page_count = {pages + 40}")
            stored: list[str] = []

            async def write_on() -> None:
                for number in range(10_000):
                    row = episode_row(*(f"word{number} number {part} " * 20 for part in range(9)))
                    await store.add(ALICE, [row])
                    stored.append(row.id)

            with pytest.raises(StoreFullError, match="free some space"):
                await write_on()
            assert len(stored) > 3
            assert {episode.id for episode in await store.recent([ALICE], 10**6)} == set(stored)
            await assert_terms_exact(store, [ALICE])
            assert [check for check in await store.check() if not check.ok] == []
            assert await store.delete(ALICE, stored[:2]) == 2
            execute(store._writer, f"PRAGMA max_page_count = {1 << 30}")
            await store.add(ALICE, [episode_row("room again")])
            await assert_terms_exact(store, [ALICE])

    anyio.run(fill)


LIMITED = """
import resource, sys, anyio
from byheart.errors import StoreFullError
from byheart.stores.sqlite import SQLiteStore
from byheart.testing.stores import ALICE, episode_row

async def main():
    async with SQLiteStore(sys.argv[1], "agent") as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, resource.RLIM_INFINITY))
        try:
            for number in range(10_000):
                row = episode_row(*(f"word{number} number {part} " * 20 for part in range(9)))
                await store.add(ALICE, [row])
                print(row.id)
        except StoreFullError:
            print("full")
            print(len(await store.recent([ALICE], 10**6)))
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

anyio.run(main)
"""


def test_no_larger_file(tmp_path: Path) -> None:
    """Bar 6, M3: the system refuses a write; the process that saw it and the next one find all that was stored."""
    path = tmp_path / "store.db"
    done = subprocess.run([sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    *stored, said, found = done.stdout.split()
    assert len(stored) > 3
    assert (said, int(found)) == ("full", len(stored))

    async def verify() -> None:
        async with SQLiteStore(path, AGENT) as store:
            assert {episode.id for episode in await store.recent([ALICE], 10**6)} == set(stored)
            await assert_terms_exact(store, [ALICE])
            assert [check for check in await store.check() if not check.ok] == []

    anyio.run(verify)
