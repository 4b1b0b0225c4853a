"""Which memories of a partition a recall may return."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from byheart.retrieval.arrays import Mask
from byheart.retrieval.index import PartitionIndex
from byheart.stores.base import to_micros
from byheart.types import COORDINATE_AXES, EPISODE_TYPES, Filter


def allowed(
    index: PartitionIndex,
    filter: Filter,  # noqa: A002  (the word of the facade)
    *,
    tagged: Sequence[int] | None,
    session_number: int | None,
    now: datetime,
) -> Mask:
    """A mask over the partition's slots (C2, G24).

    Args:
        index: the partition.
        filter: types, times and coordinate are read from it; tags and session come looked up.
        tagged: the seqs of the memories that have all of the filter's tags; None if it names none.
        session_number: the number of the filter's session here, -1 if unknown here; None if it names none.
        now: memories that expire at or before this moment are out.
    """
    expires = index.column("expires")
    mask = index.alive & ((expires == 0) | (expires > to_micros(now)))
    if filter.types:
        mask &= np.isin(index.column("type"), [EPISODE_TYPES.index(kind) for kind in filter.types])
    if tagged is not None:
        mask &= np.isin(index.column("seq"), np.fromiter(tagged, np.int64))
    if filter.after is not None:
        mask &= index.column("timestamp") >= to_micros(filter.after)
    if filter.before is not None:
        mask &= index.column("timestamp") < to_micros(filter.before)
    if session_number is not None:
        mask &= index.column("session") == session_number
    for place, (axis, values) in enumerate(COORDINATE_AXES.items()):
        if axis in filter.coordinate:
            codes = [values.index(value) for value in filter.coordinate[axis]]
            mask &= np.isin(index.column("coordinate")[:, place], codes)
    return mask
