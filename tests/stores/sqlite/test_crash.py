"""N10, bar 1 and 3: kill -9 at any moment loses no acknowledged write and leaves no half of one."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio

from byheart.stores.sqlite import SQLiteStore
from byheart.testing.stores import AGENT, ALICE, assert_terms_exact, index_of

#: `BYHEART_TEST_KILLS=200` for the long run.
KILLS = int(os.environ.get("BYHEART_TEST_KILLS", "40"))


@contextmanager
def worker(path: Path) -> Generator[subprocess.Popen[str]]:
    command = [sys.executable, str(Path(__file__).with_name("crash_worker.py")), str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def live_and_die(process: subprocess.Popen[str], acknowledged_writes: int) -> Iterator[str]:
    """Start a life, kill it after so many lines, and give all it said."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("live\n")
    process.stdin.flush()
    child = int(process.stdout.readline().removeprefix("pid "))
    for _ in range(acknowledged_writes):
        yield process.stdout.readline().strip()
    os.kill(child, signal.SIGKILL)
    while (line := process.stdout.readline().strip()) != "dead":
        yield line


async def assert_stored(path: Path, added: set[str], deleting: set[str], deleted: set[str]) -> None:
    async with SQLiteStore(path, AGENT) as store:
        episodes = {episode.id: episode for episode in await store.recent([ALICE], 10**6)}
        assert added - deleting <= episodes.keys(), "an acknowledged write is lost"
        assert not deleted & episodes.keys(), "a deleted episode came back"
        index = await index_of(store, ALICE)
        assert len(index) == sum(len(episode.chunks) for episode in episodes.values())
        assert all(row.vector and row.term_ids for row in index.values())
        await assert_terms_exact(store, [ALICE])
        assert [check for check in await store.check() if not check.ok] == []


def test_killed_at_any_moment(tmp_path: Path) -> None:
    """N10: every life ends by SIGKILL in the middle of its work."""
    path = tmp_path / "store.db"
    moments = random.Random(7)  # noqa: S311 - a seed, not a secret
    said: dict[str, set[str]] = {"added": set(), "deleting": set(), "deleted": set()}
    with worker(path) as process:
        for life in range(KILLS):
            for line in live_and_die(process, moments.randrange(20)):
                kind, _, id_ = line.partition(" ")
                said[kind].add(id_)
            if life % 10 == 9:
                anyio.run(assert_stored, path, said["added"], said["deleting"], said["deleted"])
    anyio.run(assert_stored, path, said["added"], said["deleting"], said["deleted"])
    assert len(said["added"]) > KILLS
    assert said["deleted"]
