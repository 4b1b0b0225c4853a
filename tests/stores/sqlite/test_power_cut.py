"""N10, bar 2, M2: a power cut at any moment loses no acknowledged write and leaves a whole file."""

import json
import os
import random
import subprocess
import sys
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest

from byheart.stores.sqlite import SQLiteStore
from byheart.testing.stores import AGENT, ALICE, assert_terms_exact

#: `BYHEART_TEST_CUTS=2000` for the long run.
CUTS = int(os.environ.get("BYHEART_TEST_CUTS", "60"))
SECTOR = 512

Operation = list[Any]


@dataclass
class Disk:
    """A file as the disk has it, and what it was told since the last sync."""

    content: bytearray = field(default_factory=bytearray)
    pending: list[Operation] = field(default_factory=list[Operation])

    def settle(self) -> None:
        """A sync: everything told so far is on the disk."""
        for operation in self.pending:
            self.apply(operation)
        self.pending.clear()

    def apply(self, operation: Operation) -> None:
        """Do an operation in full."""
        if operation[0] == "truncate":
            del self.content[operation[2] :]
            return
        self.put(operation[2], bytes.fromhex(operation[3]))

    def put(self, offset: int, data: bytes) -> None:
        """Write bytes, zeros before them where the file is shorter."""
        self.content.extend(bytes(max(offset - len(self.content), 0)))
        self.content[offset : offset + len(data)] = data

    def cut_power(self, dice: random.Random) -> None:
        """Each operation that was not synced is done, lost, or done for some of its sectors."""
        for operation in self.pending:
            fate = dice.choice(["done", "lost", "torn"])
            if fate == "done" or (fate == "torn" and operation[0] == "truncate"):
                self.apply(operation)
            elif fate == "torn":
                data = bytes.fromhex(operation[3])
                for start in range(0, len(data), SECTOR):
                    if dice.random() < 0.5:
                        self.put(operation[2] + start, data[start : start + SECTOR])


def disks_after(operations: list[Operation], dice: random.Random) -> dict[str, Disk]:
    """The files as a power cut behind the last of the operations leaves them."""
    disks: dict[str, Disk] = {}
    for operation in operations:
        kind, name = operation[:2]
        if kind == "sync":
            disks.setdefault(name, Disk()).settle()
        elif kind in {"write", "truncate"}:
            disks.setdefault(name, Disk()).pending.append(operation)
        elif kind == "delete" and name in disks:
            del disks[name]
    for disk in disks.values():
        disk.cut_power(dice)
    return disks


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> list[Operation]:
    folder = tmp_path_factory.mktemp("power")
    script = str(Path(__file__).with_name("power_cut_worker.py"))
    command = [sys.executable, script, str(folder / "store.db"), str(folder / "record.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    operations: list[Operation] = json.loads((folder / "record.json").read_text())
    return operations


def test_a_commit_is_one_sync(record: list[Operation]) -> None:
    """N10: each acknowledged write was synced, by one sync of the WAL."""
    adds = [number for number, operation in enumerate(record) if operation[0] == "added"]
    between = [record[first + 1 : second] for first, second in pairwise(adds) if second > first + 1]
    plain = [group for group in between if not any(operation[0] == "deleting" for operation in group)]
    assert [sum(operation[0] == "sync" for operation in group) for group in plain] == [1] * len(plain)
    assert len(plain) > 40


def test_power_cuts(record: list[Operation], tmp_path: Path) -> None:
    """N10: whatever the disk made of what was not synced, everything acknowledged is there, and the file is whole."""
    dice = random.Random(11)  # noqa: S311 - a seed, not a secret

    async def verify(path: Path, done: list[Operation]) -> None:
        said = {kind: {id_ for said_kind, id_, *_ in done if said_kind == kind} for kind in ("added", "deleting")}
        deleted = {operation[1] for operation in done if operation[0] == "deleted"}
        async with SQLiteStore(path, AGENT) as store:
            ids = {episode.id for episode in await store.recent([ALICE], 10**6)}
            assert said["added"] - said["deleting"] <= ids, "an acknowledged write is lost"
            assert not deleted & ids, "a deleted episode came back"
            await assert_terms_exact(store, [ALICE])
            assert [check for check in await store.check() if not check.ok] == []

    for number in range(CUTS):
        done = record[: dice.randrange(len(record))]
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, disk in disks_after(done, dice).items():
            (folder / name).write_bytes(disk.content)
        anyio.run(verify, folder / "store.db", done)
