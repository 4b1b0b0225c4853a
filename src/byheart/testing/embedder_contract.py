"""What an embedder must do, as a suite of tests to inherit; needs pytest."""

# ruff: noqa: S101 - these are tests

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, ParamSpec, TypeVar, cast

import anyio
import numpy as np
import pytest

from byheart.errors import InputError
from byheart.models.base import Embedder

P = ParamSpec("P")
T = TypeVar("T")
#: Texts of many kinds; the first and the last are the same.
TEXTS: Final = (
    "Caroline went to the support group on 7 May.",
    "The deployment failed because the disk was full.",
    "Ünïcode — 記憶は大切です 🙂",
    "A longer story about a garden. " * 100,
    "Caroline went to the support group on 7 May.",
)
#: How far apart two vectors of one text may lie, in any of their numbers.
TOLERANCE: Final = 1e-3


def run(verb: Callable[P, Awaitable[T]], *arguments: P.args, **options: P.kwargs) -> T:
    """Call an async verb of an embedder to its end, in an event loop of its own."""

    async def call() -> T:
        return await verb(*arguments, **options)

    return anyio.run(call)


class EmbedderContract:
    """Tests that every embedder passes. Inherit them, and give the fixture `embedder`.

    ```python
    class TestMine(EmbedderContract):
        @pytest.fixture
        def embedder(self) -> Embedder:
            return MyEmbedder()
    ```
    """

    @pytest.fixture
    def embedder(self) -> Embedder:
        """The embedder under test."""
        raise NotImplementedError

    def test_it_says_what_it_is(self, embedder: Embedder) -> None:
        """C4: a provider's name, a model's id and a dimension."""
        assert embedder.name
        assert embedder.model
        assert embedder.dimensions > 0

    def test_one_text(self, embedder: Embedder) -> None:
        """C4: `embed` gives a vector of the dimension, of length 1, in plain floats."""
        vector = run(embedder.embed, TEXTS[0])
        assert len(vector) == embedder.dimensions
        assert all(type(number) is float for number in vector)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)

    def test_many_texts(self, embedder: Embedder) -> None:
        """C4: `embed_batch` gives a vector of length 1 for every text."""
        vectors = run(embedder.embed_batch, TEXTS)
        assert len(vectors) == len(TEXTS)
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)

    def test_vectors_keep_the_order_of_the_texts(self, embedder: Embedder) -> None:
        """C4: each text has the vector that it has alone, wherever it stands in a batch."""
        together = np.array(run(embedder.embed_batch, TEXTS))
        backwards = np.array(run(embedder.embed_batch, TEXTS[::-1]))[::-1]
        alone = np.array([run(embedder.embed_batch, [text])[0] for text in TEXTS])
        assert np.abs(together - alone).max() < TOLERANCE
        assert np.abs(backwards - alone).max() < TOLERANCE

    def test_different_texts_differ(self, embedder: Embedder) -> None:
        """C4: a text is nearer to itself than to another."""
        vectors = np.array(run(embedder.embed_batch, TEXTS))
        cosines = vectors @ vectors[0]
        assert cosines[-1] == pytest.approx(1, abs=TOLERANCE)
        assert cosines[1:-1].max() < 0.99

    def test_no_texts_no_vectors(self, embedder: Embedder) -> None:
        """C4: an empty batch is no error."""
        assert run(embedder.embed_batch, []) == []
        assert run(embedder.encode, []) == []

    def test_encoding_as_a_document(self, embedder: Embedder) -> None:
        """C4: `encode` and `embed_batch` give the same pooled vectors, as float32."""
        encodings = run(embedder.encode, TEXTS)
        pooled = np.array([encoding.pooled for encoding in encodings])
        assert pooled.dtype == np.float32
        assert np.abs(pooled - np.array(run(embedder.embed_batch, TEXTS))).max() < TOLERANCE

    def test_encoding_as_a_query(self, embedder: Embedder) -> None:
        """C4: `encode(query=True)` and `embed` give the same vector."""
        [encoding] = run(embedder.encode, [TEXTS[0]], query=True)
        assert np.abs(encoding.pooled - np.array(run(embedder.embed, TEXTS[0]))).max() < TOLERANCE

    def test_token_vectors(self, embedder: Embedder) -> None:
        """Token vectors have length 1, one width, and offsets that go forward inside the text."""
        encodings = run(embedder.encode, TEXTS)
        assert len({encoding.tokens.shape[1] for encoding in encodings}) == 1
        for text, encoding in zip(TEXTS, encodings, strict=True):
            assert encoding.tokens.dtype == np.float32
            assert encoding.offsets.dtype == np.int32
            assert encoding.offsets.shape == (len(encoding.tokens), 2)
            assert np.linalg.norm(encoding.tokens, axis=1) == pytest.approx(np.ones(len(encoding.tokens)), abs=1e-5)
            starts, ends = encoding.offsets.T
            assert (starts < ends).all()
            assert (np.diff(starts) >= 0).all()
            assert ends.max(initial=0) <= len(text)

    @pytest.mark.parametrize("text", ["half \ud800 a pair", None, 7, b"bytes"])
    def test_what_is_no_text_is_refused(self, embedder: Embedder, text: object) -> None:
        """An input that no model can read is an `InputError` that names it."""
        with pytest.raises(InputError, match=r"texts\[1\]"):
            run(embedder.embed_batch, ["fine", cast("str", text)])
        with pytest.raises(InputError, match=r"texts\[0\]"):
            run(embedder.embed, cast("str", text))

    def test_one_string_is_no_batch(self, embedder: Embedder) -> None:
        """A string is a sequence of strings to Python; to an embedder it is a mistake."""
        with pytest.raises(InputError, match="texts"):
            run(embedder.embed_batch, cast("Sequence[str]", "one text"))
