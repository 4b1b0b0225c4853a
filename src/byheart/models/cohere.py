"""Cohere's embedding models; needs `pip install 'byheart[cohere]'` and a key."""

from typing import Final, Literal

from byheart.errors import InputError, MissingPartError
from byheart.models.providers import MODELS, checked_dimensions

try:
    import httpx
    from pydantic_ai.embeddings.cohere import CohereEmbeddingModel, CohereEmbeddingSettings
    from pydantic_ai.providers.cohere import CohereProvider
except ImportError as error:
    raise MissingPartError("Cohere's library is not installed; type: pip install 'byheart[cohere]'") from error

from byheart.models.pydantic_ai import PydanticAIEmbedder

InputType = Literal["search_document", "search_query", "classification", "clustering"]
#: Texts in one request: the interface's limit.
BATCH_SIZE: Final = 96


def create_cohere_embeddings(
    api_key: str,
    model: str = "embed-english-v3.0",
    dimensions: int | None = None,
    *,
    input_type: InputType | None = None,
    http_client: httpx.AsyncClient | None = None,
) -> PydanticAIEmbedder:
    """An embedder that asks Cohere (C4).

    Args:
        api_key: Cohere's key.
        model: `embed-english-v3.0` or `embed-multilingual-v3.0` (1024 dimensions), `embed-english-light-v3.0` or
            `embed-multilingual-light-v3.0` (384), `embed-v4.0` (1536), or another one, with its `dimensions`.
        dimensions: shortens the vectors of `embed-v4.0`.
        input_type: sent with every text; by default `search_document` for documents, `search_query` for queries.
        http_client: for a proxy, a time-out or a certificate of your own.

    Raises:
        InputError: the key is empty, or the model cannot give these dimensions.
    """
    if not api_key:
        raise InputError("api_key", "is empty", "pass Cohere's key")
    length = checked_dimensions("cohere", model, dimensions)
    settings = CohereEmbeddingSettings()
    if length != MODELS["cohere"].get(model, length):
        settings["dimensions"] = length
    if input_type:
        settings["cohere_input_type"] = input_type
    provider = CohereProvider(api_key=api_key, http_client=http_client)
    return PydanticAIEmbedder(
        CohereEmbeddingModel(model, provider=provider, settings=settings), length, batch_size=BATCH_SIZE
    )
