"""Any embedding model of pydantic-ai as an embedder: the providers that are reached over the network."""

from collections.abc import Sequence

import numpy as np

from byheart.errors import MissingPartError
from byheart.models.base import BaseEmbedder, Encoding, without_tokens

try:
    from pydantic_ai.embeddings import EmbeddingModel
except ImportError as error:
    raise MissingPartError(
        "embedding providers need pydantic-ai; type: pip install 'byheart[openai]' or 'byheart[cohere]'"
    ) from error


class PydanticAIEmbedder(BaseEmbedder):
    """A pydantic-ai `EmbeddingModel`; queries and documents are told apart where the provider does so.

    Args:
        model: the provider's model, with its key and settings.
        dimensions: how many numbers a vector has.
        batch_size: the most texts that the provider takes in one request.
    """

    def __init__(self, model: EmbeddingModel, dimensions: int, *, batch_size: int) -> None:
        super().__init__(model.system, model.model_name, dimensions)
        self._provider = model
        self._batch_size = batch_size

    async def _encode(self, texts: Sequence[str], *, query: bool) -> Sequence[Encoding]:
        encodings: list[Encoding] = []
        for start in range(0, len(texts), self._batch_size):
            batch = texts[start : start + self._batch_size]
            result = await self._provider.embed(batch, input_type="query" if query else "document")
            encodings.extend(without_tokens(np.asarray(vector, np.float64)) for vector in result.embeddings)
        return encodings
