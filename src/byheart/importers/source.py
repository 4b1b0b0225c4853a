"""One file to read: its encoding, its lines, its JSON values, each with the line it starts on."""

import codecs
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TextIO

from byheart.errors import ImportFormatError
from byheart.importers.base import BadRecord

#: A longer line is reported and passed over instead of being held in memory.
MAX_LINE_CHARACTERS = 16 * 1024 * 1024
_HEAD_BYTES = 64 * 1024
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BINARY_STARTS = (
    b"%PDF", b"PK\x03\x04", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"\x1f\x8b", b"\x7fELF", b"SQLite format 3\0",
    b"RIFF", b"OggS", b"ID3", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"\x28\xb5\x2f\xfd",
)  # fmt: skip
_NOT_TEXT = re.compile(r"[\x00-\x07\x0e-\x1a\x1c-\x1f\udcff]")
_SPACE = re.compile(r"[\s]*")
_DECODER = json.JSONDecoder(strict=False)


def _mark(error: UnicodeError) -> tuple[str, int]:
    """Stand a lone surrogate in for bytes that cannot be decoded, so that their line can be told and refused."""
    assert isinstance(error, UnicodeDecodeError)  # noqa: S101 - registered for decoding alone
    return "\udcff", error.end


codecs.register_error("byheart-mark", _mark)


def printable(path: Path) -> str:
    """The path as text that every terminal and store takes, whatever bytes the file's name holds."""
    return os.fsencode(path).decode("utf-8", "replace")


@dataclass(frozen=True)
class Item:
    """One JSON value and the line it starts on."""

    line: int
    value: object


@dataclass(frozen=True)
class Source:
    """A file, opened by content."""

    path: Path

    @cached_property
    def file(self) -> str:
        """The path, printable."""
        return printable(self.path)

    @cached_property
    def name(self) -> str:
        """The file's name without its folder, printable."""
        return printable(Path(self.path.name))

    @cached_property
    def modified(self) -> datetime:
        """When the file was last written: the time of a document that names none."""
        return datetime.fromtimestamp(self.path.stat().st_mtime, UTC)

    @cached_property
    def encoding(self) -> str:
        """By the byte order mark; UTF-8 without one."""
        with self.path.open("rb") as handle:
            start = handle.read(4)
        return next((name for bom, name in _BOMS if start.startswith(bom)), "utf-8")

    def open(self) -> TextIO:
        """Open as text; bytes outside the encoding become a lone surrogate, which `unstorable` finds."""
        return self.path.open(encoding=self.encoding, errors="byheart-mark")

    @cached_property
    def head(self) -> str:
        """The first 64 KiB, enough to tell the format of a text."""
        with self.open() as handle:
            return handle.read(_HEAD_BYTES)

    @cached_property
    def is_binary(self) -> bool:
        """Whether it is no text: a known signature, or more than a tenth of it control characters and bad bytes."""
        with self.path.open("rb") as handle:
            if handle.read(16).startswith(_BINARY_STARTS):
                return True
        sample = self.head[:8192]
        return len(_NOT_TEXT.findall(sample)) > len(sample) / 10

    def lines(self) -> Iterator[tuple[int, str] | BadRecord]:
        """Each line with its number, from 1, without its line end; one that is too long is reported instead."""
        with self.open() as handle:
            number = 0
            while line := handle.readline(MAX_LINE_CHARACTERS):
                number += 1
                if len(line) == MAX_LINE_CHARACTERS and not line.endswith("\n"):
                    while rest := handle.readline(MAX_LINE_CHARACTERS):
                        if rest.endswith("\n"):
                            break
                    yield BadRecord(self.file, number, f"the line has more than {MAX_LINE_CHARACTERS:,} characters")
                else:
                    yield number, line.rstrip("\n")

    @cached_property
    def is_json_lines(self) -> bool:
        """Whether every line is a JSON value of its own: by its suffix, or because one of the first three lines is."""
        if self.path.suffix.lower() in {".jsonl", ".ndjson"}:
            return True
        lines = [line for line in self.head.splitlines() if line.strip()]
        return len(lines) > 1 and any(isinstance(_value(line), dict) for line in lines[:3])

    @property
    def is_json(self) -> bool:
        """Whether it looks like JSON of either kind."""
        return self.path.suffix.lower() in {".jsonl", ".ndjson"} or self.head.lstrip()[:1] in {"{", "["}

    @cached_property
    def sample(self) -> tuple[object, ...]:
        """The first values, by which the format is told."""
        found: list[object] = []
        for item in self.items():
            if isinstance(item, Item):
                found.append(item.value)
            if len(found) == 20:
                break
        return tuple(found)

    def items(self) -> Iterator[Item | BadRecord]:
        """The values of a JSON Lines file, the elements of a JSON list, or the one value of any other JSON file."""
        return self._lines_items() if self.is_json_lines else _document_items(self.file, self._text)

    def _lines_items(self) -> Iterator[Item | BadRecord]:
        for found in self.lines():
            if isinstance(found, BadRecord):
                yield found
            elif found[1].strip():
                try:
                    yield Item(found[0], json.loads(found[1], strict=False))
                except (ValueError, RecursionError) as error:
                    yield BadRecord(self.file, found[0], f"is no JSON: {_reason(error)}")

    @cached_property
    def _text(self) -> str:
        with self.open() as handle:
            return handle.read()


def require_text(source: Source) -> None:
    """Refuse a binary file.

    Raises:
        ImportFormatError: the file is no text.
    """
    if source.is_binary:
        raise ImportFormatError(f"{source.file}: is a binary file; convert it to text first")


def _document_items(file: str, text: str) -> Iterator[Item | BadRecord]:
    """The elements of a list one by one, so that those before a cut still go in; else the whole value."""
    position = _skip(text, 0)
    if not text.startswith("[", position):
        found = _decode(file, text, position, 1 + text.count("\n", 0, position))
        if isinstance(found, BadRecord):
            yield found
        else:
            yield found[0]
            if (end := _skip(text, found[1])) < len(text):
                yield BadRecord(file, 1 + text.count("\n", 0, end), "something follows the JSON value")
        return
    yield from _list_items(file, text, position)


def _list_items(file: str, text: str, position: int) -> Iterator[Item | BadRecord]:
    line, counted = 1, 0
    position = _skip(text, position + 1)
    while not text.startswith("]", position):
        line, counted = line + text.count("\n", counted, position), position
        found = _decode(file, text, position, line)
        if isinstance(found, BadRecord):
            yield found
            return
        yield found[0]
        position = _skip(text, found[1])
        if text.startswith(",", position):
            position = _skip(text, position + 1)
        elif not text.startswith("]", position):
            line += text.count("\n", counted, position)
            yield BadRecord(file, line, "the JSON list is cut off or broken here; what stands before it was read")
            return


def _decode(file: str, text: str, position: int, line: int) -> tuple[Item, int] | BadRecord:
    try:
        value, end = _DECODER.raw_decode(text, position)
    except json.JSONDecodeError as error:
        return BadRecord(file, error.lineno, f"the JSON is cut off or broken here: {error.msg}")
    except (ValueError, RecursionError) as error:
        return BadRecord(file, line, f"is no JSON: {_reason(error)}")
    return Item(line, value), end


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _value(line: str) -> object:
    try:
        return json.loads(line, strict=False)
    except (ValueError, RecursionError):
        return None


def _reason(error: Exception) -> str:
    return error.msg if isinstance(error, json.JSONDecodeError) else "nested too deep, or a number too long"
