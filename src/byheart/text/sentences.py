"""Where sentences and paragraphs begin and end, in any script.

One pass over the candidates (full stops, other final marks, line ends), each judged by the word before it and the
character after it; nothing is tried twice, so a hostile text takes no longer than a plain one of its length.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

import regex

from byheart.text.stopwords import stop_words

_TITLES = """
    dr mr mrs ms mx prof st mt rev hon gen col maj capt lt sgt cmdr gov sen rep pres sr sra dra hr fr mme mlle
    e.g i.e eg ie vs viz cf approx ca fig figs eq sec vol vols ch pp no nos nr art bzw z.b d.h u.a p.ej"""
_SHORTENED = """
    etc inc ltd co corp jr al dept est ave blvd usw jan feb mar apr jun jul aug sep sept oct nov dec"""
#: After these a sentence goes on, whatever follows.
_NEVER_LAST = frozenset(_TITLES.split())
#: After these, and after dotted ones such as U.S., it ends if the next word could hardly go on with a name.
_MAYBE_LAST = frozenset(_SHORTENED.split())

_FINAL = r".!?…؟۔।॥։።"
_WIDE_FINAL = "。！？｡．⁈⁉‼"
_CLOSERS = "\"'”’»›)\\]}」』）】》〉"
_CANDIDATE = re.compile(
    rf"(?P<mark>(?<![{_FINAL}])[{_FINAL}]++)(?P<closed>[{_CLOSERS}]*+)(?:\s++|$)"
    rf"|(?P<wide>[{_WIDE_FINAL}]++[{_FINAL}{_WIDE_FINAL}{_CLOSERS}]*+\s*+)"
    r"|(?P<line>[\n\u2028\u2029]\s*+)"
)
_PARAGRAPH = re.compile(r"(?:\n[^\S\n]*+\n|\u2029)\s*+")
_LAST_WORD = re.compile(r"[^\s\"'“‘(\[«]*$")
_NEXT_WORD = re.compile(r"[\"'“‘(\[«¿¡]*([^\W_]*)")
_LIST_NUMBER = re.compile(r"(?:^|\n)[^\S\n]*(?:\d{1,3}|[A-Za-z])$")
_BULLET = re.compile(r"[-*+•–]\s|\d{1,3}[.)]\s|#")
_JOINS = regex.compile(r"[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}]")
_REACH = 40  # characters looked at on either side of a candidate


class Span(NamedTuple):
    """A stretch of a text: `text[start:end]`."""

    start: int
    end: int


def _spans(text: str, borders: Iterable[int]) -> list[Span]:
    """The stretches between borders, without the white space around them; those of nothing else are left out."""
    spans: list[Span] = []
    start = 0
    for border in (*borders, len(text)):
        stretch = text[start:border]
        left = start + len(stretch) - len(stretch.lstrip())
        right = start + len(stretch.rstrip())
        if left < right:
            spans.append(Span(left, right))
        start = border
    return spans


def _stop_ends(text: str, dot: int, following: str) -> bool:
    """Whether the one full stop at `dot` ends a sentence, given the word that comes next."""
    before = text[max(0, dot - _REACH) : dot]
    last = _LAST_WORD.search(before)
    word = last.group() if last else ""
    lowered = word.lower()
    if lowered in _NEVER_LAST or _LIST_NUMBER.search(before):
        return False
    if len(word) == 1 and word.isupper() and word != "I":
        return False  # an initial
    if lowered in _MAYBE_LAST or ("." in word and all(len(part) <= 2 for part in word.split("."))):
        return following[:1].isupper() and following.lower() in stop_words("english")
    return True


def _ends(text: str, match: re.Match[str]) -> bool:
    """Whether a candidate is the end of a sentence."""
    if _JOINS.match(text, match.end()):
        return False  # what follows is written onto the last character
    after = text[match.end() : match.end() + _REACH]
    found = _NEXT_WORD.match(after)
    following = found.group(1) if found else ""
    goes_on = following[:1].islower()
    if match["wide"]:
        return True
    if match["line"]:
        blank = match["line"].count("\n") > 1
        return blank or not goes_on or _BULLET.match(after) is not None
    if goes_on and (match["closed"] or match["mark"] == "…" or match["mark"].endswith("..")):
        return False  # "Really?" he said; well... maybe
    if match["mark"] == ".":
        return _stop_ends(text, match.start(), following)
    return True


def sentences(text: str) -> list[Span]:
    """The sentences of a text, in order and apart; together they hold all of it but white space.

    A line end is the end of a sentence too, unless the next line goes on in lower case.

    Args:
        text: any string.
    """
    return _spans(text, (match.end() for match in _CANDIDATE.finditer(text) if _ends(text, match)))


def paragraphs(text: str) -> list[Span]:
    """The paragraphs of a text, which blank lines part; together they hold all of it but white space.

    Args:
        text: any string.
    """
    return _spans(text, (match.end() for match in _PARAGRAPH.finditer(text) if not _JOINS.match(text, match.end())))
