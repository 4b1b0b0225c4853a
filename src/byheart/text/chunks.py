"""Cutting a long text into chunks that overlap (C2)."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import regex

from byheart.errors import InputError
from byheart.text.normal import CLUSTER
from byheart.text.sentences import Span, paragraphs, sentences
from byheart.text.tokens import WIDE, quarters
from byheart.types import SplitOn

_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
_BLANK = r"\s(?![\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}])"
#: Where a line may break: words with their punctuation; in scripts without spaces, characters with what closes them.
_WORD = regex.compile(
    rf"(?={_UNSPACED}){CLUSTER}(?:(?!{_BLANK})(?=\p{{P}}){CLUSTER})*+|(?:(?!{_BLANK})(?!{_UNSPACED}){CLUSTER})++"
)
_CLUSTER = regex.compile(CLUSTER)
_Cutter = Callable[[str, Span], list[Span]]


def _by_paragraph(text: str, span: Span) -> list[Span]:
    return [Span(span.start + start, span.start + end) for start, end in paragraphs(text[span.start : span.end])]


def _by_sentence(text: str, span: Span) -> list[Span]:
    return [Span(span.start + start, span.start + end) for start, end in sentences(text[span.start : span.end])]


def _by_word(text: str, span: Span) -> list[Span]:
    return [Span(*match.span()) for match in _WORD.finditer(text, span.start, span.end)]


def _by_cluster(text: str, span: Span) -> list[Span]:
    return [Span(*match.span()) for match in _CLUSTER.finditer(text, span.start, span.end)]


#: For each way of splitting: where to cut, and where to cut what is then still too long.
_CUTTERS: Mapping[str, tuple[_Cutter, ...]] = {
    "paragraph": (_by_paragraph, _by_sentence, _by_word, _by_cluster),
    "sentence": (_by_sentence, _by_word, _by_cluster),
    "fixed": (_by_word, _by_cluster),
}


class _Sheet:
    """A text to be cut, and the measures to cut it by, in quarter tokens."""

    def __init__(self, text: str, limit: int, repeat: int) -> None:
        self.text = text
        self.limit = limit
        self._repeat = repeat
        self._wide = [] if text.isascii() else [match.start() for match in WIDE.finditer(text)]

    def size(self, start: int, end: int) -> int:
        """The quarter tokens of `text[start:end]`."""
        return quarters(end - start, bisect_left(self._wide, end) - bisect_left(self._wide, start))

    def pieces(self, span: Span, cutters: Sequence[_Cutter]) -> Iterator[Span]:
        """The pieces of a span by the first cutter; those over the limit are cut again by the next one."""
        for piece in cutters[0](self.text, span):
            if len(cutters) == 1 or self.size(*piece) <= self.limit:
                yield piece
            else:
                yield from self.pieces(piece, cutters[1:])

    def _repeated(self, pieces: Iterable[Span], end: int, after: Span) -> int | None:
        """Where the longest repetition begins among pieces that are given from the last to the first, if any fits."""
        start = None
        for piece in pieces:
            if self.size(piece.start, end) > self._repeat or self.size(piece.start, after.end) > self.limit:
                break
            start = piece.start
        return start

    def next_start(self, spans: Sequence[Span], following: int, cutters: Sequence[_Cutter]) -> int:
        """Where the next chunk begins, so that it repeats as much of the end of this one as it may.

        It never begins before this one does: this one would have had room for the next span then.

        Args:
            spans: those of the whole text.
            following: the index of the first one that is new in the next chunk.
            cutters: how the span before it is cut where even that is too long to be repeated.
        """
        last, after = spans[following - 1], spans[following]
        start = self._repeated((spans[index] for index in range(following - 1, -1, -1)), last.end, after)
        for cutter in cutters:
            if start is None:
                start = self._repeated(reversed(cutter(self.text, last)), last.end, after)
        return after.start if start is None else start


def _check(max_tokens: object, overlap: object, split_on: object) -> None:
    if not isinstance(max_tokens, int) or isinstance(max_tokens, bool) or max_tokens < 1:
        raise InputError("max_tokens", f"is {max_tokens!r}", "use a whole number of at least 1")
    if not isinstance(overlap, int) or isinstance(overlap, bool) or not 0 <= overlap < max_tokens:
        raise InputError("overlap", f"is {overlap!r}", f"use a whole number from 0 to {max_tokens - 1}")
    if not isinstance(split_on, str) or split_on not in _CUTTERS:
        raise InputError("split_on", f"is {split_on!r}", "use sentence, paragraph or fixed")


def chunk(text: str, max_tokens: int = 200, overlap: int = 50, split_on: SplitOn = "sentence") -> list[str]:
    """Cut a text into chunks, each ending where a sentence, paragraph or word ends (C2).

    A sentence or paragraph that is too long is cut between words, a word that is too long between the characters that
    a reader sees. Every chunk but the first repeats the end of the one before: whole sentences, or words where not
    even one sentence fits. Everything but white space is in some chunk.

    Args:
        text: any string; a short one comes back whole, without outer white space; one of white space gives nothing.
        max_tokens: the most a chunk holds, by `estimate_tokens`; one indivisible character may be more.
        overlap: the most that is repeated, in tokens; 0 repeats nothing.
        split_on: `sentence` and `paragraph` keep those whole where they can; `fixed` fills every chunk with words.

    Raises:
        InputError: a limit is out of range, or `split_on` unknown.
    """
    _check(max_tokens, overlap, split_on)
    whole = Span(len(text) - len(text.lstrip()), len(text.rstrip()))
    if whole.start >= whole.end:
        return []
    sheet, cutters = _Sheet(text, 4 * max_tokens, 4 * overlap), _CUTTERS[split_on]
    if sheet.size(*whole) <= sheet.limit:
        return [text[whole.start : whole.end]]
    spans = list(sheet.pieces(whole, cutters))
    chunks: list[str] = []
    first, start = 0, whole.start
    while True:
        following = first + 1
        while following < len(spans) and sheet.size(start, spans[following].end) <= sheet.limit:
            following += 1
        chunks.append(text[start : spans[following - 1].end])
        if following == len(spans):
            return chunks
        start = sheet.next_start(spans, following, cutters[1:-1])
        first = following
