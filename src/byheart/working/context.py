"""A context for a model: the evidence, in as few tokens as it takes, with dates, speakers and order kept.

    ## Relevant Memories
    [fact] User prefers dark mode
    [conversation, 8 May 2023]
    Caroline: I went to a LGBTQ support group yesterday and it was so powerful.

A memory's text is data. It always follows a mark or a name on its line, and its further lines are indented by four, so
that none of it can pass for a heading, for another memory's mark, or for a fence.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from byheart.text.tokens import WIDE, quarters
from byheart.types import Chunk, Episode, Evidence, Hit, Scope

HEADER = "## Relevant Memories"
_INDENT = "\n    "
#: Control characters are nothing to read, and a terminal might obey them.
_CONTROLS = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 133), *range(134, 160)), " ")
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
    return _INDENT.join(line.strip() for line in text.translate(_CONTROLS).splitlines() if line.strip())


#: Characters at the end of a chunk that the next one must begin with to be taken for its continuation; chunks repeat
#: whole sentences of each other, while two turns may meet in a word.
_LEAST_REPEAT = 20
#: How many turns before and after one that is shown come along, as far as each is no longer than this share of it:
#: they cost little and say what was answered (500 memories given, answer turns shown: 86 questions of QMSum, .36
#: without, .50 so; 255 of LoCoMo, .866 and .870).
_BESIDE = 3
_BESIDE_SHARE = 0.25


def repeated(before: str, after: str) -> int:
    """How many characters at the end of one text are the beginning of the other; the most that are."""
    place = before.find(after[:1], max(0, len(before) - len(after)))
    while 0 <= place < len(before):
        if after.startswith(before[place:]):
            return len(before) - place
        place = before.find(after[:1], place + 1)
    return 0


def _continues(before: Chunk, after: Chunk) -> int:
    """How many characters a chunk repeats of the chunk before it; 0 where they are not of one text."""
    same = (before.episode_id, before.index + 1, before.timestamp, before.speaker, before.role, before.source_id) == (
        after.episode_id, after.index, after.timestamp, after.speaker, after.role, after.source_id
    )  # fmt: skip
    length = repeated(before.text, after.text) if same else 0
    return length if length >= _LEAST_REPEAT else 0


_Place = tuple[str, int]  # an episode's id and a chunk's index in it


@dataclass(frozen=True, slots=True)
class _Key:
    """What memories under one header have in common: a conversation and its day, or being one and the same."""

    scope: Scope
    conversation: str
    header: str


@dataclass(frozen=True, slots=True)
class _Run:
    """Chunks of one text that follow each other, as one line of the context."""

    key: _Key
    items: tuple[Evidence, ...]
    line: str

    @property
    def places(self) -> list[_Place]:
        """Where its chunks stand."""
        return [_place(item) for item in self.items]

    @property
    def size(self) -> int:
        """The quarter tokens of its line and the line end before it."""
        return _size(self.line) + 1

    @property
    def order(self) -> tuple[datetime, datetime, str, int]:
        """Its place in the order in which things were said."""
        chunk, episode = self.items[0].chunk, self.items[0].episode
        return (chunk.timestamp, episode.recorded_at, chunk.episode_id, chunk.index)


class _Page:
    """What is shown so far, and how many quarter tokens are left."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.shown: dict[_Place, _Run] = {}
        self._headers: dict[_Key, None] = {}

    def add(self, items: Sequence[Evidence]) -> bool:
        """Show chunks of one text that follow each other, joined with what is shown of it; False without room."""
        (name, first), (_, last) = _place(items[0]), _place(items[-1])
        beside = [run for run in (self.shown.get((name, first - 1)), self.shown.get((name, last + 1))) if run]
        inside = [run for item in items if (run := self.shown.get(_place(item)))]
        chunks = {item.chunk.index: item for item in items}
        touching = [run for run in beside if _touches(run, chunks)]
        old = list({id(run): run for run in (*touching, *inside)}.values())
        for run in old:
            chunks |= {item.chunk.index: item for item in run.items}
        new = _run([chunks[index] for index in sorted(chunks)], old[0].key if old else None)
        heading = 0 if new.key in self._headers or not new.key.header else _size(new.key.header) + 1
        cost = new.size + heading - sum(run.size for run in old)
        if not new.line or cost > self.room:
            return False
        self.room -= cost
        self._headers.setdefault(new.key)
        self.shown |= dict.fromkeys(new.places, new)
        return True

    def add_cut(self, item: Evidence) -> None:
        """Show as much of one memory as there is room for."""
        run = _run([item], None)
        heading = _size(run.key.header) + 1 if run.key.header else 0
        line = _cut(run.line, self.room - heading - 1)
        if line:
            cut = _Run(run.key, run.items, line)
            self.room -= heading + cut.size
            self._headers.setdefault(run.key)
            self.shown[_place(item)] = cut

    def lines(self) -> list[str]:
        """All lines, the blocks in the order in which they were begun, each in the order in which it was said."""
        blocks: dict[_Key, list[_Run]] = {key: [] for key in self._headers}
        for run in {id(run): run for run in self.shown.values()}.values():
            blocks[run.key].append(run)
        lines: list[str] = []
        for key, runs in blocks.items():
            lines += [key.header] if key.header else []
            lines += [run.line for run in sorted(runs, key=lambda run: run.order)]
        return lines


