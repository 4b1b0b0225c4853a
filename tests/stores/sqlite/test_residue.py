"""N2, bar 22: the walk over the pages finds every planted byte, and the search every planted text."""

import random
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byheart.stores.sqlite.connection import execute
from byheart.stores.sqlite.residue import Forgotten, PageWalk, occurring, overlapping_blocks, pieces, walk_pages

PAGE = 512


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A small vacuumed database whose pages are of every kind: leaves, interior pages and overflow, of both trees."""
    path = tmp_path / "x.db"
    connection = apsw.Connection(str(path))
    execute(connection, f"PRAGMA page_size = {PAGE}; PRAGMA secure_delete = ON; CREATE TABLE t (a TEXT)")
    execute(connection, "CREATE TABLE w (k TEXT, v, PRIMARY KEY (k, v)) WITHOUT ROWID; CREATE INDEX i ON t (a)")
    execute(connection, "BEGIN")
    for number in range(300):
        execute(connection, "INSERT INTO t VALUES (?)", (f"row {number} " * (1 + number % 90),))
        execute(connection, "INSERT INTO w VALUES (?, ?)", (f"key {number}", b"v" * (number % 700)))
    execute(connection, "COMMIT; VACUUM")
    connection.close()
    return path


def walk(data: bytes, path: Path) -> PageWalk:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    roots = [root for (root,) in execute(connection, "SELECT rootpage FROM sqlite_schema WHERE rootpage > 1")]
    connection.close()
    return walk_pages(reader(data), len(data), roots)


def reader(data: bytes) -> Callable[[int, int], bytes]:
    return lambda length, offset: data[offset : offset + length]


def cleaned(path: Path) -> bytes:
    """The database's bytes after everything unused was zeroed; SQLite finds it whole."""
    data = bytearray(path.read_bytes())
    for offset, length in walk(bytes(data), path).leftovers:
        data[offset : offset + length] = bytes(length)
    path.write_bytes(data)
    connection = apsw.Connection(str(path))
    assert execute(connection, "PRAGMA integrity_check") == [("ok",)]
    assert execute(connection, "SELECT count(*), sum(length(a)) FROM t") == [
        (300, sum(len(f"row {n} ") * (1 + n % 90) for n in range(300)))
    ]
    connection.close()
    return bytes(data)


def test_every_page_is_reached_and_zeroing_harms_nothing(database: Path) -> None:
    """N2: all pages are seen once, and after zeroing what is unused the rows are as they were."""
    data = cleaned(database)
    result = walk(data, database)
    assert (result.leftovers, result.faults) == ([], [])
    assert result.seen == set(range(1, len(data) // PAGE + 1))


def test_planted_bytes_are_found(database: Path) -> None:
    """N2: in any unused place of any page, one byte is found where it stands; a used place is never called unused."""
    data = cleaned(database)
    dice = random.Random(3)  # noqa: S311 - a seed, not a secret
    zeros = [place for place in range(100, len(data)) if data[place] == 0]
    found = 0
    for place in dice.sample(zeros, 200):
        damaged = bytearray(data)
        damaged[place] = 0x5A
        result = walk(bytes(damaged), database)
        assert result.leftovers in ([], [(place, 1)]) or result.faults, "a used byte was called unused"
        found += result.leftovers == [(place, 1)]
    assert found > 20


def test_free_pages_and_a_long_file_are_found(database: Path) -> None:
    """N2: pages on the free list, pages of no table, and bytes behind the last page."""
    data = cleaned(database)
    assert walk(data + b"x" * PAGE, database).faults == ["the file is longer than its pages"]
    connection = apsw.Connection(str(database))
    execute(connection, "DELETE FROM w")
    connection.close()
    faults = walk(database.read_bytes(), database).faults
    assert "pages are free" in faults[0]
    assert any("belongs to no table" in fault for fault in faults)


@given(st.lists(st.text(min_size=1), max_size=20), st.binary(max_size=200), st.integers(0, 60))
def test_the_search_finds_what_is_there_and_nothing_else(texts: list[str], noise: bytes, size: int) -> None:
    """N2: pieces of planted texts are found across block borders, as `in` would find them."""
    data = noise + b"".join(text.encode() for text in texts[::2]) + noise[::-1]
    wanted = {piece for text in texts for piece in pieces(text)}
    blocks = overlapping_blocks(reader(data), len(data), size + 40)
    assert occurring(wanted, blocks) == {piece for piece in wanted if piece in data}


@given(st.text(max_size=200))
def test_pieces_cover_a_text(text: str) -> None:
    """N2: put together they are the text; each is long enough to mean something."""
    encoded = text.encode()
    cut = list(pieces(text))
    assert b"".join(cut) == (encoded if len(encoded) >= 8 else b"")
    assert all(8 <= len(piece) <= 31 for piece in cut)


def test_what_is_remembered_of_the_forgotten_is_bounded() -> None:
    """N2: megabytes, not more; then the walk speaks for the rest."""
    forgotten = Forgotten()
    forgotten.add("x" * 1000 + str(number) for number in range(50_000))
    assert 1000 < len(forgotten.texts) <= Forgotten.MOST_TEXTS
    assert sum(map(len, forgotten.texts)) < Forgotten.MOST_CHARACTERS + 2000
    forgotten.clear()
    assert forgotten.texts == set()
