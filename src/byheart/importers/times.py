"""The times that files write, read as aware UTC datetimes."""

import re
from datetime import UTC, datetime

from byheart.types import is_number

#: Forms beside ISO 8601 and seconds since 1970, tried in this order.
_FORMS = (
    "%I:%M %p on %d %B, %Y",  # 1:56 pm on 8 May, 2023
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d",
    "%B-%d-%Y",  # March-15-2024
    "%d %B %Y",
    "%d %B, %Y",
    "%B %d, %Y",
    "%a, %d %b %Y %H:%M:%S %z",
    "%a %b %d %H:%M:%S %z %Y",
)
_MILLISECONDS_FROM = 1e11  # seconds reach this in the year 5138
_WEEKDAY = re.compile(r"\s*\((?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\)", re.IGNORECASE)


def parse_time(value: object) -> datetime | None:
    """Read a time from a file: ISO 8601, seconds or milliseconds since 1970, or one of a few written forms.

    Args:
        value: what the file has. A date without a zone is taken as UTC; a day without an hour as its midnight.

    Returns:
        An aware UTC datetime, or None if it is no time.
    """
    if is_number(value):
        seconds = float(value) if abs(float(value)) < _MILLISECONDS_FROM else float(value) / 1000  # type: ignore[arg-type]
        return _from_seconds(seconds)
    if not isinstance(value, str) or not value.strip():
        return None
    text = " ".join(_WEEKDAY.sub("", value).split())
    if re.fullmatch(r"\d{9,10}(\.\d+)?|\d{12,13}", text):
        return parse_time(float(text))
    return _from_iso(text) or _from_forms(text)


def _from_seconds(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def _from_iso(text: str) -> datetime | None:
    try:
        return _utc(datetime.fromisoformat(text.replace(",", ".")))
    except ValueError:
        return None


def _from_forms(text: str) -> datetime | None:
    for form in _FORMS:
        try:
            return _utc(datetime.strptime(text, form))  # noqa: DTZ007 - _utc gives it its zone
        except ValueError:
            continue
    return None


def _utc(when: datetime) -> datetime | None:
    try:
        return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except OverflowError:
        return None