def render(evidence: Sequence[Evidence], *, max_tokens: int) -> str:
    """The context: best evidence first, each conversation's turns together and in their order (C2).

    A text that was cut into chunks is shown as whole as it was given, if there is room for that (54 questions of BEAM,
    500 memories given, answers shown in full: .35 chunk by chunk, .52 so).

    Args:
        evidence: memories; those of higher score are taken first while there is room. Doubles are shown once.
        max_tokens: the result is never longer, by `estimate_tokens`.

    Returns:
        The text; empty where nothing was given or nothing fits.
    """
    ranked = sorted(evidence, key=lambda one: -one.score)
    found: dict[_Place, Evidence] = {}
    for item in ranked:
        found.setdefault(_place(item), item)
    page = _Page(max_tokens * _QUARTERS - _size(HEADER))
    for item in found.values():
        if page.room <= 0:
            break
        if _place(item) in page.shown:
            continue
        whole = _whole(item, found)
        if page.add(whole):
            _add_beside(page, whole, found)
        elif page.add([item]):
            _add_beside(page, [item], found)
        elif not page.shown:
            page.add_cut(item)
    return "\n".join([HEADER, *page.lines()]) if page.shown else ""


def _place(item: Evidence) -> _Place:
    return (item.chunk.episode_id, item.chunk.index)


def _touches(run: _Run, chunks: Mapping[int, Evidence]) -> bool:
    """Whether a run that is shown goes on in, or goes on from, some chunks that follow each other."""
    first, last = min(chunks), max(chunks)
    if run.items[-1].chunk.index == first - 1:
        return _continues(run.items[-1].chunk, chunks[first].chunk) > 0
    return _continues(chunks[last].chunk, run.items[0].chunk) > 0


def _whole(item: Evidence, found: Mapping[_Place, Evidence]) -> list[Evidence]:
    """A memory with the other chunks of its text, as far as they were given without a gap."""
    name, index = _place(item)
    items = [item]
    while (after := found.get((name, items[-1].chunk.index + 1))) and _continues(items[-1].chunk, after.chunk):
        items.append(after)
    while (before := found.get((name, index - 1))) and _continues(before.chunk, items[0].chunk):
        items.insert(0, before)
        index -= 1
    return items


def _add_beside(page: _Page, items: Sequence[Evidence], found: Mapping[_Place, Evidence]) -> None:
    """Show the short turns around one that is shown now, up to the first that is not short."""
    if not _in_conversation(items[0]):
        return
    longest = _BESIDE_SHARE * sum(len(item.chunk.text) for item in items)
    for end, step in ((items[0], -1), (items[-1], 1)):
        name, index = _place(end)
        for distance in range(1, _BESIDE + 1):
            turn = found.get((name, index + step * distance))
            if turn is None or len(turn.chunk.text) > longest:
                break
            if _place(turn) not in page.shown:
                page.add([turn])


def _in_conversation(item: Evidence) -> bool:
    return item.episode.type == "conversation" or item.episode.session is not None


def _joined(items: Sequence[Evidence]) -> str:
    """The text of chunks that follow each other, without what each repeats of the one before."""
    text = items[0].chunk.text
    for before, after in pairwise(items):
        text += after.chunk.text[_continues(before.chunk, after.chunk) :]
    return text


def _name(speaker: str) -> str:
    """A speaker's name as it may start a line: on one line, and not with a mark that makes a heading or a block."""
    return re.sub(r"^\W+", "", " ".join(speaker.translate(_CONTROLS).split()))


def _run(items: Sequence[Evidence], key: _Key | None) -> _Run:
    """Chunks of one text as a line, under the header that they belong under (or the one that is given)."""
    chunk, episode = items[0].chunk, items[0].episode
    day = f"{chunk.timestamp.day} {_MONTHS[chunk.timestamp.month - 1]} {chunk.timestamp.year}"
    text = folded(_joined(items))
    name = _name(chunk.speaker or "")
    if not _in_conversation(items[0]):
        mark = f"[{episode.type}]" if episode.type == "fact" else f"[{episode.type}, {day}]"
        line = f"{mark} {name}: {text}" if name else f"{mark} {text}"
        return _Run(key or _Key(episode.scope, chunk.id, ""), tuple(items), line)
    header = f"[{episode.type}, {day}]"
    conversation = f"episode {episode.id}" if episode.session is None else f"session {episode.session}"
    line = f"{name or chunk.role or '-'}: {text}"
    return _Run(key or _Key(episode.scope, conversation, header), tuple(items), line)


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
