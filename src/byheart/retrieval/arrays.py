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
    """Rows that are appended; room doubles, so that an append costs amortised constant time.

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
        size = self._size + len(rows)
        if size > len(self._room):
            room = np.zeros((max(size, 2 * len(self._room), 16), *self._room.shape[1:]), self._room.dtype)
            room[: self._size] = self.values
            self._room = room
        self._room[self._size : size] = rows
        self._size = size


def ranges(starts: Longs, ends: Longs) -> Longs:
    """The numbers of several ranges, one range after the other: `ranges([2, 9], [4, 10])` is `[2, 3, 9]`."""
    lengths = ends - starts
    total = int(lengths.sum())
    before = np.cumsum(lengths) - lengths
    return np.arange(total, dtype=np.int64) + np.repeat(starts - before, lengths)
