"""Readers of plain text: documents in paragraphs, Markdown in sections, logs in lines."""

import re
from collections.abc import Iterator
from datetime import date, timedelta

from byheart.importers.base import BadRecord, Conversation, Record, Turn, unstorable
from byheart.importers.source import Source

#: A paragraph that runs on past this many characters (a file without blank lines) ends at the next line end.
PARAGRAPH_CHARACTERS = 4000
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_STAMP = re.compile(
    r"""\s*\[?(?P<date>\d{4}-\d\d-\d\d)?[T\s]*
        (?P<time>\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,6})?)?)?
        (?P<zone>Z|[+-]\d\d:?\d\d)?\]?(?=[\s:]|$):?\s?""",
    re.VERBOSE,
)
_NICK = re.compile(r"\s*(?:<[ @+%&~]?(?P<nick>[^<>\s]+)>\s?|\*\s+(?P<actor>[^\s*]+)\s)")
_NOTICE = re.compile(r"\s*(===|-!-|\*\*\*|<--|-->)")
_DAY = re.compile(r"(?<!\d)(\d{4})-?(\d\d)-?(\d\d)(?!\d)")


def lines(source: Source) -> Iterator[tuple[int, str] | BadRecord]:
    """The file's lines; one that no store can keep is reported in its place."""
    for found in source.lines():
        if isinstance(found, tuple) and (problem := unstorable(found[1])):
            yield BadRecord(source.file, found[0], f"the line {problem}")
        else:
            yield found


def _document(source: Source, name: str) -> Conversation:
    return Conversation(source.file, name, source.name, type="document", fallback_time=source.modified)


def read_text(source: Source) -> Iterator[Record]:
    """A document: a part a paragraph."""
    document = _document(source, "text")
    paragraph: list[str] = []
    size = start = 0
    for found in lines(source):
        if isinstance(found, BadRecord):
            yield found
            continue
        number, line = found
        if line.strip():
            start = start if paragraph else number
            paragraph.append(line)
            size += len(line)
        if not line.strip() or size > PARAGRAPH_CHARACTERS:
            yield from document.add(Turn("\n".join(paragraph), line=start))
            paragraph, size = [], 0
    yield from document.add(Turn("\n".join(paragraph), line=start))
    yield from document.close()


def read_markdown(source: Source) -> Iterator[Record]:
    """A document: a part a section, its text under the path of its headings (`Guide > Install`)."""
    document = _document(source, "markdown")
    path: list[tuple[int, str]] = []
    body: list[str] = []
    start, fence = 1, ""
    for found in lines(source):
        if isinstance(found, BadRecord):
            yield found
            continue
        number, line = found
        fence = _fence_after(line, fence)
        heading = None if fence else _heading(line, body)
        if heading is None:
            body.append(line)
            continue
        level, title, body_lines = heading
        yield from _section(document, path, body[:body_lines], start)
        path = [step for step in path if step[0] < level] + [(level, title)]
        body, start = [], number
    yield from _section(document, path, body, start)
    yield from document.close()


def _section(document: Conversation, path: list[tuple[int, str]], body: list[str], line: int) -> Iterator[Record]:
    text = "\n".join(body).strip()
    if text:
        headings = " > ".join(title for _, title in path if title)
        yield from document.add(Turn(f"{headings}\n{text}" if headings else text, line=line))


def _fence_after(line: str, fence: str) -> str:
    """The code fence that is open after `line`, given the one open before it ("" for none)."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    mark = found.group(1)
    if not fence:
        return mark
    closes = mark[0] == fence[0] and len(mark) >= len(fence) and line.strip() == mark
    return "" if closes else fence


def _heading(line: str, body: list[str]) -> tuple[int, str, int] | None:
    """The heading that `line` makes: level, title, and how many lines of `body` stand before it."""
    if found := _HEADING.match(line):
        return len(found.group(1)), (found.group(2) or "").strip(), len(body)
    previous = body[-1].strip() if body else ""
    alone = len(body) < 2 or not body[-2].strip()
    if previous and alone and not previous.startswith(("-", "*", ">", "|", "#")) and (found := _UNDERLINE.match(line)):
        return (1 if found.group(1)[0] == "=" else 2), previous, len(body) - 1
    return None


def is_log(head: str) -> bool:
    """Whether most of the first lines start with a time, as chat and program logs do."""
    sample = [line for line in head.splitlines()[:200] if line.strip() and not line.startswith((" ", "\t"))]
    stamped = sum(bool(_stamp(line) or _NOTICE.match(line)) for line in sample)
    return any(_stamp(line) for line in sample) and stamped > len(sample) / 2


def _stamp(line: str) -> re.Match[str] | None:
    found = _STAMP.match(line)
    return found if found and found.group("time") else None


def read_log(source: Source) -> Iterator[Record]:
    """A log: a part an entry, `[08:24] <nick> text` with its speaker, `2024-05-01T10:00:00Z text` with its time.

    Lines without a time go on the entry before them; notices of who came and went (`=== x has joined`) are left out.
    Hours without a day get it from the file's name, and the next day when they start over.
    """
    clock = _Clock.of(source.name)
    spoken = any(_NICK.match(line, _end(line)) for line in source.head.splitlines()[:200])
    log = Conversation(
        source.file, "log", source.name, type="conversation" if spoken else "event", fallback_time=source.modified
    )
    entry: Turn | None = None
    for found in lines(source):
        if isinstance(found, BadRecord):
            yield found
            continue
        number, line = found
        if (spoken and _NOTICE.match(line)) or not line.strip():
            continue
        stamp = _stamp(line)
        if stamp is None and entry is not None and not spoken:
            entry = Turn(f"{entry.text}\n{line}", entry.speaker, time=entry.time, line=entry.line)
            continue
        if entry is not None:
            yield from log.add(entry)
        entry = _entry(number, line, stamp, clock)
    if entry is not None:
        yield from log.add(entry)
    yield from log.close()


def _end(line: str) -> int:
    stamp = _stamp(line)
    return stamp.end() if stamp else 0


def _entry(number: int, line: str, stamp: re.Match[str] | None, clock: "_Clock") -> Turn:
    end = stamp.end() if stamp else 0
    nick = _NICK.match(line, end)
    speaker = (nick.group("nick") or nick.group("actor")) if nick else None
    text = line[nick.end() if nick and nick.group("nick") else end :]
    return Turn(text.strip(), speaker, time=clock.read(stamp) if stamp else None, line=number)


class _Clock:
    """Gives the hours of a log their day."""

    def __init__(self, day: date | None) -> None:
        self.day = day
        self.hour = 0

    @classmethod
    def of(cls, name: str) -> "_Clock":
        found = _DAY.search(name)
        try:
            return cls(date(*map(int, found.groups())) if found else None)
        except ValueError:
            return cls(None)

    def read(self, stamp: re.Match[str]) -> str | None:
        """The entry's time in ISO 8601, or None if no day is known."""
        time, day = stamp.group("time").replace(",", "."), stamp.group("date")
        if day:
            return f"{day}T{time:0>5}{stamp.group('zone') or ''}"
        hour = int(time.split(":")[0])
        if self.day is None:
            return None
        if hour < self.hour - 12:
            self.day += timedelta(days=1)
        self.hour = hour
        return f"{self.day.isoformat()}T{time.zfill(8) if time.count(':') == 2 else time.zfill(5)}"
