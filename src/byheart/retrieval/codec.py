"""Vectors to bytes and back: what a store keeps of a memory's encoding.

A pooled vector is kept as float16 (768 bytes at 384 dimensions). A token vector is kept as the signs of its components
(24 bytes at the 192 dimensions that the packaged model projects to): compared with a full query vector, the signs of a
rotated principal projection rank almost as the floats do (LoCoMo, evidence turns in the top ten by late interaction
alone: .722 with 384 floats, .694 with 64 floats, .714 with 192 signs).
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from byheart.models.base import Encoding, Vector
from byheart.text.analyzer import analyze

#: The name of this form of bytes; part of a store's model identity, so that two forms never meet in one store.
CODEC = "f16+sign.1"
#: Pooled vectors that are decoded at once, so that loading many takes little more room than they do.
_BLOCK = 1024
#: Token vectors in one matrix product.
_STACK = 64


def encode_vector(pooled: Vector) -> bytes:
    """A pooled vector as little-endian float16.

    Args:
        pooled: shape (dimensions,).
    """
    return pooled.astype("<f2").tobytes()


def decode_vector(data: bytes) -> Vector:
    """The pooled vector, float32 of shape (dimensions,), that `encode_vector` made the bytes from."""
    return np.frombuffer(data, "<f2").astype(np.float32)


def vector_width(data: bytes) -> int:
    """How many dimensions the pooled vector has that `encode_vector` made the bytes from."""
    return len(data) // 2


def decode_vectors(data: Sequence[bytes], into: Vector) -> None:
    """Several pooled vectors of one dimension.

    Args:
        data: n of them.
        into: float32 of shape (n, dimensions), where they are written.
    """
    for start in range(0, len(data), _BLOCK):
        block = data[start : start + _BLOCK]
        into[start : start + _BLOCK] = np.frombuffer(b"".join(block), "<f2").reshape(len(block), -1)


def token_width(dimensions: int) -> int:
    """How many bytes a token vector of so many dimensions takes."""
    return (dimensions + 7) // 8


def pack(tokens: Vector) -> npt.NDArray[np.uint8]:
    """The signs of token vectors, a bit each.

    Args:
        tokens: shape (n, k), of any lengths.

    Returns:
        uint8 of shape (n, ceil(k / 8)).
    """
    return np.packbits(tokens > 0, axis=1)


def unpack(codes: npt.NDArray[np.uint8], dimensions: int) -> Vector:
    """The unit vectors that stand for packed signs.

    Args:
        codes: shape (n, `token_width(dimensions)`).
        dimensions: k.

    Returns:
        float32 of shape (n, k); every component is plus or minus 1 / sqrt(k).
    """
    bits = np.unpackbits(codes, axis=1, count=dimensions).astype(np.float32)
    return (bits - np.float32(0.5)) * np.float32(2 / math.sqrt(dimensions))


def similarity(codes: npt.NDArray[np.uint8], tokens: Vector) -> Vector:
    """The cosines of packed signs with full vectors: `unpack(codes, k) @ tokens.T`, in fewer steps.

    Args:
        codes: shape (n, `token_width(k)`).
        tokens: shape (t, k), each of length 1.

    Returns:
        float32 of shape (n, t).
    """
    (count, _), (asked, dimensions) = codes.shape, tokens.shape
    scale = np.float32(1 / math.sqrt(dimensions))
    stacks = -(-count // _STACK)
    bits = np.zeros((stacks * _STACK, dimensions), np.float32)
    bits[:count] = np.unpackbits(codes, axis=1, count=dimensions)
    # A stack of small products: BLAS spreads a large one over threads, which wait for each other on a busy machine.
    # BLAS kernels may leave floating-point flags raised without a cause.
    with np.errstate(all="ignore"):
        stacked = np.matmul(bits.reshape(stacks, _STACK, dimensions), np.ascontiguousarray(tokens.T) * (2 * scale))
    similar = stacked.reshape(-1, asked)[:count]
    similar -= tokens.sum(axis=1) * scale
    return similar


def worth_keeping(text: str, offsets: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Which token vectors are kept: those that begin inside a word, so no punctuation.

    Function words stay: their vectors speak of what stands around them (LoCoMo: .722 with, .706 without).

    Args:
        text: what was encoded.
        offsets: shape (n, 2), the characters of each token.

    Returns:
        A mask of shape (n,); all True where it would leave nothing.
    """
    inside = np.zeros(len(text) + 1, np.bool_)
    for token in analyze(text):
        inside[token.start : token.end] = True
    starts = np.minimum(offsets[:, 0], len(text))
    kept = inside[starts] & (offsets[:, 1] > offsets[:, 0])
    return kept if kept.any() else np.ones(len(offsets), np.bool_)


def encode_tokens(encoding: Encoding, text: str) -> bytes:
    """The token vectors of a text's words, as bytes; empty where the model has none.

    Args:
        encoding: what the model said of the text.
        text: what was encoded, for `encoding.offsets` to point into.
    """
    if not encoding.tokens.size:
        return b""
    return pack(encoding.tokens[worth_keeping(text, encoding.offsets)]).tobytes()


def decode_tokens(data: bytes, dimensions: int) -> Vector:
    """The token vectors, float32 of shape (n, dimensions), that `encode_tokens` made the bytes from."""
    return unpack(np.frombuffer(data, np.uint8).reshape(-1, token_width(dimensions)), dimensions)
