"""An embedder for tests that need no model."""

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from byheart.errors import InputError
from byheart.models.base import BaseEmbedder, Encoding, Vector
from byheart.models.vectors import unit_rows

WORD: Final = re.compile(r"\w+")


class HashEmbedder(BaseEmbedder):
    """A quick embedder for tests: texts that share words are near, and every process answers the same.

    A word's vector comes from its SHAKE-256 hash; `pooled` is the sum of the words' vectors, token vectors are the
    words' own, cut to `token_dimensions`. It knows nothing of meaning, inflection or order.

    Args:
        dimensions: how long a pooled vector is.
        token_dimensions: how long a token vector is, at most `dimensions`.
    """

    def __init__(self, dimensions: int = 64, token_dimensions: int = 32) -> None:
        super().__init__("hash", f"hash-{dimensions}-{token_dimensions}", dimensions)
        if not 0 < token_dimensions <= dimensions:
            raise InputError("token_dimensions", f"is {token_dimensions}", f"use 1 to {dimensions}")
        self._token_dimensions = token_dimensions

    async def _encode(self, texts: Sequence[str], *, query: bool) -> Sequence[Encoding]:  # noqa: ARG002
        return [self._encode_one(text) for text in texts]

    def _encode_one(self, text: str) -> Encoding:
        matches = list(WORD.finditer(text))
        # The empty word stands in every text, so that a text without words has a vector too.
        vectors = np.stack([_word(word, self.dimensions) for word in ["", *(match[0].casefold() for match in matches)]])
        tokens = unit_rows(vectors[1:, : self._token_dimensions]).astype(np.float32)
        offsets = np.array([match.span() for match in matches], np.int32).reshape(-1, 2)
        return Encoding(vectors.sum(axis=0), tokens, offsets)


@lru_cache(maxsize=10_000)
def _word(word: str, dimensions: int) -> Vector:
    """Bytes of the word's hash as numbers around 0; never all zeros, for no byte is 127.5."""
    numbers = np.frombuffer(hashlib.shake_256(word.encode()).digest(dimensions), np.uint8)
    return numbers.astype(np.float32) - np.float32(127.5)
