"""A command line of its own for each test: a store in its folder, a cheap embedder, nothing from the outside."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The store of this test, named by the environment."""
    address = f"sqlite:///{(tmp_path / 'store.db').as_posix()}"
    monkeypatch.setenv("BYHEART_URL", address)
    monkeypatch.setenv("BYHEART_EMBEDDER", "hash")
    monkeypatch.setenv("BYHEART_AGENT", "tester")
    for name in ("KV_REST_API_URL", "KV_REST_API_TOKEN", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    return address
