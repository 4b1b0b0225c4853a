"""Connections to the store's file: settings, transactions, and apsw's errors as the store's errors."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

from byheart.errors import (
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
)
from byheart.stores.sqlite.queries import SQL

Row = tuple[Any, ...]

#: 8 KiB holds four memories' index rows with little waste; 4 KiB holds two, 16 KiB doubles what a single add writes.
PAGE_SIZE = 8192

_BEFORE_WAL = f"""
PRAGMA page_size = {PAGE_SIZE};
PRAGMA secure_delete = ON;
PRAGMA trusted_schema = OFF;
PRAGMA cell_size_check = ON;
PRAGMA temp_store = MEMORY;
PRAGMA foreign_keys = OFF;
"""
_WRITER = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA journal_size_limit = 67108864;
PRAGMA cache_size = -32768;
"""


def connect(path: Path, busy_seconds: float) -> apsw.Connection:
    """A connection that may write, with every setting but those that change the file."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
    connection.set_busy_timeout(int(busy_seconds * 1000))
    connection.execute(_BEFORE_WAL)
    return connection


def prepare_writer(connection: apsw.Connection) -> None:
    """Switch the file to WAL and the connection to durable commits (synchronous=FULL: one fsync each)."""
    connection.execute(_WRITER)


def connect_reader(path: Path, busy_seconds: float, *, immutable: bool = False) -> apsw.Connection:
    """A connection that only reads; `immutable` looks at the file alone, without locks or its WAL."""
    name = f"file:{quote(str(path))}?mode=ro" + ("&immutable=1" if immutable else "")
    connection = apsw.Connection(name, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    connection.set_busy_timeout(int(busy_seconds * 1000))
    connection.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;")
    return connection


def rows(connection: apsw.Connection, name: str, *bindings: Any, **named: Any) -> list[Row]:
    """All rows of a named query."""
    return connection.execute(SQL[name], named or bindings).fetchall()


def run(connection: apsw.Connection, name: str, *bindings: Any) -> None:
    """Run a named query for its effect."""
    connection.execute(SQL[name], bindings)


def run_many(connection: apsw.Connection, name: str, bindings: Iterable[Sequence[Any]]) -> None:
    """Run a named query for its effect, once for each item."""
    connection.executemany(SQL[name], bindings)


def json_list(values: Iterable[object]) -> str:
    """A list as one bound value, for `json_each`."""
    return json.dumps(list(values), ensure_ascii=False)


@contextmanager
def reading(connection: apsw.Connection) -> Iterator[None]:
    """One snapshot for several queries."""
    run(connection, "begin_read")
    try:
        yield
    finally:
        if connection.in_transaction:
            run(connection, "rollback")


@contextmanager
def writing(connection: apsw.Connection) -> Iterator[None]:
    """One write, all or nothing; the lock is taken at the start, so a read in it cannot be overtaken."""
    run(connection, "begin_write")
    try:
        yield
        run(connection, "commit")
    finally:
        if connection.in_transaction:
            run(connection, "rollback")


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn apsw's errors into the store's, each with the path and what to do."""
    try:
        yield
    except apsw.Error as error:
        raise _translation(path, error) from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise StoreCorruptError(f"{path}: a row cannot be read ({error}); restore the file from a copy") from error


def _translation(path: Path, error: apsw.Error) -> StoreError:
    extended = getattr(error, "extendedresult", 0)
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusyError(f"{path}: another process held the store for too long; try again")
        case apsw.FullError():
            return StoreFullError(f"{path}: the disk is full; free some space and try again, nothing was changed")
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return StoreReadOnlyError(f"{path}: may not be written; give write access to the file and its folder")
        case apsw.CantOpenError():
            return StoreReadOnlyError(f"{path}: cannot be opened; give read and write access to it and its folder")
        case apsw.CorruptError() | apsw.NotADBError() | apsw.FormatError():
            return StoreCorruptError(f"{path}: is damaged or no byheart store ({error}); restore it from a copy")
        case apsw.IOError() if extended in {apsw.SQLITE_IOERR_SHORT_READ, apsw.SQLITE_IOERR_CORRUPTFS}:
            return StoreCorruptError(f"{path}: is cut short ({error}); restore it from a copy")
        case apsw.IOError() if extended in {apsw.SQLITE_IOERR_WRITE, apsw.SQLITE_IOERR_SHMSIZE}:
            return StoreFullError(f"{path}: the disk takes no more ({error}); nothing was changed")
        case _:
            return StoreError(f"{path}: {error}")
