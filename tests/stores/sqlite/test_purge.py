"""N2, bar 22: after a purge or a clear no byte of a forgotten text is in any file."""

# pyright: reportPrivateUsage=false

import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import apsw
import pytest

from byheart.errors import ResidueError, StoreBusyError
from byheart.stores.base import EpisodeRow, MemoryRow
from byheart.stores.sqlite import SQLiteStore
from byheart.stores.sqlite.connection import execute
from byheart.testing.stores import AGENT, ALICE, BOB, NOON, assert_terms_exact, episode_row, index_of, texts_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SQLiteStore]:
    async with SQLiteStore(tmp_path / "store.db", AGENT, busy_seconds=0.2) as opened:
        yield opened


def secret_row(number: int) -> tuple[EpisodeRow, list[bytes]]:
    """An episode whose every value can be found again in a file: the row and the bytes to look for."""
    word, vector = f"zq{uuid.uuid4().hex}", uuid.uuid4().bytes * 8
    text = f"{word} is the secret of row {number} " + f"and {word[::-1]} " * (number % 40)
    memory = MemoryRow(
        str(uuid.uuid4()), f"part{word}", text, NOON, {word: 1, "secret": 1}, vector, vector, f"by{word}"
    )
    row = EpisodeRow(
        str(uuid.uuid4()),
        "fact",
        (f"tag{word}",),
        {"note": word},
        NOON,
        NOON,
        (memory,),
        f"session{word}",
        f"key{word}",
    )
    return row, [word.encode(), word[::-1].encode(), vector[:16], row.id.encode(), memory.id.encode()]


def occurrences(folder: Path, needles: list[bytes]) -> int:
    contents = [file.read_bytes() for file in folder.iterdir()]
    return sum(content.count(needle) for content in contents for needle in needles)


async def test_deleted_rows_leave_nothing(store: SQLiteStore) -> None:
    """N2: texts, words, vectors, ids, tags, keys and sessions; what is kept is whole."""
    rows = [secret_row(number) for number in range(240)]
    for start in range(0, len(rows), 3):
        await store.add((ALICE, BOB)[start % 2], [row for row, _ in rows[start : start + 3]])
    gone = rows[::2]
    await store.delete(ALICE, [row.id for row, _ in gone])
    await store.delete(BOB, [row.id for row, _ in gone])
    needles = [needle for _, found in gone for needle in found]
    assert occurrences(store.path.parent, needles) > 0, "the test could not fail"
    report = await store.purge()
    assert occurrences(store.path.parent, needles) == 0
    assert report.texts_checked >= 2 * len(gone)
    assert report.pages_checked * 8192 == store.path.stat().st_size == report.files[str(store.path)]
    assert all(occurrences(store.path.parent, found) >= len(found) for _, found in rows[1::2])
    await assert_terms_exact(store, [ALICE, BOB])
    assert [check for check in await store.check() if not check.ok] == []
    assert (await store.purge()).texts_checked == 0


async def test_clear_leaves_nothing_of_a_scope(store: SQLiteStore) -> None:
    """N2: not even the user's name; then nothing of anything."""
    alices, bobs = [secret_row(n) for n in range(30)], [secret_row(n) for n in range(30)]
    await store.add(ALICE, [row for row, _ in alices])
    await store.add(BOB, [row for row, _ in bobs])
    report = await store.clear([ALICE])
    assert occurrences(store.path.parent, [needle for _, found in alices for needle in found] + [b"alice"]) == 0
    assert report.texts_checked > 0
    assert len(await texts_of(store, BOB)) == 30
    await store.clear()
    assert occurrences(store.path.parent, [needle for _, found in bobs for needle in found] + [b"bob"]) == 0
    assert await store.scopes() == []


async def test_what_makes_room_and_what_expires_is_purged_too(tmp_path: Path) -> None:
    """N2, C1: auto_prune and expiry forget as well as a deletion does."""
    async with SQLiteStore(tmp_path / "store.db", AGENT, max_episodes=5, auto_prune=True) as store:
        rows = [secret_row(number) for number in range(40)]
        for row, _ in rows:
            await store.add(ALICE, [row])
        await store.purge()
        assert occurrences(tmp_path, [needle for _, found in rows[:-5] for needle in found]) == 0
        assert len(await index_of(store, ALICE)) == 5


