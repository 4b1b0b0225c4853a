from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from byheart.retrieval.arrays import Column, ranges
from byheart.retrieval.codec import decode_vector, encode_vector
from byheart.retrieval.index import FEW_DEAD, PartitionIndex
from byheart.stores.base import IndexDelta, IndexRow

DIMENSIONS = 4
WIDTH = 3


def row(seq: int, terms: dict[int, int], *, session: int = 0, episode: int = 1, tokens: int = 2) -> IndexRow:
    numbers = np.random.default_rng(seq)
    return IndexRow(
        seq=seq,
        episode=episode,
        session=session,
        timestamp=seq * 1000,
        expires=0,
        last_accessed=0,
        importance=0.5,
        type=0,
        role=1,
        coordinate=(0, 0, 0, 0, 0, 1, 0),
        term_ids=np.array(sorted(terms), "<i4").tobytes(),
        term_counts=np.array([terms[term] for term in sorted(terms)], "<i4").tobytes(),
        vector=encode_vector(numbers.standard_normal(DIMENSIONS).astype(np.float32)),
        tokens=numbers.integers(0, 256, tokens * WIDTH, dtype=np.uint8).tobytes(),
    )


@st.composite
def row_lists(draw: st.DrawFn) -> list[IndexRow]:
    count = draw(st.integers(0, 24))
    terms = st.dictionaries(st.integers(0, 9), st.integers(1, 3), max_size=5)
    return [
        row(
            seq,
            draw(terms),
            session=draw(st.integers(0, 2)),
            episode=draw(st.integers(1, 3)),
            tokens=draw(st.integers(0, 3)),
        )
        for seq in range(1, count + 1)
    ]


def said(index: PartitionIndex) -> dict[int, object]:
    """All that the arrays say of each living memory, by its seq, without slot numbers."""
    seqs = index.column("seq").tolist()
    codes = {slot: index.token_codes(np.array([slot]), WIDTH)[0].tobytes() for slot in range(index.size)}
    terms: dict[int, dict[int, int]] = {slot: {} for slot in range(index.size)}
    for term in range(10):
        slots, counts = index.postings.find(term)
        for slot, count in zip(slots.tolist(), counts.tolist(), strict=True):
            terms[slot][term] = count
    return {
        seqs[slot]: (
            [seqs[link] if link >= 0 else None for link in index.links[slot].tolist()],
            terms[slot],
            index.lengths[slot],
            index.pooled[slot].tobytes(),
            codes[slot],
            index.column("timestamp")[slot],
            index.column("coordinate")[slot].tolist(),
        )
        for slot in np.flatnonzero(index.alive).tolist()
    }


def loaded(rows: Sequence[IndexRow]) -> PartitionIndex:
    index = PartitionIndex()
    index.apply(IndexDelta(1, True, rows, []))
    return index


@given(row_lists(), st.lists(st.integers(1, 5), max_size=24))
def test_batches_of_any_size_give_what_one_load_gives(rows: list[IndexRow], sizes: list[int]) -> None:
    index, start = PartitionIndex(), 0
    for version, size in enumerate([*sizes, len(rows)], 1):
        index.apply(IndexDelta(version, False, rows[start : start + size], []))
        start += size
    assert said(index) == said(loaded(rows))
    assert index.version == len(sizes) + 1


