"""Bar 12: a broken file is an error, never an empty success."""

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from byheart.errors import StoreCorruptError, StoreError
from byheart.stores.sqlite import SQLiteStore
from byheart.testing.stores import AGENT, ALICE, episode_row

EPISODES = 150
PLACES = 70


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of a few hundred kilobytes, closed."""
    path = tmp_path_factory.mktemp("whole") / "store.db"

    async def fill() -> None:
        async with SQLiteStore(path, AGENT) as store:
            texts = [" ".join(f"word{n}{m}" for m in range(60)) for n in range(EPISODES)]
            await store.add(ALICE, [episode_row(text, tags=("t",), session="s", key=text[:9]) for text in texts])

    anyio.run(fill)
    return path


async def look(path: Path) -> list[int]:
    """How much each read finds."""
    async with SQLiteStore(path, AGENT) as store:
        index = (await store.changes(ALICE, 0)).rows
        return [
            len(await store.recent([ALICE], 10)),
            len(index),
            len(await store.read(ALICE, [row.seq for row in index])),
            (await store.counts([ALICE])).memories,
            len(await store.scopes()),
            (await store.term_stats(["word00"])).documents,
        ]


def cut(data: bytearray, place: int) -> None:
    del data[place:]


def zero(data: bytearray, place: int) -> None:
    data[place : place + 512] = bytes(len(data[place : place + 512]))


def flip(data: bytearray, place: int) -> None:
    data[place] ^= 0xFF


def places(size: int) -> Iterator[int]:
    """All over the file, and thickly over its first pages."""
    dice = random.Random(5)  # noqa: S311 - a seed, not a secret
    yield from (dice.randrange(1, 100) for _ in range(10))
    yield from (dice.randrange(1, 8 * 8192) for _ in range(PLACES - 30))
    yield from (dice.randrange(1, size) for _ in range(20))


@pytest.mark.parametrize("damage", [cut, zero, flip])
def test_a_damaged_file_is_an_error_or_still_tells_something(
    whole: Path, tmp_path: Path, damage: Callable[[bytearray, int], None]
) -> None:
    """Bar 12: 210 places; every read raises the store's error or finds something. A cut is always an error."""
    assert anyio.run(look, whole) == [10, EPISODES, EPISODES, EPISODES, 1, EPISODES]
    path = tmp_path / "store.db"
    errors = 0
    for place in places(whole.stat().st_size):
        data = bytearray(whole.read_bytes())
        damage(data, place)
        for file in tmp_path.iterdir():
            file.unlink()
        path.write_bytes(data)
        try:
            found = anyio.run(look, path)
        except StoreError:
            errors += 1
        else:
            assert all(found), f"{damage.__name__} at {place}: {found}"
            assert damage is not cut
    assert errors > PLACES // 10


def test_check_names_the_damage(whole: Path, tmp_path: Path) -> None:
    """Bar 12: what a read does not touch, `check` does."""
    path = tmp_path / "store.db"
    shutil.copy(whole, path)
    data = bytearray(path.read_bytes())
    at = data.rindex(b"word14959")
    data[at - 3000 : at] = bytes(3000)
    path.write_bytes(data)

    async def ask() -> list[str]:
        async with SQLiteStore(path, AGENT) as store:
            return [check.name for check in await store.check() if not check.ok]

    with suppress(StoreCorruptError):
        assert anyio.run(ask)
