"""The search arrays of one partition, kept in step with the store by deltas."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from byheart.retrieval.arrays import Bytes, Column, Floats, Ints, Longs, Mask, ranges
from byheart.retrieval.codec import decode_vector, decode_vectors, vector_width
from byheart.retrieval.postings import Postings
from byheart.stores.base import IndexDelta, IndexRow
from byheart.types import COORDINATE_AXES

#: The first ten fields of an `IndexRow`, under the same names, each with its kind.
FIELDS: Mapping[str, type[np.generic]] = {
    "seq": np.int64,
    "episode": np.int64,
    "session": np.int64,
    "timestamp": np.int64,
    "expires": np.int64,
    "last_accessed": np.int64,
    "importance": np.float32,
    "type": np.int8,
    "role": np.int8,
    "coordinate": np.int8,
}
#: Slots of deleted memories are swept out once they are more than a quarter of all, and more than these.
FEW_DEAD = 256


class PartitionIndex:
    """One partition's memories as arrays; a memory's place in them is its slot.

    Attributes:
        version: the store's version of the partition that the arrays show; 0 before the first delta.
    """

    def __init__(self) -> None:
        self.version = 0
        self._clear()

    def _clear(self) -> None:
        self._records = {name: Column(_empty(name)) for name in FIELDS}
        self._alive = Column(np.zeros(0, np.bool_))
        self._lengths = Column(np.zeros(0, np.float32))
        self._groups = Column(np.zeros(0, np.int32))
        self._links = Column(np.zeros((0, 2), np.int32))
        self._bounds = Column(np.zeros((0, 2), np.int64))
        self._codes = Column(np.zeros(0, np.uint8))
        self._pooled: Column[np.float32] | None = None
        self.postings = Postings()
        self._slots: dict[int, int] = {}
        self._group_numbers: dict[int, int] = {}
        self._last_in_group: list[int] = []
        self._dead = 0
        self._last_seq = 0

    # -- what the arrays say ----------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """How many slots there are, those of deleted memories included."""
        return len(self._alive.values)

    @property
    def living(self) -> int:
        """How many memories there are."""
        return self.size - self._dead

    @property
    def nbytes(self) -> int:
        """How many bytes the arrays hold."""
        columns = (self._alive, self._lengths, self._groups, self._links, self._bounds, self._codes)
        records = sum(column.nbytes for column in self._records.values())
        pooled = self._pooled.nbytes if self._pooled is not None else 0
        # A Python dict of ints takes about 100 bytes an entry.
        others = records + pooled + self.postings.nbytes + 100 * len(self._slots)
        return sum(column.nbytes for column in columns) + others

    @property
    def alive(self) -> Mask:
        """For each slot, whether its memory still exists."""
        return self._alive.values

    @property
    def lengths(self) -> Floats:
        """For each slot, how many terms its memory has, repeats counted."""
        return self._lengths.values

    @property
    def groups(self) -> Ints:
        """For each slot, the number of its conversation: of its session, else of its episode."""
        return self._groups.values

    @property
    def links(self) -> Ints:
        """For each slot, the slots before and after it in its conversation; -1 for none; shape (size, 2)."""
        return self._links.values

    @property
    def pooled(self) -> Floats:
        """For each slot, its memory's pooled vector; shape (size, dimensions)."""
        return np.zeros((0, 0), np.float32) if self._pooled is None else self._pooled.values

    def column(self, name: str) -> npt.NDArray[Any]:
        """For each slot, one of the `FIELDS`."""
        return self._records[name].values

    @property
    def importance(self) -> Floats:
        """For each slot, its memory's importance."""
        return self.column("importance")

    def token_codes(self, slots: Longs, width: int) -> tuple[Bytes, Longs]:
        """The token codes of some slots, one after the other.

        Args:
            slots: which.
            width: bytes a token.

        Returns:
            uint8 of shape (n, width), and how many of the n tokens each slot has.
        """
        bounds = self._bounds.values[slots] // width
        counts = bounds[:, 1] - bounds[:, 0]
        codes = self._codes.values
        rows = codes[: len(codes) // width * width].reshape(-1, width)
        return rows[ranges(bounds[:, 0], bounds[:, 1])], counts

    def term_counts(self) -> tuple[Ints, Ints]:
        """The ids of all terms in use, growing, and in how many memories each occurs."""
        alive = self.alive
        ids = [segment.terms[alive[segment.slots]] for segment in self.postings.segments]
        found, counts = np.unique(np.concatenate(ids) if ids else np.zeros(0, np.int32), return_counts=True)
        return found, counts.astype(np.int32)

    # -- how they change --------------------------------------------------------------------------------------------

    def apply(self, delta: IndexDelta) -> None:
        """Take in what changed; afterwards the arrays show `delta.version`."""
        if delta.reset:
            self._clear()
        self._delete(self._slots.pop(seq) for seq in delta.deleted if seq in self._slots)
        # Rows come by growing seq: those up to the last one that was seen may be known.
        self._append([row for row in delta.rows if row.seq > self._last_seq or not self._update(row)])
        if self._dead > max(FEW_DEAD, self.size // 4):
            self._sweep()
        self.version = delta.version

    def _update(self, row: IndexRow) -> bool:
        """Write a known memory's numbers in place; False if it is new, or its text is (its old slot is then dead)."""
        slot = self._slots.get(row.seq)
        if slot is None:
            return False
        start, end = self._bounds.values[slot]
        same = (
            self._codes.values[start:end].tobytes() == row.tokens
            and np.array_equal(self.pooled[slot], decode_vector(row.vector))
            and self.lengths[slot] == np.frombuffer(row.term_counts, "<i4").sum()
            and int(self.groups[slot]) == self._group_numbers.get(_group_key(row))
        )
        if same:
            for name in FIELDS:
                self.column(name)[slot] = getattr(row, name)
        else:
            self._delete([self._slots.pop(row.seq)])
        return same

    def _delete(self, slots: Iterable[int]) -> None:
        links = self.links
        for slot in slots:
            self._alive.values[slot] = False
            before, after = links[slot]
            if before >= 0:
                links[before, 1] = after
            if after >= 0:
                links[after, 0] = before
            else:
                self._last_in_group[self.groups[slot]] = int(before)
            self._dead += 1

    def _append(self, rows: Sequence[IndexRow]) -> None:
        if not rows:
            return
        first = self.size
        columns: dict[str, list[Any]] = {
            name: [row[place] for row in rows] for place, name in enumerate(IndexRow._fields)
        }
        slots = np.arange(first, first + len(rows), dtype=np.int32)
        counts = np.frombuffer(b"".join(columns["term_counts"]), "<i4").astype(np.int32, copy=False)
        terms = np.frombuffer(b"".join(columns["term_ids"]), "<i4").astype(np.int32, copy=False)
        owners = np.repeat(slots, [len(ids) // 4 for ids in columns["term_ids"]])
        self.postings.add(terms, owners, counts)
        self._lengths.append(np.bincount(owners - first, counts, len(rows)).astype(np.float32))
        for name, kind in FIELDS.items():
            self._records[name].append(np.array(columns[name], kind))
        self._alive.append(np.ones(len(rows), np.bool_))
        if self._pooled is None:
            self._pooled = Column(np.zeros((0, vector_width(rows[0].vector)), np.float32))
        decode_vectors(columns["vector"], self._pooled.extend(len(rows)))
        sizes = np.array([len(tokens) for tokens in columns["tokens"]])
        ends = np.cumsum(sizes) + len(self._codes.values)
        self._bounds.append(np.stack((ends - sizes, ends), axis=1))
        self._codes.append(np.frombuffer(b"".join(columns["tokens"]), np.uint8))
        self._slots.update(zip(columns["seq"], slots.tolist(), strict=True))
        self._link(first)
        self._last_seq = max(self._last_seq, rows[-1].seq)

    def _link(self, first: int) -> None:
        """Number the conversations of the slots from `first` on, and link each slot with the one before it there."""
        sessions, episodes = self.column("session")[first:], self.column("episode")[first:]
        keys, which = np.unique(np.where(sessions, sessions, -1 - episodes), return_inverse=True)
        known = self._group_numbers
        numbers = np.array([known.setdefault(key, len(known)) for key in keys.tolist()], np.int32)
        self._last_in_group += [-1] * (len(known) - len(self._last_in_group))
        order = np.argsort(which, kind="stable")
        starts = np.flatnonzero(np.diff(which[order], prepend=-1))
        ends = np.append(starts[1:], len(order)) - 1
        before = np.empty(len(order), np.int32)
        before[order[1:]] = order[:-1] + first
        before[order[starts]] = [self._last_in_group[number] for number in numbers.tolist()]
        for number, last in zip(numbers.tolist(), (order[ends] + first).tolist(), strict=True):
            self._last_in_group[number] = last
        self._groups.append(numbers[which])
        self._links.append(np.stack((before, np.full_like(before, -1)), axis=1))
        has = np.flatnonzero(before >= 0)
        self.links[before[has], 1] = has + first

    def _sweep(self) -> None:
        kept = self.alive.copy()
        moved = (np.cumsum(kept) - 1).astype(np.int32)
        bounds = self._bounds.values[kept]
        codes = self._codes.values[ranges(bounds[:, 0], bounds[:, 1])]
        ends = np.cumsum(bounds[:, 1] - bounds[:, 0])
        links = self.links[kept]
        self._links = Column(np.where(links >= 0, moved[links], -1).astype(np.int32))
        self._bounds = Column(np.stack((ends - (bounds[:, 1] - bounds[:, 0]), ends), axis=1))
        self._codes = Column(codes)
        self._pooled = Column(self.pooled[kept])
        self._lengths = Column(self.lengths[kept])
        self._groups = Column(self.groups[kept])
        self._records = {name: Column(column.values[kept]) for name, column in self._records.items()}
        self._alive = Column(np.ones(int(kept.sum()), np.bool_))
        self.postings.sweep(kept, moved)
        self._slots = {seq: int(moved[slot]) for seq, slot in self._slots.items()}
        self._last_in_group = [int(moved[slot]) if slot >= 0 else -1 for slot in self._last_in_group]
        self._dead = 0


def _empty(name: str) -> npt.NDArray[np.generic]:
    """No rows of one of the `FIELDS`."""
    return np.zeros((0, len(COORDINATE_AXES)) if name == "coordinate" else 0, FIELDS[name])


def _group_key(row: IndexRow) -> int:
    """What is equal for memories of one conversation: the session's number, else the episode's, below 0."""
    return row.session or -1 - row.episode
