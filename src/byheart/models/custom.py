"""An embedder made from a function of the application's own."""

import inspect
from collections.abc import Awaitable, Callable, Sequence

import anyio.to_thread
import numpy as np

from byheart.models.base import BaseEmbedder, Encoding, without_tokens

Vectors = Sequence[Sequence[float]]
EmbedFunction = Callable[[list[str]], Vectors] | Callable[[list[str]], Awaitable[Vectors]]


def custom_embedder(name: str, model: str, dimensions: int, function: EmbedFunction) -> BaseEmbedder:
    """An embedder that asks `function` for vectors (C4: the seed's `createCustomEmbeddings`).

    Args:
        name: the provider's name.
        model: the model's id; a store that one model filled refuses another.
        dimensions: how many numbers a vector has.
        function: takes a list of texts and returns a vector for each, in their order, of any length but 0. It may be
            async; if it is not, it runs in a worker thread.

    Raises:
        InputError: a name is empty, or `dimensions` is below 1. What the function does wrong becomes an
            `EmbedderError` when it is called.
    """
    return _CustomEmbedder(name, model, dimensions, function)


class _CustomEmbedder(BaseEmbedder):
    """The verbs of an embedder over one function."""

    def __init__(self, name: str, model: str, dimensions: int, function: EmbedFunction) -> None:
        super().__init__(name, model, dimensions)
        self._function = function

    async def _encode(self, texts: Sequence[str], *, query: bool) -> Sequence[Encoding]:  # noqa: ARG002
        given = list(texts)
        if inspect.iscoroutinefunction(self._function):
            answer = self._function(given)
        else:
            answer = await anyio.to_thread.run_sync(self._function, given)
        vectors = await answer if inspect.isawaitable(answer) else answer
        return [without_tokens(np.asarray(vector, np.float64)) for vector in vectors]
