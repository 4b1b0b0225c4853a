"""An embedder that embeds each text once, shared by all systems that are measured in one process."""

from collections.abc import Sequence

from byheart.models.base import Embedder, Encoding

#: How many bytes of answers are kept from one case to the next: token vectors of large cases take gigabytes.
CEILING = 2 * 2**30


class MemoEmbedder:
    """Answers as `inner` does and remembers the answers until `forget`.

    Args:
        inner: the embedder that does the work.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._known: dict[tuple[bool, str], Encoding] = {}
        self._bytes = 0

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

    def forget(self, ceiling: int = CEILING) -> None:
        """Let go of all answers if they take more than `ceiling` bytes; cases may share texts."""
        if self._bytes > ceiling:
            self._known.clear()
            self._bytes = 0

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
                self._bytes += encoding.pooled.nbytes + encoding.tokens.nbytes + encoding.offsets.nbytes
        return [self._known[query, text] for text in texts]
