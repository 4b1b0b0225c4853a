"""Every embedder passes the same suite; providers run their real clients over a faked network edge."""

import json
from collections.abc import Iterator

import httpx
import httpx2
import pytest
from pydantic_ai.models import override_allow_model_requests

from byheart.models.base import Embedder
from byheart.models.cohere import create_cohere_embeddings
from byheart.models.custom import custom_embedder
from byheart.models.minilm import MiniLM
from byheart.models.openai import create_openai_embeddings
from byheart.testing.embedder_contract import EmbedderContract
from byheart.testing.embedders import HashEmbedder


async def answer_as_openai(request: httpx2.Request) -> httpx2.Response:
    body = json.loads(request.content)
    rows = await HashEmbedder(body.get("dimensions", 1536)).embed_batch(body["input"])
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return httpx2.Response(200, json={"object": "list", "data": data, "model": body["model"], "usage": usage})


async def answer_as_cohere(request: httpx.Request) -> httpx.Response:
    body = json.loads(request.content)
    rows = await HashEmbedder(body.get("output_dimension") or 1024).embed_batch(body["texts"])
    return httpx.Response(
        200,
        json={"id": "1", "response_type": "embeddings_by_type", "texts": body["texts"], "embeddings": {"float": rows}},
    )


@pytest.fixture(scope="module")
def projected() -> MiniLM:
    return MiniLM(threads=1)


@pytest.fixture(scope="module")
def raw() -> MiniLM:
    return MiniLM(threads=2, projection=None)


class TestMiniLM(EmbedderContract):
    @pytest.fixture
    def embedder(self, projected: MiniLM) -> Embedder:
        return projected


class TestMiniLMRaw(EmbedderContract):
    @pytest.fixture
    def embedder(self, raw: MiniLM) -> Embedder:
        return raw


class TestHash(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return HashEmbedder()


class TestSyncFunction(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        # Counts of letters: not of length 1, and integers.
        def count(texts: list[str]) -> list[list[float]]:
            return [[text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz 記"] for text in texts]

        return custom_embedder("mine", "letters", 28, count)


class TestAsyncFunction(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        inner = HashEmbedder(96)

        async def ask(texts: list[str]) -> list[list[float]]:
            return [[1e200 * number for number in vector] for vector in await inner.embed_batch(texts)]

        return custom_embedder("mine", "hashes", 96, ask)


class TestOpenAI(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Iterator[Embedder]:
        client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer_as_openai))
        with override_allow_model_requests(True):
            yield create_openai_embeddings("key", http_client=client)


class TestCohere(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Iterator[Embedder]:
        client = httpx.AsyncClient(transport=httpx.MockTransport(answer_as_cohere))
        with override_allow_model_requests(True):
            yield create_cohere_embeddings("key", http_client=client)
