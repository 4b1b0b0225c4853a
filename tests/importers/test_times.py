"""Times of files: every form is read as aware UTC, and anything else is no time rather than a crash."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from byheart.importers.times import parse_time


@pytest.mark.parametrize(
    "value",
    [
        "2023-05-08T13:56:00Z",
        "2023-05-08T15:56:00+02:00",
        "2023-05-08 13:56",
        "1:56 pm on 8 May, 2023",
        "2023/05/08 (Mon) 13:56",
        "Mon, 08 May 2023 13:56:00 +0000",
        1683554160,
        1683554160.0,
        1683554160000,
        "1683554160",
    ],
)
def test_written_forms(value: object) -> None:
    assert parse_time(value) == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


@pytest.mark.parametrize("value", [None, "", "soon", "2023-13-01", True, [], {}, float("nan"), 1e300, "99", "1:99 pm"])
def test_no_times(value: object) -> None:
    assert parse_time(value) is None


@given(st.text() | st.floats() | st.integers())
def test_anything_is_an_aware_time_or_none(value: object) -> None:
    found = parse_time(value)
    assert found is None or found.utcoffset() is not None
