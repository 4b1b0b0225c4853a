"""The one protocol of embedding models, and the checks that every answer of one goes through."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt

from byheart.errors import ByheartError, EmbedderError, InputError, brief
from byheart.models.vectors import unit_rows

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Encoding:
    """What a model says of one text.

    Attributes:
        pooled: the text's vector, float32 of shape (dimensions,), length 1.
        tokens: token vectors, float32 of shape (n, k), each of length 1; n is 0 where the model has none.
        offsets: for each token vector, where its characters start and end in the text; int32 of shape (n, 2).
    """

    pooled: Vector
    tokens: Vector
    offsets: npt.NDArray[np.int32]


class Embedder(Protocol):
    """A model that turns texts into vectors (C4)."""

    @property
    def name(self) -> str:
        """The provider's name."""
        ...

    @property
    def model(self) -> str:
        """The model's id, which a store remembers together with the dimension."""
        ...

    @property
    def dimensions(self) -> int:
        """How long a pooled vector is."""
        ...

    async def embed(self, text: str) -> list[float]:
        """The vector of one text, as a query."""
        ...

    async def embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of several texts, as documents, in their order."""
        ...

    async def encode(self, texts: Sequence[str], *, query: bool = False) -> list[Encoding]:
        """Pooled and, where the model has them, token vectors of several texts, in their order."""
        ...


def without_tokens(pooled: npt.ArrayLike) -> Encoding:
    """The encoding of a model that has no token vectors; `pooled` of shape (dimensions,) may have any length."""
    return Encoding(np.asarray(pooled), np.zeros((0, 0), np.float32), np.zeros((0, 2), np.int32))


class BaseEmbedder(ABC):
    """The verbs of an embedder over one `_encode`, and the checks of its answers.

    Whatever a model does wrong becomes an `EmbedderError` that names it: an exception of its own (chained as the
    cause), the wrong number of vectors, the wrong dimension, a NaN or an infinity, or a vector of zeros, which has no
    direction and so is near to nothing.

    Args:
        name: the provider's name.
        model: the model's id.
        dimensions: how long a pooled vector is.
    """

    def __init__(self, name: str, model: str, dimensions: int) -> None:
        if dimensions < 1:
            raise InputError("dimensions", f"is {dimensions}", "use a positive number")
        for field, value in (("name", name), ("model", model)):
            if not value:
                raise InputError(field, "is empty", "use a name of at least one character")
        self._name = name
        self._model = model
        self._dimensions = dimensions

    @property
    def name(self) -> str:
        """The provider's name."""
        return self._name

    @property
    def model(self) -> str:
        """The model's id, which a store remembers together with the dimension."""
        return self._model

    @property
    def dimensions(self) -> int:
        """How long a pooled vector is."""
        return self._dimensions

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}:{self.model} ({self.dimensions})>"

    @abstractmethod
    async def _encode(self, texts: Sequence[str], *, query: bool) -> Sequence[Encoding]:
        """Encode at least one text, as a query or as documents; `pooled` may have any length."""

    async def embed(self, text: str) -> list[float]:
        """The vector of one text as a query, of length 1.

        Raises:
            EmbedderError: the model failed or answered nonsense.
            InputError: `text` is no string, or holds a lone surrogate.
        """
        [encoding] = await self.encode([text], query=True)
        return encoding.pooled.tolist()

    async def embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of several texts as documents, in their order, each of length 1. No texts, no vectors.

        Raises:
            EmbedderError: the model failed or answered nonsense.
            InputError: one of the texts is no string, or holds a lone surrogate.
        """
        return [encoding.pooled.tolist() for encoding in await self.encode(texts)]

    async def encode(self, texts: Sequence[str], *, query: bool = False) -> list[Encoding]:
        """Pooled and, where the model has them, token vectors of several texts, in their order.

        Raises:
            EmbedderError: the model failed or answered nonsense.
            InputError: one of the texts is no string, or holds a lone surrogate.
        """
        _check_texts(texts)
        if not texts:
            return []
        try:
            encodings = await self._encode(texts, query=query)
        except ByheartError:
            raise
        except Exception as error:
            raise self._error(f"{type(error).__name__}: {error}") from error
        if len(encodings) != len(texts):
            raise self._error(f"answered {len(encodings)} vectors for {len(texts)} texts")
        return [self._checked(encoding, index) for index, encoding in enumerate(encodings)]

    def _checked(self, encoding: Encoding, index: int) -> Encoding:
        """The encoding with a pooled vector of length 1, if all of it makes sense."""
        pooled, tokens, offsets = encoding.pooled, encoding.tokens, encoding.offsets
        if pooled.shape != (self.dimensions,):
            raise self._error(f"vector {index} has the shape {pooled.shape}, expected ({self.dimensions},)")
        if not np.isfinite(pooled).all():
            raise self._error(f"vector {index} holds a NaN or an infinity")
        if not pooled.any():
            raise self._error(f"vector {index} is all zeros")
        if tokens.ndim != 2 or offsets.shape != (len(tokens), 2):
            raise self._error(f"token vectors {index} have the shape {tokens.shape}, their offsets {offsets.shape}")
        if not np.isfinite(tokens).all():
            raise self._error(f"token vectors {index} hold a NaN or an infinity")
        return Encoding(unit_rows(pooled[None])[0].astype(np.float32), tokens, offsets)

    def _error(self, problem: str) -> EmbedderError:
        return EmbedderError(f"{self.name} {self.model}: {problem}")


class _Foreign(BaseEmbedder):
    """Another's embedder, under the checks of `BaseEmbedder`."""

    def __init__(self, inner: Embedder) -> None:
        super().__init__(inner.name, inner.model, inner.dimensions)
        self._inner = inner

    async def _encode(self, texts: Sequence[str], *, query: bool) -> Sequence[Encoding]:
        return [
            Encoding(np.asarray(one.pooled), np.asarray(one.tokens), np.asarray(one.offsets))
            for one in await self._inner.encode(texts, query=query)
        ]


def checked_embedder(embedder: Embedder) -> BaseEmbedder:
    """The embedder, if its answers are checked; else itself behind the checks of `BaseEmbedder`.

    Raises:
        InputError: it is no embedder.
    """
    if isinstance(embedder, BaseEmbedder):
        return embedder
    try:
        return _Foreign(embedder)
    except (AttributeError, TypeError) as error:
        raise InputError(
            "embedder", f"is {brief(embedder)}", "pass an Embedder, such as custom_embedder(...)"
        ) from error


def _check_texts(texts: object) -> None:
    """Refuse what no model can read.

    Raises:
        InputError: `texts` is one string, or one of them is no string or holds a lone surrogate.
    """
    if isinstance(texts, str):
        raise InputError("texts", "is one string", "pass a list of strings")
    for index, text in enumerate(cast("Sequence[object]", texts)):
        if not isinstance(text, str):
            raise InputError(f"texts[{index}]", f"is {type(text).__name__}", "pass a string")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"texts[{index}]", "holds a lone surrogate", "use well-formed Unicode") from error
