"""Purging: rewrite the file, empty its WAL, zero what lies unused, and prove that nothing forgotten is left."""

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import apsw

from byheart.errors import ResidueError, StoreBusyError
from byheart.stores.sqlite.connection import execute, file_size, iterate, patiently, rows, run, sibling
from byheart.stores.sqlite.queries import SQL
from byheart.stores.sqlite.residue import Forgotten, occurring, overlapping_blocks, pieces, walk_pages
from byheart.types import PurgeReport

#: VACUUM's copy is held in memory up to this size of file, so that no text gets into a temporary file.
_MEMORY_VACUUM = 1 << 30
_LIVE_BATCH = 2000
_PAUSE = 0.01
#: With the line end behind it, the shortest that `occurring` looks for.
_SHORTEST_START = 7


def purge(connection: apsw.Connection, path: Path, forgotten: Forgotten, busy_seconds: float) -> PurgeReport:
    """Leave no byte of a forgotten text in the store's files.

    Deleting with secure_delete is not enough: a b-tree page that was split keeps copies of the cells that moved away.
    VACUUM rewrites every page, though its own splits leave such copies too, of live rows; they are zeroed in place.

    Args:
        connection: the store's writer, outside a transaction.
        path: the store's file.
        forgotten: what to look for byte by byte; the walk over the pages covers everything else.
        busy_seconds: how long other processes may be in the way.

    Raises:
        ResidueError: something was found, or a file is there that should not be.
        StoreBusyError: another process kept reading or writing.
    """
    execute(connection, f"PRAGMA temp_store = {'MEMORY' if file_size(path) < _MEMORY_VACUUM else 'FILE'}")
    patiently(lambda: run(connection, "vacuum"), busy_seconds)
    with _alone(connection, path, busy_seconds):
        roots = [root for (root,) in rows(connection, "roots")]
        with _raw(path) as file:
            walk = walk_pages(file.xRead, file.xFileSize(), roots)
            for offset, length in walk.leftovers:
                _write(file, bytes(length), offset)
            file.xSync(apsw.SQLITE_SYNC_FULL)
            left = [f"bytes at {offset}" for offset, length in walk.leftovers if any(file.xRead(length, offset))]
            problems = [*walk.faults, *left, *_search(connection, path, file, forgotten)]
    # What this connection has cached are pages from before they were zeroed; it must not write them back.
    connection.release_memory()
    if problems:
        raise ResidueError(
            f"{path}: {'; '.join(problems[:5])} ({len(problems)} in all); delete leftover files and purge again, or "
            "export the store, delete its files and import it"
        )
    report = PurgeReport(_files(path), sum(any(pieces(text)) for text in forgotten.texts), len(walk.seen))
    forgotten.clear()
    return report


@contextmanager
def _alone(connection: apsw.Connection, path: Path, busy_seconds: float) -> Generator[None]:
    """Keep others from writing, with an empty WAL: the file is then the whole truth, and stays as it is."""
    deadline = time.monotonic() + busy_seconds
    while True:
        ((busy, _, _),) = rows(connection, "truncate_wal")
        if not busy:
            run(connection, "begin_write")
            if not file_size(sibling(path, "-wal")):
                break
            run(connection, "rollback")
        if time.monotonic() >= deadline:
            raise StoreBusyError(f"{path}: another process keeps the store busy; close its reads, then purge again")
        time.sleep(_PAUSE)
    try:
        yield
    finally:
        run(connection, "rollback")


@contextmanager
def _raw(path: Path) -> Generator[apsw.VFSFile]:
    """The file as bytes, through SQLite: closing a file of our own would drop the locks of every connection to it."""
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE, 0])
    try:
        yield file
    finally:
        file.xClose()


def _write(file: apsw.VFSFile, data: bytes, offset: int) -> None:
    untyped: Any = file
    untyped.xWrite(data, offset)


def _search(connection: apsw.Connection, path: Path, file: apsw.VFSFile, forgotten: Forgotten) -> list[str]:
    """Search every file for the pieces of forgotten texts that no live row has; names the files with a hit."""
    wanted = {piece for text in forgotten.texts for piece in pieces(text)}
    if not wanted:
        return []
    wanted -= occurring(wanted, _live(connection))
    found = occurring(wanted, overlapping_blocks(file.xRead, file.xFileSize()))
    hits = [path.name] if _unexplained(connection, found) else []
    # The -shm file holds page numbers and checksums alone, and closing it would drop locks: it is not read.
    others = [other for other in _siblings(path) if not other.name.endswith("-shm")]
    hits += [other.name for other in others if occurring(wanted, [other.read_bytes()])]
    return [f"forgotten text in {name}" for name in hits]


def _unexplained(connection: apsw.Connection, found: set[bytes]) -> set[bytes]:
    """The pieces that are not the end of a live string and the bytes that happen to stand behind it.

    The number of a live term `item2` may be the byte `9`, which together look like a forgotten `item29`.
    """
    starts = {piece[:length] + b"\n" for piece in found for length in range(_SHORTEST_START, len(piece))}
    explained = occurring(starts, _live(connection)) if starts else set[bytes]()
    ends = {start[:-1] for start in explained}
    return {piece for piece in found if not any(piece.startswith(end) for end in ends)}


def _live(connection: apsw.Connection) -> Iterator[bytes]:
    cursor = iterate(connection, SQL["live_strings"])
    while batch := list(islice(cursor, _LIVE_BATCH)):
        yield "".join(f"{text}\n" for (text,) in batch if text).encode()


def _siblings(path: Path) -> list[Path]:
    return sorted(other for other in path.parent.iterdir() if other.name.startswith(path.name + "-"))


def _files(path: Path) -> dict[str, int]:
    return {str(file): file_size(file) for file in (path, *_siblings(path))}
