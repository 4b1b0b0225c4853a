"""One of several processes at work on a store: `python process_worker.py write|read STORE NUMBER COUNT`.

A writer makes COUNT writes and prints what it added; a reader follows the store until it has seen COUNT episodes.
"""

import sys
from pathlib import Path

import anyio

from byheart.stores.base import IndexRow
from byheart.stores.sqlite import SQLiteStore
from byheart.testing.stores import AGENT, ALICE, APP, episode_row


async def write(store: SQLiteStore, number: int, count: int) -> None:
    for n in range(count):
        scope = (ALICE, APP)[n % 2]
        row = episode_row(f"process{number} says {n}", key=f"shared-{n}" if n % 3 == 0 else None)
        await store.add(scope, [row])
        if n % 5 == 4:
            extra = episode_row("short lived")
            await store.add(scope, [extra])
            if await store.delete(scope, [extra.id]) != 1:
                sys.exit("a write of this process was not there")


async def read(store: SQLiteStore, count: int) -> None:
    loaded: dict[int, IndexRow] = {}
    version = 0
    while len(loaded) < count:
        delta = await store.changes(ALICE, version)
        if delta.reset:
            loaded.clear()
        for seq in delta.deleted:
            loaded.pop(seq, None)
        loaded.update({row.seq: row for row in delta.rows})
        version = delta.version
        for memory in await store.read(ALICE, list(loaded)[-5:]):
            if not memory.chunk.text:
                sys.exit("a memory without its text")
        await store.recent([ALICE, APP], 3)


async def main(kind: str, path: Path, number: int, count: int) -> None:
    async with SQLiteStore(path, AGENT) as store:
        await (write(store, number, count) if kind == "write" else read(store, count))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
