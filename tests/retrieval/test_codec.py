import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from byheart.models.base import Encoding, Vector
from byheart.retrieval.codec import (
    decode_tokens,
    decode_vector,
    decode_vectors,
    encode_tokens,
    encode_vector,
    pack,
    similarity,
    token_width,
    unpack,
    vector_width,
    worth_keeping,
)


def random_units(seed: int, count: int, dimensions: int) -> Vector:
    rows = np.random.default_rng(seed).standard_normal((count, dimensions))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def encoding(tokens: Vector, offsets: list[tuple[int, int]]) -> Encoding:
    return Encoding(random_units(0, 1, 8)[0], tokens, np.array(offsets, np.int32).reshape(-1, 2))


@given(hnp.arrays(np.float32, st.integers(1, 400), elements=st.floats(-1, 1, width=32)))
def test_a_pooled_vector_comes_back_to_half_precision(vector: Vector) -> None:
    back = decode_vector(encode_vector(vector))
    assert len(encode_vector(vector)) == 2 * len(vector)
    assert np.all(np.abs(back - vector) <= np.abs(vector) * 2**-11 + 2**-24)


@given(st.integers(0, 2**32), st.integers(1, 20))
def test_several_vectors_decode_as_each_alone(seed: int, count: int) -> None:
    data = [encode_vector(row) for row in random_units(seed, count, 24)]
    into = np.zeros((count, vector_width(data[0])), np.float32)
    decode_vectors(data, into)
    assert np.array_equal(into, np.stack([decode_vector(one) for one in data]))


@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 200))
def test_token_vectors_come_back_as_unit_vectors_with_the_same_signs(seed: int, count: int, dimensions: int) -> None:
    tokens = random_units(seed, count, dimensions)
    offsets = [(place, place + 1) for place in range(count)]
    data = encode_tokens(encoding(tokens, offsets), "a" * count)
    back = decode_tokens(data, dimensions)
    assert len(data) == count * token_width(dimensions)
    assert np.array_equal(back > 0, tokens > 0)
    assert np.allclose(np.linalg.norm(back, axis=1), 1, atol=1e-5)


@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_signs_keep_the_direction_of_a_rotated_vector(seed: int) -> None:
    """The cosine between a random unit vector and its signs is about sqrt(2 / pi) = .80."""
    tokens = random_units(seed, 16, 192)
    back = decode_tokens(encode_tokens(encoding(tokens, [(n, n + 1) for n in range(16)]), "a" * 16), 192)
    assert np.all(np.einsum("ij,ij->i", tokens, back) > 0.65)


def test_punctuation_is_dropped_and_function_words_are_kept() -> None:
    text = "The cat, sat."
    offsets = np.array([(0, 3), (4, 7), (7, 8), (9, 12), (12, 13)], np.int32)
    assert worth_keeping(text, offsets).tolist() == [True, True, False, True, False]


def test_a_text_of_punctuation_keeps_what_it_has() -> None:
    assert worth_keeping("?!", np.array([(0, 1), (1, 2)], np.int32)).all()


def test_no_token_vectors_are_no_bytes() -> None:
    assert encode_tokens(encoding(np.zeros((0, 4), np.float32), []), "text") == b""


def test_a_memory_of_sixty_words_leaves_room_in_four_kilobytes() -> None:
    """768 bytes for the mean vector and 24 for each of about 75 word pieces, of 4,096 for everything."""
    tokens = random_units(1, 75, 192)
    data = encode_tokens(encoding(tokens, [(n, n + 1) for n in range(75)]), "a" * 75)
    assert len(encode_vector(random_units(2, 1, 384)[0])) + len(data) <= 2_600


@given(st.integers(0, 2**32), st.integers(0, 6), st.integers(1, 5), st.integers(1, 70))
def test_the_short_way_gives_the_cosines_of_the_unpacked_vectors(
    seed: int, count: int, queries: int, dimensions: int
) -> None:
    codes = pack(random_units(seed, count, dimensions))
    tokens = random_units(seed + 1, queries, dimensions)
    assert np.allclose(similarity(codes, tokens), unpack(codes, dimensions) @ tokens.T, atol=1e-5)
