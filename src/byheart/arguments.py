"""Checks of what callers pass in: every problem becomes an InputError that names the field and the fix."""

import json
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar, cast

from byheart.errors import InputError, brief
from byheart.text.validate import checked_tag, checked_text
from byheart.types import (
    COORDINATE_AXES,
    EPISODE_TYPES,
    Chunking,
    Coordinate,
    EpisodeType,
    Filter,
    Message,
    NewEpisode,
    Part,
    checked_id,
    is_number,
)

MAX_METADATA_DEPTH = 32
MAX_METADATA_BYTES = 262_144
MAX_LIMIT = 10_000
MAX_SECONDS = 10**10

_Value = TypeVar("_Value")


def checked_count(field: str, value: object, *, least: int = 1, most: int = MAX_LIMIT) -> int:
    """A whole number from `least` to `most`.

    Raises:
        InputError: it is no int (a bool and a float are none), or out of range.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InputError(field, f"is {brief(value)}", f"use a whole number from {least} to {most}")
    return value


def checked_share(field: str, value: object) -> float:
    """A number from 0 to 1.

    Raises:
        InputError: it is no finite number, or out of range.
    """
    if not isinstance(value, int | float) or not is_number(value) or not 0 <= value <= 1:
        raise InputError(field, f"is {brief(value)}", "use a number from 0 to 1")
    return float(value)


def checked_time(field: str, value: object) -> datetime:
    """An aware datetime, in UTC.

    Raises:
        InputError: it is no datetime, has no zone, so that nobody knows which moment it means, or is a moment that UTC
            has no year for.
    """
    if not isinstance(value, datetime):
        raise InputError(field, f"is {type(value).__name__}, not a datetime", "pass datetime(..., tzinfo=UTC)")
    if value.utcoffset() is None:
        raise InputError(
            field, f"is {value.isoformat()}, without a zone", "pass an aware one: datetime(..., tzinfo=UTC)"
        )
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InputError(field, f"is {value.isoformat()}", "use one from year 1 to 9999 in UTC") from None


def checked_type(field: str, value: object) -> EpisodeType:
    """One of the episode types.

    Raises:
        InputError: it is another.
    """
    for known in EPISODE_TYPES:
        if value == known:
            return known
    raise InputError(field, f"is {brief(value)}", f"use one of {', '.join(EPISODE_TYPES)}")


def checked_tags(field: str, tags: object) -> tuple[str, ...]:
    """Well-formed tags in the order given, each once.

    Raises:
        InputError: not a sequence of tags, or a tag that is empty or over 256 characters.
    """
    items = checked_list(field, tags, "tags")
    return tuple(dict.fromkeys(checked_tag(f"{field}[{place}]", tag) for place, tag in enumerate(items)))


def checked_metadata(field: str, metadata: object) -> dict[str, object]:
    """A JSON object, at most 32 levels deep and 256 KiB long.

    Raises:
        InputError: it is no mapping with text keys, holds something that JSON has not, is too deep or too long.
    """
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):
        raise InputError(field, f"is {type(metadata).__name__}, not a mapping", "pass a dict of JSON values")
    plain = cast("dict[str, object]", _plain(field, cast("object", metadata), MAX_METADATA_DEPTH))
    size = len(json.dumps(plain, ensure_ascii=False).encode("utf-8"))
    if size > MAX_METADATA_BYTES:
        raise InputError(field, f"takes {size} bytes as JSON", f"keep it under {MAX_METADATA_BYTES}")
    return plain


def _plain(field: str, value: object, depth: int) -> object:
    if isinstance(value, str):
        if "\0" in value or any(0xD800 <= ord(character) <= 0xDFFF for character in value):
            raise InputError(field, "holds a NUL or a lone surrogate", "use well-formed Unicode")
        return value
    if value is None or isinstance(value, bool) or (isinstance(value, int | float) and is_number(value)):
        return value
    if depth == 0 and isinstance(value, Mapping | list | tuple):
        raise InputError(field, f"nests past {MAX_METADATA_DEPTH} levels", "flatten it")
    if isinstance(value, Mapping):
        return _plain_mapping(field, cast("Mapping[object, object]", value), depth)
    if isinstance(value, list | tuple):
        items = cast("Sequence[object]", value)
        return [_plain(f"{field}[{place}]", item, depth - 1) for place, item in enumerate(items)]
    raise InputError(field, f"is {brief(value)}, which JSON has not", "use text, finite numbers, true, false, null")


def _plain_mapping(field: str, value: Mapping[object, object], depth: int) -> dict[str, object]:
    plain: dict[str, object] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise InputError(field, f"has the key {brief(key)}, which is no text", "use text keys")
        _plain(f"{field} key", key, depth)
        plain[key] = _plain(f"{field}.{key:.40}", item, depth - 1)
    return plain


def checked_list(field: str, value: object, what: str) -> Sequence[object]:
    """The items of a sequence or a set; a string is none.

    Raises:
        InputError: it is something else.
    """
    if isinstance(value, str | bytes) or not isinstance(value, Sequence | AbstractSet):
        raise InputError(field, f"is {type(value).__name__}", f"pass a list of {what}")
    return list(cast("Iterable[object]", value))


def checked_filter(
    *,
    types: object = (),
    tags: object = (),
    after: object = None,
    before: object = None,
    session: object = None,
    coordinate: object = None,
) -> Filter:
    """A filter out of the options of a recall (C2, G24).

    Raises:
        InputError: an unknown type or axis, a bad tag, a time without a zone, `after` not before `before`.
    """
    start = None if after is None else checked_time("after", after)
    end = None if before is None else checked_time("before", before)
    if start and end and start >= end:
        raise InputError("after", f"is {start.isoformat()}, not before {end.isoformat()}", "swap after and before")
    kinds: tuple[EpisodeType, ...] = tuple(
        checked_type(f"types[{place}]", kind) for place, kind in enumerate(checked_list("types", types, "types"))
    )
    name = None if session is None else checked_id("session", session)
    return Filter(kinds, checked_tags("tags", tags), start, end, name, _axes(coordinate))


def _axes(coordinate: object) -> dict[str, tuple[str, ...]]:
    """For each axis that a filter names, the values allowed (G24)."""
    if coordinate is None:
        return {}
    if not isinstance(coordinate, Mapping):
        raise InputError("coordinate", f"is {brief(coordinate)}", 'pass a dict such as {"information": "SEMANTIC"}')
    axes: dict[str, tuple[str, ...]] = {}
    for axis, given in cast("Mapping[str, object]", coordinate).items():
        allowed = COORDINATE_AXES.get(axis)
        if allowed is None:
            raise InputError("coordinate", f"has no axis {brief(axis)}", f"use {', '.join(COORDINATE_AXES)}")
        values = (given,) if isinstance(given, str) else checked_list(f"coordinate.{axis}", given, "values")
        if not values or any(value not in allowed for value in values):
            raise InputError(f"coordinate.{axis}", f"is {brief(given)}", f"use some of {', '.join(allowed)}")
        axes[axis] = tuple(cast("Sequence[str]", values))
    return axes


def checked_value(field: str, value: object, kind: type[_Value], fix: str) -> _Value:
    """The value, if it is one of a class.

    Args:
        field: the argument's name.
        value: any value.
        kind: the class.
        fix: what to pass.

    Raises:
        InputError: it is of another class.
    """
    if not isinstance(value, kind):
        raise InputError(field, f"is {brief(value)}", fix)
    return value


def checked_chunking(chunking: object) -> Chunking | None:
    """A chunking whose numbers make sense (C2); None keeps texts whole.

    Raises:
        InputError: max_tokens under 1, overlap not from 0 to under max_tokens, an unknown split_on.
    """
    if chunking is None:
        return None
    given = checked_value("chunking", chunking, Chunking, "pass Chunking(max_tokens, overlap, split_on)")
    checked_count("chunking.max_tokens", given.max_tokens, most=1_000_000)
    checked_count("chunking.overlap", given.overlap, least=0, most=given.max_tokens - 1)
    if given.split_on not in ("sentence", "paragraph", "fixed"):
        raise InputError("chunking.split_on", f"is {brief(given.split_on)}", "use sentence, paragraph or fixed")
    return given


def messages_to_parts(messages: object) -> tuple[Part, ...]:
    """The turns of a conversation as parts of one episode (C2).

    Args:
        messages: an iterable of `Message`s, or of mappings with `role` and `content`.

    Raises:
        InputError: a message is neither a Message nor a mapping with `role` and `content`; names which.
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise InputError("messages", "is no list", "pass a list of dicts with role and content")
    parts: list[Part] = []
    for place, item in enumerate(cast("Iterable[object]", messages)):
        message = item if isinstance(item, Message) else _message(f"messages[{place}]", item)
        role = checked_text(f"messages[{place}].role", message.role, 256)
        parts.append(Part(message.content, message.name or role, role, message.timestamp, message.id))
    if not parts:
        raise InputError("messages", "is empty", "pass at least one message with role and content")
    return tuple(parts)


