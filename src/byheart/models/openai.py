"""OpenAI's embedding models; needs `pip install 'byheart[openai]'` and a key."""

from typing import Final

from byheart.errors import InputError, MissingPartError
from byheart.models.providers import MODELS, checked_dimensions

try:
    import httpx2
    from pydantic_ai.embeddings import EmbeddingSettings
    from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
    from pydantic_ai.providers.openai import OpenAIProvider
except ImportError as error:
    raise MissingPartError("OpenAI's library is not installed; type: pip install 'byheart[openai]'") from error

from byheart.models.pydantic_ai import PydanticAIEmbedder

#: Texts in one request: the interface takes 2,048, and 300,000 tokens together, which 256 chunks stay well below.
BATCH_SIZE: Final = 256


def create_openai_embeddings(
    api_key: str,
    model: str = "text-embedding-3-small",
    dimensions: int | None = None,
    *,
    http_client: httpx2.AsyncClient | None = None,
) -> PydanticAIEmbedder:
    """An embedder that asks OpenAI (C4).

    Args:
        api_key: OpenAI's key.
        model: `text-embedding-3-small` (1536 dimensions), `text-embedding-3-large` (3072), `text-embedding-ada-002`
            (1536), or another one, with its `dimensions`.
        dimensions: shortens the vectors of the third generation.
        http_client: for a proxy, a time-out or a certificate of your own.

    Raises:
        InputError: the key is empty, or the model cannot give these dimensions.
    """
    if not api_key:
        raise InputError("api_key", "is empty", "pass OpenAI's key")
    length = checked_dimensions("openai", model, dimensions)
    # The second generation refuses the parameter, so it is sent only where it changes something.
    changed = length != MODELS["openai"].get(model, length)
    settings = EmbeddingSettings(dimensions=length) if changed else None
    provider = OpenAIProvider(api_key=api_key, http_client=http_client)
    return PydanticAIEmbedder(
        OpenAIEmbeddingModel(model, provider=provider, settings=settings), length, batch_size=BATCH_SIZE
    )
