"""Opening a store's file: what it must be, what is made of an empty one, and numbered migrations."""

from pathlib import Path

import apsw

from byheart.errors import AgentMismatchError, StoreCorruptError, StoreReadOnlyError, StoreVersionError
from byheart.stores.sqlite.connection import (
    connect,
    connect_reader,
    execute,
    file_size,
    patiently,
    prepare_writer,
    rows,
    run,
    sibling,
    writing,
)
from byheart.stores.sqlite.queries import read_migrations

#: `bhrt`, in the file's header: tells a byheart store from any other SQLite file.
APPLICATION_ID = 0x62687274


def open_writer(path: Path, agent_id: str, busy_seconds: float, migrations: list[str] | None = None) -> apsw.Connection:
    """Open a store for writing, make it if there is none, and bring it to the newest version.

    Nothing is written before it is known that the file is this agent's store, of a version that is known here.

    Args:
        path: the file.
        agent_id: whose memories it must hold, or will.
        busy_seconds: how long to wait for another process.
        migrations: the scripts that take a store from each version to the next; the package's own if None.

    Raises:
        StoreVersionError: a newer byheart wrote it.
        StoreCorruptError: it is no byheart store, or damaged.
        AgentMismatchError: it is another agent's.
    """
    scripts = read_migrations() if migrations is None else migrations
    return patiently(lambda: _open_once(path, agent_id, busy_seconds, scripts), busy_seconds)


def _open_once(path: Path, agent_id: str, busy_seconds: float, scripts: list[str]) -> apsw.Connection:
    check_file(path)
    # A file that turns out not to be ours keeps its bytes: a WAL is not folded into it when we let go.
    has_wal = file_size(sibling(path, "-wal")) > 0
    connection = connect(path, busy_seconds)
    try:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_wal)
        if _check_identity(connection, path, len(scripts)):
            check_agent(connection, path, agent_id)
        _check_writable(connection, path)
        prepare_writer(connection)
        for version, script in enumerate(scripts, 1):
            _migrate(connection, path, script, version, agent_id)
        check_agent(connection, path, agent_id)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, False)
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate(connection: apsw.Connection, path: Path, script: str, version: int, agent_id: str) -> None:
    """Take one step, unless it was taken: the script and the new version number are one transaction."""
    if pragma(connection, "user_version") >= version:
        return
    with writing(connection):
        found = pragma(connection, "user_version")  # another process may have been first
        if found >= version:
            return
        _check_identity(connection, path, version)
        execute(connection, script)
        if found == 0:
            run(connection, "store_create", agent_id)
        execute(connection, f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {version}")


def check_agent(connection: apsw.Connection, path: Path, agent_id: str) -> None:
    """Refuse another agent's store.

    Raises:
        AgentMismatchError: it is one.
        StoreCorruptError: it says nothing of an agent.
    """
    found = rows(connection, "store")
    if not found:
        raise StoreCorruptError(f"{path}: says nothing of its agent; restore it from a copy")
    if found[0][0] != agent_id:
        raise AgentMismatchError(
            f"{path}: belongs to agent {found[0][0]!r}, not to {agent_id!r}; open it as that agent, or use another file"
        )


def _check_identity(connection: apsw.Connection, path: Path, newest: int) -> int:
    """The version of a store's layout, 0 for what may become a store."""
    application, version = pragma(connection, "application_id"), pragma(connection, "user_version")
    empty = not rows(connection, "schema")
    if application != APPLICATION_ID and not (application == 0 and version == 0 and empty):
        raise StoreCorruptError(f"{path}: is a database, but no byheart store; name another file")
    if version > newest:
        raise StoreVersionError(
            f"{path}: was written by a newer byheart (layout {version}, this one knows {newest}); update byheart"
        )
    return version


def _check_writable(connection: apsw.Connection, path: Path) -> None:
    if connection.readonly("main"):
        raise StoreReadOnlyError(f"{path}: may not be written; give write access to the file and its folder")


def pragma(connection: apsw.Connection, name: str) -> int:
    """The value of a setting that is a number."""
    ((value,),) = execute(connection, f"PRAGMA {name}")
    return value


def check_file(path: Path) -> None:
    """Look at a file before SQLite may touch it.

    Raises:
        StoreCorruptError: it is a folder, or no database.
        StoreReadOnlyError: it may not be read.
    """
    if path.is_dir():
        raise StoreCorruptError(f"{path}: is a folder; name a file in it, or end the URL in / for a file an agent")
    size = file_size(path)
    if not size or file_size(sibling(path, "-journal")):  # SQLite undoes what stands in a journal, whatever it left
        return
    header = _header(path, size)
    if header[:16] != b"SQLite format 3\0":
        raise StoreCorruptError(f"{path}: is no SQLite database; name another file, or restore it from a copy")


def _header(path: Path, size: int) -> bytes:
    """The first 100 bytes, read through SQLite: closing a file of our own would drop the locks of other connections."""
    try:
        file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    except apsw.CantOpenError as error:
        raise StoreReadOnlyError(f"{path}: may not be read; give read and write access to it and its folder") from error
    try:
        return file.xRead(min(size, 100), 0)
    finally:
        file.xClose()


def open_reader(path: Path, busy_seconds: float) -> apsw.Connection:
    """A connection that reads; from a folder that may not be written it looks at the file alone.

    Raises:
        StoreReadOnlyError: it cannot be read without writing beside it.
    """
    connection = connect_reader(path, busy_seconds)
    try:
        pragma(connection, "user_version")
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        connection.close()
        if file_size(sibling(path, "-wal")):
            raise
        connection = connect_reader(path, busy_seconds, immutable=True)
    return connection
