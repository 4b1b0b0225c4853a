"""Arrays that grow at their end."""

from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

Kind = TypeVar("Kind", bound=np.generic)

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]


class Column(Generic[Kind]):
    """Rows that are appended; room grows by a quarter, so that an append costs amortised constant time.

    Args:
        first: the rows to begin with; they set the kind and, if there are two axes, the width.
    """

    def __init__(self, first: npt.NDArray[Kind]) -> None:
        self._room = first
        self._size = len(first)

    @property
    def values(self) -> npt.NDArray[Kind]:
        """What was appended, as a view that may be written in place."""
        return self._room[: self._size]

    @property
    def nbytes(self) -> int:
        """How many bytes are held."""
        return self._room.nbytes

    def append(self, rows: npt.NDArray[Kind]) -> None:
        """Append rows of the same width."""
        self.extend(len(rows))[:] = rows

    def extend(self, count: int) -> npt.NDArray[Kind]:
        """Append so many rows and give them to be written."""
        size = self._size + count
        if size > len(self._room):
            # The system gives room when it is first written, so what is spare costs nothing yet.
            room = np.empty((size + size // 4 + 16, *self._room.shape[1:]), self._room.dtype)
            room[: self._size] = self.values
            self._room = room
        start, self._size = self._size, size
        return self._room[start:size]


def ranges(starts: Longs, ends: Longs) -> Longs:
    """The numbers of several ranges, one range after the other: `ranges([2, 9], [4, 10])` is `[2, 3, 9]`."""
    lengths = ends - starts
    total = int(lengths.sum())
    before = np.cumsum(lengths) - lengths
    return np.arange(total, dtype=np.int64) + np.repeat(starts - before, lengths)