async def test_a_text_that_is_still_remembered_is_no_residue(store: SQLiteStore) -> None:
    """N2: forgetting one of two equal memories is no reason for alarm."""
    first, _ = secret_row(7)
    memory = MemoryRow(**{name: getattr(first.memories[0], name) for name in MemoryRow.__slots__})
    again = EpisodeRow("again", "fact", first.tags, first.metadata, NOON, NOON, (memory,), first.session, first.key)
    await store.add(ALICE, [first])
    await store.add(BOB, [again])
    await store.delete(ALICE, [first.id])
    await store.purge()
    assert await texts_of(store, BOB) == [memory.text]


async def test_a_leftover_file_is_reported(store: SQLiteStore) -> None:
    """N2: a file of the store's name that holds a forgotten text is an error that names it."""
    row, _ = secret_row(1)
    await store.add(ALICE, [row])
    await store.delete(ALICE, [row.id])
    leftover = store.path.with_name(store.path.name + "-journal.old")
    leftover.write_text(row.memories[0].text)
    with pytest.raises(ResidueError, match=r"journal\.old"):
        await store.purge()
    leftover.unlink()
    assert (await store.purge()).texts_checked > 0


async def test_another_process_reading_is_an_error_in_time(store: SQLiteStore) -> None:
    """N2: a purge that cannot be proved says why, changes nothing that is kept, and works later."""
    rows = [secret_row(number) for number in range(9)]
    await store.add(ALICE, [row for row, _ in rows])
    other = apsw.Connection(str(store.path))
    execute(other, "BEGIN; SELECT count(*) FROM memory")
    await store.delete(ALICE, [row.id for row, _ in rows[:5]])
    with pytest.raises(StoreBusyError, match="purge again"):
        await store.purge()
    assert len(await texts_of(store, ALICE)) == 4
    other.close()
    await store.purge()
    assert occurrences(store.path.parent, [needle for _, found in rows[:5] for needle in found]) == 0


async def test_a_clear_that_cannot_be_proved_says_what_it_did(store: SQLiteStore) -> None:
    """N2: what was deleted is deleted; the purge alone is to be done again."""
    row, needles = secret_row(1)
    await store.add(ALICE, [row])
    other = apsw.Connection(str(store.path))
    execute(other, "BEGIN; SELECT count(*) FROM memory")
    with pytest.raises(StoreBusyError, match="everything was deleted, but the purge failed"):
        await store.clear([ALICE])
    assert await texts_of(store, ALICE) == []
    other.close()
    await store.purge()
    assert occurrences(store.path.parent, needles) == 0


async def test_what_stands_behind_a_live_term_is_no_residue(tmp_path: Path) -> None:
    """N2: a term's number may be the byte that makes it look like a longer term that was forgotten."""
    for filler in range(44, 58):
        async with SQLiteStore(tmp_path / f"{filler}.db", AGENT) as store:
            await store.add(ALICE, [episode_row(f"filler{number:04}") for number in range(filler)])
            await store.add(ALICE, [episode_row("zetaqqx1"), episode_row("zetaqqx2")])
            rows = [episode_row(f"zetaqqx{number}") for number in range(10, 30)]
            await store.add(ALICE, rows)
            await store.delete(ALICE, [row.id for row in rows])
            assert (await store.purge()).texts_checked


async def test_writes_go_on_after_a_purge(store: SQLiteStore) -> None:
    """N2: the writer's cache does not bring back what was zeroed behind its back."""
    for number in range(60):
        row, _ = secret_row(number)
        await store.add(ALICE, [row])
        if number % 20 == 19:
            await store.delete(ALICE, [row.id])
            await store.purge()
    assert store._writer is not None
    assert execute(store._writer, "PRAGMA integrity_check") == [("ok",)]
    assert len(await texts_of(store, ALICE)) == 57
    await assert_terms_exact(store, [ALICE])
