"""The store's health, line by line."""

import shutil
from collections import Counter
from pathlib import Path

import apsw

from byheart.stores.sqlite.connection import file_size, reading, rows
from byheart.stores.sqlite.layout import unpack_int32
from byheart.stores.sqlite.opening import APPLICATION_ID, pragma
from byheart.stores.sqlite.queries import read_migrations
from byheart.types import Check

#: The first SQLite in which a commit beside a checkpoint cannot corrupt the file (WAL-reset bug, fixed in 3.51.3).
SAFE_SQLITE = (3, 51, 3)

#: Above this size only the structure is checked, not that every index entry has its row.
_FULL_CHECK = 256 << 20
_SYNCHRONOUS_FULL = 2


def check_store(connection: apsw.Connection, path: Path) -> list[Check]:
    """Look at a store from inside one snapshot.

    Args:
        connection: any connection to the store; the writer's tells its own durability.
        path: the store's file.
    """
    with reading(connection):
        return [
            _sqlite_version(apsw.sqlite_lib_version()),
            _integrity(connection, path),
            _layout(connection),
            _journal(connection),
            _rows_agree(connection),
            _terms_agree(connection),
            _episodes_agree(connection),
            _free_space(path),
            _model(connection),
        ]


def _sqlite_version(version: str) -> Check:
    safe = tuple(int(part) for part in version.split(".")) >= SAFE_SQLITE
    wanted = ".".join(map(str, SAFE_SQLITE))
    advice = f"; below {wanted} two processes can corrupt a file: update apsw"
    return Check("sqlite version", safe, version if safe else version + advice)


def _integrity(connection: apsw.Connection, path: Path) -> Check:
    name = "integrity_check" if file_size(path) <= _FULL_CHECK else "quick_check"
    problems = [str(problem) for (problem,) in rows(connection, name) if problem != "ok"]
    return Check("integrity", not problems, "; ".join(problems[:3]) or f"{name} found nothing")


def _layout(connection: apsw.Connection) -> Check:
    application, version = pragma(connection, "application_id"), pragma(connection, "user_version")
    well = application == APPLICATION_ID and version == len(read_migrations())
    return Check("layout", well, f"application {application:#x}, version {version}")


def _journal(connection: apsw.Connection) -> Check:
    ((mode,),) = rows(connection, "journal_mode")
    level = pragma(connection, "synchronous")
    readonly = connection.readonly("main")
    well = readonly or (mode == "wal" and level >= _SYNCHRONOUS_FULL)
    return Check("durability", well, f"journal {mode}, " + ("read only" if readonly else f"synchronous {level}"))


def _rows_agree(connection: apsw.Connection) -> Check:
    ((memories, without_index, without_memory, counted, episodes, counted_episodes),) = rows(connection, "check_rows")
    well = not without_index and not without_memory and memories == counted and episodes == counted_episodes
    detail = (
        f"{memories} memories ({counted} counted), {without_index} without vectors, {without_memory} vectors without "
        f"a memory, {episodes} episodes ({counted_episodes} counted)"
    )
    return Check("rows and vectors", well, detail)


def _terms_agree(connection: apsw.Connection) -> Check:
    """Count every term again from the memories that have it."""
    recount: Counter[int] = Counter()
    for (packed,) in rows(connection, "check_term_ids"):
        recount.update(unpack_int32(packed))
    stored: dict[int, int] = dict(rows(connection, "check_terms"))
    wrong = sum(recount.get(number, 0) != stored.get(number, 0) for number in recount.keys() | stored.keys())
    return Check("terms", not wrong, f"{len(stored)} terms, {wrong} miscounted")


def _episodes_agree(connection: apsw.Connection) -> Check:
    ((chunks, tags, sessions, partitions),) = rows(connection, "check_episodes")
    detail = f"miscounted: {chunks} episodes, {sessions} sessions, {partitions} scopes; {tags} tags without an episode"
    return Check("episodes and tags", not (chunks or tags or sessions or partitions), detail)


def _free_space(path: Path) -> Check:
    free, needed = shutil.disk_usage(path.parent).free, 2 * file_size(path) + (16 << 20)
    detail = f"{free >> 20} MiB free, a purge needs up to {needed >> 20}"
    return Check("free space", free >= needed, detail if free >= needed else detail + ": free some")


def _model(connection: apsw.Connection) -> Check:
    ((_, model, dimensions, codec),) = rows(connection, "store")
    return Check("model", True, "none yet" if model is None else f"{model}, {dimensions} dimensions, codec {codec}")
