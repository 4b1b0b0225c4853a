"""Snowball stems, safe to ask for from any thread."""

import threading
from functools import cache
from typing import Protocol, cast

import Stemmer

_LOCK = threading.Lock()


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802


@cache
def _stemmer(language: str) -> _Stemmer:
    # No cache of its own: `analyzer` keeps whole words.
    return cast("_Stemmer", Stemmer.Stemmer(language, 0))  # pyright: ignore[reportUnknownMemberType]


def stem(word: str, language: str) -> str:
    """The word's Snowball stem.

    Args:
        word: as `normalised` writes it.
        language: a Snowball name; "" gives the word back.
    """
    if not language:
        return word
    with _LOCK:  # a stemmer holds its working buffer, so two threads may not share it
        return _stemmer(language).stemWord(word)
