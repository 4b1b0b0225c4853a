"""C4: providers by name; what goes over the network and what comes of a refusal."""

import json
import subprocess
import sys
from collections.abc import Iterator

import httpx
import httpx2
import pytest
from pydantic_ai.models import override_allow_model_requests

from byheart.errors import EmbedderError, InputError
from byheart.models.cohere import create_cohere_embeddings
from byheart.models.openai import create_openai_embeddings
from byheart.models.providers import MODELS, embedder_from_keys, embedder_from_name
from byheart.testing.embedder_contract import run

KEYS = {"openai": "key-o", "cohere": "key-c"}


@pytest.fixture(autouse=True)
def clients_may_ask() -> Iterator[None]:
    with override_allow_model_requests(True):
        yield


class FakeOpenAI:
    """OpenAI's side of the network: keeps the requests, answers vectors that tell the texts apart."""

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.requests: list[dict[str, object]] = []
        self.keys: list[str] = []

    @property
    def client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(transport=httpx2.MockTransport(self.answer))

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        self.requests.append(body)
        self.keys.append(request.headers["authorization"])
        if self.status != 200:
            return httpx2.Response(self.status, json={"error": {"message": "bad key", "type": "auth", "code": "401"}})
        length = body.get("dimensions") or MODELS["openai"][body["model"]]
        rows = [[float(len(text)), 1.0] + [0.0] * (length - 2) for text in body["input"]]
        data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return httpx2.Response(200, json={"object": "list", "data": data, "model": body["model"], "usage": usage})


class FakeCohere:
    """Cohere's side of the network."""

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.requests: list[dict[str, object]] = []

    @property
    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(self.answer))

    def answer(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        self.requests.append(body)
        if self.status != 200:
            return httpx.Response(self.status, json={"message": "bad key"})
        length = body.get("output_dimension") or MODELS["cohere"][body["model"]]
        rows = [[float(len(text)), 1.0] + [0.0] * (length - 2) for text in body["texts"]]
        embeddings = {"float": rows}
        return httpx.Response(
            200,
            json={"id": "1", "response_type": "embeddings_by_type", "texts": body["texts"], "embeddings": embeddings},
        )


@pytest.mark.parametrize(("provider", "model"), [(name, model) for name, models in MODELS.items() for model in models])
def test_the_table_of_dimensions(provider: str, model: str) -> None:
    """C4: the seed's models and their dimensions."""
    embedder = embedder_from_name(f"{provider}:{model}", KEYS)
    assert (embedder.name, embedder.model) == (provider, model)
    assert (
        embedder.dimensions
        == {
            "text-embedding-3-small": 1536,
            "text-embedding-3-large": 3072,
            "text-embedding-ada-002": 1536,
            "embed-english-v3.0": 1024,
            "embed-multilingual-v3.0": 1024,
            "embed-english-light-v3.0": 384,
            "embed-multilingual-light-v3.0": 384,
            "embed-v4.0": 1536,
        }[model]
    )


def test_names_and_keys() -> None:
    """C4: the default model of each provider, and the packaged one, which needs no key."""
    assert embedder_from_name("openai", KEYS).model == "text-embedding-3-small"
    assert embedder_from_name("cohere", KEYS).model == "embed-english-v3.0"
    assert embedder_from_name("minilm", {}).name == "byheart-minilm"


@pytest.mark.parametrize("name", ["", "mini", "minilm:x", "voyage:3", "OPENAI:text-embedding-3-small", ":x"])
def test_unknown_names_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"^embedder: .*use minilm, openai:MODEL or cohere:MODEL"):
        embedder_from_name(name, KEYS)


def test_a_missing_key_is_named() -> None:
    with pytest.raises(InputError, match="openai:text-embedding-3-small needs a key; set OPENAI_API_KEY"):
        embedder_from_name("openai:text-embedding-3-small", {"cohere": "key"})
    with pytest.raises(InputError, match=r"^api_key"):
        create_openai_embeddings("")
    with pytest.raises(InputError, match=r"^api_key"):
        create_cohere_embeddings("")


def test_the_environment_chooses() -> None:
    """C4: the preferred provider if it has a key, else the first that has one, else the packaged model."""
    assert embedder_from_keys(KEYS).name == "openai"
    assert embedder_from_keys(KEYS, "cohere").name == "cohere"
    assert embedder_from_keys(KEYS, "openai").name == "openai"
    assert embedder_from_keys({"cohere": "key"}, "openai").name == "cohere"
    assert embedder_from_keys({"openai": ""}).name == "byheart-minilm"
    with pytest.raises(InputError, match=r"^preferred_provider"):
        embedder_from_keys(KEYS, "voyage")


