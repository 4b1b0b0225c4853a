from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from byheart.retrieval.codec import encode_vector
from byheart.retrieval.filters import allowed
from byheart.retrieval.index import PartitionIndex
from byheart.stores.base import IndexDelta, IndexRow, to_micros
from byheart.types import COORDINATE_AXES, EPISODE_TYPES, Coordinate, EpisodeType, Filter

NOW = datetime(2026, 3, 1, tzinfo=UTC)
VECTOR = encode_vector(np.ones(2, np.float32))
times = st.integers(-3, 3).map(lambda days: NOW + timedelta(days=days))
coordinates = st.builds(
    Coordinate,
    source=st.sampled_from(COORDINATE_AXES["source"]),
    creation=st.sampled_from(COORDINATE_AXES["creation"]),
    modality=st.sampled_from(COORDINATE_AXES["modality"]),
)


@dataclass(frozen=True)
class Memory:
    type: EpisodeType
    time: datetime
    expires: datetime | None
    session: int
    tagged: bool
    coordinate: Coordinate


memories = st.builds(
    Memory,
    st.sampled_from(EPISODE_TYPES),
    times,
    st.none() | times,
    st.integers(0, 2),
    st.booleans(),
    coordinates,
)
filters = st.builds(
    Filter,
    types=st.lists(st.sampled_from(EPISODE_TYPES), max_size=2).map(tuple),
    tags=st.sampled_from([(), ("kept",)]),
    after=st.none() | times,
    before=st.none() | times,
    session=st.none() | st.sampled_from(["0", "1", "2"]),
    coordinate=st.dictionaries(st.just("source"), st.just(("user_explicit", "inferred")), max_size=1),
)


def index_of(given_memories: list[Memory]) -> PartitionIndex:
    rows = [
        IndexRow(
            seq, seq, one.session, to_micros(one.time), to_micros(one.expires) if one.expires else 0, 0, 0.5,
            EPISODE_TYPES.index(one.type), 0, one.coordinate.codes(), b"", b"", VECTOR, b"",
        )
        for seq, one in enumerate(given_memories, 1)
    ]  # fmt: skip
    index = PartitionIndex()
    index.apply(IndexDelta(1, True, rows, []))
    return index


def passes(one: Memory, given_filter: Filter) -> bool:
    return (
        (one.expires is None or one.expires > NOW)
        and (not given_filter.types or one.type in given_filter.types)
        and (not given_filter.tags or one.tagged)
        and (given_filter.after is None or one.time >= given_filter.after)
        and (given_filter.before is None or one.time < given_filter.before)
        and (given_filter.session is None or one.session == int(given_filter.session))
        and all(getattr(one.coordinate, axis) in values for axis, values in given_filter.coordinate.items())
    )


@given(st.lists(memories, max_size=12), filters)
def test_the_mask_lets_through_what_the_filter_says(given_memories: list[Memory], given_filter: Filter) -> None:
    """C2, G24: types, tags (AND), after <= time < before, session, any axis of the coordinate; expired is out."""
    mask = allowed(
        index_of(given_memories),
        given_filter,
        tagged=[seq for seq, one in enumerate(given_memories, 1) if one.tagged] if given_filter.tags else None,
        session_number=None if given_filter.session is None else int(given_filter.session),
        now=NOW,
    )
    assert mask.tolist() == [passes(one, given_filter) for one in given_memories]


def test_every_axis_can_be_filtered_on() -> None:
    """G24: for each axis, its first value lets a default memory through or not."""
    one = Memory("fact", NOW, None, 0, tagged=False, coordinate=Coordinate())
    index = index_of([one])
    for axis, values in COORDINATE_AXES.items():
        for value in values:
            mask = allowed(index, Filter(coordinate={axis: (value,)}), tagged=None, session_number=None, now=NOW)
            assert mask.tolist() == [getattr(one.coordinate, axis) == value]
