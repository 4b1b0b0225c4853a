"""The store in the process keeps the contract."""

import pytest

from byheart.stores.base import Store
from byheart.stores.memory import MemoryStore
from byheart.testing.stores import AGENT, StoreContract, StoreMaker


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def make_store(self) -> StoreMaker:
        def make(*, max_episodes: int = 0, auto_prune: bool = False) -> Store:
            return MemoryStore(AGENT, max_episodes=max_episodes, auto_prune=auto_prune)

        return make
