"""Cutting a long text into chunks that overlap (C2)."""

from bisect import bisect_left
from collections.abc import Sequence

import regex

from byheart.errors import InputError
from byheart.text.sentences import Span, paragraphs, sentences
from byheart.text.tokens import WIDE, quarters
from byheart.types import SplitOn

_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
_BLANK = r"\s(?![\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}])"
#: Where a line may break: words with their punctuation; in scripts without spaces, characters with what closes them.
_WORD = regex.compile(rf"(?={_UNSPACED})\X(?:(?!{_BLANK})\p{{P}}\p{{M}}*+)*+|(?:(?!{_BLANK})(?!{_UNSPACED})\X)++")
_CLUSTER = regex.compile(r"\X")


class _Ruler:
    """Measures stretches of one text in quarter tokens."""

    def __init__(self, text: str) -> None:
        self._wide = [] if text.isascii() else [match.start() for match in WIDE.finditer(text)]

    def size(self, start: int, end: int) -> int:
        """The quarter tokens of `text[start:end]`."""
        return quarters(end - start, bisect_left(self._wide, end) - bisect_left(self._wide, start))


def _words(text: str, span: Span) -> list[Span]:
    return [Span(*match.span()) for match in _WORD.finditer(text, span.start, span.end)]


def _fitting(text: str, spans: Sequence[Span], limit: int, ruler: _Ruler) -> list[Span]:
    """The spans, those over the limit replaced by their words, and words over the limit by their characters."""
    fitting: list[Span] = []
    for span in spans:
        if ruler.size(*span) <= limit:
            fitting.append(span)
            continue
        for word in _words(text, span):
            if ruler.size(*word) <= limit:
                fitting.append(word)
            else:
                fitting.extend(Span(*match.span()) for match in _CLUSTER.finditer(text, word.start, word.end))
    return fitting


def _packed(spans: Sequence[Span], start: int, first: int, limit: int, ruler: _Ruler) -> int:
    """The index after the last span that fits into a chunk from character `start`; at least `first + 1`."""
    following = first + 1
    while following < len(spans) and ruler.size(start, spans[following].end) <= limit:
        following += 1
    return following


def _overlap_start(text: str, done: Sequence[Span], after: Span, sizes: tuple[int, int], ruler: _Ruler) -> int:
    """Where the next chunk starts so as to repeat the end of the last one.

    Args:
        done: the spans of the last chunk.
        after: the first new span, which must still fit.
        sizes: the most that may be repeated, and the most that a chunk may hold, in quarter tokens.
    """
    repeat, limit = sizes
    end = done[-1].end

    def fits(span: Span) -> bool:
        return ruler.size(span.start, end) <= repeat and ruler.size(span.start, after.end) <= limit

    whole = [span for span in done[1:] if fits(span)]
    if not whole:
        whole = [word for word in _words(text, done[-1])[1:] if fits(word)]
    return whole[0].start if whole else after.start


def _check(max_tokens: object, overlap: object, split_on: object) -> None:
    if not isinstance(max_tokens, int) or isinstance(max_tokens, bool) or max_tokens < 1:
        raise InputError("max_tokens", f"is {max_tokens!r}", "use a whole number of at least 1")
    if not isinstance(overlap, int) or isinstance(overlap, bool) or not 0 <= overlap < max_tokens:
        raise InputError("overlap", f"is {overlap!r}", f"use a whole number from 0 to {max_tokens - 1}")
    if split_on not in {"sentence", "paragraph", "fixed"}:
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
        split_on: `fixed` fills every chunk with words.

    Raises:
        InputError: a limit is out of range, or `split_on` unknown.
    """
    _check(max_tokens, overlap, split_on)
    ruler = _Ruler(text)
    whole = Span(len(text) - len(text.lstrip()), len(text.rstrip()))
    if whole.start >= whole.end:
        return []
    limit = 4 * max_tokens
    if ruler.size(*whole) <= limit:
        return [text[whole.start : whole.end]]
    cut = {"sentence": sentences, "paragraph": paragraphs}.get(split_on)
    spans = _fitting(text, cut(text) if cut else _words(text, whole), limit, ruler)
    chunks: list[str] = []
    first, start = 0, spans[0].start
    while first < len(spans):
        following = _packed(spans, start, first, limit, ruler)
        chunks.append(text[start : spans[following - 1].end])
        if following < len(spans):
            start = _overlap_start(text, spans[first:following], spans[following], (4 * overlap, limit), ruler)
        first = following
    return chunks