@given(row_lists(), st.sets(st.integers(1, 24)))
def test_deleting_gives_what_never_having_had_it_gives(rows: list[IndexRow], gone: set[int]) -> None:
    index = loaded(rows)
    index.apply(IndexDelta(2, False, [], sorted(gone)))
    kept = [one for one in rows if one.seq not in gone]
    assert said(index) == said(loaded(kept))
    assert index.living == len(kept)
    ids, counts = index.term_counts()
    expected, expected_counts = loaded(kept).term_counts()
    assert ids.tolist() == expected.tolist()
    assert counts.tolist() == expected_counts.tolist()


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 600), st.integers(0, 2**32))
def test_a_sweep_changes_nothing_that_is_said(stay: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    rows = [row(seq, {seq % 10: 1, 3: 2}, session=seq % 4) for seq in range(1, FEW_DEAD + 2 + stay)]
    gone = {int(place) for place in generator.choice(len(rows), FEW_DEAD + 1, replace=False)}
    index = loaded(rows)
    index.apply(IndexDelta(2, False, [], [rows[place].seq for place in gone]))
    assert said(index) == said(loaded([one for place, one in enumerate(rows) if place not in gone]))
    before = [one for place, one in enumerate(rows) if place not in gone and one.session == 1]
    index.apply(IndexDelta(3, False, [row(5000, {3: 1}, session=1)], []))
    expected = before[-1].seq if before else None
    assert (index.column("seq")[index.links[-1, 0]] if index.links[-1, 0] >= 0 else None) == expected


def test_enough_deletions_are_swept_out() -> None:
    rows = [row(seq, {1: 1}) for seq in range(1, 2 * FEW_DEAD)]
    index = loaded(rows)
    index.apply(IndexDelta(2, False, [], [one.seq for one in rows[: FEW_DEAD + 1]]))
    assert index.size == index.living == len(rows) - FEW_DEAD - 1
    index.apply(IndexDelta(3, False, [], [one.seq for one in rows]))
    assert index.living == 0


def test_an_access_is_written_in_place() -> None:
    """P10: `last_accessed` changes often and must not make the arrays grow."""
    rows = [row(1, {1: 1}), row(2, {2: 1}), row(3, {1: 2})]
    index = loaded(rows)
    index.apply(IndexDelta(2, False, [rows[0]._replace(last_accessed=77, importance=0.9)], []))
    assert index.size == 3
    assert index.column("last_accessed").tolist() == [77, 0, 0]
    assert index.importance.tolist() == pytest.approx([0.9, 0.5, 0.5])


def test_a_memory_with_another_text_takes_a_new_slot() -> None:
    index = loaded([row(1, {1: 1}), row(2, {2: 1})])
    changed = row(1, {7: 1})._replace(vector=encode_vector(np.ones(DIMENSIONS, np.float32)))
    index.apply(IndexDelta(2, False, [changed, row(3, {3: 1})], []))
    assert index.living == 3
    [slot] = np.flatnonzero(index.alive & (index.column("seq") == 1))
    assert np.array_equal(index.pooled[slot], decode_vector(changed.vector))
    assert not index.alive[index.postings.find(1)[0]].any()


def test_a_reset_forgets_everything_before_it() -> None:
    index = loaded([row(1, {1: 1}), row(2, {2: 1})])
    index.apply(IndexDelta(9, True, [row(5, {5: 1})], []))
    assert index.column("seq").tolist() == [5]
    assert not index.postings.find(1)[0].size
    assert index.version == 9


def test_postings_stay_in_few_segments_however_they_come() -> None:
    index = PartitionIndex()
    for seq in range(1, 301):
        index.apply(IndexDelta(seq, False, [row(seq, {1: 1, seq % 10: 1})], []))
    assert len(index.postings.segments) <= 10
    assert len(index.postings.find(1)[0]) == 300
    assert 0 < index.nbytes < 1_000_000


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), max_size=10))
def test_ranges_follow_one_another(pairs: list[tuple[int, int]]) -> None:
    starts = np.array([start for start, _ in pairs], np.int64)
    ends = starts + np.array([length for _, length in pairs], np.int64)
    expected = [number for start, length in pairs for number in range(start, start + length)]
    assert ranges(starts, ends).tolist() == expected


@given(st.lists(st.lists(st.integers(0, 9), max_size=7), max_size=12))
def test_a_column_holds_what_was_appended(batches: list[list[int]]) -> None:
    column = Column(np.zeros(0, np.int32))
    for batch in batches:
        column.append(np.array(batch, np.int32))
    assert column.values.tolist() == [number for batch in batches for number in batch]
