"""Vectors to bytes and back: what a store keeps of a memory's encoding, and how its token vectors are compared.

A pooled vector is kept as float16 (768 bytes at 384 dimensions). Token vectors are kept for the words that carry
meaning, four bits a dimension and no scale: only their direction counts, and it survives (cosine above .99 at 64
dimensions, 32 bytes a token).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from byheart.models.base import Encoding, Vector
from byheart.text.analyzer import analyze

#: The name of this form of bytes; part of a store's model identity, so that two forms never meet in one store.
CODEC = "f16+int4.1"

_LEVELS = 7  # codes run from -7 to 7, kept as 1 to 15


def encode_vector(pooled: Vector) -> bytes:
    """A pooled vector as little-endian float16.

    Args:
        pooled: shape (dimensions,).
    """
    return pooled.astype("<f2").tobytes()


def decode_vector(data: bytes) -> Vector:
    """The pooled vector, float32 of shape (dimensions,), that `encode_vector` made the bytes from."""
    return np.frombuffer(data, "<f2").astype(np.float32)


def decode_vectors(data: Sequence[bytes]) -> Vector:
    """Several pooled vectors of one dimension as float32 of shape (n, dimensions)."""
    if not data:
        return np.zeros((0, 0), np.float32)
    return np.frombuffer(b"".join(data), "<f2").reshape(len(data), -1).astype(np.float32)


def token_width(dimensions: int) -> int:
    """How many bytes a token vector of so many dimensions takes."""
    return (dimensions + 1) // 2


def pack(tokens: Vector) -> npt.NDArray[np.uint8]:
    """Token vectors as four-bit codes, scaled by each vector's largest component.

    Args:
        tokens: shape (n, k), any lengths.

    Returns:
        uint8 of shape (n, ceil(k / 2)): the first half of the dimensions in the low bits, the second in the high ones.
    """
    count, dimensions = tokens.shape
    half = token_width(dimensions)
    even = np.zeros((count, 2 * half), np.float32)
    even[:, :dimensions] = tokens
    peak = np.maximum(np.abs(even).max(axis=1, keepdims=True, initial=0.0), np.float32(1e-12))
    codes = (np.rint(even / peak * _LEVELS) + 8).astype(np.uint8)
    return codes[:, :half] | (codes[:, half:] << 4)


def unpack(codes: npt.NDArray[np.uint8]) -> Vector:
    """The unit vectors behind four-bit codes.

    Args:
        codes: shape (n, width).

    Returns:
        float32 of shape (n, 2 x width), each row of length 1 (0 where all its codes are 0).
    """
    whole = np.empty((codes.shape[0], 2 * codes.shape[1]), np.float32)
    np.subtract(codes & 15, 8.0, out=whole[:, : codes.shape[1]], dtype=np.float32)
    np.subtract(codes >> 4, 8.0, out=whole[:, codes.shape[1] :], dtype=np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", whole, whole))
    return whole / np.maximum(lengths, np.float32(1e-12))[:, None]


def meaningful(text: str, offsets: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Which token vectors are worth keeping: those that begin inside a word that is no function word.

    Args:
        text: what was encoded.
        offsets: shape (n, 2), the characters of each token.

    Returns:
        A mask of shape (n,); all True where it would leave nothing.
    """
    words = [(token.start, token.end) for token in analyze(text) if not token.stop]
    inside = np.zeros(len(text) + 1, np.bool_)
    for start, end in words:
        inside[start:end] = True
    starts = offsets[:, 0]
    kept = inside[np.minimum(starts, len(text))] & (offsets[:, 1] > starts)
    return kept if kept.any() else np.ones(len(offsets), np.bool_)


def encode_tokens(encoding: Encoding, text: str) -> bytes:
    """The token vectors of a text's meaningful words, as bytes; empty where the model has none.

    Args:
        encoding: what the model said of the text.
        text: what was encoded, for `encoding.offsets` to point into.
    """
    if not len(encoding.tokens):
        return b""
    return pack(encoding.tokens[meaningful(text, encoding.offsets)]).tobytes()


def decode_tokens(data: bytes, dimensions: int) -> Vector:
    """The token vectors, float32 of shape (n, dimensions), that `encode_tokens` made the bytes from."""
    codes = np.frombuffer(data, np.uint8).reshape(-1, token_width(dimensions))
    return unpack(codes)[:, :dimensions]
