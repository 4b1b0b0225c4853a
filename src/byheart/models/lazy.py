"""An embedder that is made when it is first asked for something, so that reading verbs never load a model."""

from collections.abc import Callable, Sequence
from functools import cached_property

from byheart.models.base import Embedder, Encoding


class LazyEmbedder:
    """Stands for the embedder that `make` will return, and asks for it once."""

    def __init__(self, make: Callable[[], Embedder]) -> None:
        self._make = make

    @cached_property
    def inner(self) -> Embedder:
        """The embedder itself; the first access makes it."""
        return self._make()

    @property
    def name(self) -> str:
        """The provider's name."""
        return self.inner.name

    @property
    def model(self) -> str:
        """The model's id."""
        return self.inner.model

    @property
    def dimensions(self) -> int:
        """How long a pooled vector is."""
        return self.inner.dimensions

    async def embed(self, text: str) -> list[float]:
        """The vector of one text, as a query."""
        return await self.inner.embed(text)

    async def embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of several texts, as documents."""
        return await self.inner.embed_batch(texts)

    async def encode(self, texts: Sequence[str], *, query: bool = False) -> list[Encoding]:
        """Pooled and token vectors of several texts."""
        return await self.inner.encode(texts, query=query)
