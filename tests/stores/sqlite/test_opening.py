"""Bar 12 and 15: what may be opened, what is refused, and that the refused keeps its bytes."""

# pyright: reportPrivateUsage=false

import signal
import subprocess
import sys
from pathlib import Path

import anyio
import apsw
import pytest

from byheart.errors import AgentMismatchError, StoreCorruptError, StoreError, StoreReadOnlyError, StoreVersionError
from byheart.stores.sqlite import SQLiteStore
from byheart.stores.sqlite.connection import execute
from byheart.stores.sqlite.opening import APPLICATION_ID, open_writer, pragma
from byheart.stores.sqlite.queries import read_migrations
from byheart.testing.stores import AGENT, ALICE, episode_row


async def fill(path: Path) -> None:
    async with SQLiteStore(path, AGENT) as store:
        await store.add(ALICE, [episode_row("kept", id="e1")])


async def read_texts(path: Path, agent: str = AGENT) -> list[str]:
    async with SQLiteStore(path, agent) as store:
        return [episode.text for episode in await store.recent([ALICE], 9)]


def folder_bytes(folder: Path) -> dict[str, bytes]:
    """Every file's bytes, but for the -shm file, which SQLite makes anew for every look."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith("-shm")}


def test_folders_and_file_are_made(tmp_path: Path) -> None:
    """A store's file and the folders above it come into being."""
    path = tmp_path / "a" / "b c" / "日本 ?#%.db"
    anyio.run(fill, path)
    assert anyio.run(read_texts, path) == ["kept"]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    """A file of no bytes is a place for a store."""
    path = tmp_path / "empty.db"
    path.touch()
    anyio.run(fill, path)
    assert anyio.run(read_texts, path) == ["kept"]


def test_settings_of_the_file(tmp_path: Path) -> None:
    """N10: the file is ours, in WAL mode, and every commit of the writer is synced."""
    path = tmp_path / "store.db"
    writer = open_writer(path, AGENT, 1)
    settings = {
        "application_id": APPLICATION_ID, "user_version": len(read_migrations()), "journal_mode": "wal",
        "synchronous": 2, "secure_delete": 1, "trusted_schema": 0, "cell_size_check": 1,
    }  # fmt: skip
    assert {name: execute(writer, f"PRAGMA {name}")[0][0] for name in settings} == settings
    writer.close()


def test_a_newer_store_is_left_alone(tmp_path: Path) -> None:
    """Bar 15: a layout from the future is refused, and not a byte of the folder changes."""
    path = tmp_path / "store.db"
    anyio.run(fill, path)
    newer = apsw.Connection(str(path))
    execute(newer, f"PRAGMA user_version = {len(read_migrations()) + 1}")
    newer.close()
    before = folder_bytes(tmp_path)
    with pytest.raises(StoreVersionError, match="update byheart"):
        anyio.run(fill, path)
    assert folder_bytes(tmp_path) == before


def test_a_newer_store_with_a_wal_is_left_alone(tmp_path: Path) -> None:
    """Bar 15: also where the newer version stands in the WAL alone, as after a crash of the newer byheart."""
    made, path = tmp_path / "made.db", tmp_path / "copy" / "store.db"
    anyio.run(fill, made)
    newer = apsw.Connection(str(made))
    execute(newer, f"PRAGMA user_version = {len(read_migrations()) + 1}")
    path.parent.mkdir()
    for suffix in ("", "-wal"):
        path.with_name(path.name + suffix).write_bytes(made.with_name(made.name + suffix).read_bytes())
    newer.close()
    before = folder_bytes(path.parent)
    assert len(before["store.db-wal"]) > 0
    with pytest.raises(StoreVersionError):
        anyio.run(fill, path)
    assert folder_bytes(path.parent) == before


def test_what_is_no_store_is_left_alone(tmp_path: Path) -> None:
    """Bar 12: another program's database, a text, a folder: an error with the path and the fix, untouched."""
    foreign = apsw.Connection(str(tmp_path / "foreign.db"))
    execute(foreign, "CREATE TABLE t (x)")
    foreign.close()
    other = apsw.Connection(str(tmp_path / "other.db"))
    execute(other, "PRAGMA application_id = 42")
    other.close()
    (tmp_path / "short.txt").write_text("hello")
    (tmp_path / "long.txt").write_text("hello " * 5000)
    (tmp_path / "truncated.db").write_bytes((tmp_path / "foreign.db").read_bytes()[:300])
    before = folder_bytes(tmp_path)
    for name in before:
        with pytest.raises(StoreCorruptError, match=name) as caught:
            anyio.run(fill, tmp_path / name)
        assert ";" in str(caught.value), "says what to do"
    with pytest.raises(StoreCorruptError, match="folder"):
        anyio.run(fill, tmp_path)
    assert folder_bytes(tmp_path) == before


def test_another_agents_store_is_refused(tmp_path: Path) -> None:
    """C16: the file says whose it is."""
    path = tmp_path / "store.db"
    anyio.run(fill, path)
    before = folder_bytes(tmp_path)
    for agent in ("Agent", "agent ", "a%"):
        with pytest.raises(AgentMismatchError, match="belongs to agent 'agent'"):
            anyio.run(read_texts, path, agent)
    assert folder_bytes(tmp_path) == before


