"""The inverted index of one partition: term -> (slot, count), in sorted segments that are merged as they grow."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Segment:
    """Postings sorted by term, then slot; three arrays of equal length."""

    terms: Ints
    slots: Ints
    counts: Ints

    @property
    def nbytes(self) -> int:
        """How many bytes the arrays take."""
        return self.terms.nbytes + self.slots.nbytes + self.counts.nbytes


def sorted_segment(terms: Ints, slots: Ints, counts: Ints) -> Segment:
    """A segment of postings that come in the order of their slots."""
    order = np.argsort(terms, kind="stable")
    return Segment(terms[order], slots[order], counts[order])


class Postings:
    """All postings of a partition. A batch becomes a segment; a segment that is not far larger than the one after it
    is merged with it, so that there are never more than about log2(postings) of them and each posting moves as often.
    """

    def __init__(self) -> None:
        self.segments: list[Segment] = []

    @property
    def nbytes(self) -> int:
        """How many bytes the segments take."""
        return sum(segment.nbytes for segment in self.segments)

    def add(self, terms: Ints, slots: Ints, counts: Ints) -> None:
        """Add the postings of new slots; all slots are larger than those of earlier batches."""
        if not terms.size:
            return
        self.segments.append(sorted_segment(terms, slots, counts))
        while len(self.segments) > 1 and self.segments[-2].terms.size < 2 * self.segments[-1].terms.size:
            last, before = self.segments.pop(), self.segments.pop()
            self.segments.append(
                sorted_segment(
                    np.concatenate((before.terms, last.terms)),
                    np.concatenate((before.slots, last.slots)),
                    np.concatenate((before.counts, last.counts)),
                )
            )

    def find(self, term: int) -> list[tuple[Ints, Ints]]:
        """The (slots, counts) of a term, a pair for each segment that has it."""
        found: list[tuple[Ints, Ints]] = []
        for segment in self.segments:
            start, end = np.searchsorted(segment.terms, (term, term + 1))
            if start < end:
                found.append((segment.slots[start:end], segment.counts[start:end]))
        return found
