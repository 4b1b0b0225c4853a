"""Writes to a store through a VFS that takes down every operation: `python power_cut_worker.py STORE RECORD`.

The record is a JSON list of operations in their order: `["write", file, offset, hex]`, `["sync", file]`,
`["truncate", file, size]`, `["delete", file]`, and `["added", id]`, `["deleted", id]` for what was acknowledged.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import apsw

from byheart.stores.sqlite import SQLiteStore
from byheart.stores.sqlite.connection import execute
from byheart.testing.stores import AGENT, ALICE, episode_row

record: list[list[object]] = []


class RecordingFile(apsw.VFSFile):
    def __init__(self, base: str, name: Any, flags: Any) -> None:
        super().__init__(base, name, flags)
        self._name = Path(str(name.filename() if isinstance(name, apsw.URIFilename) else name)).name

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        record.append(["write", self._name, offset, bytes(data).hex()])
        write: Any = super().xWrite
        write(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        record.append(["sync", self._name])

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        record.append(["truncate", self._name, newsize])
        super().xTruncate(newsize)


class RecordingVFS(apsw.VFS):
    def __init__(self) -> None:
        super().__init__("recording", "", makedefault=True)

    def xOpen(self, name: Any, flags: Any) -> apsw.VFSFile:  # noqa: N802
        return RecordingFile("unix", name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: FBT001, N802
        super().xDelete(filename, syncdir)
        record.append(["delete", Path(filename).name])


def keep_alone(connection: apsw.Connection) -> None:
    """A VFS written in Python has no shared memory; a connection that is alone needs none for its WAL."""
    execute(connection, "PRAGMA locking_mode = EXCLUSIVE")


async def write(path: Path) -> None:
    async with SQLiteStore(path, AGENT) as store:
        ids: list[str] = []
        for number in range(60):
            rows = [episode_row(f"number {number} part {part} " + "word " * (number % 50)) for part in range(3)]
            await store.add(ALICE, rows)
            record.extend(["added", row.id] for row in rows)
            ids += [row.id for row in rows]
            if number % 7 == 6:
                record.append(["deleting", ids[0]])
                await store.delete(ALICE, [ids[0]])
                record.append(["deleted", ids.pop(0)])


def main(path: Path, target: Path) -> None:
    vfs = RecordingVFS()
    apsw.connection_hooks.append(keep_alone)
    anyio.run(write, path)
    target.write_text(json.dumps(record))
    vfs.unregister()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
