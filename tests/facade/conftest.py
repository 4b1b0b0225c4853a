"""A memory on each store, with an embedder that is quick and always answers the same."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from byheart.memory import AgentMemory
from byheart.testing.embedders import HashEmbedder


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory:" if request.param == "memory" else f"sqlite:///{tmp_path}/agent.db"


@pytest.fixture
async def memory(url: str) -> AsyncIterator[AgentMemory]:
    async with await AgentMemory.open("clawnch-bot", url, embedder=HashEmbedder()) as opened:
        yield opened
