"""What the commands print: JSON for programs, tables for a terminal, tab-separated lines for a pipe."""

import dataclasses
import io
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from byheart.types import Hit

#: What drives a terminal, or turns the direction of what follows.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
_MARKED = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
_BAR = 10
_JSON_DIGITS = 6


def plain(value: object) -> object:
    """A value as JSON has it: dataclasses as objects of their fields, times as ISO 8601 in UTC with a `Z`.

    Numbers keep six digits after the point.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, float):
        return round(value, _JSON_DIGITS)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in cast("Mapping[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in cast("Sequence[object]", value)]
    return value


def shown(text: str) -> str:
    """Text as a terminal may print it: control characters, which could drive the terminal, made visible."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def bar(share: float) -> str:
    """A share from 0 to 1 as ten blocks; shares that print alike, with three digits, have the same bar."""
    filled = round(max(0.0, min(1.0, round(share, 3))) * _BAR)
    return "█" * filled + "░" * (_BAR - filled)


def day(when: datetime | None) -> str:
    """A time as date, hour and minute in UTC."""
    return "" if when is None else when.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def highlighted(hit: Hit) -> Text:
    """A hit's text, the words that matched the query in bold."""
    text = Text(shown(hit.chunk.text))
    words = {word for passage in hit.highlights for word in _MARKED.findall(passage)} | set(hit.matched_terms)
    if words:
        pattern = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
        text.highlight_regex(re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE), "bold yellow")
    return text


def prepare_streams() -> None:
    """Make the standard streams fit for any run.

    One that the caller has closed leads nowhere, and standard output writes what its encoding lacks as an escape.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for the whole run
    stream: object = sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        cast("io.TextIOWrapper", stream).reconfigure(errors="backslashreplace")


class Output:
    """Where a command prints: results on standard output, remarks and errors on standard error.

    Attributes:
        as_json: print one JSON value and nothing else.
        terminal: whether standard output is one; a pipe gets plain lines that are never cut.
    """

    def __init__(self, *, as_json: bool = False, no_color: bool = False) -> None:
        self.as_json = as_json
        color_off = True if no_color else None
        self._console = Console(no_color=color_off, highlight=False, markup=False, emoji=False)
        self.remarks = Console(stderr=True, no_color=color_off, highlight=False, markup=False, emoji=False)
        self.terminal = self._console.is_terminal

    def json(self, value: object) -> None:
        """Print a value as JSON."""
        unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
        text = json.dumps(plain(value), ensure_ascii=not unicode, indent=2)
        sys.stdout.write(_CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")

    def line(self, text: str | Text = "", style: str | None = None, *, whole: bool = False) -> None:
        """Print a line, or a text of several; a terminal wraps it unless it must stay `whole`, a pipe never does."""
        content = Text(shown(text), style=style or "") if isinstance(text, str) else text
        if self.terminal:
            self._console.print(content, soft_wrap=whole)
        else:
            sys.stdout.write(f"{content.plain}\n")

    def remark(self, text: str) -> None:
        """Say something about the work, on standard error."""
        self.remarks.print(Text(shown(text)), soft_wrap=True)

    def rows(self, headings: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> None:
        """Print rows: a table on a terminal, tab-separated lines without headings in a pipe."""
        cells = [[Text(shown(cell)) if isinstance(cell, str) else cell for cell in row] for row in rows]
        if not self.terminal:
            for row in cells:
                sys.stdout.write("\t".join(" ".join(cell.plain.split()) for cell in row) + "\n")
            return
        table = Table(box=None, pad_edge=False, header_style="dim", show_header=any(headings))
        for place, heading in enumerate(headings):
            table.add_column(heading, overflow="fold", no_wrap=place < len(headings) - 1)
        for row in cells:
            table.add_row(*row)
        self._console.print(table)

    def hits(self, hits: Sequence[Hit]) -> None:
        """Print hits, best first: rank, score, time, speaker, text, the episode's id; a terminal adds a bar."""
        if self.terminal:
            for rank, hit in enumerate(hits, 1):
                self.hit(rank, hit)
            return
        rows: list[Sequence[str | Text]] = []
        for rank, hit in enumerate(hits, 1):
            chunk = hit.chunk
            row = [str(rank), f"{hit.score:.3f}", day(chunk.timestamp), chunk.speaker or "", chunk.text]
            rows.append([*row, chunk.episode_id])
        self.rows(("",) * 6, rows)

    def hit(self, rank: int, hit: Hit) -> None:
        """Print one hit over the whole width: what it is, its text, and its episode's id, which can be copied."""
        chunk = hit.chunk
        head = Text(f"{rank}. {hit.score:.3f} ")
        if self.terminal:
            head.append(f"{bar(hit.score)} ", "green")
        head.append(f" {day(chunk.timestamp)}  {shown(chunk.speaker or '')}".rstrip())
        self.line(head)
        self.indented(highlighted(hit))
        self.indented(Text(shown(chunk.episode_id), "dim"))

    def episodes(self, rows: Iterable[tuple[str, str, str, str]]) -> None:
        """Print episodes of an id, a time, a type and a text.

        A terminal gets a line an episode, the text cut where the line ends, and the id below; a pipe gets it all.
        """
        if not self.terminal:
            self.rows(("",) * 4, rows)
            return
        cells = [
            (when, kind, Text(f"{shown(text)}\n", no_wrap=True, overflow="ellipsis").append(shown(name), "dim"))
            for name, when, kind, text in rows
        ]
        self.rows(("when", "type", "text, id"), cells)

    def indented(self, text: Text) -> None:
        """Print a text three columns in; a terminal wraps it there."""
        if self.terminal:
            self._console.print(Padding(text, (0, 0, 0, 3)))
        else:
            sys.stdout.write(f"   {text.plain}\n")
