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

from byheart.text.tokens import estimate_tokens
from byheart.types import Episode, Evidence, Hit

HEADER = "## Relevant Memories"
_INDENT = "\n    "
_LEAST_CUT = 40  # characters; less than that of a text tells nothing
_MONTHS = "January February March April May June July August September October November December".split()


def from_hits(hits: Iterable[Hit]) -> list[Evidence]:
    """Hits as evidence."""
    return [Evidence(hit.chunk, hit.episode, hit.score) for hit in hits]


def from_episodes(episodes: Iterable[Episode]) -> list[Evidence]:
    """Whole episodes as evidence that matters less than any that was searched for; the first ones most."""
    return [
        Evidence(chunk, episode, -float(place)) for place, episode in enumerate(episodes) for chunk in episode.chunks
    ]


def folded(text: str) -> str:
    """A text's lines with all but the first indented, so that none of them starts a line of the context."""
    return _INDENT.join(line.strip() for line in text.splitlines() if line.strip())


@dataclass(slots=True)
class _Block:
    """What stands under one header: memories of one conversation on one day, or a single memory."""

    header: str
    entries: list[tuple[tuple[object, ...], str]] = field(default_factory=list[tuple[tuple[object, ...], str]])

    def lines(self) -> list[str]:
        """The block's lines, its entries in the order in which they were said."""
        texts = [text for _, text in sorted(self.entries, key=lambda entry: entry[0])]  # pyright: ignore[reportUnknownLambdaType]
        return [self.header, *texts] if self.header else texts


def _date(evidence: Evidence) -> str:
    when = evidence.chunk.timestamp
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year}"


def _placed(evidence: Evidence) -> tuple[tuple[object, ...], str, str]:
    """The block that a memory belongs to, its header, and its own line."""
    chunk, episode = evidence.chunk, evidence.episode
    text = folded(chunk.text)
    if episode.type != "conversation" and episode.session is None:
        said = f"{' '.join(chunk.speaker.split())}: {text}" if chunk.speaker else text
        dated = "" if episode.type == "fact" else f", {_date(evidence)}"
        return (chunk.id,), "", f"[{episode.type}{dated}] {said}"
    name = " ".join((chunk.speaker or chunk.role or "-").split())
    conversation = ("session", episode.session) if episode.session is not None else ("episode", episode.id)
    day = _date(evidence)
    return (episode.scope, *conversation, day), f"[{episode.type}, {day}]", f"{name}: {text}"


def _cut(line: str, room: int) -> str:
    """A line cut to so many tokens, at a word, with an ellipsis; empty if too little would be left."""
    if estimate_tokens(line) <= room:
        return line
    low, high = 0, len(line)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate_tokens(line[:middle] + " …") <= room else (low, middle - 1)
    if low < _LEAST_CUT:
        return ""
    kept = line[:low]
    return (kept.rsplit(None, 1)[0] if " " in kept[_LEAST_CUT:] else kept).rstrip() + " …"


def _rendered(blocks: Iterable[_Block]) -> str:
    return "\n".join([HEADER, *(line for block in blocks for line in block.lines())])


def render(evidence: Sequence[Evidence], *, max_tokens: int) -> str:
    """The context: best evidence first, each conversation's turns together and in their order.

    Args:
        evidence: memories; those of higher score are taken first while there is room. Doubles are shown once.
        max_tokens: the result is never longer, by `estimate_tokens`.

    Returns:
        The text; empty where nothing was given or nothing fits.
    """
    blocks: dict[tuple[object, ...], _Block] = {}
    seen: set[str] = set()
    room = max_tokens - estimate_tokens(HEADER)
    for item in sorted(evidence, key=lambda one: -one.score):
        if item.chunk.id in seen or not item.chunk.text.strip():
            continue
        seen.add(item.chunk.id)
        place, header, line = _placed(item)
        # A line's own estimate is rounded up and its line break counted, so the sum is never too low.
        heading = 0 if place in blocks or not header else estimate_tokens("\n" + header)
        needed = heading + estimate_tokens("\n" + line)
        if needed > room and not blocks:
            line = _cut(line, room - heading - 1)
            needed = heading + estimate_tokens("\n" + line)
        if not line or needed > room:
            continue
        room -= needed
        order = (item.chunk.timestamp, item.episode.recorded_at, item.chunk.episode_id, item.chunk.index)
        blocks.setdefault(place, _Block(header)).entries.append((order, line))
    return _rendered(blocks.values()) if blocks else ""
