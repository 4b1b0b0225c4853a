"""Connections to the store's file: settings, transactions, and apsw's errors as the store's errors."""

import json
import struct
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import apsw

from byheart.errors import (
    ByheartError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
)
from byheart.stores.sqlite.queries import SQL

R = TypeVar("R")
Row = tuple[Any, ...]
Bindable = str | bytes | int | float | None
Bindings = Sequence[Bindable] | Mapping[str, Bindable]

#: 8 KiB holds four memories' index rows with little waste; 4 KiB holds two, 16 KiB doubles what a single add writes.
PAGE_SIZE = 8192

_PAUSE = 0.005

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
    execute(connection, _BEFORE_WAL)
    return connection


def prepare_writer(connection: apsw.Connection) -> None:
    """Switch the file to WAL and the connection to durable commits (synchronous=FULL: one fsync each)."""
    execute(connection, _WRITER)


def connect_reader(path: Path, busy_seconds: float, *, immutable: bool = False) -> apsw.Connection:
    """A connection that only reads; `immutable` looks at the file alone, without locks or its WAL."""
    name = f"file:{quote(str(path))}?mode=ro" + ("&immutable=1" if immutable else "")
    connection = apsw.Connection(name, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    connection.set_busy_timeout(int(busy_seconds * 1000))
    execute(connection, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;")
    return connection


def execute(connection: apsw.Connection, sql: str, bindings: Bindings = ()) -> list[Row]:
    """Run one or more statements to their end: apsw runs no further than the first row that nobody asks for."""
    return list(iterate(connection, sql, bindings))


def iterate(connection: apsw.Connection, sql: str, bindings: Bindings = ()) -> Iterator[Row]:
    """The rows one by one; what types their values have, only the query knows."""
    untyped: Any = connection
    return untyped.execute(sql, bindings)


def rows(connection: apsw.Connection, name: str, *bindings: Bindable, **named: Bindable) -> list[Row]:
    """All rows of a named query."""
    return execute(connection, SQL[name], named or bindings)


def run(connection: apsw.Connection, name: str, *bindings: Bindable) -> None:
    """Run a named query for its effect."""
    execute(connection, SQL[name], bindings)


def run_many(connection: apsw.Connection, name: str, bindings: Iterable[Sequence[Bindable]]) -> None:
    """Run a named query for its effect, once for each item."""
    untyped: Any = connection
    untyped.executemany(SQL[name], bindings)


def sibling(path: Path, suffix: str) -> Path:
    """A file that SQLite keeps beside the database, such as `-wal`."""
    return path.with_name(path.name + suffix)


def file_size(path: Path) -> int:
    """A file's size in bytes; 0 where there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def json_list(values: Iterable[object]) -> str:
    """A list as one bound value, for `json_each`."""
    return json.dumps(list(values), ensure_ascii=False)


@contextmanager
def reading(connection: apsw.Connection) -> Generator[None]:
    """One snapshot for several queries."""
    run(connection, "begin_read")
    try:
        yield
    finally:
        if connection.in_transaction:
            run(connection, "rollback")


@contextmanager
def writing(connection: apsw.Connection) -> Generator[None]:
    """One write, all or nothing; the lock is taken at the start, so a read in it cannot be overtaken."""
    run(connection, "begin_write")
    try:
        yield
        run(connection, "commit")
    finally:
        if connection.in_transaction:
            run(connection, "rollback")


def patiently(work: Callable[[], R], busy_seconds: float) -> R:
    """Do a piece of work, again while SQLite says busy: it does not wait itself for every kind of lock.

    Each try is a transaction of its own, so one that failed has left nothing behind.
    """
    deadline = time.monotonic() + busy_seconds
    while True:
        try:
            return work()
        except apsw.BusyError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_PAUSE)


@contextmanager
def translated(path: Path) -> Generator[None]:
    """Turn apsw's errors into the store's, each with the path and what to do."""
    try:
        yield
    except apsw.Error as error:
        raise _translation(path, error) from error
    except (UnicodeDecodeError, struct.error) as error:
        raise StoreCorruptError(f"{path}: a row cannot be read ({error}); restore the file from a copy") from error


@contextmanager
def consistent(path: Path) -> Generator[None]:
    """Turn what goes wrong with rows that make no sense, or do not fit each other, into the store's error."""
    try:
        yield
    except ByheartError:
        raise
    except (LookupError, ValueError, TypeError, OverflowError) as error:
        raise StoreCorruptError(f"{path}: its rows do not fit ({error!r}); restore the file from a copy") from error


_WRITE_ACCESS = "give write access to the file and its folder"

#: What an error of SQLite means here: its class or extended code, the store's error, and what to say.
_MEANINGS: Sequence[tuple[type[apsw.Error] | int, type[StoreError], str]] = (
    (apsw.SQLITE_IOERR_SHORT_READ, StoreCorruptError, "is cut short; restore it from a copy"),
    (apsw.SQLITE_IOERR_CORRUPTFS, StoreCorruptError, "lies on a damaged disk; restore it from a copy"),
    (apsw.SQLITE_IOERR_WRITE, StoreFullError, "the disk takes no more; free some space and try again"),
    (apsw.SQLITE_IOERR_SHMSIZE, StoreFullError, "the disk takes no more; free some space and try again"),
    (apsw.BusyError, StoreBusyError, "another process held the store for too long; try again"),
    (apsw.FullError, StoreFullError, "the disk is full; free some space and try again"),
    (apsw.ReadOnlyError, StoreReadOnlyError, f"may not be written; {_WRITE_ACCESS}"),
    (apsw.CantOpenError, StoreReadOnlyError, f"cannot be opened; {_WRITE_ACCESS}"),
    (apsw.CorruptError, StoreCorruptError, "is damaged; restore it from a copy"),
    (apsw.NotADBError, StoreCorruptError, "is no SQLite database; name another file, or restore it from a copy"),
)


def _translation(path: Path, error: apsw.Error) -> StoreError:
    extended = getattr(error, "extendedresult", 0)
    for mark, kind, meaning in _MEANINGS:
        if mark == extended if isinstance(mark, int) else isinstance(error, mark):
            return kind(f"{path}: {meaning} (SQLite: {error})")
    return StoreError(f"{path}: {error}")