def _message(field: str, item: object) -> Message:
    if not isinstance(item, Mapping):
        raise InputError(field, f"is {type(item).__name__}", "pass a Message or a dict with role and content")
    fields = cast("Mapping[str, object]", item)
    role, content, name, timestamp, id_ = (fields.get(key) for key in ("role", "content", "name", "timestamp", "id"))
    if not isinstance(role, str) or not isinstance(content, str):
        raise InputError(field, "lacks role or content as text", 'pass {"role": "user", "content": "..."}')
    when = None if timestamp is None else checked_time(f"{field}.timestamp", timestamp)
    return Message(role, content, None if name is None else str(name), when, None if id_ is None else str(id_))


def checked_seconds(field: str, value: object) -> float:
    """A number of seconds from 0 to 317 years.

    Raises:
        InputError: it is no number, or out of range.
    """
    if not isinstance(value, int | float) or not is_number(value) or not 0 <= value <= MAX_SECONDS:
        raise InputError(
            field, f"is {brief(value)}", f"use a number of seconds from 0 (never expires) to {MAX_SECONDS}"
        )
    return value


def checked_episode(episode: object, max_text_bytes: int) -> NewEpisode:
    """The episode with its parts, tags, times and numbers checked and tidied.

    Raises:
        InputError: the first field that is wrong.
    """
    new = checked_value("episode", episode, NewEpisode, "pass NewEpisode((Part(text), ...))")
    parts = checked_list("parts", new.parts, "Part(text)")
    if not parts:
        raise InputError("parts", "is empty", "pass at least one part with a text")
    if new.session is not None:
        checked_id("session", new.session)
    if new.key is not None:
        checked_id("key", new.key)
    if new.coordinate is not None:
        checked_value("coordinate", new.coordinate, Coordinate, "pass a Coordinate, or None")
    prefixes = [""] if len(parts) == 1 else [f"parts[{place}]." for place in range(len(parts))]
    return NewEpisode(
        parts=tuple(_checked_part(prefix, part, max_text_bytes) for prefix, part in zip(prefixes, parts, strict=True)),
        type=checked_type("type", new.type),
        tags=checked_tags("tags", new.tags),
        metadata=checked_metadata("metadata", new.metadata),
        session=new.session,
        key=new.key,
        timestamp=None if new.timestamp is None else checked_time("timestamp", new.timestamp),
        ttl=None if new.ttl is None else checked_seconds("ttl", new.ttl),
        importance=checked_share("importance", new.importance),
        coordinate=new.coordinate,
        chunking=checked_chunking(new.chunking),
    )


def _checked_part(prefix: str, given: object, max_text_bytes: int) -> Part:
    part = checked_value(f"{prefix}part", given, Part, "pass Part(text)")
    checked_text(f"{prefix}text", part.text, max_text_bytes)
    for name in ("speaker", "role", "source_id", "key"):
        if getattr(part, name) is not None:
            checked_id(f"{prefix}{name}", getattr(part, name))
    if part.timestamp is None:
        return part
    return replace(part, timestamp=checked_time(f"{prefix}timestamp", part.timestamp))
