"""The search arrays of one partition, kept in step with the store by deltas."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from byheart.retrieval.arrays import Bytes, Column, Floats, Ints, Longs, Mask, ranges
from byheart.retrieval.codec import decode_vectors
from byheart.retrieval.postings import Postings
from byheart.stores.base import IndexDelta, IndexRow
from byheart.types import COORDINATE_AXES

#: The first ten fields of an `IndexRow`, under the same names.
RECORD = np.dtype(
    [
        ("seq", np.int64),
        ("episode", np.int64),
        ("session", np.int64),
        ("timestamp", np.int64),
        ("expires", np.int64),
        ("last_accessed", np.int64),
        ("importance", np.float32),
        ("type", np.int8),
        ("role", np.int8),
        ("coordinate", np.int8, (len(COORDINATE_AXES),)),
    ]
)
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
        self._records = Column(np.zeros(0, RECORD))
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
        return len(self._records.values)

    @property
    def living(self) -> int:
        """How many memories there are."""
        return self.size - self._dead

    @property
    def nbytes(self) -> int:
        """How many bytes the arrays hold."""
        columns = (self._records, self._alive, self._lengths, self._groups, self._links, self._bounds, self._codes)
        pooled = self._pooled.nbytes if self._pooled is not None else 0
        # A Python dict of ints takes about 100 bytes an entry.
        return sum(column.nbytes for column in columns) + pooled + self.postings.nbytes + 100 * len(self._slots)

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

    def column(self, name: str) -> npt.NDArray[np.int64]:
        """For each slot, one of the integer fields of `RECORD`."""
        return self._records.values[name]

    @property
    def importance(self) -> Floats:
        """For each slot, its memory's importance."""
        return self._records.values["importance"]

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
            and np.array_equal(self.pooled[slot], decode_vectors([row.vector])[0])
            and self.lengths[slot] == np.frombuffer(row.term_counts, "<i4").sum()
            and int(self.groups[slot]) == self._group_numbers.get(_group_key(row))
        )
        if same:
            self._records.values[slot] = np.array([tuple(row[:10])], RECORD)[0]
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
        slots = np.arange(first, first + len(rows), dtype=np.int32)
        counts = np.frombuffer(b"".join([row.term_counts for row in rows]), "<i4").astype(np.int32, copy=False)
        terms = np.frombuffer(b"".join([row.term_ids for row in rows]), "<i4").astype(np.int32, copy=False)
        owners = np.repeat(slots, [len(row.term_ids) // 4 for row in rows])
        self.postings.add(terms, owners, counts)
        self._lengths.append(np.bincount(owners - first, counts, len(rows)).astype(np.float32))
        self._records.append(np.array([tuple(row[:10]) for row in rows], RECORD))
        self._alive.append(np.ones(len(rows), np.bool_))
        vectors = decode_vectors([row.vector for row in rows])
        if self._pooled is None:
            self._pooled = Column(vectors)
        else:
            self._pooled.append(vectors)
        ends = np.cumsum([len(row.tokens) for row in rows]) + len(self._codes.values)
        sizes = np.array([len(row.tokens) for row in rows])
        self._bounds.append(np.stack((ends - sizes, ends), axis=1))
        self._codes.append(np.frombuffer(b"".join([row.tokens for row in rows]), np.uint8))
        self._slots.update(zip([row.seq for row in rows], slots.tolist(), strict=True))
        self._link(rows, first)
        self._last_seq = max(self._last_seq, rows[-1].seq)

    def _link(self, rows: Sequence[IndexRow], first: int) -> None:
        numbers, last = self._group_numbers, self._last_in_group
        groups: list[int] = []
        before: list[int] = []
        for slot, row in enumerate(rows, first):
            number = numbers.setdefault(_group_key(row), len(last))
            if number == len(last):
                last.append(-1)
            groups.append(number)
            before.append(last[number])
            last[number] = slot
        links = np.full((len(rows), 2), -1, np.int32)
        links[:, 0] = before
        self._groups.append(np.array(groups, np.int32))
        self._links.append(links)
        followers = np.arange(first, first + len(rows), dtype=np.int32)[links[:, 0] >= 0]
        self.links[links[links[:, 0] >= 0, 0], 1] = followers

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
        self._records = Column(self._records.values[kept])
        self._alive = Column(np.ones(int(kept.sum()), np.bool_))
        self.postings.sweep(kept, moved)
        self._slots = {seq: int(moved[slot]) for seq, slot in self._slots.items()}
        self._last_in_group = [int(moved[slot]) if slot >= 0 else -1 for slot in self._last_in_group]
        self._dead = 0


def _group_key(row: IndexRow) -> int:
    """What is equal for memories of one conversation: the session's number, else the episode's, below 0."""
    return row.session or -1 - row.episode
