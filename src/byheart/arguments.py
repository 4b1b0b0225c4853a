"""Checks of what callers pass in: every problem becomes an InputError that names the field and the fix."""

import json
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import cast

from byheart.errors import InputError
from byheart.text.validate import checked_tag, checked_text
from byheart.types import (
    COORDINATE_AXES,
    EPISODE_TYPES,
    Chunking,
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


def checked_count(field: str, value: object, *, least: int = 1, most: int = MAX_LIMIT) -> int:
    """A whole number from `least` to `most`.

    Raises:
        InputError: it is no int (a bool and a float are none), or out of range.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InputError(field, f"is {value!r}", f"use a whole number from {least} to {most}")
    return value


def checked_share(field: str, value: object) -> float:
    """A number from 0 to 1.

    Raises:
        InputError: it is no finite number, or out of range.
    """
    if not isinstance(value, int | float) or not is_number(value) or not 0 <= value <= 1:
        raise InputError(field, f"is {value!r}", "use a number from 0 to 1")
    return float(value)


def checked_time(field: str, value: object) -> datetime:
    """An aware datetime.

    Raises:
        InputError: it is no datetime, or has no zone, so that nobody knows which moment it means.
    """
    if not isinstance(value, datetime):
        raise InputError(field, f"is {type(value).__name__}, not a datetime", "pass datetime(..., tzinfo=UTC)")
    if value.utcoffset() is None:
        raise InputError(
            field, f"is {value.isoformat()}, without a zone", "pass an aware one: datetime(..., tzinfo=UTC)"
        )
    return value


def checked_type(field: str, value: object) -> EpisodeType:
    """One of the episode types.

    Raises:
        InputError: it is another.
    """
    for known in EPISODE_TYPES:
        if value == known:
            return known
    raise InputError(field, f"is {value!r}", f"use one of {', '.join(EPISODE_TYPES)}")


def checked_tags(field: str, tags: object) -> tuple[str, ...]:
    """Well-formed tags in the order given, each once.

    Raises:
        InputError: not a sequence of tags, or a tag that is empty or over 256 characters.
    """
    items = _sequence(field, tags, "tags")
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
    raise InputError(field, f"is {value!r:.60}, which JSON has not", "use text, finite numbers, true, false, null")


def _plain_mapping(field: str, value: Mapping[object, object], depth: int) -> dict[str, object]:
    plain: dict[str, object] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise InputError(field, f"has the key {key!r:.60}, which is no text", "use text keys")
        _plain(f"{field} key", key, depth)
        plain[key] = _plain(f"{field}.{key:.40}", item, depth - 1)
    return plain


def _sequence(field: str, value: object, what: str) -> Sequence[object]:
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
    coordinate: Mapping[str, str | Sequence[str]] | None = None,
) -> Filter:
    """A filter out of the options of a recall (C2, G24).

    Raises:
        InputError: an unknown type or axis, a bad tag, a time without a zone, `after` not before `before`.
    """
    start = None if after is None else checked_time("after", after)
    end = None if before is None else checked_time("before", before)
    if start and end and start >= end:
        raise InputError("after", f"is {start.isoformat()}, not before {end.isoformat()}", "swap after and before")
    axes: dict[str, tuple[str, ...]] = {}
    for axis, given in (coordinate or {}).items():
        values = (given,) if isinstance(given, str) else tuple(given)
        allowed = COORDINATE_AXES.get(axis)
        if allowed is None:
            raise InputError("coordinate", f"has no axis {axis!r}", f"use {', '.join(COORDINATE_AXES)}")
        if not values or any(value not in allowed for value in values):
            raise InputError(f"coordinate.{axis}", f"is {given!r}", f"use some of {', '.join(allowed)}")
        axes[axis] = values
    kinds: tuple[EpisodeType, ...] = tuple(
        checked_type(f"types[{place}]", kind) for place, kind in enumerate(_sequence("types", types, "types"))
    )
    name = None if session is None else checked_id("session", session)
    return Filter(kinds, checked_tags("tags", tags), start, end, name, axes)


def checked_chunking(chunking: object) -> Chunking | None:
    """A chunking whose numbers make sense (C2); None keeps texts whole.

    Raises:
        InputError: max_tokens under 1, overlap not from 0 to under max_tokens, an unknown split_on.
    """
    if chunking is None:
        return None
    if not isinstance(chunking, Chunking):
        raise InputError("chunking", f"is {type(chunking).__name__}", "pass Chunking(max_tokens, overlap, split_on)")
    checked_count("chunking.max_tokens", chunking.max_tokens, most=1_000_000)
    checked_count("chunking.overlap", chunking.overlap, least=0, most=chunking.max_tokens - 1)
    if chunking.split_on not in {"sentence", "paragraph", "fixed"}:
        raise InputError("chunking.split_on", f"is {chunking.split_on!r}", "use sentence, paragraph or fixed")
    return chunking


def messages_to_parts(messages: Iterable[Message | Mapping[str, object]]) -> tuple[Part, ...]:
    """The turns of a conversation as parts of one episode (C2).

    Raises:
        InputError: a message is neither a Message nor a mapping with `role` and `content`; names which.
    """
    parts: list[Part] = []
    for place, item in enumerate(messages):
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


def checked_episode(new: NewEpisode, max_text_bytes: int) -> NewEpisode:
    """The episode with its parts, tags and numbers checked and tidied.

    Raises:
        InputError: the first field that is wrong.
    """
    if not new.parts:
        raise InputError("parts", "is empty", "pass at least one part with a text")
    if new.session is not None:
        checked_id("session", new.session)
    if new.key is not None:
        checked_id("key", new.key)
    if new.timestamp is not None:
        checked_time("timestamp", new.timestamp)
    if new.ttl is not None and (not is_number(new.ttl) or new.ttl < 0 or new.ttl > 10**10):
        raise InputError("ttl", f"is {new.ttl!r}", "use a number of seconds of at least 0 (0: never expires)")
    single = len(new.parts) == 1
    for place, part in enumerate(new.parts):
        _check_part("" if single else f"parts[{place}].", part, max_text_bytes)
    return NewEpisode(
        parts=tuple(new.parts),
        type=checked_type("type", new.type),
        tags=checked_tags("tags", new.tags),
        metadata=checked_metadata("metadata", new.metadata),
        session=new.session,
        key=new.key,
        timestamp=new.timestamp,
        ttl=new.ttl,
        importance=checked_share("importance", new.importance),
        coordinate=new.coordinate,
        chunking=checked_chunking(new.chunking),
    )


def _check_part(prefix: str, part: Part, max_text_bytes: int) -> None:
    checked_text(f"{prefix}text", part.text, max_text_bytes)
    for name in ("speaker", "role", "source_id", "key"):
        if getattr(part, name) is not None:
            checked_id(f"{prefix}{name}", getattr(part, name))
    if part.timestamp is not None:
        checked_time(f"{prefix}timestamp", part.timestamp)
