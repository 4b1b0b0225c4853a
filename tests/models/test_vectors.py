"""C5: arithmetic on vectors."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byheart.errors import InputError
from byheart.models.vectors import (
    cosine_similarity,
    dot_product,
    euclidean_distance,
    find_similar,
    find_similar_with_threshold,
    normalize_vector,
)

number = st.floats(-1e6, 1e6).map(lambda value: round(value, 3))


def vectors_of(length: int) -> st.SearchStrategy[list[float]]:
    return st.lists(number, min_size=length, max_size=length)


pairs = st.integers(1, 8).flatmap(lambda length: st.tuples(vectors_of(length), vectors_of(length)))
tables = st.integers(1, 5).flatmap(
    lambda length: st.tuples(vectors_of(length), st.lists(vectors_of(length), max_size=12))
)


def test_worked_examples() -> None:
    """C5: cosine, euclidean, dot, normalise."""
    assert cosine_similarity([1, 0], [1, 1]) == pytest.approx(math.sqrt(0.5))
    assert cosine_similarity([1, 2], [-2, -4]) == pytest.approx(-1)
    assert euclidean_distance([1, 2], [4, 6]) == 5
    assert dot_product([1, 2, 3], [4, 5, 6]) == 32
    assert normalize_vector([3, 4]) == pytest.approx([0.6, 0.8])
    assert normalize_vector(np.array([3, 4], np.float32)) == pytest.approx([0.6, 0.8])


def test_a_vector_of_zeros() -> None:
    """C5: it has no direction: no similarity, and no length to change."""
    assert cosine_similarity([0, 0], [1, 2]) == 0
    assert normalize_vector([0, 0]) == [0, 0]


def test_finding() -> None:
    """C5: find similar, and with a threshold; best first, equals by index."""
    vectors = [[0.0, 1.0], [1.0, 0.1], [2.0, 0.0], [4.0, 0.0]]
    assert find_similar([1, 0], vectors, 3) == [
        (2, pytest.approx(1)),
        (3, pytest.approx(1)),
        (1, pytest.approx(1 / math.hypot(1, 0.1))),
    ]
    assert [index for index, _ in find_similar_with_threshold([1, 0], vectors, 0.9)] == [2, 3, 1]
    assert find_similar([1, 0], np.array(vectors), 1) == [(2, pytest.approx(1))]
    assert find_similar([1, 0], []) == find_similar_with_threshold([1, 0], [], 0.5) == []


@given(pairs)
def test_laws_of_two_vectors(pair: tuple[list[float], list[float]]) -> None:
    """C5: symmetry, bounds, and what ties the three measures together."""
    a, b = pair
    assert cosine_similarity(a, b) == cosine_similarity(b, a)
    assert -1 <= cosine_similarity(a, b) <= 1
    assert euclidean_distance(a, b) == euclidean_distance(b, a) >= 0
    assert euclidean_distance(a, a) == 0
    lengths = math.sqrt(dot_product(a, a) * dot_product(b, b))
    assert cosine_similarity(a, b) * lengths == pytest.approx(dot_product(a, b), rel=1e-9, abs=1e-9 * lengths)
    squared = dot_product(a, a) + dot_product(b, b)
    expected = squared - 2 * dot_product(a, b)
    assert euclidean_distance(a, b) ** 2 == pytest.approx(expected, rel=1e-9, abs=1e-9 * squared)


@given(pairs)
def test_laws_of_normalising(pair: tuple[list[float], list[float]]) -> None:
    """C5: the length is 1, the direction stays, and twice is once."""
    a, b = pair
    unit = normalize_vector(a)
    if any(a):
        assert math.sqrt(dot_product(unit, unit)) == pytest.approx(1)
    assert normalize_vector(unit) == pytest.approx(unit)
    assert cosine_similarity(unit, b) == pytest.approx(cosine_similarity(a, b), abs=1e-9)


@given(tables, st.integers(1, 15), st.floats(-1, 1))
def test_finding_agrees_with_asking_one_by_one(
    table: tuple[list[float], list[list[float]]], k: int, threshold: float
) -> None:
    """C5: the best k are the best k."""
    query, vectors = table
    expected = [cosine_similarity(query, vector) for vector in vectors]
    found = find_similar(query, vectors, k)
    assert len(found) == min(k, len(vectors))
    assert [score for _, score in found] == pytest.approx(sorted(expected, reverse=True)[:k], abs=1e-9)
    for index, score in found:
        assert score == pytest.approx(expected[index], abs=1e-9)
    above = find_similar_with_threshold(query, vectors, threshold)
    assert above == [pair for pair in find_similar(query, vectors, len(vectors) + 1) if pair[1] >= threshold]


@pytest.mark.parametrize("vector", [[], [[1.0, 2.0]], [float("nan"), 1.0], [1.0, float("inf")], ["a", "b"], None])
@pytest.mark.parametrize("function", [cosine_similarity, euclidean_distance, dot_product])
def test_bad_vectors_are_named(function: Callable[..., float], vector: list[float]) -> None:
    """C5: what is no vector is an `InputError`, in either place."""
    with pytest.raises(InputError, match=r"^a:"):
        function(vector, [1.0, 2.0])
    with pytest.raises(InputError, match=r"^b:"):
        function([1.0, 2.0], vector)
    with pytest.raises(InputError, match=r"^vector:"):
        normalize_vector(vector)


def test_lengths_must_agree() -> None:
    """C5: numpy would broadcast a length of 1; we refuse."""
    for function in (cosine_similarity, euclidean_distance, dot_product):
        with pytest.raises(InputError, match=r"^b: has 1 numbers; pass 2"):
            function([1.0, 2.0], [1.0])
    with pytest.raises(InputError, match=r"^vectors\[1\]: has 3 numbers; pass 2"):
        find_similar([1.0, 2.0], [[1.0, 2.0], [1.0, 2.0, 3.0]])
    with pytest.raises(InputError, match=r"^k:"):
        find_similar([1.0, 2.0], [], 0)
