"""The SQLite store keeps the contract."""

from itertools import count
from pathlib import Path

import pytest

from byheart.stores.base import Store
from byheart.stores.sqlite import SQLiteStore
from byheart.testing.stores import AGENT, StoreContract, StoreMaker


class TestSQLiteStore(StoreContract):
    @pytest.fixture
    def make_store(self, tmp_path: Path) -> StoreMaker:
        numbers = count()

        def make(*, max_episodes: int = 0, auto_prune: bool = False) -> Store:
            path = tmp_path / "new folder" / f"{next(numbers)}.db"
            return SQLiteStore(path, AGENT, max_episodes=max_episodes, auto_prune=auto_prune)

        return make
