"""Which embedding models there are by name, how long their vectors are, and how to get one.

A provider's library is imported only when one of its models is asked for.
"""

from collections.abc import Mapping
from importlib import import_module

from byheart.errors import InputError
from byheart.models.base import Embedder

#: Models by provider and the dimensions of their vectors (C4); the first of each provider is its default.
MODELS: Mapping[str, Mapping[str, int]] = {
    "openai": {
        "text-embedding-3-small": 1536,
        "text-embedding-3-large": 3072,
        "text-embedding-ada-002": 1536,
    },
    "cohere": {
        "embed-english-v3.0": 1024,
        "embed-multilingual-v3.0": 1024,
        "embed-english-light-v3.0": 384,
        "embed-multilingual-light-v3.0": 384,
        "embed-v4.0": 1536,
    },
}
#: Models that shorten their vectors on request.
RESIZABLE = frozenset({"text-embedding-3-small", "text-embedding-3-large", "embed-v4.0"})
#: The variable of the environment that holds a provider's key.
KEY_VARIABLES: Mapping[str, str] = {"openai": "OPENAI_API_KEY", "cohere": "COHERE_API_KEY"}


def checked_dimensions(provider: str, model: str, wanted: int | None) -> int:
    """How long the vectors of a model are to be.

    Args:
        provider: a key of `MODELS`.
        model: the model's id.
        wanted: None for the model's own dimensions.

    Raises:
        InputError: the model is not in `MODELS` and `wanted` is None, or it cannot give what is wanted.
    """
    own = MODELS[provider].get(model)
    if own is None:
        if wanted is None:
            raise InputError("dimensions", f"are not known for {model!r}", "pass the length of its vectors")
        return wanted
    if wanted is None or wanted == own:
        return own
    if model not in RESIZABLE or not 0 < wanted < own:
        fix = f"use 1 to {own}" if model in RESIZABLE else f"use {own}, the only length that {model} has"
        raise InputError("dimensions", f"is {wanted}", fix)
    return wanted


def embedder_from_name(name: str, api_keys: Mapping[str, str]) -> Embedder:
    """The embedder that a short name stands for (C4).

    Args:
        name: `minilm`, a provider (`openai`, `cohere`: its default model), or `provider:model`.
        api_keys: provider -> key.

    Raises:
        InputError: the name is unknown, or the provider has no key.
        MissingPartError: the provider's library is not installed.
    """
    if name == "minilm":
        return import_module("byheart.models.minilm").MiniLM()
    provider, _, model = name.partition(":")
    if provider not in MODELS:
        raise InputError("embedder", f"is {name!r}", "use minilm, openai:MODEL or cohere:MODEL")
    if not api_keys.get(provider):
        raise InputError("embedder", f"{name} needs a key", f"set {KEY_VARIABLES[provider]}")
    create = getattr(import_module(f"byheart.models.{provider}"), f"create_{provider}_embeddings")
    return create(api_keys[provider], model=model or next(iter(MODELS[provider])))


def embedder_from_keys(api_keys: Mapping[str, str], preferred_provider: str | None = None) -> Embedder:
    """The embedder that the keys at hand allow (C4: the seed's `createEmbeddingsFromEnv`).

    Args:
        api_keys: provider -> key.
        preferred_provider: taken if it has a key; else OpenAI, then Cohere, then the packaged model, which needs none.

    Raises:
        InputError: the preferred provider is unknown.
        MissingPartError: the provider's library is not installed.
    """
    if preferred_provider not in {None, *MODELS}:
        raise InputError("preferred_provider", f"is {preferred_provider!r}", f"use {' or '.join(MODELS)}")
    order = sorted(MODELS, key=lambda provider: provider != preferred_provider)
    return embedder_from_name(next((provider for provider in order if api_keys.get(provider)), "minilm"), api_keys)
