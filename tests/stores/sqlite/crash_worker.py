"""Writes to a store until it is killed; tells of every acknowledged write. Forks, so that a life starts in no time.

`python crash_worker.py STORE`: for each line of its input a child writes, printing `pid N`, then `added ID` and
`deleting ID` / `deleted ID` as the calls begin and return.
"""

import os
import sys
from pathlib import Path

import anyio

from byheart.stores.sqlite import SQLiteStore
from byheart.testing.stores import AGENT, ALICE, episode_row


def say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


async def write_for_ever(path: Path) -> None:
    async with SQLiteStore(path, AGENT) as store:
        mine: list[str] = []
        while True:
            batch = [episode_row(f"word{os.getpid()} common {n}", tags=("t",), session="s") for n in range(3)]
            await store.add(ALICE, batch)
            for row in batch:
                say(f"added {row.id}")
            mine += [row.id for row in batch]
            if len(mine) % 4 == 0:
                say(f"deleting {mine[0]}")
                await store.delete(ALICE, [mine[0]])
                say(f"deleted {mine.pop(0)}")


def main(path: Path) -> None:
    for _ in sys.stdin:
        child = os.fork()
        if not child:
            say(f"pid {os.getpid()}")
            anyio.run(write_for_ever, path)
        os.waitpid(child, 0)
        say("dead")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
