"""A context for a model: the evidence, in as few tokens as it takes, with dates, speakers and order kept.

    ## Relevant Memories
    [fact] User prefers dark mode
    [conversation, 8 May 2023]
    Caroline: I went to a LGBTQ support group yesterday and it was so powerful.

A memory's text is data. It always follows a mark or a name on its line, and its further lines are indented by four, so
that none of it can pass for a heading, for another memory's mark, or for a fence.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from byheart.text.tokens import WIDE, quarters
from byheart.types import Episode, Evidence, Hit, Scope

HEADER = "## Relevant Memories"
_INDENT = "\n    "
_LEAST_CUT = 40  # characters; less of a text than that tells nothing
_QUARTERS = 4  # of a token: they add up over lines, where tokens would be rounded up on each
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def from_hits(hits: Iterable[Hit]) -> list[Evidence]:
    """Hits as evidence."""
    return [Evidence(hit.chunk, hit.episode, hit.score) for hit in hits]


def from_episodes(episodes: Iterable[Episode]) -> list[Evidence]:
    """Whole episodes as evidence that matters less than any that was searched for; the first ones most."""
    return [
        Evidence(chunk, episode, -1.0 - place) for place, episode in enumerate(episodes) for chunk in episode.chunks
    ]


def folded(text: str) -> str:
    """A text's lines with all but the first indented, so that none of them starts a line of the context."""
    return _INDENT.join(line.strip() for line in text.splitlines() if line.strip())


@dataclass(frozen=True, slots=True, order=True)
class _Entry:
    """A memory's line and its place in the order in which things were said."""

    said: datetime
    recorded: datetime
    episode: str
    index: int
    line: str


@dataclass(frozen=True, slots=True)
class _Key:
    """What memories under one header have in common: a conversation and its day, or being one and the same."""

    scope: Scope
    conversation: str
    header: str


@dataclass(slots=True)
class _Block:
    """What stands under one header, or a single memory without one."""

    header: str
    entries: list[_Entry] = field(default_factory=list[_Entry])

    def lines(self) -> list[str]:
        """The block's lines, its entries in the order in which they were said."""
        texts = [entry.line for entry in sorted(self.entries)]
        return [self.header, *texts] if self.header else texts


def render(evidence: Sequence[Evidence], *, max_tokens: int) -> str:
    """The context: best evidence first, each conversation's turns together and in their order (C2).

    Args:
        evidence: memories; those of higher score are taken first while there is room. Doubles are shown once.
        max_tokens: the result is never longer, by `estimate_tokens`.

    Returns:
        The text; empty where nothing was given or nothing fits.
    """
    blocks: dict[_Key, _Block] = {}
    seen: set[str] = set()
    room = max_tokens * _QUARTERS - _size(HEADER)
    for item in sorted(evidence, key=lambda one: -one.score):
        if item.chunk.id in seen:
            continue
        seen.add(item.chunk.id)
        key, header, line = _placed(item)
        heading = 0 if key in blocks or not header else _size("\n" + header)
        left = room - heading - 1
        if _size(line) > left and not blocks:
            line = _cut(line, left)
        if not line or _size(line) > left:
            continue
        room = left - _size(line)
        order = (item.chunk.timestamp, item.episode.recorded_at, item.chunk.episode_id, item.chunk.index)
        blocks.setdefault(key, _Block(header)).entries.append(_Entry(*order, line))
    if not blocks:
        return ""
    return "\n".join([HEADER, *(line for block in blocks.values() for line in block.lines())])


def _placed(evidence: Evidence) -> tuple[_Key, str, str]:
    """What a memory belongs under, that block's header (empty where it stands alone), and its own line."""
    chunk, episode = evidence.chunk, evidence.episode
    day = f"{chunk.timestamp.day} {_MONTHS[chunk.timestamp.month - 1]} {chunk.timestamp.year}"
    text = folded(chunk.text)
    name = " ".join((chunk.speaker or "").split())
    if episode.type != "conversation" and episode.session is None:
        mark = f"[{episode.type}]" if episode.type == "fact" else f"[{episode.type}, {day}]"
        return _Key(episode.scope, chunk.id, ""), "", f"{mark} {name}: {text}" if name else f"{mark} {text}"
    header = f"[{episode.type}, {day}]"
    conversation = f"episode {episode.id}" if episode.session is None else f"session {episode.session}"
    return _Key(episode.scope, conversation, header), header, f"{name or chunk.role or '-'}: {text}"


def _size(text: str) -> int:
    """A text's size in quarter tokens."""
    return quarters(len(text), 0 if text.isascii() else len(WIDE.findall(text)))


def _cut(line: str, room: int) -> str:
    """A line cut to so many quarter tokens, at a word if it can be; empty if too little would be left."""
    low, high = 0, len(line)
    while low < high:
        half = (low + high + 1) // 2
        low, high = (half, high) if _size(line[:half] + " …") <= room else (low, half - 1)
    if low < _LEAST_CUT:
        return ""
    kept = line[:low]
    at_word = kept[:_LEAST_CUT] + kept[_LEAST_CUT:].rpartition(" ")[0]
    return (at_word if " " in kept[_LEAST_CUT:] else kept).rstrip() + " …"
