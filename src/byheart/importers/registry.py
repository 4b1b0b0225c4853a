"""The formats, in the order in which they are told apart, and the two verbs: `detect` and `read`."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from byheart.errors import ImportFormatError, InputError
from byheart.importers.base import BadRecord, Conversation, Record, Turn
from byheart.importers.chat import is_chat, read_chat
from byheart.importers.content import elements, fields, is_list, is_object
from byheart.importers.exports import (
    is_chatgpt,
    is_claude_code,
    is_locomo,
    is_trajectory,
    read_chatgpt,
    read_claude_code,
    read_locomo,
    read_trajectory,
)
from byheart.importers.source import Source, printable, require_text
from byheart.importers.text import is_log, read_log, read_markdown, read_text

_JSON_SUFFIXES = {".json", ".jsonl", ".ndjson", ".traj"}


@dataclass(frozen=True, slots=True)
class Format:
    """One format: what it is called, how a file of it is told, how it is read.

    Attributes:
        about: one line for `byheart ingest --help` and the guide.
        matches: whether the file is of this format; None if it is never guessed.
    """

    name: str
    about: str
    read: Callable[[Source], Iterator[Record]]
    matches: Callable[[Source], bool] | None = None


def read_json(source: Source) -> Iterator[Record]:
    """Any JSON as a document: a part for each entry of the outermost level, its values under their paths."""
    document = Conversation(source.file, "json", source.name, type="document", fallback_time=source.modified)
    for item in source.items():
        if isinstance(item, BadRecord):
            yield item
            continue
        entries: list[tuple[str, object]] = list(fields(item.value).items()) or [("", item.value)]
        for name, value in entries:
            yield from document.add(Turn("\n".join(_leaves(value, name)), line=item.line))
    yield from document.close()


def _leaves(value: object, path: str, depth: int = 0) -> Iterator[str]:
    """The values inside `value`, a line each: `path > inner: value`."""
    inner = fields(value).items() if is_object(value) else [("", element) for element in elements(value)]
    if (is_object(value) or is_list(value)) and depth < 50:
        for name, element in inner:
            yield from _leaves(element, f"{path} > {name}" if path and name else path or name, depth + 1)
    elif value not in (None, ""):
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield f"{path}: {shown}" if path else shown


FORMATS: tuple[Format, ...] = (
    Format(
        "log", "lines that start with a time, [08:24] <nick> text with its speaker", read_log, lambda s: is_log(s.head)
    ),
    Format("chatgpt", "conversations.json of a ChatGPT export", read_chatgpt, is_chatgpt),
    Format("claude-code", "a Claude Code session (JSON Lines)", read_claude_code, is_claude_code),
    Format("locomo", "LoCoMo conversations in dated sessions", read_locomo, is_locomo),
    Format("trajectory", "a SWE-agent run (.traj)", read_trajectory, is_trajectory),
    Format(
        "chat", "messages or dialogues in JSON or JSON Lines (OpenAI, Claude, ShareGPT and alike)", read_chat, is_chat
    ),
    Format(
        "markdown", "a document in sections", read_markdown, lambda s: s.path.suffix.lower() in {".md", ".markdown"}
    ),
    Format("json", "any JSON as a document; only when named", read_json),
    Format("text", "a document in paragraphs", read_text),
)
FORMAT_NAMES = tuple(known.name for known in FORMATS)


def detect(path: Path) -> str:
    """The name of the file's format, told by its content and, for Markdown, by its suffix.

    Raises:
        ImportFormatError: it is binary, or JSON in which byheart can tell no conversation.
        OSError: it cannot be read.
    """
    source = Source(path)
    require_text(source)
    return _detect(source).name


def _detect(source: Source) -> Format:
    structured = source.is_json
    for known in FORMATS:
        guessed = known.matches is not None and (structured or known.name in {"log", "markdown"})
        if guessed and known.matches is not None and known.matches(source):
            return known
    if structured and source.sample and any((is_object(value) or is_list(value)) for value in source.sample):
        raise ImportFormatError(
            f"{source.file}: is JSON in which no conversation can be told; --format json takes it as a document"
        )
    by_suffix = source.path.suffix.lower() in _JSON_SUFFIXES and source.head.strip()
    return _named("chat" if by_suffix else "text")


def _named(name: str) -> Format:
    found = next((known for known in FORMATS if known.name == name), None)
    if found is None:
        raise InputError("format", f"{name!r} is unknown", f"use one of {', '.join(FORMAT_NAMES)}")
    return found


def read(path: Path, format_name: str | None = None) -> Iterator[Record]:
    """Read a file: the episodes in it, and each piece that could not be taken, in the file's order.

    The same file gives the same keys every time, so that a second import adds nothing and one of a file that has
    grown adds what is new. An episode of many parts comes in slices that share its key.

    Args:
        path: the file.
        format_name: one of `FORMAT_NAMES`; told by content if None.

    Yields:
        An episode a conversation or document, and a `BadRecord` for what was refused.

    Raises:
        ImportFormatError: it is binary, or in no format that byheart knows.
        InputError: there is no format of this name.
        OSError: it cannot be read.
    """
    source = Source(path)
    require_text(source)
    known = _named(format_name) if format_name else _detect(source)
    yield from known.read(source)


def read_or_report(path: Path, format_name: str | None = None) -> Iterator[Record]:
    """`read`, with a file that cannot be read at all as a bad record of line 0: for folders, whose rest goes in."""
    try:
        yield from read(path, format_name)
    except ImportFormatError as error:
        problem = str(error).removeprefix(f"{printable(path)}: ")
        yield BadRecord(printable(path), 0, problem)
    except OSError as error:
        yield BadRecord(printable(path), 0, f"cannot be read: {error.strerror or error}")
