"""What the base class makes of a model's answers."""

import inspect
from collections.abc import Sequence

import numpy as np
import pytest

from byheart.errors import ByheartError, EmbedderError, InputError
from byheart.models.base import BaseEmbedder, Embedder, Encoding
from byheart.models.custom import custom_embedder
from byheart.testing.embedder_contract import run

NAN, INFINITY = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ([[1.0, 2.0]], "answered 1 vectors for 2 texts"),
        ([[1.0, 2.0]] * 3, "answered 3 vectors for 2 texts"),
        ([], "answered 0 vectors for 2 texts"),
        ([[1.0, 2.0], [1.0, 2.0, 3.0]], r"vector 1 has the shape \(3,\), expected \(2,\)"),
        ([[1.0, 2.0], []], r"vector 1 has the shape \(0,\)"),
        ([[1.0, 2.0], 5.0], r"vector 1 has the shape \(\)"),
        ([[1.0, 2.0], [[1.0, 2.0]]], r"vector 1 has the shape \(1, 2\)"),
        ([[1.0, 2.0], [NAN, 1.0]], "vector 1 holds a NaN or an infinity"),
        ([[1.0, -INFINITY], [1.0, 1.0]], "vector 0 holds a NaN or an infinity"),
        ([[1.0, 2.0], [0.0, 0.0]], "vector 1 is all zeros"),
        ([[1.0, 2.0], ["a", "b"]], "ValueError"),
        ([[1.0, 2.0], None], "vector 1|TypeError"),
        (None, "TypeError"),
    ],
)
def test_nonsense_is_named(answer: list[list[float]], problem: str) -> None:
    """C4: whatever a model answers wrongly is an `EmbedderError` that names model and problem."""
    embedder = custom_embedder("mine", "m1", 2, lambda _: answer)
    with pytest.raises(EmbedderError, match=f"^mine m1: .*({problem})"):
        run(embedder.embed_batch, ["a", "b"])


def test_an_exception_is_chained() -> None:
    """C4: what the function raises is kept as the cause."""
    cause = RuntimeError("the server is gone")

    async def fail(_: list[str]) -> list[list[float]]:
        raise cause

    with pytest.raises(EmbedderError, match="mine m1: RuntimeError: the server is gone") as caught:
        run(custom_embedder("mine", "m1", 2, fail).embed, "a")
    assert caught.value.__cause__ is cause


def test_an_error_of_ours_stays_as_it_is() -> None:
    own = InputError("key", "is wrong", "pass another")

    def fail(_: list[str]) -> list[list[float]]:
        raise own

    with pytest.raises(ByheartError) as caught:
        run(custom_embedder("mine", "m1", 2, fail).embed, "a")
    assert caught.value is own


@pytest.mark.parametrize("size", [1e-300, 1e-30, 1.0, 1e30, 1e300])
def test_any_length_becomes_one(size: float) -> None:
    """C4: pooled vectors have length 1, whatever the model's scale."""
    embedder = custom_embedder("mine", "m1", 2, lambda texts: [[3 * size, -4 * size] for _ in texts])
    assert run(embedder.embed, "a") == pytest.approx([0.6, -0.8])


class Odd(BaseEmbedder):
    """Answers one encoding whatever is asked."""

    def __init__(self, tokens: Sequence[Sequence[float]], offsets: Sequence[Sequence[int]]) -> None:
        super().__init__("odd", "o1", 2)
        self._answer = Encoding(np.ones(2, np.float32), np.array(tokens, np.float32), np.array(offsets, np.int32))

    async def _encode(self, texts: Sequence[str], *, query: bool) -> Sequence[Encoding]:  # noqa: ARG002
        return [self._answer for _ in texts]


@pytest.mark.parametrize(
    ("tokens", "offsets"), [([[1.0, 0.0]], []), ([1.0], [[0, 1]]), ([[1.0, NAN]], [[0, 1]]), ([[1.0, 0.0]], [[0]])]
)
def test_token_vectors_are_checked_too(tokens: list[list[float]], offsets: list[list[int]]) -> None:
    with pytest.raises(EmbedderError, match="odd o1: token vectors 0"):
        run(Odd(tokens, offsets).embed, "a")


@pytest.mark.parametrize(("name", "model", "dimensions"), [("", "m", 2), ("n", "", 2), ("n", "m", 0)])
def test_an_embedder_says_what_it_is(name: str, model: str, dimensions: int) -> None:
    with pytest.raises(InputError):
        custom_embedder(name, model, dimensions, lambda _: [])


def test_the_base_class_is_an_embedder() -> None:
    """The protocol and the base class name the same verbs, with the same parameters."""
    embedder: Embedder = custom_embedder("mine", "m1", 2, lambda _: [])
    assert repr(embedder) == "<_CustomEmbedder mine:m1 (2)>"
    for verb in ("embed", "embed_batch", "encode"):
        assert inspect.signature(getattr(Embedder, verb)) == inspect.signature(getattr(BaseEmbedder, verb))


def test_a_blocking_function_that_returns_an_awaitable() -> None:
    async def later(count: int) -> list[list[float]]:
        return [[1.0, 0.0]] * count

    embedder = custom_embedder("mine", "m1", 2, lambda texts: later(len(texts)))
    assert run(embedder.embed, "a") == [1.0, 0.0]
