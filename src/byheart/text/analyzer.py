"""The one analyzer: the same terms from the same text in every store (N9).

    text -> words (UAX #29, runs of unspaced scripts) -> folded and stemmed terms, with their place in the text

Terms that share a position are ways to find the same word: the English stem and that of the text's language; a compound
(`foo_bar`) and its first part; a Han character and the pair that it begins.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from byheart.text.language import detect_language, latin_language
from byheart.text.words import ANY_WORD, ASCII_WORD, Piece, joined_words, run_pieces, word_pieces

__all__ = ["Token", "analyze", "count_terms", "detect_language"]

_CACHED_LENGTH = 48  # characters; longer words are rare, and would make the cache large
_cached_word = lru_cache(maxsize=32_768)(word_pieces)


class Token(NamedTuple):
    """One index term of a text.

    Attributes:
        term: what is indexed and looked up.
        start, end: the characters of the original text that it stands for.
        position: which word of the text it is, counted from 0.
        stop: whether it is a function word: no candidate for a search, but part of a phrase or a highlight.
    """

    term: str
    start: int
    end: int
    position: int
    stop: bool


def _words(text: str) -> Iterator[tuple[int, tuple[Piece, ...], int]]:
    """For each word: where it starts, its pieces, and how many positions they take."""
    language = latin_language(text)
    if text.isascii():
        for match in ASCII_WORD.finditer(text):
            word = match.group()
            pieces, width = (_cached_word if len(word) <= _CACHED_LENGTH else word_pieces)(word, language)
            yield match.start(), pieces, width
        return
    for match in ANY_WORD.finditer(text):
        word = match.group()
        kind = match.lastgroup or "word"
        if kind != "word":
            pieces, width = run_pieces(word, kind)
        else:
            pieces, width = (_cached_word if len(word) <= _CACHED_LENGTH else word_pieces)(word, language)
        yield match.start(), pieces, width


def analyze(text: str) -> list[Token]:
    """The terms of a text, in the order of its words.

    Args:
        text: any string; lone surrogates and control characters only separate words.

    Returns:
        Tokens whose `start` never falls back and whose slice of the text is never empty.
    """
    joined = joined_words(text)
    tokens: list[Token] = []
    position = 0
    for start, pieces, width in _words(text):
        if start in joined:
            end, term = joined[start]
            tokens.append(Token(term, start, end, position, stop=False))
        for term, left, right, offset, stop in pieces:
            tokens.append(Token(term, start + left, start + right, position + offset, stop))
        position += width
    return tokens


def count_terms(text: str) -> dict[str, int]:
    """How often the text has each term, function words left out.

    Returns:
        term -> count. If there is nothing but function words they are counted, so that "to be or not to be" is found.
    """
    tokens = analyze(text)
    kept = [token.term for token in tokens if not token.stop] or [token.term for token in tokens]
    counts: dict[str, int] = {}
    for term in kept:
        counts[term] = counts.get(term, 0) + 1
    return counts
