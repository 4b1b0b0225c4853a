"""How numbers and bytes lie in the file."""

import struct
from collections.abc import Iterable, Iterator, Sequence

#: A memory's place (its rowid) is `partition << SEQ_BITS | seq`: a partition's rows lie together.
SEQ_BITS = 40
LAST_SEQ = (1 << SEQ_BITS) - 1
MAX_PARTITIONS = 1 << (63 - SEQ_BITS)

#: A partition's version is `partition << WRITES_BITS | writes`: no two partitions ever have the same.
WRITES_BITS = 32

#: How many writes back a partition's change log reaches; who is further behind loads everything again.
KEPT_WRITES = 20_000


def pack_int32(numbers: Sequence[int]) -> bytes:
    """int32 little-endian, as bytes."""
    return struct.pack(f"<{len(numbers)}i", *numbers)


def unpack_int32(packed: bytes) -> tuple[int, ...]:
    """The numbers that `pack_int32` packed."""
    return struct.unpack(f"<{len(packed) // 4}i", packed)


def ranges(seqs: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Growing numbers as (first, last) of each unbroken run."""
    first = last = None
    for seq in sorted(seqs):
        if first is None or last is None:
            first = last = seq
        elif seq > last + 1:
            yield first, last
            first = last = seq
        else:
            last = seq
    if first is not None and last is not None:
        yield first, last
