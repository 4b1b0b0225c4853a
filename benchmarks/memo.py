"""An embedder that embeds each text once, shared by all systems that are measured in one process."""

from collections.abc import Sequence

from byheart.models.base import Embedder, Encoding


class MemoEmbedder:
    """Answers as `inner` does and remembers the answers until `forget`.

    Args:
        inner: the embedder that does the work.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._known: dict[tuple[bool, str], Encoding] = {}

    @property
    def name(self) -> str:
        """The provider's name."""
        return self._inner.name

    @property
    def model(self) -> str:
        """The model's id."""
        return self._inner.model

    @property
    def dimensions(self) -> int:
        """How long a pooled vector is."""
        return self._inner.dimensions

    def forget(self) -> None:
        """Let go of all answers; token vectors of a large case take gigabytes."""
        self._known.clear()

    async def embed(self, text: str) -> list[float]:
        """The vector of one text, as a query."""
        [encoding] = await self.encode([text], query=True)
        return [float(number) for number in encoding.pooled]

    async def embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of several texts, as documents, in their order."""
        return [[float(number) for number in encoding.pooled] for encoding in await self.encode(texts)]

    async def encode(self, texts: Sequence[str], *, query: bool = False) -> list[Encoding]:
        """Pooled and token vectors of several texts, in their order; only new texts reach the inner embedder."""
        new = list(dict.fromkeys(text for text in texts if (query, text) not in self._known))
        if new:
            for text, encoding in zip(new, await self._inner.encode(new, query=query), strict=True):
                self._known[query, text] = encoding
        return [self._known[query, text] for text in texts]
