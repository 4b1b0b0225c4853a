"""What a reader yields, and how turns become episodes with keys that stay the same from one import to the next."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from byheart.importers.times import parse_time
from byheart.types import MAX_ID_CHARACTERS, EpisodeType, NewEpisode, Part

#: A conversation is handed on in slices of this many parts, all with one key, so that a file of any length streams.
SLICE_PARTS = 500
#: What a tool was asked and what it answered is cut to this many characters: the gist is remembered, not the dump.
TOOL_CHARACTERS = 1000
#: The longest text that a memory takes in (its own limit); a longer message is reported, the rest goes in.
MAX_TEXT_BYTES = 1_048_576
_TITLE_CHARACTERS = 1000
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_ROLES = {
    "user": "user",
    "human": "user",
    "customer": "user",
    "client": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "agent": "assistant",
    "bot": "assistant",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "claude": "assistant",
    "model": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
    "action": "tool",
}


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A piece of a file that could not be taken; the rest of the file goes in.

    Attributes:
        file: the file's path, made printable.
        line: the line, from 1, on which the smallest piece that could be told apart starts; 0 for the file as a whole.
        problem: what is wrong with it.
    """

    file: str
    line: int
    problem: str


Record = NewEpisode | BadRecord


def digest(*fields: object) -> str:
    """A short name for these fields: 32 hex digits that depend on every one of them and on their order."""
    joined = "\x1f".join("" if field is None else str(field) for field in fields)
    return hashlib.blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def unstorable(text: str) -> str | None:
    """Why no store can keep `text`: it holds a NUL, a lone surrogate, or a byte that its encoding does not have."""
    found = _UNSTORABLE.search(text)
    if found is None:
        return None
    if found.group() == "\0":
        return "holds a NUL character"
    return "holds bytes that are not in the file's encoding" if found.group() == "\udcff" else "holds a lone surrogate"


def clean(text: str) -> str:
    """`text` with what no store can keep replaced by U+FFFD; for titles and names, whose loss would cost the rest."""
    return _UNSTORABLE.sub("\ufffd", text)


def short_id(text: str) -> str:
    """`text` as an id: cleaned, and named by its digest where it is longer than an id may be."""
    return clean(text) if len(text) <= MAX_ID_CHARACTERS else digest(text)


def role_of(name: str | None) -> str | None:
    """The role (user, assistant, system, tool) that a file's own word for it means, or None."""
    return _ROLES.get(name.strip().lower()) if name else None


def gist(text: str, limit: int = TOOL_CHARACTERS) -> str:
    """The first `limit` characters of a tool's input or output, with a note of how many were left out."""
    text = text.strip()
    return text if len(text) <= limit else f"{text[:limit].rstrip()} … ({len(text) - limit} more characters)"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message as a reader found it, before it is checked.

    Attributes:
        time: as the file has it: text, seconds or milliseconds since 1970, or None.
        id: the file's own id of the message.
        line: where it stands, for the report.
    """

    text: str
    speaker: str | None = None
    role: str | None = None
    time: object = None
    id: str | None = None
    line: int = 0


@dataclass
class Conversation:
    """Gathers the turns of one conversation and yields them as episodes.

    Attributes:
        file: for the reports.
        format: the reader's name.
        name: the file's name without its folder; part of the identity where the format has no ids.
        id: the conversation's own id; without one its first spoken turn names it.
        openings: shared by a file's conversations, to tell apart those without id that start with the same words.
        started: when it began, as the file has it.
        fallback_time: used when the file says nothing about time.
    """

    file: str
    format: str
    name: str
    id: str | None = None
    openings: dict[str, int] = field(default_factory=dict[str, int])
    started: object = None
    fallback_time: datetime | None = None
    metadata: dict[str, object] = field(default_factory=dict[str, object])
    type: EpisodeType = "conversation"
    _parts: list[Part] = field(default_factory=list[Part])
    _seen: dict[str, str] = field(default_factory=dict[str, str])
    _counts: dict[str, int] = field(default_factory=dict[str, int])
    _identity: str | None = None
    _time: datetime | None = None

    def __post_init__(self) -> None:
        if self.id is not None:
            self.id = short_id(self.id)
        texts = {name: text for name, text in self.metadata.items() if isinstance(text, str)}
        self.metadata = self.metadata | {name: clean(text)[:_TITLE_CHARACTERS] for name, text in texts.items()}

    def add(self, turn: Turn) -> Iterator[Record]:
        """Take a turn; yields a bad record if it cannot be kept, and a slice when enough turns have come together."""
        if not turn.text.strip():
            return
        if problem := _problem(turn):
            yield BadRecord(self.file, turn.line, f"{_label(turn)}{problem}")
            return
        when = parse_time(turn.time)
        if when is None and turn.time not in (None, ""):
            yield BadRecord(
                self.file, turn.line, f"{_label(turn)}{turn.time!r} is no date; the text is kept without it"
            )
        key = self._key(turn)
        if key is None:
            return
        self._time = self._time or when
        speaker, source_id = turn.speaker and short_id(turn.speaker), turn.id and short_id(turn.id)
        self._parts.append(Part(turn.text, speaker or None, turn.role, when, source_id or None, short_id(key)))
        if len(self._parts) >= SLICE_PARTS:
            yield self._slice()

    def close(self) -> Iterator[Record]:
        """Yield what is left."""
        if self._parts:
            yield self._slice()

    def _key(self, turn: Turn) -> str | None:
        """The part's key, or None where the file has the same message twice."""
        content = digest(turn.speaker, turn.time, turn.text)
        if turn.id is None:
            count = self._counts[content] = self._counts.get(content, 0) + 1
            return content if count == 1 else f"{content}#{count}"
        known = self._seen.setdefault(turn.id, "")
        if not known:
            self._seen[turn.id] = content
            return turn.id
        key = f"{turn.id}#{content}"
        if known == content or key in self._seen:
            return None
        self._seen[key] = content
        return key

    def _slice(self) -> NewEpisode:
        """The turns so far as an episode; later slices carry the same key and add to it."""
        if self._identity is None:
            self._identity = self.id or self._opening()
        parts, self._parts = tuple(self._parts), []
        return NewEpisode(
            parts=parts,
            type=self.type,
            metadata={"file": self.name, "format": self.format, **self.metadata},
            session=self._identity if self.type == "conversation" else None,
            key=f"{self.format}:{digest(self._identity)}",
            timestamp=parse_time(self.started) or self._time or self.fallback_time,
        )

    def _opening(self) -> str:
        """Names a conversation that has no id by its file and first turn (past the system prompt that many share)."""
        first = next((part for part in self._parts if part.role != "system"), self._parts[0])
        opening = f"{self.name}#{digest(first.speaker, first.timestamp, first.text)}"
        nth = self.openings[opening] = self.openings.get(opening, 0) + 1
        return opening if nth == 1 else f"{opening}#{nth}"


def _problem(turn: Turn) -> str | None:
    """Why the turn cannot be kept, if it cannot."""
    for text in (turn.text, turn.speaker or "", turn.id or ""):
        if found := unstorable(text):
            return found
    size = len(turn.text.encode())
    return f"has {size:,} bytes, more than the {MAX_TEXT_BYTES:,} of one memory" if size > MAX_TEXT_BYTES else None


def _label(turn: Turn) -> str:
    return f"message {turn.id!a}: " if turn.id else ""