READ_AND_WRITE = """
import os, sys, anyio
from byheart.errors import ByheartError
from byheart.stores.sqlite import SQLiteStore
from byheart.testing.stores import ALICE, episode_row

async def use(path):
    said = []
    try:
        async with SQLiteStore(path, "agent") as store:
            said.append([episode.text for episode in await store.recent([ALICE], 9)])
            said.append([check.name for check in await store.check() if not check.ok])
            await store.add(ALICE, [episode_row("new")])
    except ByheartError as error:
        said.append(type(error).__name__)
    return said

anyio.run(use, sys.argv[1])  # loads everything, while it may be loaded
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
print(anyio.run(use, sys.argv[2]))
"""


def as_nobody(path: Path, warm_up: Path) -> str:
    """Use a store as a user without rights, for root may write everywhere."""
    command = [sys.executable, "-c", READ_AND_WRITE, str(warm_up), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


@pytest.fixture
def public(tmp_path: Path) -> Path:
    """A folder that every user may reach."""
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("folder_mode", [0o555, 0o777])
def test_a_file_that_may_not_be_written_is_read(
    public: Path, tmp_path_factory: pytest.TempPathFactory, folder_mode: int
) -> None:
    """Reads work without the right to write, even where nothing may be put beside the file; a write says so."""
    path = public / "store.db"
    anyio.run(fill, path)
    path.chmod(0o444)
    public.chmod(folder_mode)
    assert as_nobody(path, tmp_path_factory.mktemp("warm") / "up.db") == "[['kept'], [], 'StoreReadOnlyError']"


def test_a_place_without_any_right(public: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A file that may not be read, and a folder that may not be written."""
    path = public / "store.db"
    anyio.run(fill, path)
    path.chmod(0)
    warm_up = tmp_path_factory.mktemp("warm") / "up.db"
    for place in (path, public / "new" / "store.db", public / "new.db"):
        assert as_nobody(place, warm_up) == "['StoreReadOnlyError']"


def test_a_file_in_the_way_of_a_folder(tmp_path: Path) -> None:
    """A folder's name that is a file's is an error of the store."""
    (tmp_path / "file").touch()
    with pytest.raises(StoreReadOnlyError):
        anyio.run(fill, tmp_path / "file" / "store.db")


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    """Bar 15: a step is one transaction, its version number inside."""
    path = tmp_path / "store.db"
    anyio.run(fill, path)
    broken = [*read_migrations(), "CREATE TABLE next (x); INSERT INTO next VALUES (1); SELECT no_such_function()"]
    with pytest.raises(apsw.SQLError):
        open_writer(path, AGENT, 1, broken)
    assert anyio.run(read_texts, path) == ["kept"]
    connection = open_writer(path, AGENT, 1, [*read_migrations(), "CREATE TABLE next (x)"])
    assert pragma(connection, "user_version") == len(broken)
    connection.close()


MIGRATE = """
import sys
from byheart.stores.sqlite.opening import open_writer
from byheart.stores.sqlite.queries import read_migrations

steps = [";".join(f"CREATE TABLE step{step}_{n} (x)" for n in range(40)) for step in range(20)]
print("ready", flush=True)
open_writer(__import__("pathlib").Path(sys.argv[1]), "agent", 30, [*read_migrations(), *steps]).close()
"""


@pytest.mark.parametrize("spins", [0, 300, 1_000, 3_000, 10_000, 20_000, 40_000, 80_000])
def test_a_migration_that_is_killed_is_whole_or_not_there(tmp_path: Path, spins: int) -> None:
    """Bar 15, M13: killed at any moment, the version number and the tables agree."""
    path = tmp_path / "store.db"
    with subprocess.Popen([sys.executable, "-c", MIGRATE, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        for _ in range(spins):
            path.exists()
        process.send_signal(signal.SIGKILL)
    connection = apsw.Connection(str(path))
    version = pragma(connection, "user_version")
    [(steps,)] = execute(connection, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'step%'")
    [(ours,)] = execute(connection, "SELECT count(*) FROM sqlite_schema WHERE name IN ('store', 'change')")
    connection.close()
    assert (steps, ours) == (40 * max(version - 1, 0), 2 if version else 0)
    if version <= len(read_migrations()):
        assert anyio.run(read_texts, path) == []


def test_errors_of_sqlite_become_the_stores(tmp_path: Path) -> None:
    """One root: whatever SQLite says, the caller sees an error of byheart with the path."""
    path = tmp_path / "store.db"
    anyio.run(fill, path)

    async def break_it() -> None:
        async with SQLiteStore(path, AGENT) as store:
            assert store._writer is not None
            execute(store._writer, "DROP TABLE session")
            await store.add(ALICE, [episode_row("x", session="s")])

    with pytest.raises(StoreError, match=r"store\.db"):
        anyio.run(break_it)