def test_what_openai_is_asked() -> None:
    """C4: model, key and texts; dimensions only where they differ from the model's own."""
    server = FakeOpenAI()
    plain = create_openai_embeddings("key-o", http_client=server.client)
    short = create_openai_embeddings("key-o", "text-embedding-3-large", 256, http_client=server.client)
    assert len(run(plain.embed, "abc")) == 1536
    assert len(run(short.embed, "abc")) == short.dimensions == 256
    first, second = server.requests
    assert (first["model"], first["input"], first.get("dimensions")) == ("text-embedding-3-small", ["abc"], None)
    assert (second["model"], second["dimensions"]) == ("text-embedding-3-large", 256)
    assert server.keys == ["Bearer key-o"] * 2


def test_what_cohere_is_asked() -> None:
    """C4: documents and queries have input types of their own, unless the caller sets one."""
    server = FakeCohere()
    embedder = create_cohere_embeddings("key", http_client=server.client)
    run(embedder.embed_batch, ["a document"])
    run(embedder.embed, "a query")
    run(create_cohere_embeddings("key", input_type="clustering", http_client=server.client).embed, "a query")
    short = create_cohere_embeddings("key", "embed-v4.0", 256, http_client=server.client)
    assert len(run(short.embed, "a query")) == 256
    types = [request["input_type"] for request in server.requests]
    assert types == ["search_document", "search_query", "clustering", "search_query"]
    assert [request.get("output_dimension") for request in server.requests] == [None, None, None, 256]


def test_batches_fit_the_interfaces() -> None:
    """C4: batch calls: as few requests as the provider allows, vectors in the order of the texts."""
    texts = ["x" * length for length in range(1, 301)]
    openai, cohere = FakeOpenAI(), FakeCohere()
    for embedder in (
        create_openai_embeddings("key", http_client=openai.client),
        create_cohere_embeddings("key", http_client=cohere.client),
    ):
        vectors = run(embedder.embed_batch, texts)
        assert [round(vector[0] / vector[1]) for vector in vectors] == list(range(1, 301))
    assert [len(str(request["input"]).split(",")) for request in openai.requests] == [256, 44]
    assert [len(str(request["texts"]).split(",")) for request in cohere.requests] == [96, 96, 96, 12]


def test_a_refusal_is_an_embedder_error() -> None:
    """C4: the provider's own error is the cause."""
    with pytest.raises(EmbedderError, match=r"openai text-embedding-3-small: .*401") as caught:
        run(create_openai_embeddings("key", http_client=FakeOpenAI(401).client).embed, "abc")
    assert caught.value.__cause__ is not None
    with pytest.raises(EmbedderError, match=r"cohere embed-english-v3.0: .*401"):
        run(create_cohere_embeddings("key", http_client=FakeCohere(401).client).embed, "abc")


@pytest.mark.parametrize(
    ("model", "dimensions"),
    [("text-embedding-3-small", 1537), ("text-embedding-3-small", 0), ("text-embedding-ada-002", 512), ("new", None)],
)
def test_dimensions_that_a_model_cannot_give(model: str, dimensions: int | None) -> None:
    with pytest.raises(InputError, match=r"^dimensions"):
        create_openai_embeddings("key", model, dimensions)


def test_a_model_that_is_not_in_the_table() -> None:
    assert create_openai_embeddings("key", "new-model", 99).dimensions == 99


@pytest.mark.parametrize(
    ("module", "library", "advice"),
    [
        ("openai", "openai", "pip install 'byheart[openai]'"),
        ("cohere", "cohere", "pip install 'byheart[cohere]'"),
        ("pydantic_ai", "pydantic_ai", "pip install 'byheart[openai]'"),
        ("minilm", "byheart_minilm", "pip install byheart-minilm"),
    ],
)
def test_a_missing_part_says_what_to_type(module: str, library: str, advice: str) -> None:
    """A part that is not installed is a `MissingPartError` with the command that installs it."""
    code = f"""
import sys
sys.modules[{library!r}] = None
from byheart.errors import MissingPartError
try:
    import byheart.models.{module}
except MissingPartError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert advice in done.stdout


def test_names_load_no_library() -> None:
    """Knowing the models costs nothing: no provider's library is loaded."""
    code = "import byheart.models.providers, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"openai", "cohere", "pydantic_ai", "onnxruntime", "httpx"}.isdisjoint(done.stdout.split())
