"""Arithmetic on vectors (C5): sequences of numbers or numpy arrays in, plain numbers out."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from byheart.errors import InputError

VectorLike = Sequence[float] | npt.NDArray[np.floating]
Floats = npt.NDArray[np.float64]


def unit_rows(rows: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Each row of `rows`, of shape (n, k), at length 1 and in the same type; a row of zeros stays as it is."""
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    # By the largest number first: the squares of huge or tiny numbers leave the range of floats.
    scaled = rows / np.where(largest == 0, 1, largest)
    lengths = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    return scaled / np.where(lengths == 0, 1, lengths)


def normalize_vector(vector: VectorLike) -> list[float]:
    """The vector at length 1; a vector of zeros, which has no direction, stays as it is.

    Raises:
        InputError: the vector is empty, or holds something that is no finite number.
    """
    return unit_rows(_vector("vector", vector)[None])[0].tolist()


def dot_product(a: VectorLike, b: VectorLike) -> float:
    """The sum of the products of `a` and `b`, number by number.

    Raises:
        InputError: a vector is empty, holds something that is no finite number, or they differ in length.
    """
    return float(np.dot(*_pair(a, b)))


def cosine_similarity(a: VectorLike, b: VectorLike) -> float:
    """The cosine of the angle between `a` and `b`, -1 to 1; 0 if one of them is all zeros.

    Raises:
        InputError: a vector is empty, holds something that is no finite number, or they differ in length.
    """
    first, second = unit_rows(np.stack(_pair(a, b)))
    return float(np.clip(np.dot(first, second), -1, 1))


def euclidean_distance(a: VectorLike, b: VectorLike) -> float:
    """The length of the straight line from `a` to `b`.

    Raises:
        InputError: a vector is empty, holds something that is no finite number, or they differ in length.
    """
    first, second = _pair(a, b)
    return float(np.linalg.norm(first - second))


def find_similar(query: VectorLike, vectors: Sequence[VectorLike] | Floats, k: int = 10) -> list[tuple[int, float]]:
    """The `k` vectors with the highest cosine to `query`: (index, cosine), best first, then by index.

    Args:
        query: of shape (d,).
        vectors: n vectors of the same length; there may be none.
        k: how many, at least 1; fewer are returned where there are fewer.

    Raises:
        InputError: `k` is below 1, a vector is empty, holds something that is no finite number, or differs in length.
    """
    if k < 1:
        raise InputError("k", f"is {k}", "use at least 1")
    return _ranked(query, vectors)[:k]


def find_similar_with_threshold(
    query: VectorLike, vectors: Sequence[VectorLike] | Floats, threshold: float
) -> list[tuple[int, float]]:
    """All vectors whose cosine to `query` is at least `threshold`: (index, cosine), best first, then by index.

    Raises:
        InputError: a vector is empty, holds something that is no finite number, or differs in length.
    """
    return [(index, score) for index, score in _ranked(query, vectors) if score >= threshold]


def _ranked(query: VectorLike, vectors: Sequence[VectorLike] | Floats) -> list[tuple[int, float]]:
    """Every vector's index and cosine to `query`, best first."""
    wanted = _vector("query", query)
    rows = [_vector(f"vectors[{index}]", vector) for index, vector in enumerate(vectors)]
    for index, row in enumerate(rows):
        _check_lengths(f"vectors[{index}]", len(row), len(wanted))
    if not rows:
        return []
    scores = np.clip(unit_rows(np.stack(rows)) @ unit_rows(wanted[None])[0], -1, 1)
    return [(int(index), float(scores[index])) for index in np.argsort(-scores, kind="stable")]


def _pair(a: VectorLike, b: VectorLike) -> tuple[Floats, Floats]:
    """Both vectors, if they are fit and of one length."""
    first, second = _vector("a", a), _vector("b", b)
    _check_lengths("b", len(second), len(first))
    return first, second


def _check_lengths(field: str, length: int, expected: int) -> None:
    if length != expected:
        raise InputError(field, f"has {length} numbers", f"pass {expected}, as many as the other has")


def _vector(field: str, value: VectorLike) -> Floats:
    """`value` as a float64 array of shape (d,).

    Raises:
        InputError: it is empty, no flat sequence, or holds something that is no finite number.
    """
    try:
        vector = np.asarray(value, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(field, "holds something that is no number", "pass a flat sequence of floats") from error
    if vector.ndim != 1 or not vector.size:
        raise InputError(field, f"has the shape {vector.shape}", "pass a flat sequence of at least one float")
    if not np.isfinite(vector).all():
        raise InputError(field, "holds a NaN or an infinity", "pass finite numbers")
    return vector
