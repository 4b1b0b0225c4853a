"""The inverted index of one partition: term -> (slot, count), in sorted segments that are merged as they grow."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from byheart.retrieval.arrays import Ints, Mask


@dataclass(frozen=True, slots=True)
class Segment:
    """Postings sorted by term, then slot; three arrays of equal length."""

    terms: Ints
    slots: Ints
    counts: Ints

    @classmethod
    def of(cls, terms: Ints, slots: Ints, counts: Ints) -> Self:
        """A segment of postings that come in the order of their slots."""
        # By the lower half, then by the upper: numpy sorts 16 bits by radix, four times as fast as it sorts 32.
        order = np.argsort(terms.astype(np.uint16), kind="stable")
        upper = (terms >> 16).astype(np.uint16)
        if upper.any():
            order = order[np.argsort(upper[order], kind="stable")]
        return cls(terms[order], slots[order], counts[order])

    def then(self, later: "Segment") -> "Segment":
        """This segment and one of larger slots, merged."""
        return Segment.of(
            np.concatenate((self.terms, later.terms)),
            np.concatenate((self.slots, later.slots)),
            np.concatenate((self.counts, later.counts)),
        )

    @property
    def size(self) -> int:
        """How many postings there are."""
        return self.terms.size

    @property
    def nbytes(self) -> int:
        """How many bytes the arrays take."""
        return self.terms.nbytes + self.slots.nbytes + self.counts.nbytes


class Postings:
    """All postings of a partition.

    A batch becomes a segment. A segment that is less than twice as large as the next is merged with it, so there are at
    most about log2(postings) of them, and a posting is moved about as often.
    """

    def __init__(self) -> None:
        self.segments: list[Segment] = []

    @property
    def nbytes(self) -> int:
        """How many bytes the segments take."""
        return sum(segment.nbytes for segment in self.segments)

    def add(self, terms: Ints, slots: Ints, counts: Ints) -> None:
        """Add the postings of new slots, which are larger than all that came before."""
        if not terms.size:
            return
        self.segments.append(Segment.of(terms, slots, counts))
        while len(self.segments) > 1 and self.segments[-2].size < 2 * self.segments[-1].size:
            later = self.segments.pop()
            self.segments.append(self.segments.pop().then(later))

    def find(self, term: int) -> tuple[Ints, Ints]:
        """The slots that have a term, growing, and how often each has it."""
        # Keys of the arrays' own kind, else each array would be converted to theirs.
        keys = np.array((term, term + 1), np.int32)
        found = [(segment, *np.searchsorted(segment.terms, keys)) for segment in self.segments]
        found = [(segment, start, end) for segment, start, end in found if start < end]
        if not found:
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        return (
            np.concatenate([segment.slots[start:end] for segment, start, end in found]),
            np.concatenate([segment.counts[start:end] for segment, start, end in found]),
        )

    def sweep(self, kept: Mask, moved: Ints) -> None:
        """Drop the postings of slots that are not `kept` and write the new numbers of the others.

        Args:
            kept: for each slot, whether it stays.
            moved: for each slot, its new number, in the same order.
        """
        whole: list[Segment] = []
        for segment in self.segments:
            stays = kept[segment.slots]
            whole.append(Segment(segment.terms[stays], moved[segment.slots[stays]], segment.counts[stays]))
        self.segments = []
        for segment in whole:
            self.add(segment.terms, segment.slots, segment.counts)
